internal import Platform

/// The faults to inject into a process, and the number of its operations so far.
///
/// A test lets the nth operation fail, for n = 1, 2, …, until a run has fewer than n operations.
package struct FaultPlan: Sendable {
    private var faults: [Countdown]
    /// The number of operations into which a fault was injected.
    package private(set) var hits = 0

    package init(_ faults: [Fault] = []) { self.faults = faults.map { Countdown(fault: $0) } }

    package init(_ effect: Fault.Effect, at operation: Int) { self.init([Fault(effect, .once(operation))]) }

    /// Returns the fault for the next operation, or nil.
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
    /// A fault, and the number of matching operations so far.
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
