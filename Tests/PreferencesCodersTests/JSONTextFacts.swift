import Foundation
import PreferencesCoders
import TestSupport

extension JSONCodingFacts {
    /// The escape with four digits for a code unit.
    private static func escape(_ code: UInt32) -> String {
        let digits = String(code, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }

    private static let shortEscapes: [UInt32: String] = [8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r"]

    static let strings: [Fact] = [
        Fact("jsonEscapedSlashes") {
            try readsInEachEncoding(#""\/usr\/lib""#, "/usr/lib")
            try readsInEachEncoding(#""\\/usr\\/lib""#, #"\/usr\/lib"#)
        },
        Fact("jsonEscapedForwardSlashes") { try roundTrip(["/": 6], #"{"\/":6}"#) },
        Fact("jsonUnicodeCharacters") {
            try readsInEachEncoding("[\"漢崬한뀫語\"]", ["漢崬한뀫語"])
            try readsInEachEncoding("[\"明日\"]", ["明日"])
        },
        Fact("jsonUnicodeEscapes") {
            let rows = [
                (#""\u00fc\u2264""#, "ü≤"), (#""17\u00fc17\u226417""#, "17ü17≤17"),
                (#""\u00FC""#, "ü"), (#""\uD83D\uDE80""#, "\u{1F680}"),
            ]
            for (text, value) in rows { try readsInEachEncoding(text, value) }
        },
        Fact("encodingJSONHexUnicodeEscapes") {
            let codes = (1...0x1f as ClosedRange<UInt32>).filter { shortEscapes[$0] == nil }
            let scalars = codes.compactMap(Unicode.Scalar.init)
            for scalar in scalars { try roundTrip(String(Character(scalar)), "\"\(escape(scalar.value))\"") }
            let together = String(String.UnicodeScalarView(scalars))
            try roundTrip(together, "\"\(codes.map(escape).joined())\"")
        },
        Fact("jsonBadUnicodeEscapes") {
            let bad = [
                #"\uD83D"#, #"\uD83Dabc"#, #"abc\uD83D"#, #"\uD83D\u1234"#, #"\uD8"#, #"\uD83Da\uDE80"#,
            ]
            for text in bad {
                try fails { try read(String.self, text) }
                try fails { try read(String.self, "\"\(text)\"") }
            }
        },
        Fact("nullByte") {
            let text = "left\0right"
            try roundTrip([text])
            try roundTrip([text: text])
            try roundTrip(Room(label: text))
        },
        Fact("superfluouslyEscapedCharacters") { try fails { try read([String].self, #"["\w\o\r\d"]"#) } },
        Fact("equivalentUTF8Sequences") {
            let found = try read([String: Int].self, #"{ "na\u00efve" : 1, "nai\u0308ve" : 2 }"#)
            try equal(found.count, 1)
        },
        Fact("jsonControlCharacters") {
            for code in 0...0x1f as ClosedRange<UInt32> {
                let value = Unicode.Scalar(code).map { String(Character($0)) } ?? ""
                try readsInEachEncoding("\"\(escape(code))\"", value)
                if let short = shortEscapes[code] { try readsInEachEncoding("\"\(short)\"", value) }
            }
            try readsInEachEncoding("\" \"", " ")
        },
    ]

    static let fragments: [Fact] = [
        Fact("jsonNumberFragments") {
            let rows: [(String, Double)] = [
                ("0", 0), ("2.0", 2), ("0.3", 0.3), ("4e2", 400), ("-5.07e-3", -0.00507), ("0e-12", 0),
            ]
            for (text, value) in rows {
                try readsInEachEncoding(text, value)
                try readsInEachEncoding(text + " ", value)
            }
        },
        Fact("invalidJSONNumbersFailAsExpected") {
            let bad = [
                "0.", "3e ", "-5.07e- ", "+", "5.07e-4321", "+3.0k", "6m", "NaN", "nan", "Infinity", "inf", "-",
                "0x1F", "4.e3",
            ]
            for text in bad { try fails { try read(Float.self, text) } }
        },
        Fact("topLevelFragmentsWithGarbage") {
            func isCorrupt<T: Decodable>(_ type: T.Type, _ text: String) throws {
                for allowsJSON5 in [false, true] {
                    let decoder = JSONDecoder()
                    decoder.allowsJSON5 = allowsJSON5
                    let error = try fails { try read(type, text, by: decoder) }
                    guard case DecodingError.dataCorrupted = error else { throw error }
                }
            }
            try isCorrupt(Bool.self, "tru-")
            try isCorrupt(Bool.self, "fals-")
            try isCorrupt(Bool?.self, "nul-")
        },
        Fact("topLevelNumberFragmentsWithJunkDigitCharacters") {
            let part = Data("2.718281".utf8)[0..<4]
            try equal(try JSONDecoder().decode(Double.self, from: part), 2.71)
        },
        Fact("depthTraversal") {
            struct Descent: Decodable {
                init(from decoder: any Decoder) throws {
                    var list = try decoder.unkeyedContainer()
                    while list.count != 0 { list = try list.nestedUnkeyedContainer() }
                }
            }
            func nested(_ depth: Int) -> String {
                String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            }
            _ = try read(Descent.self, nested(256))
            try fails { try read(Descent.self, nested(513)) }
        },
        Fact("jsonPermitsTrailingCommas") {
            try equal(try read([String: [Int]].self, #"{"list" : [ 4, 5, ],}"#), ["list": [4, 5]])
        },
        Fact("whitespaceOnlyData") { try fails { try read(Int.self, " ") } },
    ]
}
