import Foundation
import PreferencesCoders
import TestSupport

extension JSONCodingFacts {
    static let emptyAndSingle: [Fact] = [
        Fact("encodingTopLevelEmptyStruct") { try roundTrip(Hollow(), "{}") },
        Fact("encodingTopLevelEmptyClass") { try roundTrip(HollowObject(), "{}") },
        Fact("encodingTopLevelSingleValueEnum") {
            try roundTrip(Valve.open)
            try roundTrip(Valve.shut)
        },
        Fact("encodingTopLevelSingleValueStruct") { try roundTrip(Single(2_718_281_828.0)) },
        Fact("encodingTopLevelSingleValueClass") { try roundTrip(SingleObject(0)) },
        Fact("encodingTopLevelNullableType") {
            try roundTrip(Answer.yes, "true")
            try roundTrip(Answer.no, "false")
            try roundTrip(Answer.unknown, "null")
        },
    ]

    static let structured: [Fact] = [
        Fact("encodingTopLevelStructuredStruct") { try roundTrip(Room()) },
        Fact("encodingTopLevelStructuredSingleStruct") { try roundTrip(Single([9, 1, 30, 12])) },
        Fact("encodingTopLevelStructuredSingleClass") { try roundTrip(SingleObject(["north": 4, "South": 90])) },
        Fact("encodingTopLevelDeepStructuredType") { try roundTrip(Plant()) },
        Fact("encodingClassWhichSharesEncoderWithSuper") { try roundTrip(Sensor(channel: 5)) },
        Fact("encodingTopLevelArrayOfInt") {
            try equal(try write([7, 8, 9]), "[7,8,9]")
            try equal(try write([Int]()), "[]")
        },
        Fact("encodingTopLevelWithConfiguration") {
            let (encoder, decoder, value) = (JSONEncoder(), JSONDecoder(), Shifted(6))
            let byFour = try encoder.encode(value, configuration: 4)
            try equal(try decoder.decode(Shifted.self, from: byFour, configuration: 4), value)
            let byTen = try encoder.encode(value, configuration: Shifted.ByTen.self)
            try equal(try decoder.decode(Shifted.self, from: byTen, configuration: Shifted.ByTen.self), value)
        },
        Fact("directlyEncodedArrays") {
            struct Lists: Codable, Equatable {
                var whole = [Int.max, 0, 17, Int.min]
                var broken = [6.5, -Double.infinity, 30.0, .infinity]
                var words = ["false", "two words", "a\n2", "\u{8}", "Z"]
            }
            let (encoder, decoder) = wordsForFloats()
            try roundTrip(Lists(), by: encoder, and: decoder)
            encoder.outputFormatting = .prettyPrinted
            try roundTrip(Lists(), by: encoder, and: decoder)
        },
        Fact("decodingConcreteTypeParameter") {
            let declared: Device.Type = Sensor.self
            let decoded = try JSONDecoder().decode(declared, from: JSONEncoder().encode(Sensor(channel: 8)))
            try isTrue(type(of: decoded) == Sensor.self)
        },
        Fact("typeCoercion") {
            typealias Number = Codable & ExpressibleByIntegerLiteral
            func differsFromBool<N: Number>(_ type: N.Type) throws {
                let (truths, numbers) = (try write([false, true]), try write([0, 1] as [N]))
                try fails { try read([N].self, truths) }
                try fails { try read([Bool].self, numbers) }
            }
            let types: [any Number.Type] = [
                Int.self, Int8.self, Int16.self, Int32.self, Int64.self, Int128.self, Float.self,
                UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self, UInt128.self, Double.self,
            ]
            for type in types { try differsFromBool(type) }
        },
    ]
}
