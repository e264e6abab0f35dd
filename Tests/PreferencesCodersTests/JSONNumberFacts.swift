import Foundation
import PreferencesCoders
import TestSupport

/// Facts about numbers at the limits of their types.
enum JSONNumberFacts {
    static let whole: [Fact] = [
        Fact("largeIntegerNumber") {
            let number: UInt64 = 7_205_759_403_792_793_601
            try equal(try JSONDecoder().read("{\"count\":\(number)}"), ["count": number])
        },
        Fact("largeIntegerNumberIsNotRoundedToNearestDoubleWhenDecodingAsAnInteger") {
            let half = Int128(1) << 63
            try equal([Double(half).ulp, Double(2 * half).ulp], [2048, 4096])
            let around: [Int128] = [-1, 0, 1024, 1025].map { half + $0 }
            let signed: [Int128] = [-1025, -1024, -1, 0].map { $0 - half } + around
            let unsigned: [Int128] = around + [-1, 0, 2048, 2049].map { 2 * half + $0 }
            for decoder in [JSONDecoder.with(), .with(json5: true)] {
                try reads(signed.map { (n: Int128) -> (String, Int64?) in ("\(n)", Int64(exactly: n)) }, decoder)
                try reads(unsigned.map { (n: Int128) -> (String, UInt64?) in ("\(n)", UInt64(exactly: n)) }, decoder)
            }
        },
        Fact("roundTrippingInt128") {
            let powers: [Int128] = [63, 64].map { Int128(1) << $0 }
            let values: [Int128] = [
                .min, .min + 1, -powers[1], powers[0], -1, 0, powers[0] - 1, powers[1] - 1,
                powers[1], .max,
            ]
            for value in values { try survives(value, as: "\(value)") }
        },
        Fact("roundTrippingUInt128") {
            let powers: [UInt128] = [63, 64, 127].map { UInt128(1) << $0 }
            let values: [UInt128] = [0, 1, .max] + powers + powers.map { $0 - 1 }
            for value in values { try survives(value, as: "\(value)") }
        },
        Fact("int128SlowPath") {
            let most = Int128(UInt64.max)
            for value in [most, -most] { try equal(try JSONDecoder().read("\(value).0"), value) }
            try refuses(Int128.self, [Int128.min, -most - 1, most + 1, .max].map { "\($0).0" })
        },
        Fact("uint128SlowPath") {
            let most = UInt128(UInt64.max)
            try equal(try JSONDecoder().read("\(most).0"), most)
            try refuses(UInt128.self, ["\(most + 1).0", "\(UInt128.max).0"])
        },
        Fact("decodeLargeDoubleAsInteger") {
            let text = try JSONEncoder().write(Double.greatestFiniteMagnitude)
            try refuses(UInt64.self, [text])
        },
    ]

    /// The limits of both binary types.
    struct Limits: Codable, Equatable {
        var floats: [Float] = [.greatestFiniteMagnitude, .leastNormalMagnitude]
        var doubles: [Double] = [.greatestFiniteMagnitude, .leastNormalMagnitude]
    }

    static let decimal: [Fact] = [
        Fact("smallFloatNumber") { try survives([["tiny": 3.14159265358979e-117]]) },
        Fact("roundTrippingExtremeValues") { try survives(Limits()) },
        Fact("roundTrippingDoubleValues") {
            let float = Float.greatestFiniteMagnitude
            let double = Double.greatestFiniteMagnitude
            let limits = [-Double(float), -Double(Float.leastNormalMagnitude), -double, -Double.leastNormalMagnitude]
            for value in limits + [-41.37, -6.28, -0.731, 0.000002] { try survives(["value": value]) }
            let long = [
                "9.876543210123456789", "0.9876543210123456789", "987.6543210123456789e-100",
                "9876543210123456789e-100", "0.9876543210123456789e-100",
            ]
            let digits = [
                "1.41421356237309504880168872420969807857", "1.61803398874989484820458683436563811772",
                "902417736250018364.27135904826150937264081593726485910273",
            ]
            for text in long + long.map({ "-" + $0 }) + digits {
                guard let value = Decimal(string: text) else { throw Difference(description: text) }
                try survives(["value": value])
            }
        },
        Fact("interceptDecimal") {
            let value = Decimal(sign: .plus, exponent: 126, significand: 3)
            let text = "3" + String(repeating: "0", count: 126)
            try survives(value, as: text)
            try survives(Optional(value), as: text)
            let most = Decimal(sign: .plus, exponent: 127, significand: 1)
            try survives(most, as: "1" + String(repeating: "0", count: 127))
        },
        Fact("hugeNumbers") {
            let text = "71828182845904" + String(repeating: "0", count: 63)
            let value: Decimal = try JSONDecoder().read(text + " ")
            try equal(value, Decimal(string: text) ?? 0)
        },
        Fact("interceptLargeDecimal") {
            let values = [Decimal(UInt64.max), Decimal(UInt64.max) + 1, Decimal(Int64.min), Decimal(Int64.min) - 1]
            let texts = [
                "18446744073709551615", "18446744073709551616", "-9223372036854775808", "-9223372036854775809",
            ]
            for (value, text) in zip(values, texts) { try survives(["limit": value], as: "{\"limit\":\(text)}") }
        },
        Fact("overlargeDecimal") { try refuses(Decimal.self, ["250e190"]) },
    ]
}
