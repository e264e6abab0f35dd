import Foundation
import Preferences
import PropertyLists
import Testing

@Suite struct CoercionTests {
    @Test(
        arguments: [
            ("12", 12), ("12abc", 12), ("1e3", 1), ("abc", 0), ("", 0), ("-", 0), ("+7", 7), ("--1", 0), ("1.9", 1),
            ("-1.9", -1),
            (".5", 0), ("0x10", 0), ("1,000", 1), (" \t\n12", 12), ("\u{A0}\u{2003}\u{2028}1", 1), ("- 12", -12),
            ("+\n12", 12), ("\u{FEFF}1", 0), ("\u{661}", 0), ("1\0", 1), ("\u{0}1", 0), ("😀", 0), ("1😀", 1),
            ("9223372036854775807", .max), ("9223372036854775808", .max), ("-9223372036854775808", .min),
            ("-9223372036854775809", .min), ("99999999999999999999999x", .max),
        ] as [(String, Int)])
    func `an integer is what a text begins with`(text: String, integer: Int) {
        #expect(PropertyList.string(text).asInteger == integer)
    }

    @Test(
        arguments: [
            (0, 0), (-1, -1), (0.9, 0), (-1.9, -1), (1e10, 10_000_000_000), (0x1p63, .max), (-0x1p63, .min),
            (1e300, .max),
            (-1e300, .min), (.infinity, .max), (-.infinity, .min), (.nan, 0),
            (0x1.fffffffffffffp62, 9_223_372_036_854_774_784),
        ] as [(Double, Int)])
    func `a real loses its fraction and stays within the integers`(real: Double, integer: Int) {
        #expect(PropertyList.real(real).asInteger == integer)
    }

    @Test(
        arguments: [
            ("1.5", 1.5), ("-1.5x", -1.5), ("1e3", 1000), ("1E-3", 0.001), ("1e+2x", 100), (".5", 0.5), ("+.5", 0.5),
            ("5.", 5),
            ("1.e5", 100_000), ("- 12", -12), ("1 .5", 1), ("1.2.3", 1.2), ("1e", 0), ("1e+", 0), ("1e 5", 0),
            (".e5", 0),
            (".", 0), ("", 0), ("abc", 0), ("nan", 0), ("inf", 0), ("0x10", 0), ("\t 1", 1), ("\n1", 0),
            ("\u{3000}1", 1),
            ("1e400", .infinity), ("-1e400", -.infinity), ("1e-400", 0), ("4.9e-324", .leastNonzeroMagnitude),
            ("0.1", 0.1), ("9007199254740993", 9_007_199_254_740_992), ("1e99999999999999999999", .infinity),
        ] as [(String, Double)])
    func `a double is what a text begins with`(text: String, double: Double) {
        #expect(PropertyList.string(text).asDouble == double)
    }

    @Test(
        arguments: [
            (.string("0.1"), 0.1), (.string("1e39"), .infinity), (.string("3.4028236e38"), .infinity),
            (.string("1e-50"), 0),
            (.real(0.1), 0.1), (.real(1e300), .infinity), (.real(-1e300), -.infinity),
            (.integer(16_777_217), 16_777_216),
            (.integer(-16_777_217), -16_777_216), (.integer(PropertyList.Integer(UInt64.max)), 0x1p64),
            (.integer(PropertyList.Integer(Int64.min)), -0x1p63), (.boolean(true), 1),
        ] as [(PropertyList, Float)])
    func `a float is rounded once`(value: PropertyList, float: Float) {
        #expect(value.asFloat == float)
    }

    @Test(arguments: [
        "t", "T", "y", "Y", "true", "yes", "YES", "yep", "1", "007", "+1", "-1", "-0002", " 1", "\t\n y", "0 1", "- 1",
        "10", "1.9", "1\u{301}", "\u{85}y",
    ])
    func `these texts are true`(text: String) { #expect(PropertyList.string(text).asBoolean) }

    @Test(arguments: [
        "", "0", "00", "no", "NO", "n", "f", "false", "on", "--1", "+-1", "+t", "0t", "-0y", "0.1", ".5", "0x1",
        "\u{661}",
        "\u{0}1", "é", "😀",
    ])
    func `these texts are false`(text: String) { #expect(!PropertyList.string(text).asBoolean) }

    @Test(
        arguments: [
            (.integer(0), false), (.integer(-1), true), (.integer(PropertyList.Integer(UInt64.max)), true),
            (.real(0), false),
            (.real(-0.0), false), (.real(0.5), true), (.real(.leastNonzeroMagnitude), true), (.real(.nan), true),
            (.boolean(true), true), (.boolean(false), false),
        ] as [(PropertyList, Bool)])
    func `a number is true unless it is 0`(value: PropertyList, flag: Bool) { #expect(value.asBoolean == flag) }

    @Test(
        arguments: [
            (.string(""), ""), (.integer(-12), "-12"),
            (.integer(PropertyList.Integer(UInt64.max)), "18446744073709551615"),
            (.real(2), "2.0"), (.real(0.1), "0.1"), (.real(-0.0), "-0.0"), (.real(1e16), "1e+16"),
            (.real(123_456_789.125), "123456789.125"), (.real(.nan), "nan"), (.real(-.infinity), "-inf"),
            (.boolean(true), "1"), (.boolean(false), "0"), (.date(Date(timeIntervalSinceReferenceDate: 0)), nil),
            (.data(Data("1".utf8)), nil), (["1"], nil), (["a": 1], nil), (.uid(1), nil),
        ] as [(PropertyList, String?)])
    func `a number is its shortest text`(value: PropertyList, text: String?) { #expect(value.asString == text) }

    @Test(
        arguments: [
            ([], []), (["a", "b"], ["a", "b"]), (["a", 1], nil), ([true], nil), ([["a"]], nil), ("a", nil), ([:], nil),
        ] as [(PropertyList, [String]?)])
    func `an array of strings holds nothing else`(value: PropertyList, texts: [String]?) {
        #expect(value.asStringArray == texts)
    }

    @Test(
        arguments: [
            .integer(PropertyList.Integer(UInt64.max)), .integer(PropertyList.Integer(Int64.max)),
        ] as [PropertyList])
    func `an integer beyond Int is the greatest one`(value: PropertyList) {
        #expect(value.asInteger == .max)
        #expect(value.asDouble >= 0x1p63)
    }

    @Test(
        arguments: [
            .date(Date(timeIntervalSinceReferenceDate: 5)), .data(Data("1".utf8)), ["1"], ["a": 1], .uid(1),
        ] as [PropertyList])
    func `other values are neither numbers, strings nor Booleans`(value: PropertyList) {
        #expect(value.asInteger == 0)
        #expect(value.asDouble == 0)
        #expect(value.asFloat == 0)
        #expect(!value.asBoolean)
        #expect(value.asString == nil)
        #expect(value.asURL { _ in "/home/ada" } == nil)
    }

    @Test(
        arguments: [
            ("1", .max, .infinity), ("0", 0, 0), (" ", 0, 0), ("-", 0, 0), (".", 0, 0), ("1e", 1, 10), ("0.", 0, 0),
            ("~", 0, 0),
            ("a:", 0, 0), ("/", 0, 0), ("\0", 0, 0), ("\u{10FFFF}", 0, 0), ("\u{301}", 0, 0),
        ] as [(String, Int, Double)])
    func `a text of 64 KiB is read like a short one`(piece: String, integer: Int, double: Double) {
        let value = PropertyList.string(String(repeating: piece, count: 1 << 16))
        #expect(value.asInteger == integer)
        #expect(value.asDouble == double)
        #expect(value.asFloat == Float(double))
        #expect(value.asBoolean == (integer != 0))
        // Any result is valid, as long as the call returns.
        _ = value.asURL { _ in nil }
    }
}
