import Foundation
import PreferencesCoders
import TestSupport

/// Facts about property lists in the form of OpenStep.
enum OldStyleFacts {
    static let all: [Fact] = [
        Fact("oldStylePlist_invalid") { try rejects(String.self, utf16("farewell old harbour")) },
        Fact("oldStylePlist_errors") {
            try equal(decoded([String: String].self, bytes("{ wind = north; }\r\n")), ["wind": "north"])
            try rejects([String: String].self, bytes("{ wind = north; }\r\nand then more"))
        },
        Fact("oldStylePlist_getSlashedChars_octal") {
            for number in 0..<0o1000 where number & 255 < 254 {
                let low = number & 255
                let expected = low < 128 ? String(UnicodeScalar(UInt8(low))) : String(nextStep[low - 128])
                try isRead(String(number, radix: 8), widths: 1...3, after: "", as: expected)
            }
        },
        Fact("oldStylePlist_getSlashedChars_unicode") {
            for number in UInt32(0)...0xFFFF {
                guard let scalar = UnicodeScalar(number) else { continue }
                let digits = String(number, radix: 16, uppercase: true)
                try isRead(digits, widths: 1...4, after: "U", as: String(scalar))
            }
        },
        Fact("oldStylePlist_getSlashedChars_literals") {
            let rows: [(String, String)] = [
                ("a", "\u{7}"), ("b", "\u{8}"), ("f", "\u{12}"), ("n", "\n"), ("r", "\r"), ("t", "\t"), ("v", "\u{11}"),
                ("\"", "\""), ("\\n", "\\n"),
            ]
            let list = rows.map { "'\\\($0.0)'" }.joined(separator: ", ")
            try equal(decoded([String].self, bytes("(\(list))")), rows.map { $0.1 })
        },
        Fact("oldStylePlist_getSlashedChars_variableSizeWithFollowingCharacters") {
            let list = #"('\U2y', '\U23y', '\U234y', '\U2345', '\U2345y')"#
            try equal(
                decoded([String].self, bytes(list)),
                ["\u{2}y", "\u{23}y", "\u{234}y", "\u{2345}", "\u{2345}y"])
        },
        Fact("oldStylePlist_dictionary") {
            let list = utf16("{ \"the name\" = Gull;\n  mark = <cafe d00d>;\n  \"the crew\" = (x, y, z); }")
            try equal(decoded(Boat.self, list), Boat(name: "Gull", mark: Data([0xCA, 0xFE, 0xD0, 0x0D])))
        },
        Fact("oldStylePlist_stringsFileFormat") {
            let list = "dawn = \"First light\";\nnoon = \"High sun\";\ndusk = \"Last light\";\n"
            try equal(decoded([String: String].self, utf16(list)), times)
        },
        Fact("oldStylePlist_comments") {
            let list = """
                // About the day */
                dawn = /*early*/ "First light";  // early
                noon = "High sun" /*half// */;
                dusk = "Last light"; // late
                """
            try equal(decoded([String: String].self, utf16(list)), times)
        },
    ]

    private static let times = ["dawn": "First light", "noon": "High sun", "dusk": "Last light"]

    /// The characters from 128 to 253 of the encoding that escapes in octal digits use.
    private static let nextStep = Array(
        ("\u{A0}ÀÁÂÃÄÅÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖÙÚÛÜÝÞµ×÷©¡¢£⁄¥ƒ§¤’“«‹›ﬁﬂ®–†‡·¦¶•‚„”»…‰¬¿"
            + "¹ˋ´ˆ˜¯˘˙¨²˚¸³˝˛ˇ—±¼½¾àáâãäåçèéêëìÆíªîïðñŁØŒºòóôõöæùúûıüýłøœßþÿ").unicodeScalars)

    /// Checks that escaped digits stand for a character, alone and after as many zeros as are allowed.
    private static func isRead(
        _ digits: String, widths: ClosedRange<Int>, after letter: String, as expected: String
    ) throws {
        let forms = widths.filter { $0 >= digits.count }.map {
            "'\\\(letter)\(String(repeating: "0", count: $0 - digits.count))\(digits)'"
        }
        let found = try decoded([String].self, bytes("(\(forms.joined(separator: ",")))"))
        try equal(found, Array(repeating: expected, count: forms.count))
    }
}

/// Has keys that must be quoted.
private struct Boat: Decodable, Equatable {
    enum CodingKeys: String, CodingKey {
        case name = "the name"
        case mark
        case crew = "the crew"
    }

    var name: String
    var mark: Data
    var crew = ["x", "y", "z"]
}
