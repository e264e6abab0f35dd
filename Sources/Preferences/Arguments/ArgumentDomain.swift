package import PropertyLists

/// The layer `arguments` of a program without declared settings: `-key value` pairs, parsed like Foundation does.
package enum ArgumentDomain {
    /// Returns the values on a command line. The last value of a key is used.
    ///
    /// - Parameter arguments: The command line, with or without the name of the program.
    package static func values(in arguments: [String]) -> PropertyList.Dictionary {
        var values = PropertyList.Dictionary()
        var rest = arguments[...]
        while let key = rest.popFirst() {
            guard let value = rest.first, key.isDashed, !value.isDashed else { continue }
            rest.removeFirst()
            // A single dash is not a key, but its value is skipped.
            if key.count > 1 { values[String(key.dropFirst())] = self.value(value.trimmed) }
        }
        return values
    }

    /// Parses a text that looks like a property list, and returns any other text as a string.
    ///
    /// JSON is not parsed, because Foundation reads only XML and old-style text from arguments.
    private static func value(_ text: String) -> PropertyList {
        switch text.first {
        case "<":
            return value(text, as: .xml) ?? value(text, as: .openstep) ?? .string(text)
        case "{", "[", "(", "\"":
            return value(text, as: .openstep) ?? .string(text)
        default: return .string(text)
        }
    }

    private static func value(_ text: String, as format: PropertyList.Format) -> PropertyList? {
        try? PropertyList(parsing: text, as: format)
    }
}

extension String {
    fileprivate var isDashed: Bool { hasPrefix("-") }

    fileprivate var trimmed: String {
        let start = unicodeScalars.drop(while: \.isSpaceOrNewline)
        let count = start.reversed().drop(while: \.isSpaceOrNewline).count
        return String(Substring(start.prefix(count)))
    }
}
