/// A set of places in a mirror: subtrees, without subtrees that are excepted from them, and so on.
///
/// It is stored as the paths at which membership changes, in order. A path belongs to the region if an odd number of
/// these are at or above it. For example, `[k, k.c]` is everything at and below `k` except what is at and below `k.c`.
package struct Region: Hashable, Sendable {
    package let edges: [Path]

    fileprivate init(edges: [Path]) { self.edges = edges }

    /// No place.
    package static let none = Region(edges: [])

    /// Everything at and below a path.
    package init(_ path: Path) { edges = [path] }

    /// Everything at and below a path, except what is at and below others, which are below it and not below each other.
    package init(_ path: Path, except others: [Path]) { edges = [path] + others.sorted() }

    /// Decodes the edges of a region. Returns nil unless they are in order and each changes the membership.
    package init?(validating edges: [Path]) {
        guard zip(edges, edges.dropFirst()).allSatisfy({ $0 < $1 }) else { return nil }
        self.edges = edges
    }

    package var isEmpty: Bool { edges.isEmpty }

    package func contains(_ place: Path) -> Bool {
        edges.count == 1 ? edges[0].isPrefix(of: place) : edges.count { $0.isPrefix(of: place) } % 2 == 1
    }

    /// The outermost paths of the region. Everything in it is at or below one of them.
    package var roots: [Path] {
        edges.reduce(into: []) { roots, edge in
            if roots.last.map({ !$0.isPrefix(of: edge) }) ?? true { roots.append(edge) }
        }
    }
}

// MARK: Combinations

extension Region {
    package func union(_ other: Region) -> Region {
        if isEmpty || self == other { return other }
        return other.isEmpty ? self : combined(with: other) { $0 || $1 }
    }

    package func intersection(_ other: Region) -> Region {
        if self == other { return self }
        if isEmpty || other.isEmpty { return .none }
        if edges.count == 1, other.edges.count == 1 {
            if edges[0].isPrefix(of: other.edges[0]) { return other }
            return other.edges[0].isPrefix(of: edges[0]) ? self : .none
        }
        return combined(with: other) { $0 && $1 }
    }

    package func subtracting(_ other: Region) -> Region {
        if self == other { return .none }
        if isEmpty || other.isEmpty { return self }
        if edges.count == 1, other.edges.count == 1, !edges[0].isPrefix(of: other.edges[0]) {
            return other.edges[0].isPrefix(of: edges[0]) ? .none : self
        }
        return combined(with: other) { $0 && !$1 }
    }

    package func intersects(_ other: Region) -> Bool { !intersection(other).isEmpty }

    private func combined(with other: Region, _ rule: (Bool, Bool) -> Bool) -> Region {
        var (edges, open) = ([Path](), [(path: Path, left: Bool, right: Bool, result: Bool)]())
        var (left, right) = (self.edges[...], other.edges[...])
        while let path = [left.first, right.first].compactMap({ $0 }).min() {
            while let last = open.last, !last.path.isPrefix(of: path) { open.removeLast() }
            var here = (path: path, left: false, right: false, result: false)
            if let last = open.last { (here.left, here.right, here.result) = (last.left, last.right, last.result) }
            if left.first == path {
                here.left.toggle()
                left.removeFirst()
            }
            if right.first == path {
                here.right.toggle()
                right.removeFirst()
            }
            let result = rule(here.left, here.right)
            if result != here.result { edges.append(path) }
            here.result = result
            open.append(here)
        }
        return Region(edges: edges)
    }
}

extension Region: CustomStringConvertible {
    package var description: String { edges.map(\.description).joined(separator: " except ") }
}
