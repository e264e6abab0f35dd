/// The syntax tree of a pattern.
indirect enum PatternNode: Sendable {
    case empty
    case one(ScalarSet)
    case sequence([PatternNode])
    case alternatives([PatternNode])
    case repeated(PatternNode, atLeast: Int, atMost: Int?)

    /// The meaning of a text with the wildcards `*` and `?`.
    init(wildcards text: String) {
        var parts: [PatternNode] = []
        var isAfterAsterisk = false
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            // Consecutive asterisks are equivalent to one.
            if scalar == "*", isAfterAsterisk { continue }
            isAfterAsterisk = scalar == "*"
            switch scalar {
            case "*": parts.append(.repeated(.one(.all), atLeast: 0, atMost: nil))
            case "?": parts.append(.one(.all))
            case "\\": parts.append(.one(ScalarSet(rest.popFirst() ?? scalar)))
            default: parts.append(.one(ScalarSet(scalar)))
            }
        }
        self = .sequence(parts)
    }

    /// The number of states that this compiles to, or a number above the limit if it is too large.
    var stateCount: Int {
        switch self {
        case .empty: return 0
        case .one: return 1
        case .sequence(let parts): return parts.reduce(0) { Self.sum($0, $1.stateCount) }
        case .alternatives(let parts):
            // A branch before and a jump after each alternative but the last.
            return parts.reduce(2 * (parts.count - 1)) { Self.sum($0, $1.stateCount) }
        case .repeated(let part, let least, let most):
            let one = part.stateCount
            guard let most else {
                return least == 0 ? Self.sum(one, 2) : Self.sum(Self.product(one, least), 1)
            }
            return Self.sum(Self.product(one, most), most - least)
        }
    }

    private static let tooMany = 1 << 40

    private static func sum(_ a: Int, _ b: Int) -> Int { min(a + b, tooMany) }

    private static func product(_ a: Int, _ b: Int) -> Int {
        let (product, overflow) = a.multipliedReportingOverflow(by: b)
        return overflow ? tooMany : min(product, tooMany)
    }
}
