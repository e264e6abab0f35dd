/// Runs the automaton of a pattern, following all states simultaneously.
struct PatternMatcher {
    private let program: PatternProgram
    private var current: [Int] = []
    private var upcoming: [Int] = []
    /// For each state, the step at which it was last entered.
    private var entered: [Int]
    private var step = 0
    private var pending: [Int] = []

    init(_ program: PatternProgram) {
        self.program = program
        entered = Array(repeating: -1, count: program.end + 1)
    }

    mutating func matches(_ text: String) -> Bool {
        enter(0)
        current = upcoming
        for scalar in text.unicodeScalars {
            if current.isEmpty { return false }
            take(scalar.value)
        }
        return entered[program.end] == step
    }

    private mutating func take(_ code: UInt32) {
        step += 1
        upcoming.removeAll(keepingCapacity: true)
        for state in current {
            if case .take(let set) = program.states[state], set.contains(code) { enter(state + 1) }
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
