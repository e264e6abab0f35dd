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

/// What goes wrong for a process, and how far it has come.
///
/// A test takes n = 1, 2, … and lets the nth operation go wrong until one n comes at which nothing did.
package struct FaultPlan: Sendable {
    private var faults: [Countdown]
    /// How many operations a fault has hit.
    package private(set) var hits = 0

    package init(_ faults: [Fault] = []) { self.faults = faults.map { Countdown(fault: $0) } }

    package init(_ effect: Fault.Effect, at operation: Int) { self.init([Fault(effect, .once(operation))]) }

    /// What the next operation meets.
    mutating func next(_ operation: SystemFailure.Operation) -> Fault.Effect? {
        var effect: Fault.Effect?
        for index in faults.indices where faults[index].fault.operation ?? operation == operation {
            faults[index].met += 1
            if effect == nil, faults[index].isDue { effect = faults[index].fault.effect }
        }
        if effect != nil { hits += 1 }
        return effect
    }
}

extension FaultPlan {
    /// A fault, and how many of its operations there were.
    private struct Countdown: Sendable {
        let fault: Fault
        var met = 0

        var isDue: Bool {
            switch fault.time {
            case .once(let number): met == number
            case .from(let number): met >= number
            }
        }
    }
}
