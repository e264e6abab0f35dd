import TestSupport
import Testing

@testable import MirrorEngine

@Suite struct `A region` {
    private static let (whole, a, x, b) = ("k", "k.a", "k.a.x", "k.b")

    /// Two regions, and their union, intersection and difference.
    static let rows: [(String, String, union: String, intersection: String, difference: String)] = [
        ("", "", "", "", ""), ("k", "", "k", "", "k"), ("", "k", "k", "", ""), ("k", "k", "k", "k", ""),
        ("k", "k.a", "k", "k.a", "k k.a"), ("k.a", "k", "k", "k.a", ""), ("k.a", "k.b", "k.a k.b", "", "k.a"),
        ("k k.a", "k.a", "k", "", "k k.a"), ("k k.a", "k", "k", "k k.a", ""), ("k", "k k.a", "k", "k k.a", "k.a"),
        ("k k.a", "k.a.x", "k k.a k.a.x", "", "k k.a"), ("k", "k.a.x", "k", "k.a.x", "k k.a.x"),
        ("k k.a k.b", "k k.b", "k k.b", "k k.a k.b", ""), ("k k.b", "k k.a k.b", "k k.b", "k k.a k.b", "k.a"),
        ("k k.a k.a.x", "k.a", "k", "k.a.x", "k k.a"), ("k", "m", "k m", "", "k"),
        ("k k.a m", "k.a m.a", "k m", "m.a", "k k.a m m.a"),
    ]

    @Test(arguments: rows.indices) func `is combined with another`(_ index: Int) {
        let (left, right, union, intersection, difference) = Self.rows[index]
        let (one, other) = (Region(edges: left), Region(edges: right))
        #expect(one.union(other) == Region(edges: union))
        #expect(other.union(one) == Region(edges: union))
        #expect(one.intersection(other) == Region(edges: intersection))
        #expect(other.intersection(one) == Region(edges: intersection))
        #expect(one.subtracting(other) == Region(edges: difference))
        #expect(one.intersects(other) == !intersection.isEmpty)
    }

    @Test(arguments: [
        ("k", "k k.a k.q m", "k k.a k.q"), ("k k.a", "k k.a k.a.x k.b k.ab", "k k.b k.ab"),
        ("k k.a k.a.x", "k k.a k.a.x k.a.x.q k.a.y", "k k.a.x k.a.x.q"), ("", "k", ""),
    ]) func `contains the places between its edges`(_ edges: String, _ places: String, _ contained: String) {
        let places = places.split(separator: " ").map(String.init)
        let found = places.filter { Region(edges: edges).contains(Path(keys: $0)) }
        #expect(found == contained.split(separator: " ").map(String.init))
    }

    @Test func `has roots, and exceptions of its first path`() {
        let (k, a, b) = (Path(keys: "k"), Path(keys: "k.a"), Path(keys: "k.b"))
        #expect(Region(k, except: [b, a]) == Region(edges: "k k.a k.b") && Region(k, except: []) == Region(k))
        #expect(Region(edges: "k k.a k.a.x m").roots == [k, Path(keys: "m")] && Region.none.roots.isEmpty)
    }

    /// The other direction is unique too: two regions with the same places have the same edges, which the laws check.
    @Test func `is decoded from edges in order only`() {
        let (k, a) = (Path(keys: "k"), Path(keys: "k.a"))
        #expect(Region(validating: [k, a]) != nil && Region(validating: []) == Region.none)
        #expect(Region(validating: [a, k]) == nil && Region(validating: [k, k]) == nil)
    }

    @Test func `obeys the laws of sets of places`() {
        for round in 0..<1000 {
            var generator = SeededGenerator(stream: "regions", round: round)
            let regions = (0..<3).map { _ in
                PlaceTree.places.reduce(Region.none) { region, place in
                    Bool.random(using: &generator) ? region : region.union(PlaceTree.region(under: place, &generator))
                }
            }
            let (a, b, c) = (regions[0], regions[1], regions[2])
            let (x, y) = (PlaceTree.places(of: a), PlaceTree.places(of: b))
            let comment: Comment = "\(Seed.ofThisRun) round \(round): \(a) | \(b) | \(c)"
            #expect(PlaceTree.places(of: a.union(b)) == x.union(y), comment)
            #expect(PlaceTree.places(of: a.intersection(b)) == x.intersection(y), comment)
            #expect(PlaceTree.places(of: a.subtracting(b)) == x.subtracting(y), comment)
            #expect(a.union(b) == b.union(a) && a.intersection(b) == b.intersection(a), comment)
            #expect(a.union(b).union(c) == a.union(b.union(c)), comment)
            #expect(a.intersection(b.union(c)) == a.intersection(b).union(a.intersection(c)), comment)
            #expect(a.subtracting(b).union(a.intersection(b)) == a, comment)
            #expect(a.subtracting(b.union(c)) == a.subtracting(b).subtracting(c), comment)
            #expect((x == y) == (a == b), "equal places have equal edges; \(comment)")
            #expect(Region(validating: a.edges) == a && a.isEmpty == x.isEmpty, comment)
        }
    }
}
