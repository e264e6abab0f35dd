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

    /// Returns the language that the extension of a file states, if it is one that prefs does not read.
    static func foreignLanguage(ofFile name: String) -> String? {
        let languages = [".yaml": "YAML", ".yml": "YAML", ".toml": "TOML", ".ini": "INI files"]
        return languages.first { name.lowercased().hasSuffix($0.key) }?.value
    }

    package var lines: [String] {
        if let language = Self.foreignLanguage(ofFile: name) {
            return ["\(name.onOneLine): prefs does not read \(language)"]
        }
        let place = location.map { ":\($0.line):\($0.column)" } ?? ": byte \(failure.offset)"
        let path = failure.path.components.isEmpty ? "" : " (at \(failure.path.description.onOneLine))"
        return ["\(name.onOneLine)\(place): \(failure.problem)\(path)"]
    }
}
