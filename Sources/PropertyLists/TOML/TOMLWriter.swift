internal import Digests

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PropertyList {
    func writtenAsTOML(_ options: WritingOptions) throws(EncodingFailure) -> Data {
        var writer = TOMLWriter(options)
        try writer.add(document: self)
        return writer.finished()
    }
}

/// Writes TOML 1.0: the scalars of a table first, then its tables, each with its header.
struct TOMLWriter: ~Copyable {
    private var output = OutputBuffer()
    private let options: PropertyList.WritingOptions
    private let newline: [UInt8]
    /// The text between a key and its value.
    private let between: [UInt8]
    /// Whether strings have single quotes where they can.
    private let prefersLiterals: Bool
    /// The strings that are written without quotes.
    private let bareTexts: Set<Name>
    /// The path of the value that is being written, for a failure and the limit of nesting.
    private var path: [EntryPath.Component] = []
    /// The number of values and keys so far, as a reader counts them.
    private var values = 1

    init(
        _ options: PropertyList.WritingOptions, newline: [UInt8] = [0x0A], between: [UInt8] = Array(" = ".utf8),
        prefersLiterals: Bool = false, bareTexts: Set<Name> = []
    ) {
        (self.options, self.newline, self.between) = (options, newline, between)
        (self.prefersLiterals, self.bareTexts) = (prefersLiterals, bareTexts)
    }

    consuming func finished() -> Data { output.data() }

    mutating func add(document value: PropertyList) throws(EncodingFailure) {
        do throws(Refusal) {
            guard case .dictionary(let root) = value else { throw Refusal(.kindNotSupported(value.kind)) }
            try add(Section(values: root, mark: .none, header: [], path: []))
        } catch {
            throw EncodingFailure(error.problem, path: EntryPath(path), format: .toml)
        }
    }

    /// The text of a table with its header, or of an element of an array of tables.
    ///
    /// - Parameter path: The path of the table.
    mutating func add(
        section values: PropertyList.Dictionary, header: [UInt8], isElement: Bool, at path: [EntryPath.Component]
    ) throws(EncodingFailure) {
        do throws(Refusal) {
            let mark: Section.Mark = isElement ? .element : values.isImplied ? .none : .header
            try add(Section(values: values, mark: mark, header: header, path: path))
        } catch {
            throw EncodingFailure(error.problem, path: EntryPath(self.path), format: .toml)
        }
    }

    /// The text of a scalar.
    static func text(
        _ scalar: PropertyList, _ options: PropertyList.WritingOptions, prefersLiterals: Bool = false
    ) throws(Refusal) -> [UInt8] {
        var writer = TOMLWriter(options, prefersLiterals: prefersLiterals)
        try writer.add(inline: scalar)
        return Array(writer.finished())
    }

    // MARK: Tables

    /// A table that is still to be written.
    private struct Section {
        enum Mark { case none, header, element }

        let values: PropertyList.Dictionary
        let mark: Mark
        let header: [UInt8]
        let path: [EntryPath.Component]
    }

    private func ordered(_ values: PropertyList.Dictionary) -> ContiguousArray<PropertyList.Dictionary.Entry> {
        options.keepsKeyOrder ? values.entries : values.sortedEntries
    }

    private mutating func append(_ bytes: [UInt8]) { output.append(bytes.span) }

    /// Writes a table and the tables inside it. Those to come are on a stack.
    private mutating func add(_ first: Section) throws(Refusal) {
        var pending = [first]
        while let section = pending.popLast() {
            path = section.path
            try open(2 * section.values.count)
            if section.mark != .none {
                if output.count > 0 { append(newline) }
                output.append(section.mark == .element ? "[[" : "[")
                append(section.header)
                output.append(section.mark == .element ? "]]" : "]")
                append(newline)
            }
            var inner: [Section] = []
            for entry in ordered(section.values) {
                path.append(EntryPath.Component(entry.key))
                if entry.value.hasTOMLHeaders {
                    let header =
                        section.header + (section.header.isEmpty ? [] : [UInt8(ascii: ".")]) + TOMLText.key(entry.key)
                    try add(entry.value, header: header, to: &inner)
                } else {
                    append(key: entry.key)
                    append(between)
                    try add(inline: entry.value)
                    append(newline)
                }
                path.removeLast()
            }
            pending += inner.reversed()
        }
    }

    /// Adds the sections of a table or an array of tables.
    private mutating func add(_ value: PropertyList, header: [UInt8], to sections: inout [Section]) throws(Refusal) {
        switch value {
        case .dictionary(let values):
            let mark: Section.Mark = values.isImplied ? .none : .header
            sections.append(Section(values: values, mark: mark, header: header, path: path))
        case .array(let elements):
            try open(elements.count)
            for (index, element) in elements.enumerated() {
                guard case .dictionary(let values) = element else { continue }
                let place = path + [EntryPath.Component(index)]
                sections.append(Section(values: values, mark: .element, header: header, path: place))
            }
        default: break
        }
    }

    // MARK: Values

    private mutating func append(key: String) {
        if TOMLText.isBare(key) { output.append(text: key) } else { append(quoted: key) }
    }

    private mutating func add(inline value: PropertyList) throws(Refusal) {
        switch value {
        case .string(let text):
            if !bareTexts.isEmpty, bareTexts.contains(Name(text)) {
                output.append(text: text)
            } else if prefersLiterals, TOMLText.isLiteral(text) {
                output.append(UInt8(ascii: "'"))
                output.append(text: text)
                output.append(UInt8(ascii: "'"))
            } else {
                append(quoted: text)
            }
        case .integer(let number):
            guard number.isNegative || number.magnitude < 1 << 63 else {
                guard options.coerces else { throw Refusal(.integerOutOfRange) }
                return append(quoted: String(number.magnitude))
            }
            output.append(number)
        case .real(let number):
            if number.isFinite {
                output.append(number, keepsPoint: true)
            } else {
                output.append(text: number.isNaN ? "nan" : number < 0 ? "-inf" : "inf")
            }
        case .boolean(let flag): if flag { output.append("true") } else { output.append("false") }
        case .date(let date): try add(date)
        case .array(let elements): try add(elements)
        case .dictionary(let values): try add(values)
        case .data, .uid, .null:
            guard options.coerces, value != .null else { throw Refusal(.kindNotSupported(value.kind)) }
            if case .data(let data) = value {
                output.append(UInt8(ascii: "\""))
                output.append(base64: data.span)
                output.append(UInt8(ascii: "\""))
            } else if case .uid(let number) = value {
                try add(inline: .integer(PropertyList.Integer(number)))
            }
        }
    }

    private mutating func add(_ date: Date) throws(Refusal) {
        let seconds = date.timeIntervalSinceReferenceDate
        guard seconds.isFinite, abs(seconds) <= CivilDate.greatestSeconds,
            0...9999 ~= CivilDate(secondsSinceReference: Int(seconds.rounded(.down))).year
        else { throw Refusal(.dateOutOfRange) }
        guard output.append(rfc3339: date, isLossy: options.isLossy) else { throw Refusal(.fractionOfSecond) }
    }

    private mutating func add(_ elements: [PropertyList]) throws(Refusal) {
        try open(elements.count)
        output.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { output.append(", ") }
            path.append(EntryPath.Component(index))
            try add(inline: element)
            path.removeLast()
        }
        output.append(UInt8(ascii: "]"))
    }

    private mutating func add(_ values: PropertyList.Dictionary) throws(Refusal) {
        try open(2 * values.count)
        output.append(UInt8(ascii: "{"))
        for (index, entry) in ordered(values).enumerated() {
            if index > 0 { output.append(", ") } else { output.append(UInt8(ascii: " ")) }
            path.append(EntryPath.Component(entry.key))
            append(key: entry.key)
            output.append(" = ")
            try add(inline: entry.value)
            path.removeLast()
        }
        if !values.isEmpty { output.append(UInt8(ascii: " ")) }
        output.append(UInt8(ascii: "}"))
    }

    /// Checks the limits before the children of a container are written.
    private mutating func open(_ children: Int) throws(Refusal) {
        let limits = options.limits
        guard path.count < limits.nesting else { throw Refusal(.nestedTooDeeply(limit: limits.nesting)) }
        values += children
        guard values <= limits.expandedNodes else { throw Refusal(.tooManyValues(limit: limits.expandedNodes)) }
    }

    private mutating func append(quoted text: String) {
        text.withBytes { bytes in
            output.reserve(bytes.count * JSONEscaping.growth + 20)
            output.appendReserved(UInt8(ascii: "\""))
            output.appendReserved(bytes, escaping: TOMLEscaping.self)
            output.appendReserved(UInt8(ascii: "\""))
        }
    }
}

/// The characters that basic strings write as escapes: those of JSON, and U+007F.
private enum TOMLEscaping: TextEscaping {
    typealias Failure = Never

    static var growth: Int { JSONEscaping.growth }

    static func stops(_ word: UInt64) -> UInt64 { JSONEscaping.stops(word) | ByteScan.matches(word, 0x7F) }

    static func append(_ text: Span<UInt8>, at start: Int, to output: inout OutputBuffer) -> Int {
        guard text[start] == 0x7F else { return JSONEscaping.append(text, at: start, to: &output) }
        output.append("\\u007F")
        return 1
    }
}

extension PropertyList.Dictionary {
    /// Whether it has only tables, so that a table of it needs no header.
    fileprivate var isImplied: Bool { !isEmpty && values.allSatisfy(\.hasTOMLHeaders) }
}

extension PropertyList {
    /// Whether the value of a key is written as a table with a header, or several.
    var hasTOMLHeaders: Bool {
        switch self {
        case .dictionary: true
        case .array(let elements):
            !elements.isEmpty
                && elements.allSatisfy { if case .dictionary = $0 { true } else { false } }
        default: false
        }
    }
}

extension TOMLText {
    /// The key with the quotes that it needs.
    static func key(_ key: String) -> [UInt8] {
        if isBare(key) { return Array(key.utf8) }
        return (try? TOMLWriter.text(.string(key), .default)) ?? []
    }

    /// Whether a string can be written between single quotes.
    static func isLiteral(_ text: String) -> Bool {
        text.utf8.allSatisfy { ($0 >= 0x20 || $0 == 0x09) && $0 != UInt8(ascii: "'") && $0 != 0x7F }
    }
}
