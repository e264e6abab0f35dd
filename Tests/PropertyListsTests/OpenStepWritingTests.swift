import FoundationEssentials
import PropertyLists
import Testing

struct OpenStepWritingTests {
    @Test func `an entry is on a separate line, indented by four spaces per level`() throws {
        let value: PropertyList = .dictionary([
            "k": .string("v"), "array": .array([.string("a"), .array([]), .string("b c")]),
            "empty": .dictionary([:]), "data": .data(Data([0, 1, 2, 3, 0xFE])),
        ])
        let text = """
            {
                array = (
                    a,
                    (
                    ),
                    "b c"
                );
                data = <00010203 fe>;
                empty = {
                };
                k = v;
            }

            """
        #expect(try written(value) == text)
        #expect(try PropertyList(parsing: text, as: .openstep) == value)
    }

    @Test(arguments: [
        ("bare", "bare"), ("a/b:c.d-e$f_9", "a/b:c.d-e$f_9"), ("", "\"\""), ("/etc", "\"/etc\""), ("a b", "\"a b\""),
        ("a+b", "\"a+b\""), ("\"\\", #""\"\\""#), ("a\nb\t\u{1}\u{7F}\0", #""a\012b\011\001\177\000""#),
        ("it's", "\"it's\""), ("naïve 😀", "\"naïve 😀\""), ("-5", "\"-5\""), ("true", "\"true\""),
        ("long enough for a word\n", #""long enough for a word\012""#),
        ("\u{80}", "\"\u{80}\""),
    ])
    func `a text is unquoted if every reader accepts it`(text: String, expected: String) throws {
        #expect(try written(.string(text)) == expected + "\n")
        for format in [PropertyList.Format.openstep, .gnustep] {
            #expect(try PropertyList(parsing: expected, as: format) == .string(text))
        }
    }

    @Test func `other characters than ASCII can be escaped`() throws {
        var options = PropertyList.WritingOptions.default
        options.escapesNonASCII = true
        #expect(try written(.string("a é€😀 z"), options) == "\"a \\U00e9\\U20ac\\Ud83d\\Ude00 z\"\n")
    }

    @Test func `keys are sorted unless their order is to be kept`() throws {
        let value: PropertyList = .dictionary([
            "b": .string("1"), "a": .string("2"), "\u{FFFF}": .string("3"), "😀": .string("4"),
        ])
        #expect(try written(value) == "{\n    a = 2;\n    b = 1;\n    \"😀\" = 4;\n    \"\u{FFFF}\" = 3;\n}\n")
        var options = PropertyList.WritingOptions.default
        options.keepsKeyOrder = true
        #expect(try written(value, options).hasPrefix("{\n    b = 1;\n    a = 2;\n"))
    }

    @Test(arguments: [
        (PropertyList.integer(-5), "-5"), (.integer(PropertyList.Integer(UInt64.max)), "18446744073709551615"),
        (.real(0.1), "0.1"), (.real(2), "2"), (.real(1e300), "\"1e+300\""), (.boolean(true), "1"),
        (.boolean(false), "0"),
        (.date(Date(timeIntervalSinceReferenceDate: 0.75)), "\"2001-01-01 00:00:00 +0000\""), (.uid(7), "7"),
    ])
    func `a value without a type in OpenStep is rejected or written as text`(value: PropertyList, text: String) throws {
        let failure = #expect(throws: EncodingFailure.self) {
            try PropertyList.dictionary(["a": .array([.string("x"), value])]).serialized(as: .openstep)
        }
        #expect(failure?.problem == .kindNotSupported(value.kind))
        #expect(failure?.path.description == ":a:1")
        var options = PropertyList.WritingOptions.default
        options.coerces = true
        #expect(try written(value, options) == text + "\n")
    }

    @Test func `nesting has a limit, with the entry that exceeds it`() throws {
        var options = PropertyList.WritingOptions.default
        options.limits.nesting = 2
        let fits: PropertyList = .array([.dictionary(["k": .string("v")])])
        #expect(throws: Never.self) { try written(fits, options) }
        let failure = #expect(throws: EncodingFailure.self) {
            try written(.array([.string("x"), .dictionary(["k": .array([])])]), options)
        }
        #expect(failure?.problem == .nestedTooDeeply(limit: 2))
        #expect(failure?.path.description == ":1:k")
    }

    private func written(_ value: PropertyList, _ options: PropertyList.WritingOptions = .default) throws -> String {
        String(decoding: try value.serialized(as: .openstep, options: options), as: UTF8.self)
    }
}
