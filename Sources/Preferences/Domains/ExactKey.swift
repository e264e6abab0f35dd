internal import PropertyLists

/// A key compared by its bytes, as in files. Swift compares strings by canonical equivalence, which would merge keys
/// that differ in their bytes.
package struct ExactKey: Hashable, Sendable {
    package let text: String

    @inline(__always)
    package init(_ text: String) { self.text = text }

    @inline(__always)
    package static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }

    @inline(__always)
    package func hash(into hasher: inout Hasher) {
        text.hashBytes(into: &hasher)
    }
}
