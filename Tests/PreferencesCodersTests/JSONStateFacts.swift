import Foundation
import PreferencesCoders
import TestSupport

extension JSONCodingFacts {
    /// Checks the coding paths of encoders and containers while it is encoded, with or without a super encoder.
    private struct PathChecks: Encodable {
        enum Outer: Int, CodingKey { case up, down }
        enum Inner: Int, CodingKey { case near, far }
        let usesSuper: Bool

        func encode(to encoder: any Encoder) throws {
            guard usesSuper else { return try descend(encoder, []) }
            var top = encoder.container(keyedBy: Outer.self)
            try same([encoder.codingPath, top.codingPath], [[], []])
            let upper = top.superEncoder(forKey: .up)
            try same([encoder.codingPath, top.codingPath, upper.codingPath], [[], [], [Outer.up]])
            try descend(upper, [Outer.up])
        }

        private func descend(_ encoder: any Encoder, _ base: [any CodingKey]) throws {
            try same([encoder.codingPath], [base])
            var outer = encoder.container(keyedBy: Outer.self)
            func check(_ added: [any CodingKey]..., found: [any CodingKey]...) throws {
                try same([encoder.codingPath, outer.codingPath] + found, [base, base] + added.map { base + $0 })
            }
            try check()

            var keyed = outer.nestedContainer(keyedBy: Inner.self, forKey: .up)
            try check([Outer.up], found: keyed.codingPath)
            let first = keyed.nestedContainer(keyedBy: Inner.self, forKey: .near)
            try check([Outer.up], [Outer.up, Inner.near], found: keyed.codingPath, first.codingPath)
            let second = keyed.nestedUnkeyedContainer(forKey: .far)
            try check([Outer.up], [Outer.up, Inner.far], found: keyed.codingPath, second.codingPath)

            var list = outer.nestedUnkeyedContainer(forKey: .down)
            try check([Outer.down], found: list.codingPath)
            let third = list.nestedContainer(keyedBy: Inner.self)
            try check([Outer.down], [Outer.down, Place(0)], found: list.codingPath, third.codingPath)
            let fourth = list.nestedUnkeyedContainer()
            try check([Outer.down], [Outer.down, Place(1)], found: list.codingPath, fourth.codingPath)
        }

        private func same(_ found: [[any CodingKey]], _ expected: [[any CodingKey]]) throws {
            func texts(_ paths: [[any CodingKey]]) -> [[String]] {
                paths.map { $0.map { "\($0.stringValue) \($0.intValue ?? -1)" } }
            }
            try equal(texts(found), texts(expected))
        }

        /// The key of an element of an array.
        private struct Place: CodingKey {
            let (stringValue, intValue): (String, Int?)

            init(_ place: Int) { (stringValue, intValue) = ("Index \(place)", place) }
            init?(stringValue: String) { nil }
            init?(intValue: Int) { self.init(intValue) }
        }
    }

    static let encoderState: [Fact] = [
        Fact("nestedContainerCodingPaths") { _ = try write(PathChecks(usesSuper: false)) },
        Fact("superEncoderCodingPaths") { _ = try write(PathChecks(usesSuper: true)) },
        Fact("encoderStateThrowOnEncode") { try fails { try write(InSuper(value: [-Float.infinity])) } },
        Fact("encoderStateThrowOnEncodeCustomDate") {
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .custom { _, inner in
                _ = inner.unkeyedContainer()
                throw Refused()
            }
            try fails { try write(InSuper(value: Date(timeIntervalSince1970: 4)), by: encoder) }
        },
        Fact("encoderStateThrowOnEncodeCustomData") {
            let encoder = JSONEncoder()
            encoder.dataEncodingStrategy = .custom { _, inner in
                _ = inner.unkeyedContainer()
                throw Refused()
            }
            try fails { try write(InSuper(value: Data()), by: encoder) }
        },
        Fact("issue106506794") {
            struct Shelf: Codable, Equatable {
                enum CodingKeys: CodingKey { case row }
                let row: Room

                init() { row = Room() }
                init(from decoder: any Decoder) throws {
                    let container = try decoder.container(keyedBy: CodingKeys.self)
                    var list = try container.nestedUnkeyedContainer(forKey: .row)
                    row = try list.decode(Room.self)
                }
                func encode(to encoder: any Encoder) throws {
                    var container = encoder.container(keyedBy: CodingKeys.self)
                    var list = container.nestedUnkeyedContainer(forKey: .row)
                    try list.encode(row)
                }
            }
            try roundTrip(Shelf())
        },
    ]

    static let decoderState: [Fact] = [
        Fact("decoderStateThrowOnDecode") {
            try equal(try read(Either<[String], [Int]>.self, "[4,5]").second, [4, 5])
        },
        Fact("decoderStateThrowOnDecodeCustomDate") {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .custom { _ in throw Refused() }
            try equal(try read(Either<Date, Int>.self, "6", by: decoder).second, 6)
        },
        Fact("decoderStateThrowOnDecodeCustomData") {
            let decoder = JSONDecoder()
            decoder.dataDecodingStrategy = .custom { _ in throw Refused() }
            try equal(try read(Either<Data, Int>.self, "6", by: decoder).second, 6)
        },
        Fact("decodingFailure") {
            struct Target: Decodable { let text: String }
            try fails { try read(Target.self, #"{"text": bare}"#) }
        },
        Fact("decodingFailureThrowInInitKeyedContainer") {
            struct Picky: Decodable {
                enum CodingKeys: CodingKey { case text }

                init(from decoder: any Decoder) throws {
                    let container = try decoder.container(keyedBy: CodingKeys.self)
                    if try container.decode(String.self, forKey: .text) != "right" { throw Refused() }
                }
            }
            try fails { try read(Picky.self, #"{ "text" : "wrong" }"#) }
        },
        Fact("decodingFailureThrowInInitSingleContainer") {
            struct Picky: Decodable {
                init(from decoder: any Decoder) throws {
                    if try decoder.singleValueContainer().decode(String.self) != "right" { throw Refused() }
                }
            }
            try fails { try read(Picky.self, #""wrong""#) }
            try fails { try read(Picky.self, #"{ "text" : "wrong" }"#) }
        },
        Fact("invalidFragment") {
            struct Target: Decodable { let text: String }
            try fails { try read(Target.self, "\"text") }
            try fails { try read(String.self, "\"text") }
        },
        Fact("repeatedFailedNilChecks") {
            struct Checks: Decodable {
                var found: [Int] = []

                init(from decoder: any Decoder) throws {
                    var list = try decoder.unkeyedContainer()
                    while !list.isAtEnd {
                        for _ in 0..<2 { try isTrue(try !list.decodeNil()) }
                        found.append(try list.decode(Int.self))
                    }
                }
            }
            try equal(try read(Checks.self, "[5, 6, 7]").found, [5, 6, 7])
        },
        Fact("delayedDecoding") {
            struct KeptContainer: Decodable {
                let list: any UnkeyedDecodingContainer
                init(from decoder: any Decoder) throws { list = try decoder.unkeyedContainer() }
            }
            struct KeptDecoder: Decodable {
                let decoder: any Decoder
                init(from decoder: any Decoder) throws { self.decoder = decoder }
            }
            let text = try write(Listed(19))
            var list = try read(KeptContainer.self, text).list
            try equal(try list.decode(Int.self), 19)
            let decoder = try read(KeptDecoder.self, text).decoder
            var late = try decoder.unkeyedContainer()
            try equal(try late.decode(Int.self), 19)
        },
    ]
}
