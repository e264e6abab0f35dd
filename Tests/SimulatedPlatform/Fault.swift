package import Platform

/// A fault to inject into a process.
package struct Fault: Hashable, Sendable {
    /// The operations that fail, counted from 1.
    package enum Time: Hashable, Sendable {
        case once(Int)
        case from(Int)
    }

    package enum Effect: Hashable, Sendable {
        /// The operation does nothing and fails. The changes that a failed `synchronize` would have saved are never
        /// saved.
        case fail(ErrorCode)
        /// A write keeps this many bytes, and then fails. Other operations only fail.
        case tear(keeping: Int, ErrorCode)
        /// The process ends before the operation. This and all later operations do nothing and fail.
        case dieBefore
        /// The process ends after the operation, which takes effect. This and all later operations fail.
        case dieAfter
        /// The process ends during a write, which keeps this many bytes. For other operations, the same as `dieBefore`.
        case dieWithin(keeping: Int)
    }

    /// The kind of operation that is counted, or nil for all.
    package var operation: SystemFailure.Operation?
    package var time: Time
    package var effect: Effect

    package init(_ effect: Effect, _ time: Time, of operation: SystemFailure.Operation? = nil) {
        self.operation = operation
        self.time = time
        self.effect = effect
    }
}
