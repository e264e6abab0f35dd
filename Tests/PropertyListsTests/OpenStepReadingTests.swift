import FoundationEssentials
import PropertyLists
import Testing

/// A text and its value.
struct OpenStepReading: Sendable, CustomTestStringConvertible {
    let text: String
    let value: PropertyList

    init(_ text: String, _ value: PropertyList) { (self.text, self.value) = (text, value) }

    var testDescription: String { text }
}

struct OpenStepReadingTests {
    @Test(arguments: [
        OpenStepReading("{ k = v; }", .dictionary(["k": .string("v")])),
        OpenStepReading("( a, b )", .array([.string("a"), .string("b")])),
        OpenStepReading("( a, b, )", .array([.string("a"), .string("b")])),
        OpenStepReading("()", .array([])),
        OpenStepReading("{}", .dictionary([:])),
        OpenStepReading(
            "{ a = (); b = {}; c = <>; }",
            .dictionary(["a": .array([]), "b": .dictionary([:]), "c": .data(Data())])),
        OpenStepReading("<68 656c6c6F6f 21>", .data(Data("helloo!".utf8))),
        OpenStepReading(
            "<0123456789abcdefABCDEF>",
            .data(Data([0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF, 0xAB, 0xCD, 0xEF]))),
        OpenStepReading("bare", .string("bare")),
        OpenStepReading("aZ09_$/:.-", .string("aZ09_$/:.-")),
        OpenStepReading("/usr/bin", .string("/usr/bin")),
        OpenStepReading("a//b", .string("a//b")),
        OpenStepReading("''", .string("")),
        OpenStepReading(#""it's""#, .string("it's")),
        OpenStepReading(#"'say "x"'"#, .string(#"say "x""#)),
        OpenStepReading(
            "( (a), {b = (c);} )",
            .array([.array([.string("a")]), .dictionary(["b": .array([.string("c")])])])),
    ])
    func `a text is read as its value`(row: OpenStepReading) throws {
        #expect(try PropertyList(parsing: row.text, as: .openstep) == row.value)
        #expect(try PropertyList(parsing: row.text, as: .gnustep) == row.value)
    }

    @Test(arguments: [
        (#"\a\b\f\n\r\t\v"#, "\u{7}\u{8}\u{C}\n\r\t\u{B}"), (#"\"\'\\"#, "\"'\\"), ("a\\\nb", "a\nb"),
        (#"\q\8\é"#, "q8é"), (#"\101\60\0"#, "A0\0"), (#"\1234"#, "S4"), (#"\U41\Ue9\U20ac"#, "Aé€"),
        (#"\Ud83d\Ude00\UD83D\UDE00"#, "😀😀"), (#"\U00e99"#, "é9"), ("naïve 日本語 😀", "naïve 日本語 😀"),
        (#"long enough for words \\ and more of it é"#, "long enough for words \\ and more of it é"),
    ])
    func `an escape is read as its character`(escaped: String, text: String) throws {
        #expect(try PropertyList(parsing: "\"\(escaped)\"", as: .openstep) == .string(text))
        #expect(try PropertyList(parsing: "(\"\(escaped)\")", as: .gnustep) == .array([.string(text)]))
    }

    @Test(arguments: [
        (#"\200"#, "\u{A0}", "\u{80}"), (#"\341"#, "Æ", "á"), (#"\244"#, "⁄", "¤"), (#"\256\257"#, "ﬁﬂ", "®¯"),
        (#"\375"#, "ÿ", "ý"), (#"\37x"#, "\u{1F}x", "\u{1F}x"),
    ])
    func `an octal escape is NeXTSTEP to Core Foundation, Unicode to GNUstep`(
        escaped: String, openstep: String, gnustep: String
    ) throws {
        #expect(try PropertyList(parsing: "\"\(escaped)\"", as: .openstep) == .string(openstep))
        #expect(try PropertyList(parsing: "\"\(escaped)\"", as: .gnustep) == .string(gnustep))
    }

    @Test(arguments: [
        "\t\n\u{B}\u{C}\r {k\u{2028}=\u{2029}v\t;\n}\n", "// first\n{/* a */k /**/=// b\rv /***/;}/* * / */",
        "{k=v;}// last", "// to\u{2028}{k=v;}", "{                  k                 =\n\n        v;        }",
    ])
    func `white space and comments are ignored`(text: String) throws {
        #expect(try PropertyList(parsing: text, as: .openstep) == entries(["k": "v"]))
    }

    @Test func `GNUstep allows more characters in unquoted strings`() throws {
        let text = "(!#%&*+?@^|~, a/*b*/)"
        #expect(try PropertyList(parsing: text, as: .gnustep) == .array([.string("!#%&*+?@^|~"), .string("a/*b*/")]))
        #expect(throws: DecodingFailure.self) { try PropertyList(parsing: "(a+b)", as: .openstep) }
    }

    @Test(arguments: [
        "\"a\" = \"b\";\n/* c */ \"c\" = \"d\";", "a = b; c = d;\n", " a=b;c=d;//",
    ])
    func `a file without braces is a dictionary`(text: String) throws {
        #expect(try PropertyList(parsing: text, as: .openstep) == entries(["a": "b", "c": "d"]))
    }

    @Test(arguments: ["{a;\"b c\";}", "a;\"b c\";", "\"a\" ; 'b c' ;"])
    func `a key alone is its own value`(text: String) throws {
        #expect(try PropertyList(parsing: text, as: .openstep) == entries(["a": "a", "b c": "b c"]))
    }

    @Test(arguments: [" ", "\n\n", "// nothing", "/* nothing */", "\u{2028}", "\u{FEFF} "])
    func `white space and comments alone are an empty dictionary`(text: String) throws {
        #expect(try PropertyList(parsing: text, as: .openstep) == entries([:]))
    }

    @Test func `the order of keys is kept, and the last of two equal keys is used`() throws {
        let value = try PropertyList(parsing: "{ b = 1; a = 2; b = 3; }", as: .openstep)
        guard case .dictionary(let dictionary) = value else { return #expect(Bool(false), "no dictionary") }
        #expect(Array(dictionary.keys) == ["b", "a"])
        #expect(dictionary["b"] == .string("3"))
    }

    @Test(arguments: [true, false])
    func `a byte order mark determines the encoding`(isBigEndian: Bool) throws {
        let text = "\u{FEFF}{ k = \"é😀\"; }"
        let utf16 = text.utf16.flatMap { unit in
            (0..<2).map { UInt8(unit >> (8 * (isBigEndian ? 1 - $0 : $0)) & 255) }
        }
        let utf32 = text.unicodeScalars.flatMap { scalar in
            (0..<4).map { UInt8(scalar.value >> (8 * (isBigEndian ? 3 - $0 : $0)) & 255) }
        }
        for bytes in [Array(text.utf8), utf16, utf32] {
            #expect(try PropertyList(parsing: bytes, as: .openstep) == entries(["k": "é😀"]))
        }
    }
}

private func entries(_ texts: [String: String]) -> PropertyList {
    .dictionary(PropertyList.Dictionary(texts.map { ($0.key, .string($0.value)) }))
}
