internal import PropertyLists

/// A key by its bytes, as files tell keys apart. (`==` of Swift's strings is canonical equivalence, and two keys that
/// are equal so would be one in a dictionary.)
package struct ExactKey: Hashable, Sendable {
    package let text: String

    @inline(__always)
    package init(_ text: String) { self.text = text }

    @inline(__always)
    package static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }

    @inline(__always)
    package func hash(into hasher: inout Hasher) {
        unsafe text.withBytes { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
