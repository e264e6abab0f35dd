import PropertyLists
import TestSupport

@testable import MirrorEngine

extension WrittenValue {
    static func of(_ value: PropertyList) -> WrittenValue {
        (try? CanonicalValue(value)).map(WrittenValue.value) ?? .deleted
    }

    static func text(_ text: String) -> WrittenValue { of(.string(text)) }
}

extension Path {
    /// Parses keys of the domain `d`, separated by dots. For example, `k.a` is the entry `a` of the key `k`.
    init(keys: String) { self.init(["d"] + keys.split(separator: ".").map(String.init)) }
}

extension Region {
    /// Parses the edges of a region. For example, `k k.a` is everything at and below `k` except at and below `k.a`.
    init(edges: String) {
        self = Region(validating: edges.split(separator: " ").map { Path(keys: String($0)) }) ?? .none
    }
}

extension AtomName {
    /// The name of a value that the writer with this number published in its transaction with this number.
    init(_ writer: UInt64, _ sequence: UInt64) {
        self.init(
            WriteID(number: writer << 32 | sequence),
            TransactionID(writer: WriterID(number: writer), sequence: sequence))
    }
}

extension Atom {
    init(
        _ name: AtomName, _ keys: String, _ value: WrittenValue, _ stamp: UInt64, _ reason: Reason = .written,
        in edges: String? = nil
    ) {
        self.init(
            name, at: Path(keys: keys), value, stamp: Stamp(number: stamp), reason: reason,
            in: edges.map { Region(edges: $0) })
    }
}

extension MergeState {
    init(_ atoms: [Atom]) {
        self.init()
        for atom in atoms { insert(atom) }
    }
}

/// A tree of few places, so that random regions and writes often meet.
enum PlaceTree {
    static let places = ["k", "k.a", "k.a.x", "k.a.y", "k.b", "k.z", "m", "m.a"].map { Path(keys: $0) }
    /// The places at which the generator writes. The others are only edges of regions.
    static let written = ["k", "k.a", "k.a.x", "k.b", "m"].map { Path(keys: $0) }
    static let values: [WrittenValue] =
        [.deleted, .left, .text("1"), .text("2")]
        + [
            ["a": 1], ["a": ["x": 1, "y": 2], "b": 1], ["z": 1], ["a": ["x": 2], "z": 1], [:],
        ].map { .of($0) }

    /// The places of a region.
    static func places(of region: Region) -> Set<Path> { Set(places.filter(region.contains)) }

    /// Returns a region at and below a place.
    static func region(under root: Path, _ generator: inout SeededGenerator) -> Region {
        var region = Region(root)
        for place in places where root.isPrefix(of: place) {
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: region = region.subtracting(Region(place))
            case 1: region = region.union(Region(place))
            default: break
            }
        }
        return region
    }
}
