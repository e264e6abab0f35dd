/// A recursive descent parser for patterns.
struct PatternParser {
    private let scalars: [Unicode.Scalar]
    private var at = 0
    private var depth = 0

    static func parse(_ text: String) throws(PatternFailure) -> PatternNode {
        var parser = PatternParser(scalars: Array(text.unicodeScalars))
        let node = try parser.alternatives()
        guard parser.next == nil else { throw parser.failure(.unopened) }
        return node
    }

    private init(scalars: [Unicode.Scalar]) { self.scalars = scalars }

    private var next: Unicode.Scalar? { at < scalars.count ? scalars[at] : nil }

    private func failure(_ problem: PatternFailure.Problem, at place: Int? = nil) -> PatternFailure {
        PatternFailure(problem: problem, position: (place ?? at) + 1)
    }

    private mutating func alternatives() throws(PatternFailure) -> PatternNode {
        var branches = [try sequence()]
        while next == "|" {
            at += 1
            branches.append(try sequence())
        }
        return branches.count == 1 ? branches[0] : .alternatives(branches)
    }

    private mutating func sequence() throws(PatternFailure) -> PatternNode {
        var parts: [PatternNode] = []
        while let scalar = next, scalar != "|", scalar != ")" {
            parts.append(try repeated(try atom()))
        }
        return parts.count == 1 ? parts[0] : .sequence(parts)
    }

    private mutating func atom() throws(PatternFailure) -> PatternNode {
        let start = at
        let scalar = scalars[at]
        at += 1
        switch scalar {
        case "(": return try group(from: start)
        case "[": return .one(try characterClass(from: start))
        case ".": return .one(.allButNewline)
        case "\\": return .one(try escape(from: start))
        case "*", "+", "?", "{": throw failure(.nothingToRepeat, at: start)
        case "^", "$": throw failure(.anchor, at: start)
        default: return .one(ScalarSet(scalar))
        }
    }

    private mutating func group(from start: Int) throws(PatternFailure) -> PatternNode {
        depth += 1
        guard depth <= Pattern.maximumGroupDepth else {
            throw failure(.nestedTooDeeply(limit: Pattern.maximumGroupDepth), at: start)
        }
        let node = try alternatives()
        guard next == ")" else { throw failure(.unexpectedEnd(inside: "a group")) }
        at += 1
        depth -= 1
        return node
    }

    private mutating func repeated(_ node: PatternNode) throws(PatternFailure) -> PatternNode {
        let start = at
        let result: PatternNode
        switch next {
        case "*": result = .repeated(node, atLeast: 0, atMost: nil)
        case "+": result = .repeated(node, atLeast: 1, atMost: nil)
        case "?": result = .repeated(node, atLeast: 0, atMost: 1)
        case "{": return try counted(node, from: start)
        default: return node
        }
        at += 1
        try refuseSecondRepetition()
        return result
    }

    private func refuseSecondRepetition() throws(PatternFailure) {
        switch next {
        case "*", "+", "?", "{": throw failure(.repeatedTwice)
        default: return
        }
    }

    private mutating func counted(_ node: PatternNode, from start: Int) throws(PatternFailure) -> PatternNode {
        at += 1
        let least = try count(from: start)
        var most: Int? = least
        if next == "," {
            at += 1
            most = next == "}" ? nil : try count(from: start)
        }
        guard let end = next else { throw failure(.unexpectedEnd(inside: "a count")) }
        guard end == "}" else { throw failure(.invalidCount, at: start) }
        at += 1
        if let most, most < least { throw failure(.reversed, at: start) }
        try refuseSecondRepetition()
        return .repeated(node, atLeast: least, atMost: most)
    }

    private mutating func count(from start: Int) throws(PatternFailure) -> Int {
        var value = 0
        let first = at
        while let digit = next.flatMap({ $0.isASCII ? Int(String($0)) : nil }) {
            value = min(value * 10 + digit, Pattern.maximumStateCount + 1)
            at += 1
        }
        guard at > first else {
            throw next == nil ? failure(.unexpectedEnd(inside: "a count")) : failure(.invalidCount, at: start)
        }
        return value
    }
}

// MARK: Characters

extension PatternParser {
    private mutating func escape(from start: Int, isInClass: Bool = false) throws(PatternFailure) -> ScalarSet {
        guard let scalar = next else { throw failure(.unexpectedEnd(inside: "an escape"), at: start) }
        at += 1
        switch scalar {
        case "d": return .digits
        case "w": return .wordCharacters
        case "s": return .spaces
        case "D" where !isInClass: return ScalarSet.digits.complement
        case "W" where !isInClass: return ScalarSet.wordCharacters.complement
        case "S" where !isInClass: return ScalarSet.spaces.complement
        case "n": return ScalarSet("\n")
        case "r": return ScalarSet("\r")
        case "t": return ScalarSet("\t")
        default:
            guard !scalar.properties.isAlphabetic, scalar.properties.numericType == nil else {
                throw failure(.unknownEscape("\\\(scalar)"), at: start)
            }
            return ScalarSet(scalar)
        }
    }

    private mutating func characterClass(from start: Int) throws(PatternFailure) -> ScalarSet {
        var members = ScalarSet()
        var isComplement = false
        if next == "^" {
            isComplement = true
            at += 1
        }
        let first = at
        while let scalar = next, scalar != "]" {
            try classItem(into: &members)
        }
        guard next == "]" else { throw failure(.unexpectedEnd(inside: "a class")) }
        guard at > first else { throw failure(.emptyClass, at: start) }
        at += 1
        members.sort()
        return isComplement ? members.complement : members
    }

    /// Parses a character, a range or an escape.
    private mutating func classItem(into members: inout ScalarSet) throws(PatternFailure) {
        let start = at
        guard let lower = try classCharacter(into: &members) else { return }
        // A dash at the end of the class is a literal.
        guard next == "-", at + 1 < scalars.count, scalars[at + 1] != "]" else {
            members.insert(lower.value...lower.value)
            return
        }
        at += 1
        var others = ScalarSet()
        guard let upper = try classCharacter(into: &others), lower <= upper else { throw failure(.reversed, at: start) }
        members.insert(lower.value...upper.value)
    }

    /// Parses a character, or adds an escaped set to `members` and returns nil.
    private mutating func classCharacter(into members: inout ScalarSet) throws(PatternFailure) -> Unicode.Scalar? {
        guard let scalar = next else { throw failure(.unexpectedEnd(inside: "a class")) }
        let start = at
        at += 1
        guard scalar == "\\" else { return scalar }
        let escaped = next
        let set = try escape(from: start, isInClass: true)
        switch escaped {
        case "d", "w", "s":
            members.formUnion(set)
            return nil
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        default: return escaped
        }
    }
}

/// The syntax tree of a pattern.
indirect enum PatternNode: Sendable {
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
        case .one: return 1
        case .sequence(let parts): return parts.reduce(0) { Self.sum($0, $1.stateCount) }
        case .alternatives(let parts):
            // A branch before and a jump after each alternative but the last.
            return parts.reduce(2 * (parts.count - 1)) { Self.sum($0, $1.stateCount) }
        case .repeated(let part, let least, let most):
            // Even a part without states takes time to repeat.
            let one = max(1, part.stateCount)
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

/// A set of Unicode scalars: a literal, a class, or a complement.
struct ScalarSet: Hashable, Sendable {
    /// The members, or for a complement all other scalars, in order.
    private(set) var listed: [ClosedRange<UInt32>] = []
    private var isComplement = false

    init() {}

    init(_ scalar: Unicode.Scalar) { insert(scalar.value...scalar.value) }

    private init(_ ranges: [ClosedRange<UInt32>]) { listed = ranges }

    var complement: ScalarSet {
        var result = self
        result.isComplement.toggle()
        return result
    }

    static let digits = ScalarSet([0x30...0x39])
    static let wordCharacters = ScalarSet([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
    static let spaces = ScalarSet([0x09...0x0D, 0x20...0x20])
    static let all = ScalarSet().complement
    static let allButNewline = ScalarSet([0x0A...0x0A]).complement

    /// Adds members. Call `sort()` after the last ones.
    mutating func insert(_ range: ClosedRange<UInt32>) { listed.append(range) }

    /// Adds the members of a set that is not a complement. Call `sort()` after the last ones.
    mutating func formUnion(_ other: ScalarSet) { listed += other.listed }

    /// Sorts and joins the ranges, so that a search takes logarithmic time.
    mutating func sort() {
        var joined: [ClosedRange<UInt32>] = []
        for range in listed.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = joined.last, range.lowerBound <= last.upperBound {
                joined[joined.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                joined.append(range)
            }
        }
        listed = joined
    }

    /// Returns whether a scalar or one of its other cases is listed; for a complement, whether none is.
    func contains(_ code: UInt32, or others: [UInt32]) -> Bool {
        if others.isEmpty { return contains(code) }
        let all = others + [code]
        return isComplement ? all.allSatisfy(contains) : all.contains(where: contains)
    }

    func contains(_ code: UInt32) -> Bool {
        var (low, high) = (0, listed.count)
        while low < high {
            let middle = (low + high) / 2
            if listed[middle].upperBound < code { low = middle + 1 } else { high = middle }
        }
        return (low < listed.count && listed[low].lowerBound <= code) != isComplement
    }
}
