#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PropertyList {
    func writtenAsOpenStep(_ options: WritingOptions, dialect: OpenStepDialect) throws(EncodingFailure) -> Data {
        var writer = OpenStepWriter(options, dialect: dialect)
        if case .string(let text) = self, text.hasPrefix("bpl") || Self.looksLikeJSON(text) {
            // Bare, it would be read as a binary file or as JSON where no format is named.
            writer.write(quoted: text)
        } else {
            try ValueWalk.walk(self, into: &writer, options: options, format: dialect.format)
        }
        return writer.finished()
    }

    /// Whether a text begins as a number or a word of JSON does.
    private static func looksLikeJSON(_ text: String) -> Bool {
        guard let first = text.utf8.first else { return false }
        return first == UInt8(ascii: "-") || first &- 0x30 <= 9 || text == "true" || text == "false"
    }
}

/// Writes the text format: an entry a line, four spaces a level, as GNUstep and Core Foundation set it out.
struct OpenStepWriter: ValueSink, ~Copyable {
    var output = OutputBuffer()
    let options: PropertyList.WritingOptions
    let dialect: PropertyList.OpenStepDialect
    var level = 0

    init(_ options: PropertyList.WritingOptions, dialect: PropertyList.OpenStepDialect) {
        self.options = options
        self.dialect = dialect
    }

    consuming func finished() -> Data {
        output.append(UInt8(ascii: "\n"))
        return output.data()
    }

    mutating func begin(_ container: ContainerShape) {
        if container.isDictionary { output.append("{\n") } else { output.append("(\n") }
        level += 1
    }

    mutating func end(_ container: ContainerShape) {
        level -= 1
        if !container.isDictionary, !container.isEmpty { output.append(UInt8(ascii: "\n")) }
        indent()
        output.append(container.isDictionary ? UInt8(ascii: "}") : UInt8(ascii: ")"))
    }

    @inline(__always)
    mutating func addKey(_ key: borrowing String, isFirst: Bool) {
        indent()
        write(text: copy key)
        output.append(" = ")
    }

    @inline(__always)
    mutating func beginElement(isFirst: Bool) {
        if !isFirst { output.append(",\n") }
        indent()
    }

    @inline(__always)
    mutating func endElement(inDictionary: Bool) {
        if inDictionary { output.append(";\n") }
    }

    @inline(__always)
    mutating func add(scalar: borrowing PropertyList) throws(Refusal) { try write(scalar: copy scalar) }

    func mistakenKind(of dictionary: borrowing PropertyList.Dictionary) -> PropertyList.Kind? {
        dialect == .gnustep && dictionary.asUID != nil ? .uid : nil
    }

    @inline(__always)
    private mutating func indent() {
        output.append(repeating: 0x20, count: level * 4)
    }
}
