import Foundation
import PropertyLists
import Testing

@Suite struct `Exact numbers` {
    private struct Numbers: Codable, Equatable {
        var decimal: Decimal?
        var wide: Int128?
        var unsigned: UInt128?
        var number: Int64?
        var list: [Decimal]?
        var map: [String: Int128]?
        var real: Double?
        var text: String?
    }

    private static func decimal(_ text: String) -> Decimal { Decimal(string: text)! }

    private static let rows: [(json: String, Numbers?)] = [
        (#"{"decimal": 12.34}"#, Numbers(decimal: decimal("12.34"))),
        (#"{"decimal": 0.1234567890123456789}"#, Numbers(decimal: decimal("0.1234567890123456789"))),
        (#"{"decimal": 0.12345678901234567}"#, Numbers(decimal: decimal("0.12345678901234567"))),
        (#"{"decimal": 0.1000000000000000055}"#, Numbers(decimal: decimal("0.1000000000000000055"))),
        (#"{"decimal": 123456789012345678901234567890}"#, Numbers(decimal: decimal("123456789012345678901234567890"))),
        (#"{"decimal": -1.5e-7}"#, Numbers(decimal: decimal("-0.00000015"))),
        (#"{"decimal": "12.340"}"#, Numbers(decimal: decimal("12.34"))),
        // A Decimal has 38 digits.
        (#"{"decimal": 0.1234567890123456789012345678901234567890123456789}"#, nil),
        (#"{"decimal": "1234567890123456789012345678901234567890123"}"#, nil),
        (#"{"decimal": "12.34 "}"#, nil), (#"{"decimal": "1e"}"#, nil), (#"{"decimal": true}"#, nil),
        (
            #"{"wide": 170141183460469231731687303715884105727, "unsigned": 340282366920938463463374607431768211455}"#,
            Numbers(wide: .max, unsigned: .max)
        ),
        (#"{"wide": -170141183460469231731687303715884105728}"#, Numbers(wide: .min)),
        (#"{"wide": 170141183460469231731687303715884105728}"#, nil),
        (#"{"wide": 1e20}"#, Numbers(wide: 100_000_000_000_000_000_000)), (#"{"wide": 1.5}"#, nil),
        (#"{"wide": 1.0}"#, Numbers(wide: 1)),
        (#"{"number": 9007199254740993.0}"#, Numbers(number: 9_007_199_254_740_993)),
        (#"{"number": 9223372036854775808}"#, nil), (#"{"number": 3.0}"#, Numbers(number: 3)),
        (
            #"{"list": [0.1234567890123456789, 1], "map": {"a": 18446744073709551616}}"#,
            Numbers(list: [decimal("0.1234567890123456789"), 1], map: ["a": 18_446_744_073_709_551_616])
        ),
        (#"{"list": [1, true]}"#, nil), (#"{"map": {"a": 0.5}}"#, nil),
        (#"{"real": 0.1234567890123456789, "text": "1"}"#, Numbers(real: 0.1234567890123456789, text: "1")),
        (#"{"text": 123456789012345678901234567890}"#, nil),
    ]

    @Test(arguments: rows.indices) func `are decoded from JSON with all their digits, or not at all`(_ row: Int) {
        let (json, numbers) = Self.rows[row]
        #expect((try? PropertyList.decode(Numbers.self, from: json.utf8)) == numbers, "\(json)")
    }

    /// The time is linear in the number of numbers.
    @Test func `in long arrays keep their text`() throws {
        let texts = (100_000..<120_000).map { "\($0)00000000000000001" }
        let numbers = texts.joined(separator: ",")
        let bytes = Array("{\"a\":[\(numbers)],\"b\":[\(numbers)]}".utf8)
        let former = try PropertyList(parsing: bytes)
        let list = try #require(former["a"]?.arrayValue)
        let value: PropertyList = ["a": .array(list + [1]), "c": .array(list.reversed())]
        let kept = try value.keepingNumbers(
            in: Array(try value.serialized(as: .json)), of: (bytes, former), .default)
        let reversed = texts.reversed().joined(separator: ",")
        #expect(String(decoding: kept, as: UTF8.self) == "{\"a\":[\(numbers),1],\"c\":[\(reversed)]}")
    }

    @Test(arguments: [
        "0.1234567890123456789", "12345678901234567890123456789012345678", "-0.1", "1e100", "0", "7",
    ])
    func `of Decimal survive every format`(_ text: String) throws {
        let decimal = Self.decimal(text)
        // Without a name, TOML is detected only in files.
        for format in PropertyList.Format.allCases where format != .toml {
            let data = try PropertyList(encoding: ["a": decimal]).serialized(as: format)
            #expect(try PropertyList.decode([String: Decimal].self, from: data) == ["a": decimal], "\(format)")
        }
    }

    @Test func `of 128 bits are encoded if they fit`() throws {
        let numbers = Numbers(wide: -5, unsigned: UInt128(UInt64.max), map: ["a": 7])
        #expect(try PropertyList(encoding: numbers).decoded(as: Numbers.self) == numbers)
    }

    @Test func `that no property list holds are not encoded`() {
        #expect(throws: EncodingError.self) { try PropertyList(encoding: Int128(UInt64.max) + 1) }
        #expect(throws: EncodingError.self) { try PropertyList(encoding: [UInt128.max]) }
        #expect(throws: EncodingError.self) { try PropertyList(encoding: ["a": Int128(Int64.min) - 1]) }
        #expect(throws: PropertyList.ConversionFailure.self) { try PropertyList(any: UInt128.max) }
        #expect(throws: PropertyList.ConversionFailure.self) {
            try PropertyList(any: Self.decimal("0.12345678901234567890"))
        }
    }

    @Test func `are not integers after they were rounded`() throws {
        #expect(throws: DecodingError.self) {
            try PropertyList(parsing: "[1e30]", as: .json).decoded(as: [Int128].self)
        }
        #expect(throws: DecodingError.self) { try PropertyList.real(0x1p60).decoded(as: Int.self) }
        #expect(try PropertyList.real(-0x1p53).decoded(as: Int.self) == -1 << 53)
    }

    @Test func `are not rounded by Foundation's decoder`() throws {
        let decoder = JSONDecoder()
        #expect(throws: DecodingError.self) {
            try decoder.decode(PropertyList.self, from: Data("[18446744073709551617]".utf8))
        }
        #expect(
            try decoder.decode(PropertyList.self, from: Data("[18446744073709551615, 1e30, 0.5]".utf8)).arrayValue?
                .count == 3)
    }
}
