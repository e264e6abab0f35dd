import Commands
import Foundation
import PropertyLists
import TestSupport
import Testing

@Suite struct FormatTests {
    @Test(arguments: [
        (#""a\tb""#, "a\tb"), ("42", "42"), ("80.0", "80.0"), ("0.1", "0.1"), ("nan", "nan"), ("-inf", "-inf"),
        ("true", "true"), ("false", "false"), ("@(0.5)", "2001-01-01T00:00:00.5Z"), ("<00ff>", "AP8="), ("uid(3)", "3"),
        (#""\u{E9}""#, "\u{E9}"),
    ])
    func `a raw scalar has no quotes`(_ value: String, _ text: String) throws {
        #expect(try RawText.text(of: ValueNotation.value(value)) == text)
    }

    @Test(arguments: ["[]", "{a: 1}"])
    func `a container has no raw text`(_ value: String) throws {
        let failure = #expect(throws: RawFailure.self) { try RawText.text(of: ValueNotation.value(value)) }
        #expect(failure?.status == .invalidValue)
    }

    @Test func `typed lines name key, type and value`() throws {
        let value = try ValueNotation.value(
            #"{theme: "da\trk\n", list: [1, {x: true}], "": <00>, ":c": @(0.0), e: {}, n: nan}"#)
        #expect(
            TypedText.text(of: value.dictionaryValue ?? [:]) == """
                \tdata\tAA==
                \\\\:c\tdate\t2001-01-01T00:00:00Z
                e\tdictionary\t0
                list\tarray\t2
                :list:0\tinteger\t1
                :list:1\tdictionary\t1
                :list:1:x\tboolean\ttrue
                n\treal\tnan
                theme\tstring\tda\\trk\\n

                """)
        let key = try KeyArgument(":list:1")
        #expect(TypedText.text(of: ["x": true], under: key) == ":list:1\tdictionary\t1\n:list:1:x\tboolean\ttrue\n")
    }

    @Test func `typed lines of any value can be read back`() throws {
        var values = ValueGenerator(SeededGenerator(stream: "typed"))
        for _ in 0..<500 {
            guard case .dictionary(let domain) = values.value(depth: 4) else { continue }
            let text = TypedText.text(of: domain)
            #expect(try TypedText.domain(from: Array(text.utf8)) == domain, "\(Seed.ofThisRun)\n\(text)")
        }
    }

    @Test(arguments: [
        ("a", 1, "not three fields between tabs"), ("a\tstring\tb\tc", 1, "not three fields between tabs"),
        ("a\tstring\tb\nb\tint\t1", 2, "unknown type int"), ("a\tinteger\tx", 1, "not of type integer: x"),
        ("a\tdata\t!", 1, "not of type data: !"), ("a\tstring\t\\x", 1, "unknown escape"),
        ("a\tstring\t\\u12", 1, "\\u without four hexadecimal digits"),
        ("a\tstring\t\\u+123", 1, "\\u without four hexadecimal digits"),
        ("a\tstring\t\\", 1, "unknown escape"),
        ("a\tstring\tb\n:a:b\tstring\tc", 2, ":a:b: leads into a value of type string"),
        ("a\tarray\t9\n:a:5\tstring\tc", 2, ":a:5: there are 0 elements"),
        ("a\tdate\t@x", 1, "not of type date: @x"),
    ])
    func `invalid typed lines are rejected`(_ text: String, _ line: Int, _ problem: String) {
        let failure = #expect(throws: TypedFailure.self) { try TypedText.domain(from: Array(text.utf8)) }
        #expect(failure?.line == line)
        #expect(failure?.problem == problem)
    }

    @Test func `random bytes never trap the reader of typed lines`() throws {
        var generator = SeededGenerator(stream: "typed noise")
        let pieces = [
            "\t", "\n", "a", ":", "\\", "array", "dictionary", "string", "0", "-1", ":a:0", "\\u0041", "\0", "@1",
        ]
        for _ in 0..<2000 {
            let text = (0..<Int.random(in: 0...30, using: &generator)).map { _ in
                pieces.randomElement(using: &generator) ?? ""
            }.joined()
            _ = try? TypedText.domain(from: Array(text.utf8))
        }
    }

    @Test(
        arguments: [
            ("xml", FormatName.xml), ("XML1", .xml), ("binary1", .binary), ("Binary", .binary), ("json", .json),
            ("openstep", .openstep), ("gnustep", .gnustep), ("classic", .classic), ("raw", .raw), ("typed", .typed),
            ("json-schema", .jsonSchema), ("cli-json", .commandLine), ("xml2", nil), ("", nil),
        ] as [(String, FormatName?)])
    func `formats have names and synonyms`(_ word: String, _ format: FormatName?) {
        #expect(FormatName(word: word) == format)
    }

    @Test(arguments: FormatName.ofFiles)
    func `a value is printed as the library writes it`(_ format: FormatName) throws {
        let value: PropertyList = ["a": ["b"]]
        let bytes = try Rendering(format).bytes(of: value)
        #expect(try PropertyList(parsing: bytes, as: format.ofPropertyList) == value)
        #expect(format == .binary || bytes.last == UInt8(ascii: "\n"))
        #expect(!bytes.suffix(2).elementsEqual([10, 10]))
    }

    @Test func `the text formats end with a newline`() throws {
        #expect(String(decoding: try Rendering(.classic).bytes(of: ["a": 1]), as: UTF8.self) == "{\n    a = 1;\n}\n")
        #expect(String(decoding: try Rendering(.raw).bytes(of: true), as: UTF8.self) == "true\n")
        let key = try KeyArgument("k")
        #expect(String(decoding: try Rendering(.typed).bytes(of: 1, under: key), as: UTF8.self) == "k\tinteger\t1\n")
    }
}
