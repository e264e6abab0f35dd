package import PropertyLists

extension Query {
    /// The keys by which records are sorted.
    ///
    /// Missing values come first, then numbers and Booleans, dates, and texts. Texts are in natural order: case and
    /// diacritics are ignored, and digits are compared as numbers, so that “page 9” precedes “page 10”. Records that
    /// are equal keep their order, as do values of other types.
    public struct Order: Sendable {
        private let keys: [(isNegative: Bool, key: Query.Key)]

        /// Parses keys separated by commas; a minus sign before a key reverses its order.
        public init(_ text: String) throws(Query.Predicate.Failure) {
            keys = text.isEmpty ? [] : try Query.Key.parsed(text, allowsSigns: true)
        }

        /// The keys that sorting reads from a record, or nil if it may read any.
        package var fields: Set<Name>? {
            keys.reduce([]) { names, key in names.flatMap { names in key.key.fields.map(names.union) } }
        }

        func sorted(_ records: [Record]) -> [Record] {
            guard !keys.isEmpty else { return records }
            let ranks = records.map { record in keys.map { SortRank($0.key.evaluated(in: record)) } }
            let order = records.indices.sorted { a, b in
                for (at, key) in keys.enumerated() {
                    let (left, right) = key.isNegative ? (ranks[b][at], ranks[a][at]) : (ranks[a][at], ranks[b][at])
                    if left < right { return true }
                    if right < left { return false }
                }
                return a < b
            }
            return order.map { records[$0] }
        }
    }
}

/// The position of a value among others.
private enum SortRank {
    case missing
    case number(Number)
    case date(Value)
    case text(NaturalText)
    case other

    init(_ value: Value) {
        if value.isNull {
            self = .missing
        } else if let number = value.number {
            self = .number(number)
        } else if let text = value.text {
            self = .text(NaturalText(text))
        } else {
            self = value.kind == .date ? .date(value) : .other
        }
    }

    private var group: Int {
        switch self {
        case .missing: 0
        case .number: 1
        case .date: 2
        case .text: 3
        case .other: 4
        }
    }

    static func < (left: SortRank, right: SortRank) -> Bool {
        switch (left, right) {
        case (.number(let a), .number(let b)): a.comesBefore(b)
        case (.date(let a), .date(let b)): a.order(b) == .less
        case (.text(let a), .text(let b)): a < b
        default: left.group < right.group
        }
    }
}

extension Number {
    /// The order of numbers, where NaN precedes all others.
    fileprivate func comesBefore(_ other: Number) -> Bool {
        let order = order(other)
        guard order == .unordered else { return order == .less }
        return asDouble.isNaN && !other.asDouble.isNaN
    }
}

/// A text that is compared in natural order.
struct NaturalText {
    private let text: String
    private let folded: [UInt8]

    init(_ text: String) {
        self.text = text
        folded = Array(Folding.all.folded(text).utf8)
    }

    static func < (left: NaturalText, right: NaturalText) -> Bool {
        let (a, b) = (left.folded, right.folded)
        var (i, j) = (0, 0)
        while i < a.count, j < b.count {
            if a[i].isDigit, b[j].isDigit {
                let (m, n) = (a.digits(from: i), b.digits(from: j))
                if m.count != n.count { return m.count < n.count }
                if let (p, q) = zip(a[m], b[n]).first(where: { $0 != $1 }) { return p < q }
                (i, j) = (m.upperBound, n.upperBound)
            } else {
                if a[i] != b[j] { return a[i] < b[j] }
                (i, j) = (i + 1, j + 1)
            }
        }
        let (restOfA, restOfB) = (a.count - i, b.count - j)
        return restOfA == restOfB ? left.text.isBefore(right.text) : restOfA < restOfB
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { 0x30...0x39 ~= self }
}

extension [UInt8] {
    /// The range of the digits from a position on, without leading zeros.
    fileprivate func digits(from start: Int) -> Range<Int> {
        let end = self[start...].firstIndex { !$0.isDigit } ?? endIndex
        return (self[start..<end].firstIndex { $0 != 0x30 } ?? end)..<end
    }
}
