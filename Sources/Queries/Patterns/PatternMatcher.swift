/// Runs the automaton of a pattern, following all states simultaneously.
struct PatternMatcher {
    private let program: PatternProgram
    private var current: [Int] = []
    private var upcoming: [Int] = []
    /// For each state, the step at which it was last entered.
    private var entered: [Int]
    private var step = 0
    private var pending: [Int] = []
    private let ignoresCase: Bool

    init(_ program: PatternProgram, ignoresCase: Bool) {
        self.program = program
        self.ignoresCase = ignoresCase
        entered = Array(repeating: -1, count: program.end + 1)
    }

    /// Returns nil once `budget` is used up.
    mutating func matches(_ text: String, budget: inout Int) -> Bool? {
        budget -= entered.count / 16
        enter(0)
        current = upcoming
        for scalar in text.unicodeScalars {
            if current.isEmpty { return false }
            budget -= current.count
            if budget < 0 { return nil }
            take(scalar)
        }
        return entered[program.end] == step
    }

    private mutating func take(_ scalar: Unicode.Scalar) {
        step += 1
        upcoming.removeAll(keepingCapacity: true)
        let others = ignoresCase ? scalar.otherCases : []
        for state in current {
            guard case .take(let set) = program.states[state] else { continue }
            if set.contains(scalar.value, or: others) { enter(state + 1) }
        }
        swap(&current, &upcoming)
    }

    /// Enters a state and all states reachable without consuming a character.
    private mutating func enter(_ state: Int) {
        pending.append(state)
        while let state = pending.popLast() {
            guard entered[state] != step else { continue }
            entered[state] = step
            guard state < program.end else { continue }
            switch program.states[state] {
            case .take: upcoming.append(state)
            case .go(let next): pending.append(next)
            case .either(let first, let second):
                pending.append(second)
                pending.append(first)
            }
        }
    }
}

extension Unicode.Scalar {
    /// The scalars that differ from this one only in case.
    fileprivate var otherCases: [UInt32] {
        [properties.lowercaseMapping, properties.uppercaseMapping].compactMap { mapping in
            let scalars = mapping.unicodeScalars
            guard let scalar = scalars.first, scalars.count == 1, scalar != self else { return nil }
            return scalar.value
        }
    }
}
