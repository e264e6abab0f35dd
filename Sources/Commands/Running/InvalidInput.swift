package import PropertyLists

/// Invalid input in a file or on the standard input.
///
///     settings.plist:41:7: unknown element <strnig>; did you mean <string>?
package struct InvalidInput: Reportable {
    package let name: String
    /// The location in a text; nil for a binary file.
    package let location: TextLocation?
    package let failure: DecodingFailure

    init(name: String, bytes: [UInt8], failure: DecodingFailure) {
        self.name = name == "-" ? "standard input" : name
        self.failure = failure
        location = failure.location(in: bytes)
    }

    package var status: ExitStatus { .damaged }

    /// The name of another language that the extension of the file states.
    private var language: String? {
        let languages = [".yaml": "YAML", ".yml": "YAML", ".toml": "TOML", ".ini": "INI files"]
        return languages.first { name.lowercased().hasSuffix($0.key) }?.value
    }

    package var lines: [String] {
        if let language { return ["\(name.onOneLine): prefs does not read \(language)"] }
        let place = location.map { ":\($0.line):\($0.column)" } ?? ": byte \(failure.offset)"
        let path = failure.path.components.isEmpty ? "" : " (at \(failure.path.description.onOneLine))"
        return ["\(name.onOneLine)\(place): \(failure.problem)\(path)"]
    }
}
