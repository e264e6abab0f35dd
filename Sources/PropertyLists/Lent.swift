/// A value where it lies in a container: what cannot be copied is looked at without being retained.
///
/// Taken from an array as it is, a string is retained and released, which for short texts takes longer than to write
/// them.
struct Lent<Value>: ~Copyable {
    let value: Value
}

extension UnsafeBufferPointer {
    /// Runs `body` on the element at `position`.
    @inline(__always)
    func lent<Result, Failure: Error>(
        _ position: Int, _ body: (borrowing Lent<Element>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let baseAddress else { preconditionFailure("an element of nothing") }
        precondition(position >= 0 && position < count)
        // A struct of one property is laid out as that property.
        return try UnsafeRawPointer(baseAddress + position).withMemoryRebound(
            to: Lent<Element>.self, capacity: 1
        ) { lent throws(Failure) in try body(lent.pointee) }
    }
}

extension Lent<PropertyList.Dictionary.Entry> {
    /// Whether this entry stands before `other` in sorted output.
    @inline(__always)
    borrowing func isBefore(_ other: borrowing Self) -> Bool { value.key.isBefore(other.value.key) }
}
