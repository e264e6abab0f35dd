#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reads the XML form of a property list from validated UTF-8.
///
/// It makes one pass over the bytes. The builder keeps children until their container ends. A tag in its usual spelling
/// is recognized by one or two comparisons of words (`<string>` is eight bytes). Other tags, attributes and references
/// take a slower path.
struct XMLReader: TextReader, ~Copyable {
    let base: [UInt8]
    let end: Int
    var position = 0
    var builder: TreeBuilder
    /// Whether every byte of the text is ASCII.
    let isASCII: Bool
    /// The buffer in which text with references, sections or comments is decoded.
    var scratch: [UInt8] = []

    init(
        _ text: [UInt8], isASCII: Bool, limits: PropertyList.Limits,
        options: PropertyList.ReadingOptions
    ) {
        base = text
        end = text.count
        builder = TreeBuilder(limits: limits, options: options)
        self.isASCII = isASCII
    }

    var path: EntryPath { builder.path }

    /// Reads the whole document.
    mutating func read() throws(Fault) -> PropertyList {
        skipSpace()
        guard position < end else { throw Fault(.emptyInput, at: 0) }
        position = 0
        try skipProlog()
        guard position < end else { throw Fault(.noValue, at: end) }
        let start = position
        let tag = try readRootTag()
        if tag.name == .plist {
            guard !tag.isClosing else { throw Fault(.misplacedElement("/plist"), at: start) }
            guard !tag.isEmpty else { throw Fault(.noValue, at: start) }
            try readRootInPlist()
        } else {
            position = start
            try readTree()
        }
        try skipMisc()
        guard position == end else { throw Fault(.trailingContent, at: position) }
        return builder.finish()
    }

    /// Reads the first tag. A name that resembles no element of a property list is that of another kind of document.
    private mutating func readRootTag() throws(Fault) -> XMLTag {
        do throws(Fault) {
            return try readTag()
        } catch {
            guard case .unknownElement(let name) = error.problem,
                XMLElement.allCases.map(\.rawValue).nearest(to: name) == nil
            else { throw error }
            throw Fault(.otherRoot(name), at: error.offset)
        }
    }

    private mutating func readRootInPlist() throws(Fault) {
        try skipMisc()
        guard !isAtClosingTag else { throw Fault(.noValue, at: position) }
        try readTree()
        try skipMisc()
        let start = position
        guard start < end else { throw Fault(.unexpectedEnd(inside: "<plist>"), at: end) }
        guard base[start] == UInt8(ascii: "<") else { throw Fault(.misplacedText, at: start) }
        guard isAtClosingTag else { throw Fault(.severalValues, at: start) }
        try expectClosingTag(.plist)
    }

    private var isAtClosingTag: Bool {
        position + 1 < end && base[position] == UInt8(ascii: "<") && base[position + 1] == UInt8(ascii: "/")
    }

    /// Reads an element and everything inside it.
    private mutating func readTree() throws(Fault) {
        repeat {
            skipSpace()
            guard position < end else { throw Fault(.unexpectedEnd(inside: innermostElement), at: end) }
            guard base[position] == UInt8(ascii: "<") else { throw Fault(.misplacedText, at: position) }
            try readMarkup()
        } while builder.depth > 0 || builder.childCount == 0
    }

    private var innermostElement: String {
        builder.depth == 0 ? "the document" : builder.isInDictionary ? "<dict>" : "<array>"
    }

    /// Reads a tag, a comment or an instruction, and the text of an element that has text.
    @inline(__always)
    private mutating func readMarkup() throws(Fault) {
        let start = position
        if start + 9 <= end {
            let word = base.word(start)
            switch base[start + 1] {
            case UInt8(ascii: "k") where word & 0xFF_FFFF_FFFF == Tag.key:
                position = start + 5
                return try readKey(from: start)
            case UInt8(ascii: "s") where word == Tag.string:
                position = start + 8
                return try readString(from: start)
            case UInt8(ascii: "i") where word == Tag.integer && base[start + 8] == UInt8(ascii: ">"):
                position = start + 9
                return try readScalar(.integer, from: start)
            case UInt8(ascii: "r") where word & 0xFFFF_FFFF_FFFF == Tag.real:
                position = start + 6
                return try readScalar(.real, from: start)
            case UInt8(ascii: "t") where word & 0xFF_FFFF_FFFF_FFFF == Tag.true:
                position = start + 7
                return try add(.boolean(true), from: start)
            case UInt8(ascii: "f") where word == Tag.false:
                position = start + 8
                return try add(.boolean(false), from: start)
            case UInt8(ascii: "d"):
                switch word & 0xFFFF_FFFF_FFFF {
                case Tag.dict:
                    position = start + 6
                    return try begin(.dict, from: start)
                case Tag.date:
                    position = start + 6
                    return try readScalar(.date, from: start)
                case Tag.data:
                    position = start + 6
                    return try readScalar(.data, from: start)
                default: break
                }
            case UInt8(ascii: "a") where word & 0xFF_FFFF_FFFF_FFFF == Tag.array:
                position = start + 7
                return try begin(.array, from: start)
            case UInt8(ascii: "/"):
                if word & 0xFF_FFFF_FFFF_FFFF == Tag.dictEnd, builder.isInDictionary {
                    position = start + 7
                    return try endDictionary(at: start)
                }
                if word == Tag.arrayEnd, builder.depth > 0, !builder.isInDictionary {
                    position = start + 8
                    return endArray()
                }
            default: break
            }
        }
        try readUnusualMarkup(from: start)
    }

    /// The tags in their usual spelling, as words in native byte order.
    private enum Tag {
        static var key: UInt64 { wordOf("<", "k", "e", "y", ">") }
        static var string: UInt64 { wordOf("<", "s", "t", "r", "i", "n", "g", ">") }
        static var integer: UInt64 { wordOf("<", "i", "n", "t", "e", "g", "e", "r") }
        static var real: UInt64 { wordOf("<", "r", "e", "a", "l", ">") }
        static var `true`: UInt64 { wordOf("<", "t", "r", "u", "e", "/", ">") }
        static var `false`: UInt64 { wordOf("<", "f", "a", "l", "s", "e", "/", ">") }
        static var dict: UInt64 { wordOf("<", "d", "i", "c", "t", ">") }
        static var date: UInt64 { wordOf("<", "d", "a", "t", "e", ">") }
        static var data: UInt64 { wordOf("<", "d", "a", "t", "a", ">") }
        static var array: UInt64 { wordOf("<", "a", "r", "r", "a", "y", ">") }
        static var dictEnd: UInt64 { wordOf("<", "/", "d", "i", "c", "t", ">") }
        static var arrayEnd: UInt64 { wordOf("<", "/", "a", "r", "r", "a", "y", ">") }
    }

    @inline(never)
    private mutating func readUnusualMarkup(from start: Int) throws(Fault) {
        guard try !skipCommentOrInstruction() else { return }
        if hasPrefix("<![CDATA[") { throw Fault(.misplacedText, at: start) }
        let tag = try readTag()
        guard !tag.isClosing else { return try close(tag.name, from: start) }
        switch tag.name {
        case .key where tag.isEmpty: try addKey("", 0..<0, from: start)
        case .key: try readKey(from: start)
        case .dict, .array:
            try begin(tag.name, from: start)
            if tag.isEmpty { try close(tag.name, from: start) }
        case .true, .false:
            if !tag.isEmpty {
                let text = position
                let inner = try readText(inside: tag.name)
                let isBlank = bytes(of: inner).allSatisfy(isXMLSpace)
                guard isBlank else { throw Fault(.misplacedText, at: text) }
            }
            try add(.boolean(tag.name == .true), from: start)
        case .string where tag.isEmpty: try add(.string(""), from: start)
        case .string: try readString(from: start)
        case .integer, .real, .date, .data:
            guard tag.isEmpty else { return try readScalar(tag.name, from: start) }
            try add(tag.name.value(of: Bytes([]), at: start), from: start)
        case .plist: throw Fault(.misplacedElement("plist"), at: start)
        }
    }

    private mutating func close(_ name: XMLElement, from start: Int) throws(Fault) {
        guard builder.depth > 0 else { throw Fault(.misplacedElement("/" + name.rawValue), at: start) }
        let open: XMLElement = builder.isInDictionary ? .dict : .array
        guard open == name else {
            throw Fault(.mismatchedTag(expected: open.rawValue, found: name.rawValue), at: start)
        }
        if name == .dict { try endDictionary(at: start) } else { endArray() }
    }
}

extension PropertyList {
    /// The only key of a dictionary that represents a uid.
    package static var uidKey: String { "CF$UID" }
}

extension PropertyList.Dictionary {
    /// This dictionary, or the uid that it represents.
    var orUID: PropertyList { asUID.map { .uid($0) } ?? .dictionary(self) }

    /// The uid that a dictionary `{CF$UID = n}` represents, or nil.
    var asUID: UInt64? {
        guard count == 1, entries[0].key.hasSameBytes(as: PropertyList.uidKey),
            case .integer(let number) = entries[0].value
        else {
            return nil
        }
        return UInt64(exactly: number)
    }
}

// Adding values to containers.
extension XMLReader {
    /// Checks that a value is allowed here.
    private func checkPlace(_ start: Int) throws(Fault) {
        if builder.isInDictionary, !builder.awaitsValue { throw Fault(.valueWithoutKey, at: start) }
    }

    mutating func add(_ value: consuming PropertyList, from start: Int) throws(Fault) {
        try checkPlace(start)
        builder.add(value)
        builder.record(start..<position)
    }

    mutating func begin(_ name: XMLElement, from start: Int) throws(Fault) {
        try checkPlace(start)
        try builder.begin(dictionary: name == .dict, at: start)
    }

    private mutating func endArray() {
        builder.sources?.recordEnd(at: position)
        builder.endArray()
    }

    /// Ends a dictionary. Exactly `{CF$UID = integer}` is a uid.
    mutating func endDictionary(at start: Int) throws(Fault) {
        builder.sources?.recordEnd(at: position)
        if builder.awaitsValue { throw Fault(.keyWithoutValue(builder.lastKey), at: start) }
        try builder.endDictionary { $0.orUID }
    }

    mutating func readKey(from start: Int) throws(Fault) {
        let text = try readText(inside: .key)
        let key = string(of: text)
        try addKey(key, text.start < 0 ? 0..<0 : text.start..<text.start + text.count, from: start)
    }

    mutating func addKey(_ key: consuming String, _ place: Range<Int>, from start: Int) throws(Fault) {
        guard builder.isInDictionary else { throw Fault(.misplacedElement("key"), at: start) }
        guard !builder.awaitsValue else { throw Fault(.keyWithoutValue(builder.lastKey), at: start) }
        builder.addKey(key, at: start, in: base, place)
        builder.sources?.recordKey(start..<position)
    }

    mutating func readString(from start: Int) throws(Fault) {
        try checkPlace(start)
        let text = try readText(inside: .string)
        builder.add(.string(string(of: text)))
        builder.record(start..<position)
    }

    mutating func readScalar(_ element: XMLElement, from start: Int) throws(Fault) {
        try checkPlace(start)
        let place = position
        let text: XMLText
        if element == .data, let run = try readPlainData() {
            text = run
        } else {
            text = try readText(inside: element)
        }
        do throws(Fault) {
            builder.add(try element.value(of: bytes(of: text), at: place))
            builder.record(start..<position)
        } catch {
            // Offsets in the scratch buffer do not correspond to offsets in the input.
            throw text.start < 0 ? Fault(error.problem, at: place) : error
        }
    }
}
