import PropertyLists
import Testing

/// Invalid bytes, and the expected failure with its place and entry.
struct OpenStepMistake: Sendable, CustomTestStringConvertible {
    let bytes: [UInt8]
    let problem: DecodingFailure.Problem
    let offset: Int
    let path: String

    init(_ text: String, _ problem: DecodingFailure.Problem, at offset: Int, path: String = "") {
        self.init(bytes: Array(text.utf8), problem, at: offset, path: path)
    }

    init(bytes: [UInt8], _ problem: DecodingFailure.Problem, at offset: Int, path: String = "") {
        (self.bytes, self.problem, self.offset, self.path) = (bytes, problem, offset, path)
    }

    var testDescription: String { String(decoding: bytes.prefix(40), as: UTF8.self) }
}

struct OpenStepFailureTests {
    @Test(arguments: [
        OpenStepMistake("", .emptyInput, at: 0),
        OpenStepMistake("{ a = b }", .expected("; after the value"), at: 7, path: ":a"),
        OpenStepMistake("{ a = b\n c = d; }", .expected("; after the value"), at: 7, path: ":a"),
        OpenStepMistake("{ a = {} }", .expected("; after the value"), at: 8, path: ":a"),
        OpenStepMistake("( a b )", .expected(", or ) after the element"), at: 3, path: ":0"),
        OpenStepMistake("( a, , b )", .expected("a value"), at: 5, path: ":1"),
        OpenStepMistake("( , )", .expected("a value"), at: 2, path: ":0"),
        OpenStepMistake("{ a b; }", .expected("= or ; after the key"), at: 4, path: ":a"),
        OpenStepMistake("{ a = ; }", .expected("a value"), at: 6, path: ":a"),
        OpenStepMistake("{ ; }", .expected("a key"), at: 2),
        OpenStepMistake("{ (a) = b; }", .expected("a key"), at: 2),
        OpenStepMistake("a = b; }", .expected("a key"), at: 7),
        OpenStepMistake("{ a = b; ", .unexpectedEnd(inside: "a dictionary"), at: 9),
        OpenStepMistake("{ a", .unexpectedEnd(inside: "a dictionary"), at: 3, path: ":a"),
        OpenStepMistake("{ a = ", .unexpectedEnd(inside: "a dictionary"), at: 6, path: ":a"),
        OpenStepMistake("a = b", .unexpectedEnd(inside: "a dictionary"), at: 5, path: ":a"),
        OpenStepMistake("( a, ", .unexpectedEnd(inside: "an array"), at: 5, path: ":1"),
        OpenStepMistake("{ a = \"b", .unterminatedString, at: 6, path: ":a"),
        OpenStepMistake("'a\\", .unterminatedString, at: 0),
        OpenStepMistake("\"\\U", .unterminatedString, at: 0),
        OpenStepMistake("{ /* a ", .unexpectedEnd(inside: "a comment"), at: 7),
        OpenStepMistake("/*/", .unexpectedEnd(inside: "a comment"), at: 3),
        OpenStepMistake("<00", .unexpectedEnd(inside: "data"), at: 3),
        OpenStepMistake("<0", .unexpectedEnd(inside: "data"), at: 2),
        OpenStepMistake("<012>", .invalidData("an odd number of hexadecimal digits"), at: 4),
        OpenStepMistake("(<0 1>)", .invalidData("an odd number of hexadecimal digits"), at: 3, path: ":0"),
        OpenStepMistake("<0g>", .invalidData("an odd number of hexadecimal digits"), at: 2),
        OpenStepMistake("<01234567890g>", .invalidData("an odd number of hexadecimal digits"), at: 12),
        OpenStepMistake("<g0>", .invalidData("expected a hexadecimal digit or >"), at: 1),
        OpenStepMistake("a b", .trailingContent, at: 2),
        OpenStepMistake("{} x", .trailingContent, at: 3),
        OpenStepMistake("(a));", .trailingContent, at: 3),
        OpenStepMistake("\"\\Ux\"", .invalidEscape("\\U"), at: 1),
        OpenStepMistake("\"ab\\Ud83dx\"", .loneSurrogate, at: 3),
        OpenStepMistake("\"\\Ude00\\Ud83d\"", .loneSurrogate, at: 1),
        OpenStepMistake("\"\\Ud83d\\Ud83d\"", .loneSurrogate, at: 1),
        OpenStepMistake("{ a = é; }", .invalidCharacter(0xE9), at: 6, path: ":a"),
        OpenStepMistake("{ a = 😀; }", .invalidCharacter(0x1F600), at: 6, path: ":a"),
        OpenStepMistake("{ a = b\0; }", .invalidCharacter(0), at: 7, path: ":a"),
        OpenStepMistake("{ a = \"b and some more\0\"; }", .invalidCharacter(0), at: 22, path: ":a"),
        OpenStepMistake("( \"\\\0\" )", .invalidCharacter(0), at: 4, path: ":0"),
        OpenStepMistake("/* \0 */ a", .invalidCharacter(0), at: 3),
        OpenStepMistake("\0", .invalidCharacter(0), at: 0),
    ])
    func `an error is reported with its position`(row: OpenStepMistake) {
        expect(row, in: .openstep)
        expect(row, in: .gnustep)
    }

    @Test(arguments: [
        OpenStepMistake(bytes: Array("{ a = \"b".utf8) + [0xFF], .invalidText(encoding: "UTF-8"), at: 8, path: ":a"),
        OpenStepMistake(bytes: Array("(a, b".utf8) + [0xC3], .invalidText(encoding: "UTF-8"), at: 5, path: ":1"),
        OpenStepMistake(
            bytes: Array("{ a = (); b = {}".utf8) + [0x80], .invalidText(encoding: "UTF-8"), at: 16, path: ":b"),
        OpenStepMistake(bytes: Array("{} ".utf8) + [0x80], .invalidText(encoding: "UTF-8"), at: 3),
        OpenStepMistake(bytes: [0xFF], .invalidText(encoding: "UTF-8"), at: 0),
        OpenStepMistake(bytes: [0xEF, 0xBB, 0xBF, 0x28, 0xFF], .invalidText(encoding: "UTF-8"), at: 4, path: ":0"),
        OpenStepMistake(
            bytes: Array("( a b )".utf8) + [0xFF], .expected(", or ) after the element"), at: 3, path: ":0"),
        OpenStepMistake(
            bytes: [0xFE, 0xFF, 0, 0x28, 0, 0x61, 0xD8, 0], .invalidText(encoding: "UTF-16"), at: 6, path: ":0"),
        OpenStepMistake(bytes: [0xFF, 0xFE, 0x28, 0, 0x29, 0, 0x78, 0], .trailingContent, at: 6),
        OpenStepMistake(bytes: [0xFF, 0xFE, 0x28], .invalidText(encoding: "UTF-16"), at: 2),
    ])
    func `invalid text is reported with the entry that contains it`(row: OpenStepMistake) {
        expect(row, in: .openstep)
    }

    @Test(arguments: [
        OpenStepMistake(
            "{ a = <*I5>; }", .expected("data in hexadecimal digits; typed values are GNUstep's notation"), at: 6,
            path: ":a"),
        OpenStepMistake(
            "<[AA==]>", .expected("data in hexadecimal digits; typed values are GNUstep's notation"), at: 0),
    ])
    func `Core Foundation's notation excludes that of GNUstep`(row: OpenStepMistake) throws {
        expect(row, in: .openstep)
        #expect(throws: Never.self) { try PropertyList(parsing: row.bytes, as: .gnustep) }
    }

    @Test func `a duplicate key can be refused`() {
        let options = PropertyList.ReadingOptions(refusesDuplicateKeys: true)
        let failure = #expect(throws: DecodingFailure.self) {
            try PropertyList(parsing: "{ a = 1; b = 2; a = 3; }", as: .openstep, options: options)
        }
        #expect(failure?.problem == .duplicateKey("a"))
        #expect(failure?.offset == 16)
    }

    @Test(arguments: [("(", ")"), ("{a=", ";}"), ("a = (", ");")])
    func `nesting has a limit`(opening: String, closing: String) throws {
        let limits = PropertyList.Limits(nesting: 2)
        let (fits, exceeds) = opening == "a = (" ? ("a=();", "a=(());") : nested(opening, closing)
        #expect(throws: Never.self) { try PropertyList(parsing: fits, as: .openstep, limits: limits) }
        let failure = #expect(throws: DecodingFailure.self) {
            try PropertyList(parsing: exceeds, as: .openstep, limits: limits)
        }
        #expect(failure?.problem == .nestedTooDeeply(limit: 2))
    }

    private func nested(_ opening: String, _ closing: String) -> (String, String) {
        let core = opening == "(" ? "x" : "{}"
        let depth = opening == "(" ? 2 : 1
        func text(_ depth: Int) -> String {
            String(repeating: opening, count: depth) + core + String(repeating: closing, count: depth)
        }
        return (text(depth), text(depth + 1))
    }

    private func expect(
        _ row: OpenStepMistake, in format: PropertyList.Format, at location: SourceLocation = #_sourceLocation
    ) {
        let failure = #expect(throws: DecodingFailure.self, sourceLocation: location) {
            try PropertyList(parsing: row.bytes, as: format)
        }
        #expect(failure?.problem == row.problem, sourceLocation: location)
        #expect(failure?.offset == row.offset, sourceLocation: location)
        #expect(failure?.path.description == row.path, sourceLocation: location)
        #expect(failure?.format == format, sourceLocation: location)
    }
}
