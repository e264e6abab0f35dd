internal import Digests

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The style in which a text writes values, derived from its contents.
struct TextStyle {
    /// How a string is delimited.
    enum Quotes { case double, single, whereNeeded }

    let format: PropertyList.Format
    let syntax: TextSyntax
    var options: PropertyList.WritingOptions
    /// The line break.
    var newline: [UInt8] = [0x0A]
    /// The indentation of one level.
    var unit: [UInt8]
    /// The space between entries on one line.
    var space: [UInt8]
    /// The text between a key and its value.
    var between: [UInt8]
    var keyQuotes: Quotes
    var stringQuotes: Quotes
    /// Whether control characters in OpenStep strings are escaped with letters instead of octal digits.
    var usesLetterEscapes = false
    /// The strings that have no quotes although others have: local dates and times that stay what they are.
    var bareTexts: Set<Name> = []
    /// The texts of numbers that a real does not represent exactly, by the real that they are read as.
    var exactNumbers: [Double: Set<String>] = [:]

    init(_ format: PropertyList.Format, _ syntax: TextSyntax, _ options: PropertyList.WritingOptions) {
        (self.format, self.syntax, self.options) = (format, syntax, options)
        (unit, space, between) = (Array(syntax.unit.utf8), Array(syntax.space.utf8), Array(syntax.between.utf8))
        stringQuotes = syntax.bareCharacters == nil ? .double : .whereNeeded
        keyQuotes = syntax.hasSections ? .whereNeeded : stringQuotes
    }
}

// MARK: Scalars

extension TextStyle {
    /// The key with its quotes or tags.
    func text(ofKey key: String) throws(Refusal) -> [UInt8] {
        if syntax.hasTags {
            let element = try syntax.scalar(.string(key), true, options)
            return Array("<key>".utf8) + Array(element[8..<(element.count - 9)]) + Array("</key>".utf8)
        }
        if keyQuotes == .whereNeeded, syntax.isBareKey(key) { return Array(key.utf8) }
        return try text(ofString: key, keyQuotes)
    }

    /// The string in a format without tags.
    private func text(ofString string: String, _ quotes: Quotes) throws(Refusal) -> [UInt8] {
        // A strings file that begins with such a key would be detected as a binary file.
        let isQuoted = quotes != .whereNeeded || string.hasPrefix("bpl")
        var text = try syntax.scalar(.string(string), isQuoted, options)
        if usesLetterEscapes, text.first == UInt8(ascii: "\"") { text = text.withLetterEscapes }
        return quotes == .single ? syntax.singleQuoted(string, text) : text
    }

    /// The text of a scalar in this style.
    ///
    /// - Parameters:
    ///   - indent: The indentation of its line, if data in XML is to be on lines of its own.
    ///   - depth: The number of containers around it.
    func text(
        of scalar: PropertyList, indent: [UInt8]?, depth: Int
    ) throws(Refusal) -> [UInt8] {
        var options = options
        options.limits.nesting -= depth
        switch scalar {
        case .data(let data) where syntax.hasTags: return element(of: data, indent)
        case .string(let string) where !bareTexts.isEmpty && bareTexts.contains(Name(string)): return Array(string.utf8)
        case .string(let string) where !syntax.hasTags: return try text(ofString: string, stringQuotes)
        case .real(let number):
            guard let texts = exactNumbers[number], let text = texts.first else { break }
            guard texts.count == 1 else { throw Refusal(.numberNotKept(text)) }
            return Array(text.utf8)
        default: break
        }
        return try syntax.scalar(scalar, false, options)
    }

    private func element(of data: Data, _ indent: [UInt8]?) -> [UInt8] {
        guard let indent else { return Array("<data>".utf8) + Array(data).base64 + Array("</data>".utf8) }
        // Like the writer: lines of 76 columns, indented by at most eight tabs.
        let columns = indent.reduce(0) { $0 + ($1 == 0x09 ? 8 : 1) }
        let lead = columns <= 64 ? indent : [UInt8](repeating: 0x09, count: 8)
        let bytesInLine = (76 - min(columns, 64)) / 4 * 3
        let bytes = Array(data)
        var text = "<data>".utf8 + newline
        for start in stride(from: 0, to: bytes.count, by: bytesInLine) {
            text += lead + Array(bytes[start..<min(start + bytesInLine, bytes.count)]).base64 + newline
        }
        return text + indent + Array("</data>".utf8)
    }
}

extension String {
    /// Whether JSON5 accepts this text as a key without quotes.
    var isIdentifier: Bool {
        guard let first = utf8.first, first &- 0x30 > 9 else { return false }
        return utf8.allSatisfy { byte in
            byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$") || byte &- 0x30 <= 9
                || (byte | 0x20) &- UInt8(ascii: "a") < 26
        }
    }
}

extension [UInt8] {
    fileprivate var base64: [UInt8] {
        var output = OutputBuffer(capacity: count / 3 * 4 + 16)
        output.append(base64: span)
        return Array(output.data())
    }

    /// The string in single quotes, converted from double quotes.
    var inSingleQuotes: [UInt8] {
        guard count >= 2, first == UInt8(ascii: "\"") else { return self }
        return [UInt8(ascii: "'")]
            + self[1..<(count - 1)].mappingEscapes { escaped in
                escaped == UInt8(ascii: "\"") ? [escaped] : [UInt8(ascii: "\\"), escaped]
            } plain: {
                $0 == UInt8(ascii: "'") ? [UInt8(ascii: "\\"), $0] : [$0]
            } + [UInt8(ascii: "'")]
    }

    /// An OpenStep string with escapes such as `\n` in place of `\012`.
    fileprivate var withLetterEscapes: [UInt8] {
        var result: [UInt8] = []
        var rest = self[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                result.append(byte)
                continue
            }
            result.append(byte)
            if let letter = Self.letters.first(where: { rest.starts(with: $0.octal.utf8) })?.letter {
                result.append(letter)
                rest = rest.dropFirst(3)
            } else if let escaped = rest.popFirst() {
                result.append(escaped)
            }
        }
        return result
    }

    private static let letters: [(octal: String, letter: UInt8)] = [
        ("012", UInt8(ascii: "n")), ("011", UInt8(ascii: "t")), ("015", UInt8(ascii: "r")),
    ]
}

extension ArraySlice<UInt8> {
    fileprivate func mappingEscapes(
        _ escape: (UInt8) -> [UInt8], plain: (UInt8) -> [UInt8]
    ) -> [UInt8] {
        var result: [UInt8] = []
        var rest = self
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() {
                result += escape(escaped)
            } else {
                result += plain(byte)
            }
        }
        return result
    }
}

// MARK: Values

/// Writes a value in the style of a text, without white space before or after it.
struct FragmentWriter: ValueSink {
    private(set) var output: [UInt8] = []
    private let style: TextStyle
    /// The indentation of the line, or nil if the value is on one line.
    private var indent: [UInt8]?
    /// The number of containers around the value that is being written.
    private var depth = 0
    private var isAlone = false
    /// The indentation around the innermost dictionary that is on one line, and its depth.
    private var outer: (indent: [UInt8]?, depth: Int)?

    /// The text of `value`.
    ///
    /// - Parameters:
    ///   - indent: The indentation of the line on which it begins, or nil to write the value on this line.
    ///   - path: The path of the value, for failures and the nesting limit.
    static func text(
        of value: PropertyList, _ style: TextStyle, indent: [UInt8]?, at path: [EntryPath.Component]
    ) throws(EncodingFailure) -> [UInt8] {
        var style = style
        style.options.limits.nesting -= path.count
        var writer = FragmentWriter(style, indent)
        do throws(EncodingFailure) {
            try ValueWalk.walk(value, into: &writer, options: style.options, format: style.format)
        } catch {
            throw EncodingFailure(
                error.problem, path: EntryPath(path + error.path.components), format: error.format)
        }
        return writer.output
    }

    private init(_ style: TextStyle, _ indent: [UInt8]?) { (self.style, self.indent) = (style, indent) }

    private mutating func beginLine() {
        if let indent { output += style.newline + indent }
    }

    mutating func begin(_ container: ContainerShape) {
        let marks = marks(of: container)
        output += (isOneTag(container) ? marks.open.dropLast() + "/>" : marks.open).utf8
        if style.syntax.hasSections, container.isDictionary, outer == nil { (outer, indent) = ((indent, depth), nil) }
        depth += 1
        indent? += style.unit
        isAlone = container.count == 1
        if indent == nil, !container.isEmpty { output += marks.padding.utf8 }
    }

    mutating func end(_ container: ContainerShape) {
        depth -= 1
        indent?.removeLast(style.unit.count)
        if !container.isEmpty || style.syntax.breaksEmpty { beginLine() }
        if indent == nil, !container.isEmpty { output += marks(of: container).padding.utf8 }
        if let outer, outer.depth == depth { (indent, self.outer) = (outer.indent, nil) }
        if !isOneTag(container) { output += marks(of: container).close.utf8 }
    }

    private func marks(of container: ContainerShape) -> TextSyntax.Container {
        container.isDictionary ? style.syntax.dictionary : style.syntax.array
    }

    private func isOneTag(_ container: ContainerShape) -> Bool { container.isEmpty && style.syntax.hasTags }

    mutating func beginElement(isFirst: Bool) {
        beginChild(isFirst: isFirst, separator: style.syntax.array.separator)
    }

    private mutating func beginChild(isFirst: Bool, separator: UInt8?) {
        if !isFirst, !style.syntax.hasTags {
            if let separator { output.append(separator) }
            if indent == nil { output += style.space }
        }
        beginLine()
    }

    mutating func addKey(_ key: borrowing String, isFirst: Bool) throws(Refusal) {
        let isDoubled =
            style.syntax.hasWrappings && style.options.wrapsInJSON && isFirst && isAlone
            && JSONWrapping.isDoubled(copy key)
        beginChild(isFirst: isFirst, separator: style.syntax.endsEntries ? nil : style.syntax.dictionary.separator)
        output += try style.text(ofKey: isDoubled ? "$" + copy key : copy key)
        if style.syntax.hasTags { beginLine() }
        output += style.between
    }

    mutating func endElement(inDictionary: Bool) {
        if inDictionary, style.syntax.endsEntries { output += style.syntax.dictionary.separator.map { [$0] } ?? [] }
    }

    func mistakenKind(of dictionary: borrowing PropertyList.Dictionary) -> PropertyList.Kind? {
        style.mistakenKind(of: dictionary)
    }

    mutating func add(scalar: borrowing PropertyList) throws(Refusal) {
        let text = try style.text(of: copy scalar, indent: indent, depth: depth)
        switch copy scalar {
        case .uid(let number) where style.syntax.hasTags: try addReference(number)
        case .date, .data, .uid, .real:
            guard style.syntax.hasWrappings, text.first == UInt8(ascii: "{"),
                let colon = text.firstIndex(of: UInt8(ascii: ":"))
            else {
                output += text
                return
            }
            // The wrapping has its own lines, like any other dictionary.
            begin(ContainerShape(isDictionary: true, count: 1))
            beginElement(isFirst: true)
            output += text[1..<colon] + style.between + text[(colon + 1)..<(text.count - 1)]
            end(ContainerShape(isDictionary: true, count: 1))
        default: output += text
        }
    }

    private mutating func addReference(_ number: UInt64) throws(Refusal) {
        begin(ContainerShape(isDictionary: true, count: 1))
        try addKey(PropertyList.uidKey, isFirst: true)
        try add(scalar: .integer(PropertyList.Integer(number)))
        end(ContainerShape(isDictionary: true, count: 1))
    }
}

extension TextStyle {
    /// The kind that a reader would take this dictionary for, or nil if it is read as a dictionary.
    func mistakenKind(of dictionary: borrowing PropertyList.Dictionary) -> PropertyList.Kind? {
        format.facts.hasUIDDictionaries && dictionary.asUID != nil ? .uid : nil
    }
}
