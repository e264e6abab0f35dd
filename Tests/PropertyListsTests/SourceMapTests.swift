import PropertyLists
import TestSupport
import Testing

/// The ranges of a text from which each entry was read.
@Suite struct SourceMapTests {
    /// A text, a path in it, and the key and value there.
    struct Row: Sendable, CustomTestStringConvertible {
        let text: String
        let path: EntryPath
        let key: String?
        let value: String?

        init(_ text: String, _ path: EntryPath, _ key: String?, _ value: String?) {
            (self.text, self.path, self.key, self.value) = (text, path, key, value)
        }

        var testDescription: String { "\(path) in \(text)" }
    }

    static let xml = """
        <?xml version="1.0"?><plist><!-- <key>a</key> --><dict>
        <key>a</key> <array><integer>1</integer><true/><string>x &amp; y</string></array>
        <key>é&lt;</key><dict/><key >d</key ><data>AQ==</data></dict></plist>
        """
    static let json = "\u{FEFF}{\"a\" : [1.5e3, true, {}, \"x\\n\"], \"\\u0062\": {\"c\": null, \"d\": -0}}"
    static let openstep = "/* a = 1; */ { a = (\"x\", <00 11>, ( )); 'b c' = { d = e; }; f; }"

    @Test(arguments: [
        Row(xml, [], nil, String(xml.dropFirst(49).dropLast(8))),
        Row(xml, ["a", 0], nil, "<integer>1</integer>"),
        Row(xml, ["a", 1], nil, "<true/>"),
        Row(xml, ["a", 2], nil, "<string>x &amp; y</string>"),
        Row(xml, ["é<"], "<key>é&lt;</key>", "<dict/>"),
        Row(xml, ["d"], "<key >d</key >", "<data>AQ==</data>"),
        Row(xml, ["a", 3], nil, nil),
        Row(json, ["a"], "\"a\"", "[1.5e3, true, {}, \"x\\n\"]"),
        Row(json, ["a", 0], nil, "1.5e3"),
        Row(json, ["a", 2], nil, "{}"),
        Row(json, ["a", 3], nil, "\"x\\n\""),
        Row(json, ["b"], "\"\\u0062\"", "{\"c\": null, \"d\": -0}"),
        Row(json, ["b", "c"], "\"c\"", "null"),
        Row(json, ["b", "d"], "\"d\"", "-0"),
        Row(openstep, ["a"], "a", "(\"x\", <00 11>, ( ))"),
        Row(openstep, ["a", 1], nil, "<00 11>"),
        Row(openstep, ["a", 2], nil, "( )"),
        Row(openstep, ["b c"], "'b c'", "{ d = e; }"),
        Row(openstep, ["b c", "d"], "d", "e"),
        Row(openstep, ["f"], "f", ""),
        Row("a = b; \"c\" = (d);", [], nil, "a = b; \"c\" = (d);"),
        Row("a = b; \"c\" = (d);", ["c", 0], nil, "d"),
        Row("{\"a\": 1, \"a\": 2}", ["a"], "\"a\"", "2"),
        Row(" 12 ", [], nil, "12"),
    ])
    func `the ranges are those of the entry`(_ row: Row) throws {
        for encode in [{ Array($0.utf8) }, Self.utf16] as [@Sendable (String) -> [UInt8]] {
            // UTF-16 without a mark is XML or nothing.
            let bytes = encode(row.text)
            let map = try #require(SourceMap(bytes))
            let entry = map[row.path]
            func text(_ range: Range<Int>?) -> [UInt8]? { range.map { Array(bytes[$0]) } }
            func expected(_ text: String?) -> [UInt8]? {
                text.map { Array(encode("\u{FEFF}" + $0)[encode("\u{FEFF}").count...]) }
            }
            #expect(text(entry?.key) == expected(row.key))
            #expect(text(entry?.value) == expected(row.value))
        }
    }

    /// The text in UTF-16 with one byte order mark.
    @Sendable static func utf16(_ text: String) -> [UInt8] {
        let body = text.hasPrefix("\u{FEFF}") ? String(text.dropFirst()) : text
        return [0xFF, 0xFE]
            + body.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    }

    @Test func `there is no map of a binary file or of damaged text`() throws {
        let binary = try PropertyList.dictionary(["a": .boolean(true)]).serialized(as: .binary)
        #expect(SourceMap(Array(binary)) == nil)
        #expect(SourceMap(Array("{\"a\": 1".utf8), as: .json) == nil)
    }

    /// What a range contains is read as the value of its entry.
    @Test(arguments: [PropertyList.Format.xml, .json, .gnustep], 0..<20)
    func `any value is at its range`(_ format: PropertyList.Format, _ round: Int) throws {
        var generator = SeededGenerator(stream: "source map", round: round)
        func value(_ depth: Int) -> PropertyList {
            switch Int.random(in: 0..<(depth > 0 ? 5 : 3), using: &generator) {
            case 0: .string("s \(Int.random(in: 0...99, using: &generator)) \"<é>")
            case 1: .integer(.init(Int.random(in: -99...99, using: &generator)))
            case 2: .boolean(true)
            case 3: .array((0..<Int.random(in: 0...4, using: &generator)).map { _ in value(depth - 1) })
            default:
                .dictionary(
                    .init((0..<Int.random(in: 0...4, using: &generator)).map { ("k \($0)", value(depth - 1)) }))
            }
        }
        let root = PropertyList.array([value(4), value(4)])
        let bytes = Array(try root.serialized(as: format))
        let map = try #require(SourceMap(bytes, as: format))
        func check(_ value: PropertyList, _ path: EntryPath) throws {
            let entry = try #require(map[path])
            #expect(try PropertyList(parsing: bytes[entry.value], as: format) == value, "\(Seed.ofThisRun) \(path)")
            if case .array(let elements) = value {
                for (index, element) in elements.enumerated() {
                    try check(element, EntryPath(path.components + [.init(index)]))
                }
            }
            for child in value.dictionaryValue ?? [:] {
                try check(child.value, EntryPath(path.components + [.init(child.key)]))
            }
        }
        try check(root, [])
    }
}
