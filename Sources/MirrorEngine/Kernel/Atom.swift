internal import PropertyLists

/// The outcome of a write at a path: a value, or its removal.
package enum WrittenValue: Hashable, Sendable {
    case value(CanonicalValue)
    /// The value is removed.
    case deleted
    /// The value is removed from the state, and each host keeps the value in its own file.
    case left

    package var value: CanonicalValue? { if case .value(let value) = self { value } else { nil } }

    /// The bytes that represent this outcome in a pack.
    package var bytes: [UInt8] {
        switch self {
        case .value(let value): value.bytes
        case .deleted: [CanonicalValue.Tag.deleted.rawValue]
        case .left: [CanonicalValue.Tag.left.rawValue]
        }
    }

    /// The number of those bytes.
    package var count: Int { value?.count ?? 1 }
}

/// The name of a written value: the identifier of the write, and the transaction that published it, or nil while it
/// waits to be published.
///
/// A copy of a store can publish the same write under another transaction. That is another name.
package struct AtomName: Hashable, Sendable, Comparable {
    package let id: WriteID
    package let dot: TransactionID?

    package init(_ id: WriteID, _ dot: TransactionID?) { (self.id, self.dot) = (id, dot) }

    package static func < (left: Self, right: Self) -> Bool {
        if left.id != right.id { return left.id < right.id }
        guard let dot = right.dot else { return false }
        return left.dot.map { $0 < dot } ?? true
    }
}

/// A written value that no user who saw it has replaced, in some places: it is in force there, or an open conflict.
package struct Atom: Hashable, Sendable {
    package let name: AtomName
    /// After the name, which ends with a single byte, so that it takes no space of its own.
    package let reason: Reason
    package let path: Path
    package let stamp: Stamp
    package let value: WrittenValue
    /// The places that remain, or nil for everything at and below the path.
    private var remaining: Region?

    /// Why a value was written.
    package enum Reason: UInt8, Hashable, Sendable {
        case written
        /// A program wrote back what it had read before the mirror changed its file.
        case reverted
        /// The value was in a file whose history is unknown. It is in force only where no other value is.
        case found
        /// No value, but the number of older values that were removed from a long list.
        case older
    }

    package init(
        _ name: AtomName, at path: Path, _ value: WrittenValue, stamp: Stamp, reason: Reason = .written,
        in region: Region? = nil
    ) {
        (self.name, self.path, self.value, self.stamp, self.reason) = (name, path, value, stamp, reason)
        self.region = region ?? Region(path)
    }

    /// The places where the value is in force or an open conflict.
    package var region: Region {
        get { remaining ?? Region(path) }
        set { remaining = newValue.edges == [path] ? nil : newValue }
    }

    /// Whether the value remains wherever it was written.
    package var isWhole: Bool { remaining == nil }

    func isLive(at place: Path) -> Bool {
        remaining.map { $0.contains(place) } ?? path.isPrefix(of: place)
    }

    /// Whether this value is in force where `other` is live too. All hosts agree on the order.
    package func isAfter(_ other: Atom) -> Bool {
        if (reason == .older) != (other.reason == .older) { return other.reason == .older }
        return stamp == other.stamp ? name > other.name : stamp > other.stamp
    }

    /// Returns what the value has at a place at or below its path.
    func part(at place: Path) -> Part {
        switch value {
        case .deleted: return .deleted
        case .left: return .left
        case .value(let value):
            if place.bytes.count == path.bytes.count { return .value(value) }
            return Part(value, at: place.components.dropFirst(path.depth))
        }
    }
}

/// What a value has at a place inside it.
enum Part: Hashable, Sendable {
    case value(CanonicalValue)
    case deleted
    case left
    /// The value has nothing there, and its writer may not have known of the place.
    case none

    init(_ value: CanonicalValue?, at components: ArraySlice<Path.Component>) {
        guard !components.isEmpty else {
            self = value.map(Self.value) ?? .none
            return
        }
        let part = components.reduce(value?.container) { $0?.part($1) }
        self = part.flatMap { try? CanonicalValue($0) }.map(Self.value) ?? .none
    }

    /// What a place has that is a dictionary or array only because of an entry or element below it.
    static let emptyDictionary = (try? CanonicalValue(.dictionary([:]))).map(Self.value) ?? .none
    static let emptyArray = (try? CanonicalValue(.array([]))).map(Self.value) ?? .none

    var value: CanonicalValue? { if case .value(let value) = self { value } else { nil } }

    /// Whether the value can be the greatest or least of several.
    var isOrdered: Bool { value.map { MergeOrder($0) != nil } ?? false }

    /// Whether this is a dictionary or array without contents, except what others decide.
    func isEmpty(at place: Path, except below: ArraySlice<Path>) -> Bool {
        isSame(as: .emptyDictionary, at: place, except: below) || isSame(as: .emptyArray, at: place, except: below)
    }

    /// Whether both have the same effect, without what the places below have, which others decide.
    func isSame(as other: Part, at place: Path, except below: ArraySlice<Path>) -> Bool {
        if self == other || value == nil && other.value == nil { return true }
        guard !below.isEmpty, let value = value?.container, let theirs = other.value?.container else { return false }
        return value.removing(below, at: place) == theirs.removing(below, at: place)
    }
}

extension PropertyList {
    /// Returns the value at a place without what it has at others below it.
    fileprivate func removing(_ below: ArraySlice<Path>, at place: Path) -> PropertyList {
        let depth = place.depth
        let elements = below.compactMap { $0.merged?.place == place ? $0.merged?.part : nil }
        if !elements.isEmpty, arrayValue != nil { return removing(elements: Set(elements)) }
        return below.reduce(self) { $0.removing($1.components.dropFirst(depth)) }
    }

    /// Returns this value without an entry, and without the dictionaries that have no other entry.
    private func removing(_ path: ArraySlice<Path.Component>) -> PropertyList {
        if case .part(let part)? = path.first { return removing(elements: [part]) }
        if case .record(let name)? = path.first, var records = arrayValue, let index = index(of: name) {
            let rest = path.count > 1 ? records[index].removing(path.dropFirst()) : nil
            records.replaceSubrange(index...index, with: rest.map { [$0] } ?? [])
            return .array(records)
        }
        guard case .key(let first)? = path.first, var entries = dictionaryValue, let entry = entries[first] else {
            return self
        }
        let rest = path.count > 1 ? entry.removing(path.dropFirst()) : nil
        entries[first] = rest == .dictionary([:]) && entry != rest ? nil : rest
        return .dictionary(entries)
    }

    /// Returns what a dictionary or an array has at a step of a path. A number or candidate is part of no value that
    /// was written as a whole.
    func part(_ component: Path.Component) -> PropertyList? {
        switch component {
        case .key(let key): dictionaryValue?[key]
        case .record(let name): index(of: name).flatMap { arrayValue?[$0] }
        case .part(let part): element(part)
        }
    }
}
