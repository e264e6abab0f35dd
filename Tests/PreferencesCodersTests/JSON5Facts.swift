import Foundation
import PreferencesCoders
import TestSupport

/// Facts about the relaxed syntax of JSON5.
enum JSON5Facts {
    /// A value that can only be read from null.
    struct Null: Decodable, Equatable {
        init() {}
        init(from decoder: any Decoder) throws {
            guard try decoder.singleValueContainer().decodeNil() else { throw Difference(description: "not null") }
        }
    }

    /// A value with a dictionary in it.
    struct Greeting: Decodable, Equatable {
        let word: String
        let more: [String: String]
    }

    static var decoder: JSONDecoder { .with(json5: true) }

    static let plain: [(String, Int?)] = [
        ("3", 3), ("33", 33), ("77665544", 77_665_544), ("-3", -3), ("-30", -30), ("0", 0), ("+0", 0), ("-0", 0),
        ("+3", 3), ("+30", 30),
    ]

    static let whole: [(String, Int?)] = [
        ("0x2E", 46), ("0x0000000B", 11), ("-0X2e", -46), ("+0X2e", 46), ("3.", 3), ("3.e2", 300), ("3e2", 300),
        ("3E2", 300), ("3e+2", 300), ("3E+2", 300), ("3e+02", 300), ("3E+02", 300),
    ]

    static let notWhole = [
        "-", "+", "-z", "+z", "-0x", "+0x", "-0x ", "+0x ", "-0x" + String(repeating: "BFFFF", count: 10), "0xDEF.ABC",
        "0xDEFpA", "3e", "3E", "3e ", "3E ", "+3e", "+3e ", "-3e ", "-3E ",
    ]

    static let fractions: [(String, Double?)] = [
        ("Infinity", .infinity), ("+Infinity", .infinity), ("-Infinity", -.infinity), (".3", 0.3), ("3.", 3),
        ("-.3", -0.3), ("+.3", 0.3), ("3e-2", 0.03), ("3E-2", 0.03), ("3e-02", 0.03), ("3E-02", 0.03), ("3e2", 300),
        ("3E2", 300), ("3e+2", 300), ("3E+2", 300), ("3e+02", 300), ("3E+02", 300), ("0x2E", 46), ("-0X2e", -46),
        ("+0X2e", 46),
    ]

    static let relaxed: [Fact] = [
        Fact("json5Numbers") {
            try reads(plain + whole, decoder)
            try reads(plain.map { ($0, $1.map(Double.init)) } + fractions, decoder)
            for text in ["NaN", "+NaN", "-NaN"] { try isTrue(try decoder.read(text, as: Double.self).isNaN) }
            try refuses(Int.self, notWhole, decoder)
            let cut = ["-Inf", "+Inf", "+Na", "-Na", "-infinity", "+infinity", "-NA", "-NAN", "+NAN", "+NA"]
            try refuses(Double.self, cut + cut.map { $0 + "      " }, decoder)
            try refuses(Double.self, ["0x3.", "0x3.3", ".e3", "0x" + String(repeating: "F", count: 22)], decoder)
        },
        Fact("json5Null") {
            try equal(try decoder.read("null"), Null())
            try refuses(Null.self, ["Null", "nul", "nu", "n", "n    ", "nu   "], decoder)
        },
        Fact("json5EsotericErrors") {
            try refuses([String].self, ["[", "[ ", "[\n\n", "['a',", "['a', ", "['a',\n"], decoder)
            let values = ["", " ", "\n\n", "  ", "   "].map { "{a : false" + $0 }
            try refuses([String: Bool].self, ["{", "{ ", "{a ", "{a :", "{a : "] + values, decoder)
            let cut: [[UInt8]] = [[0x80], [0xC0], [0xE0, 0x80], [0xF0, 0x80, 0x80]]
            for bytes in cut { try fails { try decoder.decode([String: Bool].self, from: Data("{".utf8) + bytes) } }
        },
        Fact("json5Strings") {
            for end in ["\n", "\r", "\r\n"] {
                let texts = [
                    "{k\(end) : true}", "{k \(end) : true}", "{ k \(end) : true,\(end)k\(end):true,}",
                    "{k// note \(end) : true}", "{k // note \(end) : true}", "{k/* note*/ \(end) : true}",
                    "{k/* note */\(end): true}", "{k/* note */:/*note*/\(end)true}", "// note\(end){k:true}",
                ]
                try reads(texts.map { ($0, ["k": true]) }, decoder)
            }
            try equal(try decoder.read(#"{k : "so\x20long"}"#), ["k": "so long"])
            let escapes = [#"\xso"#, #"\x2so"#, #"\0so"#, #"\x00so"#, #"\u0000so"#, #"\uB"#, #"\uB   "#]
            try refuses([String: String].self, escapes.map { "{k : \"go\($0)\"}" }, decoder)
        },
        Fact("json5AssumedDictionary") {
            let dictionary = JSONDecoder.with(json5: true, dictionary: true)
            let one = #"hi: "you""#
            let value = ["hi": "you"]
            let endings = ["", ",", "   ", ",  ", "  ,  "].map { (one + $0, Optional(value)) }
            let empty = ["", " ", "{ }", "{}"].map { ($0, Optional([String: String]())) }
            let more: [(String, [String: String]?)] = [
                ("{\(one)}", value), ("   hi   : \"you\"   ", value),
                ("\(one), bye: \"5\"", ["hi": "you", "bye": "5"]),
            ]
            try reads(endings + empty + more, dictionary)
            let junk = ["{" + one, one + "}", one + " y ", one + " y", one + "y", ",", " , ", ", ", "   ,"]
            try refuses([String: String].self, junk, dictionary)
            let nested = ["{\"to\":\"all\"}", "{\"to\":\"all\"},", "{\"to\":\"all\",},"]
            let greeting = Greeting(word: "hi", more: ["to": "all"])
            try reads(nested.map { ("word: \"hi\", more: \($0)", greeting) }, dictionary)
            try refuses([String: Int].self, ["hi: 0x"], dictionary)
            try refuses([Int].self, ["[4,5]"], dictionary)
            try refuses(String.self, ["word"], dictionary)
            try refuses(Int.self, ["5"], dictionary)
        },
    ]
}
