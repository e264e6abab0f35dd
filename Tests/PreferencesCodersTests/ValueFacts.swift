import Foundation
import PreferencesCoders
import TestSupport

/// Facts about values that are a whole property list.
enum ValueFacts {
    static let all: [Fact] = [
        Fact("encodingTopLevelEmptyStruct") { try isEmptyDictionary(Blank()) },
        Fact("encodingTopLevelEmptyClass") { try isEmptyDictionary(BlankObject()) },
        Fact("encodingTopLevelSingleValueEnum") { for lamp: Lamp in [.dark, .lit] { try needsCollection(lamp) } },
        Fact("encodingTopLevelSingleValueStruct") { try needsCollection(Depth(metres: 2_718_281_828)) },
        Fact("encodingTopLevelSingleValueClass") {
            for count in [0, 17] { try needsCollection(Tally(count: count)) }
        },
        Fact("encodingTopLevelNullableType") { for answer in Answer.allCases { try needsCollection(answer) } },
        Fact("encodingTopLevelStructuredStruct") { try comesBack(Harbour()) },
        Fact("encodingTopLevelStructuredClass") {
            try comesBack(Vessel(name: "Gull", port: "Seeby"))
            try comesBack(Vessel(name: "Gull", port: "Seeby", owner: "The town"))
        },
        Fact("encodingTopLevelStructuredSingleStruct") { try comesBack(Tides(heights: [3, -1, 4, 0, 159])) },
        Fact("encodingTopLevelStructuredSingleClass") {
            try comesBack(Signals(meanings: ["Quebec": "https://health.example", "local": "http://[::1]"]))
        },
        Fact("encodingTopLevelDeepStructuredType") { try comesBack(Fleet()) },
        Fact("encodingClassWhichSharesEncoderWithSuper") { try comesBack(Tug(name: "Ox", pull: 60)) },
        Fact("decodingConcreteTypeParameter") {
            let data = try PropertyListEncoder().encode(Tug(name: "Ox", pull: 60))
            let vessel = try PropertyListDecoder().decode(Tug.self as Vessel.Type, from: data)
            try isTrue(type(of: vessel) == Tug.self)
        },
        Fact("encodingTopLevelWithConfiguration") {
            let (encoder, decoder) = (PropertyListEncoder(), PropertyListDecoder())
            let value = Offset(number: 40)
            let data = try encoder.encode(value, configuration: 7)
            try equal(decoder.decode(Offset.self, from: data, configuration: 7), value)
            try equal(decoder.decode(Offset.self, from: data, configuration: 5), Offset(number: 42))
            let other = try encoder.encode(value, configuration: Offset.Usual.self)
            try equal(decoder.decode(Offset.self, from: other, configuration: Offset.Usual.self), value)
            try equal(decoder.decode(Offset.self, from: other, configuration: 100), value)
        },
    ]

    static func isEmptyDictionary<T: Codable & Equatable>(_ value: T) throws {
        try comesBack(value)
        try equal(text(encoded(value, .xml)), text(xml("<dict/>")))
        try equal(encoded(value, .binary), BinaryList(objects: [[0xD0]]).data)
    }
}

/// Is written as a sum with a number that is given to the coder.
private struct Offset: CodableWithConfiguration, Equatable {
    /// Gives the number that is used when nothing else is said.
    enum Usual: EncodingConfigurationProviding, DecodingConfigurationProviding {
        static var encodingConfiguration: Int { 100 }
        static var decodingConfiguration: Int { 100 }
    }

    let number: Int

    init(number: Int) { self.number = number }

    init(from decoder: any Decoder, configuration: Int) throws {
        number = try decoder.singleValueContainer().decode(Int.self) - configuration
    }

    func encode(to encoder: any Encoder, configuration: Int) throws {
        var container = encoder.singleValueContainer()
        try container.encode(number + configuration)
    }
}
