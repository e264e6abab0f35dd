internal import Platform

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
