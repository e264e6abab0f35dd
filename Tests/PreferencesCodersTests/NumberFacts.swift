import Foundation
import PreferencesCoders
import TestSupport

private var integerTypes: [any Decodable.Type] {
    [
        [Int].self, [Int8].self, [Int16].self, [Int32].self, [Int64].self,
        [UInt].self, [UInt8].self, [UInt16].self, [UInt32].self, [UInt64].self,
    ]
}

private func doesNotBecome(_ type: any Decodable.Type, _ value: any Encodable, line: Int = #line) throws {
    for format in bothFormats { try rejects(type, encoded(value, format), line: line) }
}

private func becomes<T: Codable & Equatable>(_ expected: T, _ value: any Encodable, line: Int = #line) throws {
    for format in bothFormats {
        let list = try encoded(["n": Element(value)], format)
        try equal(decoded([String: T].self, list), ["n": expected], line: line)
    }
}

private func isLimited<T: FixedWidthInteger & Codable>(_ type: T.Type, radix: Int) throws {
    let prefix = radix == 16 ? "0x" : ""
    func element(_ magnitude: String, _ sign: String = "") -> Data {
        bytes("<integer>\(sign)\(prefix)\(magnitude)</integer>")
    }
    let (most, least) = (UInt64(T.max), T.min.magnitude)
    try equal(decoded(T.self, element(String(most, radix: radix))), T.max)
    try rejects(
        T.self,
        most == .max
            ? bytes("<integer>18446744073709551616</integer>")
            : element(String(most + 1, radix: radix)))
    guard T.isSigned else { return }
    try equal(decoded(T.self, element(String(least, radix: radix), "-")), T.min)
    try rejects(T.self, element(String(UInt64(least) + 1, radix: radix), "-"))
}

/// Writes a value of any type.
private struct Element: Encodable {
    let value: any Encodable

    init(_ value: any Encodable) { self.value = value }

    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

/// Facts about numbers.
enum NumberFacts {
    static let all: [Fact] = [
        Fact("typeCoercion") {
            let reals: [any Decodable.Type] = [[Float].self, [Double].self]
            for type in integerTypes + reals { try doesNotBecome(type, [true, false]) }
            let zeroAndOne: [any Encodable] = [
                [0, 1] as [Int], [0, 1] as [Int8], [0, 1] as [Int16], [0, 1] as [Int32], [0, 1] as [Int64],
                [0, 1] as [UInt], [0, 1] as [UInt8], [0, 1] as [UInt16], [0, 1] as [UInt32], [0, 1] as [UInt64],
                [0, 1] as [Float], [0, 1] as [Double],
            ]
            for list in zeroAndOne { try doesNotBecome([Bool].self, list) }
            try doesNotBecome([UInt8].self, [256.0])
            try doesNotBecome([Int8].self, [-129.0])
            for real in [-1, 2.71828, .infinity, .nan] { try doesNotBecome([UInt64].self, [real]) }
            try doesNotBecome([UInt64].self, [Int64(-1)])
            try doesNotBecome([Int64].self, [UInt64.max])
        },
        Fact("integerRealCoercion") {
            try becomes(1.0, UInt64(1))
            try becomes(Float(-1), Int64(-1))
            try becomes(18_446_744_073_709_551_616.0, UInt64.max)
            try becomes(-9_223_372_036_854_775_808.0, Int64.min)
            try becomes(UInt8(1), 1.0)
            try becomes(UInt64(1), 1.0)
            try becomes(Int32(1), 1.0)
            try becomes(Int8(-1), -1.0)
            try becomes(UInt8.max, 255.0)
            try becomes(Int8(-127), -127.0)
            try becomes(6_378_137, 6.378137e6)
        },
        Fact("issue6164184") {
            let list = "<integer>0xBEEF</integer><integer>0x2222</integer><integer>-0xFFFF</integer>"
            try equal(decoded([Int].self, bytes("<plist><array>\(list)</array></plist>")), [48879, 8738, -65535])
        },
        Fact("xmlIntegerEdgeCases") {
            for radix in [10, 16] {
                try isLimited(Int8.self, radix: radix)
                try isLimited(Int16.self, radix: radix)
                try isLimited(Int32.self, radix: radix)
                try isLimited(Int64.self, radix: radix)
            }
            try isLimited(UInt8.self, radix: 10)
            try isLimited(UInt16.self, radix: 10)
            try isLimited(UInt32.self, radix: 10)
            try isLimited(UInt64.self, radix: 10)
        },
        Fact("xmlIntegerWhitespace") {
            let list = "<integer>\t+ 7</integer><integer> -\t  81</integer><integer>\t- 0xC0DE</integer>"
            try equal(decoded([Int].self, bytes("<array>\(list)</array>")), [7, -81, -49374])
        },
        Fact("binaryNumberEdgeCases") {
            try comesBack([Int8.min, .max], [.binary])
            try comesBack([Int16.min, .max], [.binary])
            try comesBack([Int32.min, .max], [.binary])
            try comesBack([Int64.min, .max], [.binary])
            try comesBack([UInt8.max], [.binary])
            try comesBack([UInt16.max], [.binary])
            try comesBack([UInt32.max], [.binary])
            try comesBack([UInt64.max], [.binary])
            let most = (Float.greatestFiniteMagnitude, Double.greatestFiniteMagnitude)
            try comesBack([most.0, -most.0, .infinity, -.infinity], [.binary])
            try comesBack([most.1, -most.1, .infinity, -.infinity], [.binary])
        },
        Fact("binaryReals") {
            try comesBack(
                [2.5, 3, -2.72, 2.000000000000000000000001, 27182.8e-4, -.infinity, .infinity] as [Float],
                [.binary])
            try comesBack(
                [2.5, 3, -2.72, 2.000000000000000000000001, 27182.8e-4, -.infinity, .infinity] as [Double],
                [.binary])
        },
        Fact("xmlReals") {
            let rows: [(String, Float)] = [
                ("2.5", 2.5), ("3", 3), ("  -2.72", -2.72), ("2.000000000000000000000001", 2),
                ("27182.8e-4", 2.71828), ("-InF", -.infinity), ("iNfinITy", .infinity),
            ]
            let list = rows.map { "<real>\($0.0)</real>" }.joined()
            try equal(decoded([Float].self, bytes("<plist><array>\(list)</array></plist>")), rows.map { $0.1 })
            for word in ["NaN", "nAN", "NAN", "nan"] {
                try isTrue(decoded([Float].self, bytes("<array><real>\(word)</real></array>"))[0].isNaN)
            }
        },
        Fact("bad_XMLReals") {
            for word in ["0x1F", "many", "infinitely", "infinite", "3.2.1", "2.e", "2.5  ", ""] {
                try rejects(Float.self, bytes("<real>\(word)</real>"))
            }
        },
        Fact("realEncodeRemoveZeroSuffix") {
            let rows: [(any Encodable, String)] = [([Float(3)], "3"), ([-8.0], "-8"), ([0.25], "0.25")]
            for (list, digits) in rows {
                let expected = xml("<array>\n\t<real>\(digits)</real>\n</array>")
                try equal(text(encoded(list, .xml)), text(expected))
            }
        },
    ]
}
