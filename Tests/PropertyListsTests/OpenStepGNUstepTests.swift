import FoundationEssentials
import PropertyLists
import Testing

struct OpenStepGNUstepTests {
    @Test(arguments: [
        ("<*I5>", PropertyList.integer(5)), ("<*I-9223372036854775808>", .integer(PropertyList.Integer(Int64.min))),
        ("<*I18446744073709551615>", .integer(PropertyList.Integer(UInt64.max))), ("<*R1.5>", .real(1.5)),
        ("<*R2>", .real(2)), ("<*R-0>", .real(-0.0)), ("<*R1e+300>", .real(1e300)),
        ("<*R5e-324>", .real(.leastNonzeroMagnitude)),
        ("<*Rnan>", .real(.nan)), ("<*Rinf>", .real(.infinity)), ("<*R-inf>", .real(-.infinity)),
        ("<*BY>", .boolean(true)), ("<*BN>", .boolean(false)), ("<[aGVsbG8=]>", .data(Data("hello".utf8))),
        ("<[]>", .data(Data())), ("<[AA==]>", .data(Data([0]))), ("<[+/+/]>", .data(Data([0xFB, 0xFF, 0xBF]))),
        ("<*D2001-02-03 04:05:06 +0000>", date(2_865_906)), ("<*D4001-01-01 00:00:00 +0000>", date(63_113_904_000)),
        ("<*D12345-01-01 00:00:00 +0000>", date(326_425_075_200)),
        ("<*D-0044-03-15 00:00:00 +0000>", date(-64_527_667_200)),
        ("<*D2001-01-01 00:00:00 +0000 0.25>", date(0.25)), ("<*D2001-01-01 00:00:00 +0000 -1e-09>", date(-1e-9)),
    ])
    func `a typed value is written as it is read`(text: String, value: PropertyList) throws {
        #expect(try PropertyList(parsing: text, as: .gnustep) == value)
        #expect(String(decoding: try value.serialized(as: .gnustep), as: UTF8.self) == text + "\n")
    }

    @Test(arguments: [
        ("<*I\"123\">", PropertyList.integer(123)), ("<*I +5 >", .integer(5)), ("<*I007>", .integer(7)),
        ("<*R\"1.5\">", .real(1.5)), ("<*R.5>", .real(0.5)),
        ("<*R4.940656458412465e-324>", .real(.leastNonzeroMagnitude)),
        ("<*RNaN>", .real(.nan)), ("<*R-Infinity>", .real(-.infinity)), ("<*B\"Y\">", .boolean(true)),
        ("<*D\"2001-01-01 00:00:00 +0000\">", date(0)), ("<*D2001-01-01 00:00:00 +0130>", date(-5400)),
        ("<*D2001-01-01 00:00:00 -0800>", date(28_800)), ("<[aGVs\n bG8]>", .data(Data("hello".utf8))),
        ("<68 65>", .data(Data("he".utf8))), ("{CF$UID = <*I5>;}", .uid(5)),
        ("{CF$UID = 5;}", .dictionary(["CF$UID": .string("5")])),
        ("{CF$UID = <*I-5>;}", .dictionary(["CF$UID": .integer(-5)])),
    ])
    func `a typed value can have other spellings`(text: String, value: PropertyList) throws {
        #expect(try PropertyList(parsing: text, as: .gnustep) == value)
    }

    @Test(arguments: [
        ("<*Ix>", DecodingFailure.Problem.invalidInteger("x"), 0), ("<*I>", .invalidInteger(""), 0),
        ("<*I18446744073709551616>", .integerOutOfRange("18446744073709551616"), 0),
        ("<*I-9223372036854775809>", .integerOutOfRange("-9223372036854775809"), 0), ("<*R1e>", .invalidReal("1e"), 0),
        ("<*R>", .invalidReal(""), 0), ("<*R1e400>", .realOutOfRange("1e400"), 0),
        ("<*BX>", .expected("Y or N for a boolean"), 0),
        ("<*Q5>", .expected("a type: I, R, B or D"), 2), ("<*I5", .unexpectedEnd(inside: "a typed value"), 4),
        ("<*I5\0>", .invalidCharacter(0), 4), ("<*", .unexpectedEnd(inside: "a typed value"), 2),
        ("<*D2001-02-30 00:00:00 +0000>", .invalidDate("2001-02-30 00:00:00 +0000"), 0),
        ("<*D2001-01-01 00:00:00>", .invalidDate("2001-01-01 00:00:00"), 0),
        ("<*D2001-01-01 00:00:00 +0060>", .invalidDate("2001-01-01 00:00:00 +0060"), 0),
        ("<*D2001-01-01 00:00:00 +0000 1>", .invalidDate("2001-01-01 00:00:00 +0000 1"), 0),
        ("<*D999999-01-01 00:00:00 +0000>", .dateOutOfRange("999999-01-01 00:00:00 +0000"), 0),
        ("<[A]>", .invalidData("base64 ends in the middle of a group"), 3),
        ("<[AA=", .unexpectedEnd(inside: "data"), 5),
        ("<[AA*A]>", .invalidData("a character that base64 does not have"), 4),
        ("<[AAAA=]>", .invalidData("a misplaced “=” in base64"), 6),
    ])
    func `an empty typed value is an error`(
        text: String, problem: DecodingFailure.Problem, offset: Int
    ) throws {
        let failure = #expect(throws: DecodingFailure.self) { try PropertyList(parsing: text, as: .gnustep) }
        #expect(failure?.problem == problem)
        #expect(failure?.offset == offset)
    }

    @Test(arguments: [1e13 + 0.25, -1e13 - 0.25])
    func `a date that could not be read is not written`(_ seconds: Double) {
        let failure = #expect(throws: EncodingFailure.self) { try date(seconds).serialized(as: .gnustep) }
        #expect(failure?.problem == .dateOutOfRange)
    }

    /// Plain OpenStep text lacks this syntax. Errors in it are still those of the GNUstep reader.
    @Test(arguments: [
        ("<*D2001-02-30 00:00:00 +0000>", DecodingFailure.Problem.invalidDate("2001-02-30 00:00:00 +0000")),
        ("<*BX>", .expected("Y or N for a boolean")), ("<*R1e999>", .realOutOfRange("1e999")),
        ("<*I99999999999999999999>", .integerOutOfRange("99999999999999999999")),
    ])
    func `an error in a typed value is reported without a format, too`(
        _ text: String, _ problem: DecodingFailure.Problem
    ) {
        let failure = #expect(throws: DecodingFailure.self) { try PropertyList(parsing: "{ a = \(text); }") }
        #expect(failure?.problem == problem)
        #expect(failure?.format == .gnustep)
    }

    @Test func `a uid is written as in GNUstep's archives`() throws {
        let value: PropertyList = .dictionary(["a": .uid(UInt64.max)])
        let data = try value.serialized(as: .gnustep)
        #expect(String(decoding: data, as: UTF8.self) == "{\n    a = {CF$UID = <*I18446744073709551615>;};\n}\n")
        #expect(try PropertyList(parsing: data, as: .gnustep) == value)
        let failure = #expect(throws: EncodingFailure.self) {
            try PropertyList.array([.dictionary(["CF$UID": .integer(1)])]).serialized(as: .gnustep)
        }
        #expect(failure?.problem == .looksLike(.uid))
        #expect(failure?.path.description == ":0")
    }

    @Test(arguments: [0.1, -0.1, 1e-300, -1e-300, 63_000_000.3, -5e9 - 0.7, 9.9e12 + 0.25, 1e13, -1e13, 1e13 - 0.25])
    func `no part of a date is lost`(seconds: Double) throws {
        let data = try date(seconds).serialized(as: .gnustep)
        #expect(try PropertyList(parsing: data, as: .gnustep) == date(seconds))
    }

    @Test func `a fraction of a second can be dropped`() throws {
        var options = PropertyList.WritingOptions.default
        options.isLossy = true
        let data = try date(-0.25).serialized(as: .gnustep, options: options)
        #expect(String(decoding: data, as: UTF8.self) == "<*D2000-12-31 23:59:59 +0000>\n")
    }

    @Test(arguments: [Double.nan, .infinity, 1.1e13])
    func `a date beyond all calendars is refused`(seconds: Double) {
        let failure = #expect(throws: EncodingFailure.self) {
            try PropertyList.array([date(seconds)]).serialized(as: .gnustep)
        }
        #expect(failure?.problem == .dateOutOfRange)
        #expect(failure?.path.description == ":0")
    }
}

private func date(_ seconds: Double) -> PropertyList { .date(Date(timeIntervalSinceReferenceDate: seconds)) }
