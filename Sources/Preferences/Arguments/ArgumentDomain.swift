package import PropertyLists

/// The layer `arguments` of a program that declares no settings: what Foundation makes of `-key value`.
package enum ArgumentDomain {
    /// The values that a command line gives, of which the last one under a key counts.
    ///
    /// - Parameters:
    ///   - arguments: The command line, with the program's name or without.
    ///   - negativeNumbers: Whether a negative number behind a key is its value, which Foundation drops.
    package static func values(
        in arguments: [String], negativeNumbers: Bool = false
    ) -> PropertyList.Dictionary {
        var values = PropertyList.Dictionary()
        var rest = arguments[...]
        while let key = rest.popFirst() {
            guard let value = rest.first, key.isDashed else { continue }
            guard !value.isDashed || negativeNumbers && value.isNegativeNumber else { continue }
            rest.removeFirst()
            // A dash alone takes its value with it all the same.
            if key.count > 1 { values[String(key.dropFirst())] = self.value(value.trimmed) }
        }
        return values
    }

    /// A text that begins as a property list does, and is one, is what it says; any other is itself.
    ///
    /// JSON is none here: Foundation reads only XML and the text of NeXTSTEP from arguments.
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

    /// A dash, digits, and perhaps a fraction and an exponent.
    fileprivate var isNegativeNumber: Bool {
        guard let digit = utf8.dropFirst().first(where: { $0 != UInt8(ascii: ".") }) else { return false }
        return (0x30...0x39).contains(digit) && utf8.allSatisfy { "0123456789+-.eE".utf8.contains($0) }
            && Double(self) != nil
    }

    fileprivate var trimmed: String {
        let start = unicodeScalars.drop(while: \.isSpaceOrNewline)
        let count = start.reversed().drop(while: \.isSpaceOrNewline).count
        return String(Substring(start.prefix(count)))
    }
}
