import Foundation
import PropertyLists
import TestSupport
import Testing

@Suite struct RoundTripTests {
    static let rounds = 0..<60

    /// A format with options that let it hold every value of a scope.
    struct Way: Sendable, CustomStringConvertible {
        let format: PropertyList.Format
        let scope: ValueGenerator.Scope
        var name = ""
        var writing = PropertyList.WritingOptions.default
        var reading = PropertyList.ReadingOptions()

        var description: String { "\(format.rawValue) \(name)" }

        func written(_ value: PropertyList) throws -> Data { try value.serialized(as: format, options: writing) }
        func read(_ bytes: Data) throws -> PropertyList {
            try PropertyList(parsing: bytes, as: format, options: reading)
        }
    }

    static let ways: [Way] = {
        func options(_ change: (inout PropertyList.WritingOptions) -> Void) -> PropertyList.WritingOptions {
            var options = PropertyList.WritingOptions()
            change(&options)
            return options
        }
        let unwraps = PropertyList.ReadingOptions(unwrapsJSON: true)
        return [
            Way(format: .xml, scope: .xml),
            Way(format: .xml, scope: .xml, name: "in kept order", writing: options { $0.keepsKeyOrder = true }),
            Way(format: .binary, scope: .everything),
            Way(
                format: .binary, scope: .everything, name: "in kept order", writing: options { $0.keepsKeyOrder = true }
            ),
            Way(format: .binary, scope: .everything, name: "sorted", writing: options { $0.marksSortedRoot = true }),
            Way(format: .json, scope: .plainJSON),
            Way(format: .json, scope: .plainJSON, name: "pretty", writing: options { $0.isPretty = true }),
            Way(
                format: .json, scope: .everything, name: "wrapped", writing: options { $0.wrapsInJSON = true },
                reading: unwraps),
            Way(
                format: .json, scope: .everything, name: "wrapped and pretty",
                writing: options {
                    $0.wrapsInJSON = true
                    $0.isPretty = true
                }, reading: unwraps),
            Way(format: .openstep, scope: .openstep),
            Way(format: .openstep, scope: .openstep, name: "in ASCII", writing: options { $0.escapesNonASCII = true }),
            Way(format: .gnustep, scope: .everything),
            Way(format: .gnustep, scope: .everything, name: "in ASCII", writing: options { $0.escapesNonASCII = true }),
        ]
    }()

    @Test(arguments: ways)
    func `a random value comes back equal`(_ way: Way) throws {
        for round in Self.rounds {
            var values = ValueGenerator(SeededGenerator(stream: "round trip", round: round), scope: way.scope)
            let value = values.root(depth: 4)
            let bytes = try way.written(value)
            let back = try way.read(bytes)
            #expect(back == value, "round \(round), \(Seed.ofThisRun)")
            #expect(back.hashValue == value.hashValue)
        }
    }

    /// Control characters included.
    @Test func `3000 random values come back equal through XML`() throws {
        var (controls, unequal) = (0, 0)
        for round in 0..<3000 {
            var values = ValueGenerator(SeededGenerator(stream: "3000 through XML", round: round), scope: .xml)
            let value = values.root(depth: 3)
            let bytes = try value.serialized(as: .xml)
            if bytes.contains(where: { $0 < 0x20 && ![0x09, 0x0A, 0x0D].contains($0) }) { controls += 1 }
            if try PropertyList(parsing: bytes) != value { unequal += 1 }
        }
        print("3000 through XML: \(Seed.ofThisRun)")
        #expect(unequal == 0, "\(Seed.ofThisRun)")
        #expect(controls > 100)
    }

    @Test(arguments: ways)
    func `every kind is supported at the root`(_ way: Way) throws {
        for round in Self.rounds {
            for kind in way.scope.kinds {
                var values = ValueGenerator(SeededGenerator(stream: kind.rawValue, round: round), scope: way.scope)
                let value = values.value(of: kind, depth: 2)
                #expect(try way.read(way.written(value)) == value, "round \(round), \(Seed.ofThisRun)")
            }
        }
    }

    @Test(arguments: ways)
    func `every awkward scalar comes back equal`(_ way: Way) throws {
        var scalars: [PropertyList] = String.awkward.filter { $0.unicodeScalars.allSatisfy(way.scope.allows) }.map {
            .string($0)
        }
        scalars += UInt64.borders.map { .integer(PropertyList.Integer($0)) }
        scalars += Int64.borders.map { .integer(PropertyList.Integer($0)) }
        scalars += Double.awkward.filter { way.scope.allowsNonFiniteReals || $0.isFinite }.map { .real($0) }
        scalars += Double.dates.filter { way.scope.allowsFractionalDates || $0 == $0.rounded() }.map {
            .date(Date(timeIntervalSinceReferenceDate: $0))
        }
        scalars += (0..<80).map { .data(Data(repeating: UInt8($0), count: $0)) }
        scalars += UInt64.borders.map { .uid($0) }
        scalars += [.boolean(true), .boolean(false)]
        for scalar in scalars where way.scope.kinds.contains(scalar.kind) {
            #expect(throws: Never.self, "\(scalar)") {
                let back = try way.read(way.written(scalar))
                #expect(back == scalar)
                if case .real(let number) = scalar, case .real(let other) = back, number == 0 {
                    #expect(number.sign == other.sign, "the sign of zero")
                }
                let nested: PropertyList = .array([scalar, .dictionary(["a key": scalar])])
                #expect(try way.read(way.written(nested)) == nested)
            }
        }
    }

    @Test(arguments: ways)
    func `the format of written bytes is detected`(_ way: Way) throws {
        // GNUstep text has no distinguishing mark, and the wrapped values of JSON require an option.
        guard way.format != .gnustep, way.format != .openstep || !way.writing.escapesNonASCII else { return }
        var values = ValueGenerator(SeededGenerator(stream: "sniffing"), scope: way.scope)
        for _ in 0..<20 {
            let value = values.root(depth: 3)
            guard case .dictionary(let dictionary) = value, !dictionary.isEmpty else { continue }
            let bytes = try way.written(value)
            #expect(try PropertyList(parsing: bytes, options: way.reading) == value, "\(Seed.ofThisRun)")
        }
    }

    @Test(arguments: ways.filter { !$0.writing.keepsKeyOrder })
    func `the same value gives the same bytes in whatever order it was built`(_ way: Way) throws {
        for round in 0..<20 {
            var values = ValueGenerator(SeededGenerator(stream: "order", round: round), scope: way.scope)
            let value = values.root(depth: 3)
            var generator = SeededGenerator(stream: "shuffle", round: round)
            let shuffled = value.shuffled(using: &generator)
            #expect(shuffled == value)
            #expect(shuffled.hashValue == value.hashValue)
            #expect(try way.written(shuffled) == way.written(value), "round \(round), \(Seed.ofThisRun)")
        }
    }

    @Test(arguments: ways.filter(\.writing.keepsKeyOrder))
    func `the order of keys is kept on request`(_ way: Way) throws {
        var values = ValueGenerator(SeededGenerator(stream: "kept order"), scope: way.scope)
        for _ in 0..<20 {
            let value = values.root(depth: 2)
            guard case .dictionary(let before) = value, case .dictionary(let after) = try way.read(way.written(value))
            else {
                Issue.record("no dictionary came back")
                return
            }
            #expect(after.keys.map { Array($0.utf8) } == before.keys.map { Array($0.utf8) }, "\(Seed.ofThisRun)")
        }
    }

    @Test func `the lazy view of a binary file agrees with the reader`() throws {
        for round in 0..<20 {
            for marks in [false, true] {
                var values = ValueGenerator(SeededGenerator(stream: "view", round: round))
                var options = PropertyList.WritingOptions()
                options.marksSortedRoot = marks
                let value = values.root(depth: 3)
                let view = try BinaryPropertyList(parsing: try value.serialized(as: .binary, options: options))
                #expect(try view.root == value)
                guard case .dictionary(let dictionary) = value else { continue }
                for entry in dictionary {
                    #expect(try view[entry.key] == entry.value, "round \(round), \(Seed.ofThisRun)")
                }
                #expect(try view["no such key"] == nil)
                #expect(try view[""] == dictionary[""])
            }
        }
    }
}

extension PropertyList {
    /// Returns the same value, with every dictionary built in another order.
    func shuffled(using generator: inout SeededGenerator) -> PropertyList {
        switch self {
        case .array(let elements): return .array(elements.map { $0.shuffled(using: &generator) })
        case .dictionary(let dictionary):
            var result = Dictionary()
            for entry in dictionary.shuffled(using: &generator) {
                result[entry.key] = entry.value.shuffled(using: &generator)
            }
            return .dictionary(result)
        default: return self
        }
    }
}
