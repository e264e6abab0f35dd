import Commands
import Foundation
import PropertyLists
import TestSupport
import Testing

/// The exact text of `defaults read`. Values are in the notation of `ValueNotation`.
@Suite struct ClassicTextTests {
    /// A value at the top level is not quoted, but backslashes are doubled and non-ASCII characters are escaped.
    static let scalars: [(value: String, text: String)] = [
        (#""""#, ""), (#""a""#, "a"), (#""two words""#, "two words"), (#""a.b-c_d""#, "a.b-c_d"),
        (#""say \"hi\"""#, #"say "hi""#), (#""it's""#, "it's"), (#""a\\b""#, #"a\\b"#),
        (#""a\nb""#, "a\nb"), (#""a\tb""#, "a\tb"), (#""\u{1}""#, "\u{1}"), (#""\u{E9}\u{65E5}""#, #"\351\u65e5"#),
        (#""\u{80}\u{FF}\u{100}""#, #"\200\377\u0100"#), (#""\u{1F600}""#, #"\ud83d\ude00"#),
        (#""cafe\u{301}""#, #"cafe\u0301"#), (#""\u{9078}""#, #"\u9078"#), (#""{ a = 1; }""#, "{ a = 1; }"),
        ("0", "0"), ("42", "42"), ("-18432", "-18432"), ("18446744073709551615", "18446744073709551615"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("1.25", "1.25"), ("80.0", "80"), ("-5.0", "-5"), ("0.25", "0.25"), ("-0.5", "-0.5"), ("0.1", "0.1"),
        ("1e22", "1e+22"), ("1e15", "1000000000000000"), ("nan", "nan"), ("inf", "inf"), ("-inf", "-inf"),
        ("true", "1"), ("false", "0"),
        ("@2022-06-11T14:29:10Z", "2022-06-11 14:29:10 +0000"), ("@2024-01-02T03:04:05Z", "2024-01-02 03:04:05 +0000"),
        ("@(0.75)", "2001-01-01 00:00:00 +0000"), ("@(-0.25)", "2000-12-31 23:59:59 +0000"),
        ("<>", "{length = 0, bytes = 0x}"), ("<1234ABCD>", "{length = 4, bytes = 0x1234abcd}"),
        ("uid(7)", "<CFKeyedArchiverUID>{value = 7}"),
        ("[]", "(\n)"), ("{}", "{\n}"),
    ]

    /// The same values as the only element of an array.
    static let elements: [(value: String, text: String)] = [
        (#""""#, #""""#), (#""a""#, "a"), (#""Az09""#, "Az09"), (#""two words""#, #""two words""#),
        (#""a.b""#, #""a.b""#), (#""a_b""#, #""a_b""#), (#""-1""#, #""-1""#), (#""/a/b""#, #""/a/b""#),
        (#""say \"hi\"""#, #""say \\"hi\\"""#), (#""a\\b""#, #""a\\\\b""#), (#""a\nb""#, #""a\\nb""#),
        (#""a\tb\r""#, #""a\\tb\\r""#), (#""\u{0}\u{1B}x\u{7F}""#, #""\\000\\033x\\177""#),
        (#""\u{E9}""#, #""\\U00e9""#), (#""\u{9078}""#, #""\\U9078""#), (#""\u{1F600}""#, #""\\Ud83d\\Ude00""#),
        (#""it's""#, #""it's""#),
        ("42", "42"), ("-18432", #""-18432""#), ("0.25", #""0.25""#), ("80.0", "80"), ("-5.0", #""-5""#),
        ("1e22", #""1e+22""#), ("nan", "nan"), ("-inf", #""-inf""#), ("true", "1"), ("false", "0"),
        ("@2022-06-11T14:29:10Z", #""2022-06-11 14:29:10 +0000""#), ("<00ff>", "{length = 2, bytes = 0x00ff}"),
        ("uid(7)", "<CFKeyedArchiverUID>{value = 7}"),
        ("[]", "    (\n    )"), ("{}", "    {\n    }"),
    ]

    static let wholes: [(value: String, text: String)] = [
        ("{k: 1.25}", "{\n    k = \"1.25\";\n}"),
        ("{b: 1, a: 2}", "{\n    a = 2;\n    b = 1;\n}"),
        ("[\"one\", \"two\", \"three\"]", "(\n    one,\n    two,\n    three\n)"),
        (
            "{AppleEnabledInputSources: [{InputSourceKind: \"Keyboard Layout\", \"KeyboardLayout ID\": 2}]}",
            """
            {
                AppleEnabledInputSources =     (
                            {
                        InputSourceKind = "Keyboard Layout";
                        "KeyboardLayout ID" = 2;
                    }
                );
            }
            """
        ),
        (
            "{a: {b: {c: []}}}",
            """
            {
                a =     {
                    b =         {
                        c =             (
                        );
                    };
                };
            }
            """
        ),
        ("{\"a key\": 1, \"\": 2, \"\\u{E9}\": 3}", "{\n    \"\" = 2;\n    \"a key\" = 1;\n    \"\\\\U00e9\" = 3;\n}"),
        // U+E000 sorts before U+10000, although its UTF-16 code is greater.
        ("{\"\\u{10000}\": 1, \"\\u{E000}\": 2}", "{\n    \"\\\\Ue000\" = 2;\n    \"\\\\Ud800\\\\Udc00\" = 1;\n}"),
        ("[[1, 2], []]", "(\n        (\n        1,\n        2\n    ),\n        (\n    )\n)"),
        ("{d: <00>}", "{\n    d = {length = 1, bytes = 0x00};\n}"),
    ]

    @Test(arguments: scalars)
    func `a value at the top level is raw`(_ row: (value: String, text: String)) throws {
        #expect(ClassicText.text(of: try ValueNotation.value(row.value)) == row.text)
    }

    @Test(arguments: elements)
    func `a value in a collection is quoted unless it has only letters and digits`(
        _ row: (value: String, text: String)
    ) throws {
        let text = ClassicText.text(of: .array([try ValueNotation.value(row.value)]))
        #expect(text == "(\n    \(row.text)\n)")
    }

    @Test(arguments: wholes)
    func `collections are indented by four spaces per level`(_ row: (value: String, text: String)) throws {
        #expect(ClassicText.text(of: try ValueNotation.value(row.value)) == row.text)
    }

    @Test(arguments: [
        (0, "{length = 0, bytes = 0x}"),
        (23, "{length = 23, bytes = 0x000102030405060708090a0b0c0d0e0f10111213141516}"),
        (24, "{length = 24, bytes = 0x000102030405060708090a0b0c0d0e0f1011121314151617}"),
        (25, "{length = 25, bytes = 0x00010203 04050607 08090a0b 0c0d0e0f ... 11121314 15161718 }"),
        (45, "{length = 45, bytes = 0x00010203 04050607 08090a0b 0c0d0e0f ... 25262728 292a2b2c }"),
    ])
    func `long data is abbreviated in the middle`(_ count: Int, _ text: String) {
        #expect(ClassicText.text(of: .data(Data((0..<count).map { UInt8($0) }))) == text)
        // A slice of data does not begin at zero.
        #expect(ClassicText.text(of: .data(Data((0..<(count + 3)).map { UInt8(max(0, $0 - 3)) })[3...])) == text)
    }

    @Test func `every value is printed in ASCII`() throws {
        var values = ValueGenerator(SeededGenerator(stream: "classic"))
        for _ in 0..<500 {
            let text = ClassicText.text(of: values.value())
            #expect(text.utf8.allSatisfy { $0 < 0x80 }, "\(Seed.ofThisRun)")
        }
    }

    @Test func `the deepest value that can be read can be printed`() {
        var value: PropertyList = 1
        for _ in 0..<512 { value = .array([value]) }
        #expect(ClassicText.text(of: value).hasSuffix("\n)"))
    }
}
