package import Platform

/// One thing that goes wrong for a process.
package struct Fault: Hashable, Sendable {
    /// Which of the operations meet it, counted from 1.
    package enum Time: Hashable, Sendable {
        case once(Int)
        case from(Int)
    }

    package enum Effect: Hashable, Sendable {
        /// The operation does nothing and fails. What a failed `synchronize` was to save is never saved.
        case fail(ErrorCode)
        /// The write keeps a beginning of so many bytes, then fails. Other operations just fail.
        case tear(keeping: Int, ErrorCode)
        /// The process ends before the operation: this one and all later ones do nothing and fail.
        case dieBefore
        /// The process ends after the operation: it takes effect, but fails, as do all later ones.
        case dieAfter
        /// The process ends within the write, of which a beginning is kept. Before other operations.
        case dieWithin(keeping: Int)
    }

    /// The operations that count; nil for all.
    package var operation: SystemFailure.Operation?
    package var time: Time
    package var effect: Effect

    package init(_ effect: Effect, _ time: Time, of operation: SystemFailure.Operation? = nil) {
        self.operation = operation
        self.time = time
        self.effect = effect
    }
}
