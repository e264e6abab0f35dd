package import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The rule by which writes of a key that have not seen each other are combined.
package enum MergeKind: Hashable, Sendable {
    /// Every value is one write, including a dictionary. The later write is in force, and the other is a conflict.
    case value
    /// Each changed entry of a dictionary is a write of its own, so that two hosts can change different entries.
    case entries
    /// Each element of an array is added and removed on its own. Their order means nothing.
    case set
    /// Each change of an integer is a number to add.
    case counter
    /// The greatest value is in force.
    case maximum
    /// The least value is in force.
    case minimum
    /// The dictionaries of an array are matched by their values of a key, and merged entry by entry.
    case list(identity: String)

    /// Whether what two hosts have is combined when one of them begins to mirror the key.
    var unites: Bool { self == .set || self == .maximum || self == .minimum }
}

/// A part of a value that is merged by a rule of its own, as the last component of a path.
///
/// So the rule is in the path of each write, and all hosts combine the writes alike, whether they have the schema or
/// not.
package struct MergedPart: Hashable, Sendable {
    package let kind: Kind
    /// The beginning of the hash of an element, or else a number that no other write has.
    let name: ArraySlice<UInt8>

    /// The kind of a part, with the tag that it has in a path.
    package enum Kind: UInt8, Hashable, Sendable {
        case element = 2
        case addend
        case candidateForMaximum
        case candidateForMinimum
        /// The order of records in an array.
        case order = 7

        /// The length of its name, or nil if it has any.
        var lengthOfName: Int? {
            switch self {
            case .element: 16
            case .addend, .candidateForMaximum, .candidateForMinimum: 8
            case .order: nil
            }
        }

        /// Whether the greatest or least of several values is in force.
        var isCandidate: Bool { self == .candidateForMaximum || self == .candidateForMinimum }

        /// Whether a value is not in force beside another one.
        func isBeaten(_ value: CanonicalValue?, by other: CanonicalValue?) -> Bool {
            guard let value = value.flatMap(MergeOrder.init), let other = other.flatMap(MergeOrder.init) else {
                return false
            }
            return self == .candidateForMaximum ? value <= other : self == .candidateForMinimum && other <= value
        }
    }

    /// The tags of the other components: a key, and a record of an array.
    static let keyTag: UInt8 = 1
    static let recordTag: UInt8 = 6

    /// The rule of values with such parts.
    package var merging: MergeKind {
        switch kind {
        case .element: .set
        case .addend: .counter
        case .candidateForMaximum: .maximum
        case .candidateForMinimum: .minimum
        case .order: .list(identity: String(decoding: name, as: UTF8.self))
        }
    }

    init(_ kind: Kind, name: ArraySlice<UInt8>) { (self.kind, self.name) = (kind, name) }

    /// - Parameter number: A number that no other write has.
    package init(_ kind: Kind, number: UInt64) {
        self.kind = kind
        var bytes: [UInt8] = []
        bytes.append(littleEndian: number)
        name = bytes[...]
    }

    /// The order of the records that are matched by a key.
    package init(orderBy key: String) { self.init(.order, name: Array(key.utf8)[...]) }

    package init(element: CanonicalValue) {
        self.init(.element, name: element.contentHash.bytes[..<16])
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.kind == right.kind && left.name.elementsEqual(right.name)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        for byte in name { hasher.combine(byte) }
    }

    /// Whether a value can be written at this part.
    func permits(_ value: WrittenValue) -> Bool {
        guard let value = value.value else { return false }
        switch kind {
        case .element: return MergedPart(element: value) == self
        case .addend: return value.propertyList.integer != nil
        case .candidateForMaximum, .candidateForMinimum: return MergeOrder(value) != nil
        case .order: return value.propertyList.arrayValue != nil
        }
    }
}

/// The name of a record of an array: its value of the key by which records are matched.
package struct RecordName: Hashable, Sendable {
    package let key: String
    package let id: PropertyList

    /// Returns nil if the value is not a number, a date, a text or data, or is too long for a path.
    package init?(_ key: String, _ id: PropertyList?) {
        guard let id, id.arrayValue == nil, id.dictionaryValue == nil else { return nil }
        (self.key, self.id) = (key, id)
        guard let bytes, bytes.count <= Path.longestComponent else { return nil }
    }

    /// Decodes a dictionary with one entry.
    init?(decoding bytes: ArraySlice<UInt8>) {
        guard let value = try? CanonicalValue(decoding: Array(bytes)), let entries = value.propertyList.dictionaryValue,
            entries.count == 1, let entry = entries.first
        else { return nil }
        self.init(entry.key, entry.value)
    }

    var bytes: [UInt8]? { (try? CanonicalValue(.dictionary([key: id])))?.bytes }

    func matches(_ record: PropertyList) -> Bool { record.dictionaryValue?[key] == id }
}

/// How a path continues below a place.
enum Step: Hashable {
    case key
    /// A record of an array, or the order of the records.
    case record
    case part(MergedPart.Kind)

    /// Whether a value can have something there.
    func fits(_ value: CanonicalValue) -> Bool {
        switch self {
        case .key: value.dictionary != nil
        case .record, .part(.element), .part(.order): value.container?.arrayValue != nil
        case .part(.addend): value.propertyList.integer != nil
        case .part: MergeOrder(value) != nil
        }
    }
}

extension Path {
    /// The place whose former value a write at this path replaces.
    var replaced: Path {
        guard let (place, part) = merged else { return self }
        return part.kind.isCandidate && Rule.replacesCandidates.isKept ? place : self
    }
}

extension PropertyList {
    fileprivate var integer: Integer? { if case .integer(let number) = self { number } else { nil } }
}

/// The values of a file, in which the elements of a set are found by their names.
///
/// To find one of them, the hashes of all are computed, and a program can change a thousand elements at once.
final class IndexedValues {
    private let values: [Path: CanonicalValue]
    private var elements: [Path: [MergedPart: CanonicalValue]] = [:]

    init(_ values: [Path: CanonicalValue]) { self.values = values }

    /// Returns the value of a key.
    subscript(key: Path) -> CanonicalValue? { values[key] }

    /// Returns the value at a place, or nil if there is none.
    func value(at path: Path) -> CanonicalValue? {
        let key = path.prefix(components: 2)
        guard let (place, part) = path.merged, part.kind == .element, place == key else {
            return Part(values[key], at: path.components.dropFirst(key.depth)).value
        }
        if elements[key] == nil {
            let all = (values[key]?.container?.arrayValue ?? []).compactMap { try? CanonicalValue($0) }
            elements[key] = Dictionary(all.map { (MergedPart(element: $0), $0) }) { first, _ in first }
        }
        return elements[key]?[part]
    }

    /// Returns what a write at a place can replace of the value of its key: of a set, only the element.
    func formerValue(ofWriteAt path: Path) -> CanonicalValue? {
        let key = path.prefix(components: 2)
        guard let (place, part) = path.merged, part.kind == .element, place == key, values[key] != nil else {
            return values[key]
        }
        return try? CanonicalValue(.array([value(at: path)?.propertyList].compactMap { $0 }))
    }
}

// MARK: Combining

extension PropertyList {
    /// The element of an array with this name.
    func element(_ part: MergedPart) -> PropertyList? {
        arrayValue?.first { element in
            (try? CanonicalValue(element)).map { MergedPart(element: $0) == part } ?? false
        }
    }

    /// Returns the index of a record in an array.
    func index(of record: RecordName) -> Int? { arrayValue?.firstIndex(where: record.matches) }

    /// Returns the records of an array in another order. Those that the order lacks follow, by their bytes.
    private func inOrder(of ids: [PropertyList], by key: String) -> PropertyList {
        guard let records = arrayValue else { return self }
        let places = Swift.Dictionary(zip(ids, ids.indices)) { first, _ in first }
        var (named, others) = ([(place: Int, record: PropertyList)](), Set<CanonicalValue>())
        for record in records {
            if let place = record.dictionaryValue?[key].flatMap({ places[$0] }) {
                named.append((place, record))
            } else if let value = try? CanonicalValue(record) {
                others.insert(value)
            }
        }
        return .array(named.sorted { $0.place < $1.place }.map(\.record) + Self.sorted(others))
    }

    /// Returns an array without some elements.
    func removing(elements parts: Set<MergedPart>) -> PropertyList {
        guard !parts.isEmpty, let elements = arrayValue else { return self }
        return .array(
            elements.filter { element in
                (try? CanonicalValue(element)).map { !parts.contains(MergedPart(element: $0)) } ?? true
            })
    }

    /// Returns an array in the order of the elements' bytes, each once, or nil if the array has it already.
    package var asSet: PropertyList? {
        guard let elements = arrayValue, elements.count > 1 else { return nil }
        let sorted = Self.sorted(Set(elements.compactMap { try? CanonicalValue($0) }))
        return sorted == elements ? nil : .array(sorted)
    }

    private static func sorted(_ elements: Set<CanonicalValue>) -> [PropertyList] {
        elements.sorted { $0.bytes.isBefore($1.bytes) }.map(\.propertyList)
    }

    /// Combines a value that was written as a whole with the parts that were written on their own.
    ///
    /// - Parameter parts: The parts of one kind in force, and elements that are no longer there, as nil.
    static func combined(_ whole: PropertyList?, with parts: [(part: MergedPart, value: CanonicalValue?)])
        -> PropertyList?
    {
        guard let kind = (parts.first { $0.value != nil } ?? parts.first)?.part.kind else { return whole }
        let values = parts.filter { $0.part.kind == kind }.compactMap(\.value)
        switch kind {
        case .element:
            guard !values.isEmpty || whole?.arrayValue != nil else { return whole }
            let rest = whole?.removing(elements: Set(parts.map(\.part))).arrayValue ?? []
            return .array(sorted(Set(rest.compactMap { try? CanonicalValue($0) } + values)))
        case .addend:
            guard !values.isEmpty else { return whole }
            return .integer(sum(([whole] + values.map(\.propertyList)).compactMap { $0?.integer }))
        case .candidateForMaximum, .candidateForMinimum:
            let all = [whole.flatMap { try? CanonicalValue($0) }].compactMap { $0 } + values
            return all.filter { MergeOrder($0) != nil }.reduce(CanonicalValue?.none) { best, value in
                kind.isBeaten(value, by: best) ? best : value
            }?.propertyList ?? whole
        case .order:
            guard case .list(let key)? = parts.first?.part.merging, let ids = values.first?.propertyList.arrayValue
            else {
                return whole
            }
            return whole?.inOrder(of: ids, by: key)
        }
    }

    /// Adds integers. A sum that no integer can hold is the nearest one.
    private static func sum(_ numbers: [Integer]) -> Integer {
        let sum = numbers.reduce(Int128(0)) { $0 + (Int128(exactly: $1) ?? 0) }
        return Integer(exactly: min(max(sum, Int128(Int64.min)), Int128(UInt64.max))) ?? 0
    }
}

extension PropertyList.Integer {
    /// Returns the number to add to another integer so that it becomes this one, or nil if none can hold it.
    func difference(from other: Self) -> Self? {
        guard let high = Int128(exactly: self), let low = Int128(exactly: other) else { return nil }
        return Self(exactly: high - low)
    }
}

// MARK: The order of values

/// The place of a value in the order in which one is the greatest: numbers, then dates, then texts. In texts, digits
/// are compared as numbers, so that version 1.10 is after 1.9.
struct MergeOrder: Comparable {
    private enum Key {
        /// The part before the point, and the rest.
        case number(Int128, Double)
        case date(Double)
        case text([Run])
    }

    /// A part of a text: digits, or what is between them.
    private struct Run: Comparable {
        let isNumber: Bool
        let bytes: [UInt8]

        static func < (left: Run, right: Run) -> Bool {
            if left.isNumber, right.isNumber, left.bytes.count != right.bytes.count {
                return left.bytes.count < right.bytes.count
            }
            return left.bytes.isBefore(right.bytes)
        }
    }

    private let key: Key
    private let bytes: [UInt8]

    /// Returns nil for a value that is not ordered.
    init?(_ value: CanonicalValue) {
        bytes = value.bytes
        switch value.propertyList {
        case .integer(let number): key = .number(Int128(exactly: number) ?? 0, 0)
        case .real(let number) where !number.isNaN:
            let whole = number.rounded(.down)
            key =
                Int128(exactly: whole).map { .number($0, number - whole) } ?? .number(number < 0 ? .min : .max, number)
        case .date(let date): key = .date(date.timeIntervalSinceReferenceDate)
        case .string(let text): key = .text(Self.runs(of: text))
        default: return nil
        }
    }

    private static func runs(of text: String) -> [Run] {
        var (runs, rest) = ([Run](), Array(text.utf8)[...])
        while let first = rest.first {
            let isNumber = first.isDigit
            let run = rest.prefix { $0.isDigit == isNumber }
            rest = rest.dropFirst(run.count)
            runs.append(Run(isNumber: isNumber, bytes: Array(isNumber ? run.drop { $0 == UInt8(ascii: "0") } : run)))
        }
        return runs
    }

    static func == (left: Self, right: Self) -> Bool { left.bytes == right.bytes }

    static func < (left: Self, right: Self) -> Bool {
        switch (left.key, right.key) {
        case (.number(let one, let rest), .number(let other, let otherRest)) where (one, rest) != (other, otherRest):
            return (one, rest) < (other, otherRest)
        case (.date(let one), .date(let other)) where one != other: return one < other
        case (.text(let one), .text(let other)) where one != other: return one.lexicographicallyPrecedes(other)
        case (.number, .date), (.number, .text), (.date, .text): return true
        case (.date, .number), (.text, .number), (.text, .date): return false
        default: break
        }
        // Values that differ only in their form: all hosts choose the same one.
        return left.bytes.isBefore(right.bytes)
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
