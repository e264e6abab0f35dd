extension PropertyList {
    /// Keys and values in the order in which they were read or added.
    ///
    /// Two dictionaries are equal if they have equal values under the same keys, in any order.
    public struct Dictionary: Sendable {
        /// A key and its value.
        public struct Entry: Sendable, Hashable {
            package let name: Name
            /// The key, which is unique in the dictionary.
            public var key: String { name.text }
            /// The value under the key.
            public var value: PropertyList

            /// Creates an entry.
            public init(key: String, value: PropertyList) {
                name = Name(key)
                self.value = value
            }
        }

        private(set) var entries: ContiguousArray<Entry>
        /// The positions of the keys, or nil while a linear search of the entries is faster.
        private var index: KeyIndex?

        /// The greatest number of entries that are searched without an index.
        static let mostWithoutIndex = 16

        /// Creates an empty dictionary.
        public init() { entries = [] }

        /// Creates an empty dictionary with room for a number of entries.
        public init(minimumCapacity: Int) {
            entries = []
            entries.reserveCapacity(minimumCapacity)
        }
    }
}

// MARK: Reading

extension PropertyList.Dictionary {
    /// The number of entries.
    public var count: Int { entries.count }
    /// Whether the dictionary is empty.
    public var isEmpty: Bool { entries.isEmpty }
    /// The keys in the order of the entries.
    public var keys: some RandomAccessCollection<String> { entries.lazy.map(\.key) }
    /// The values in the order of the entries.
    public var values: some RandomAccessCollection<PropertyList> { entries.lazy.map(\.value) }

    /// The value under `key`. Setting nil removes the key. A new key is added at the end.
    public subscript(key: String) -> PropertyList? {
        get { position(of: key).map { entries[$0].value } }
        set {
            if let newValue {
                updateValue(newValue, forKey: key)
            } else {
                removeValue(forKey: key)
            }
        }
    }

    /// The position of `key`, or nil.
    func position(of key: String) -> Int? {
        if let index { return index.position(of: key, in: entries) }
        return entries.firstIndex { $0.key.hasSameBytes(as: key) }
    }

    /// The entries in the order of sorted output, which is that of the UTF-16 code units of their keys.
    package var sortedEntries: ContiguousArray<Entry> { isSorted ? entries : entries.sortedByKey }

    /// Whether the entries are in the order of sorted output.
    package var isSorted: Bool {
        if let index, index.entriesAreSorted { return true }
        return entries.indices.dropFirst().allSatisfy { entries[$0 - 1].key.isBefore(entries[$0].key) }
    }
}

// MARK: Changing

extension PropertyList.Dictionary {
    /// Sets the value under `key` and returns the previous value.
    @discardableResult
    public mutating func updateValue(_ value: PropertyList, forKey key: String) -> PropertyList? {
        if let position = position(of: key) {
            let former = entries[position].value
            entries[position].value = value
            return former
        }
        append(Entry(key: key, value: value))
        return nil
    }

    /// Removes `key` and returns its value. The order of the other entries is kept, so this takes linear time. Use
    /// `removeAll(where:)` for many keys.
    @discardableResult
    public mutating func removeValue(forKey key: String) -> PropertyList? {
        guard let position = position(of: key) else { return nil }
        let former = entries.remove(at: position).value
        reindex()
        return former
    }

    /// Removes the entries for which `shouldBeRemoved` returns true, and keeps the order of the others.
    public mutating func removeAll(where shouldBeRemoved: (Entry) throws -> Bool) rethrows {
        defer { reindex() }
        try entries.removeAll(where: shouldBeRemoved)
    }

    /// Changes the value under `key` in place. Nil represents a missing value.
    mutating func withValue<Result, Failure: Error>(
        forKey key: String, _ body: (inout PropertyList?) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let position = position(of: key) else {
            var value: PropertyList?
            let result = try body(&value)
            if let value { append(Entry(key: key, value: value)) }
            return result
        }
        var value: PropertyList? = .boolean(false)
        swap(&value!, &entries[position].value)
        defer {
            if let value {
                entries[position].value = value
            } else {
                entries.remove(at: position)
                reindex()
            }
        }
        return try body(&value)
    }

    private mutating func append(_ entry: Entry) {
        entries.append(entry)
        if index == nil {
            if entries.count > Self.mostWithoutIndex { reindex() }
            return
        }
        let isGreatest = entries[entries.count - 2].key.isBefore(entry.key)
        if !index!.insert(entry.key, position: entries.count - 1, isGreatest: isGreatest) { reindex() }
    }

    private mutating func reindex() {
        guard entries.count > Self.mostWithoutIndex else {
            index = nil
            return
        }
        index = nil
        index = KeyIndex(unique: entries, areSorted: isSorted)
    }
}

extension PropertyList.Dictionary {
    /// Creates a dictionary of entries that were just read. Of duplicate keys, the last value is used.
    ///
    /// - Parameters:
    ///   - areSorted: Whether the keys are known to be ascending, and therefore unique.
    ///   - duplicate: Receives the position of each entry with a duplicate key.
    init(read entries: consuming ContiguousArray<Entry>, areSorted: Bool, duplicate: (Int) -> Void) {
        self.entries = entries
        let count = self.entries.count
        if count <= Self.mostWithoutIndex {
            if !areSorted, count > 1 { removeDuplicatesAmongFew(duplicate) }
        } else if areSorted {
            index = KeyIndex(unique: self.entries, areSorted: true)
        } else {
            index = KeyIndex(checking: self.entries)
            if index == nil { removeDuplicatesAmongMany(duplicate) }
        }
    }

    private mutating func removeDuplicatesAmongFew(_ duplicate: (Int) -> Void) {
        // As many as `mostWithoutIndex`.
        var hashes = InlineArray<16, UInt64>(repeating: 0)
        for at in entries.indices {
            hashes[at] = KeyIndex.hash(entries[at].key)
            for earlier in 0..<at
            where hashes[earlier] == hashes[at] && entries[earlier].key.hasSameBytes(as: entries[at].key) {
                return removeDuplicatesAmongMany(duplicate)
            }
        }
    }

    private mutating func removeDuplicatesAmongMany(_ duplicate: (Int) -> Void) {
        var unique = PropertyList.Dictionary(minimumCapacity: entries.count)
        for (position, entry) in entries.enumerated() where unique.updateValue(entry.value, forKey: entry.key) != nil {
            duplicate(position)
        }
        self = unique
    }
}

extension PropertyList.Dictionary: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        guard left.count == right.count else { return false }
        for (position, entry) in left.entries.enumerated() {
            // Dictionaries that are compared usually have the same order.
            if right.entries[position].key.hasSameBytes(as: entry.key) {
                if right.entries[position].value != entry.value { return false }
            } else if right[entry.key] != entry.value {
                return false
            }
        }
        return true
    }

    public func hash(into hasher: inout Hasher) {
        var sum = 0
        for entry in entries { sum &+= entry.hashValue }
        hasher.combine(sum)
    }
}

extension PropertyList.Dictionary: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { entries.count }
    public subscript(position: Int) -> Entry { entries[position] }
}

extension PropertyList.Dictionary: ExpressibleByDictionaryLiteral {
    /// Creates a dictionary. If a key is repeated, its last value is used.
    public init(dictionaryLiteral elements: (String, PropertyList)...) {
        self.init(elements)
    }

    /// Creates a dictionary. If a key is repeated, its last value is used.
    public init(_ elements: some Sequence<(String, PropertyList)>) {
        self.init(minimumCapacity: elements.underestimatedCount)
        for (key, value) in elements { updateValue(value, forKey: key) }
    }
}

extension ContiguousArray<PropertyList.Dictionary.Entry> {
    /// The entries in the order of the UTF-16 code units of their keys, as Apple sorts them.
    ///
    /// The keys of a dictionary often have a common prefix. After it, the next 16 bytes decide most comparisons without
    /// access to the keys themselves.
    package var sortedByKey: Self {
        guard let first else { return self }
        // Not `self`, because that retains each string on the way.
        let entries = span
        let prefix = first.key.withBytes { first in
            entries.indices.reduce(first.count) { length, position in
                entries.withElement(at: position) { entry in
                    entry.key.withBytes { bytes in
                        let end = Swift.min(length, bytes.count)
                        return (0..<end).first { bytes[$0] != first[$0] } ?? end
                    }
                }
            }
        }
        var order = entries.indices.map { position in
            (rank: entries.withElement(at: position) { $0.key.rank(after: prefix) }, position: position)
        }
        order.sort { a, b in
            a.rank == b.rank ? self[a.position].key.isBefore(self[b.position].key) : a.rank < b.rank
        }
        return Self(order.lazy.map { self[$0.position] })
    }
}

extension String {
    /// The 16 bytes after `prefix` as a number that orders keys.
    fileprivate func rank(after prefix: Int) -> UInt128 {
        withBytes { bytes in
            var rank: UInt128 = 0
            for place in prefix..<prefix + 16 {
                let byte = place < bytes.count ? bytes[place] : 0
                // In UTF-16, characters beyond U+FFFF come before U+E000–U+FFFF.
                rank = rank << 8 | UInt128(byte == 0xEE || byte == 0xEF ? byte + 0x10 : byte)
            }
            return rank
        }
    }
}

// MARK: Index

/// The positions of the keys of a dictionary, as an open hash table.
///
/// It is a single array, so that a dictionary takes two words. The first element is twice the number of keys, plus one
/// if the entries are sorted. The second is the mask of the slots, which follow. A slot has 32 bits of the key's hash
/// in its upper half and the key's position plus one in its lower half, or is 0 if it is free.
struct KeyIndex: Sendable {
    typealias Entries = ContiguousArray<PropertyList.Dictionary.Entry>

    private var table: ContiguousArray<UInt64>

    /// The number of elements before the slots.
    private static var header: Int { 2 }

    private var mask: Int { Int(table[1]) }
    private var count: Int { Int(table[0] >> 1) }

    /// Creates an empty index with room for `capacity` keys.
    private init(capacity: Int) {
        var slots = 32
        while slots < capacity + capacity / 4 { slots *= 2 }
        table = ContiguousArray(repeating: 0, count: Self.header + slots)
        table[1] = UInt64(slots - 1)
    }

    /// Creates an index of entries with unique keys.
    init(unique entries: Entries, areSorted: Bool) {
        self.init(capacity: entries.count)
        fill(with: entries) { _, _ in false }
        table[0] = UInt64(entries.count) << 1 | (areSorted ? 1 : 0)
    }

    /// Creates an index of `entries`, or returns nil if two have the same key.
    init?(checking entries: Entries) {
        self.init(capacity: entries.count)
        let isUnique = fill(with: entries) { entries[$0].key.hasSameBytes(as: entries[$1].key) }
        guard isUnique else { return nil }
        table[0] = UInt64(entries.count) << 1
    }

    /// Adds all entries to an empty index. Stops and returns false if two entries with equal hashes are the same.
    @discardableResult
    private mutating func fill(with entries: Entries, _ areSame: (Int, Int) -> Bool) -> Bool {
        let (mask, seed) = (mask, Self.seed)
        let entries = entries.span
        var slots = table.mutableSpan
        for position in entries.indices {
            let hash = entries.withElement(at: position) { $0.key.withBytes { hashOfBytes($0, seed: seed) } }
            var slot = Int(truncatingIfNeeded: hash) & mask
            while slots[Self.header + slot] != 0 {
                let other = slots[Self.header + slot]
                if (other ^ hash) >> 32 == 0, areSame(Self.position(other), position) { return false }
                slot = (slot + 1) & mask
            }
            slots[Self.header + slot] = Self.filled(hash, position)
        }
        return true
    }

    var entriesAreSorted: Bool { table[0] & 1 == 1 }

    func position(of key: String, in entries: Entries) -> Int? {
        let (hash, mask) = (Self.hash(key), mask)
        var slot = Int(truncatingIfNeeded: hash) & mask
        while table[Self.header + slot] != 0 {
            let other = table[Self.header + slot]
            if (other ^ hash) >> 32 == 0, entries[Self.position(other)].key.hasSameBytes(as: key) {
                return Self.position(other)
            }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// Adds the position of a new key. Returns false if the table is full, so that a larger one must be made.
    mutating func insert(_ key: String, position: Int, isGreatest: Bool) -> Bool {
        guard count + count / 4 < mask else { return false }
        let (hash, mask) = (Self.hash(key), mask)
        var slot = Int(truncatingIfNeeded: hash) & mask
        while table[Self.header + slot] != 0 { slot = (slot + 1) & mask }
        table[Self.header + slot] = Self.filled(hash, position)
        table[0] += 2
        if !isGreatest { table[0] &= ~1 }
        return true
    }

    private static func filled(_ hash: UInt64, _ position: Int) -> UInt64 {
        (hash & ~0xFFFF_FFFF) | UInt64(truncatingIfNeeded: position + 1)
    }

    private static func position(_ slot: UInt64) -> Int { Int(slot & 0xFFFF_FFFF) - 1 }
}

extension KeyIndex {
    /// Random for each process, so that an attacker cannot prepare colliding keys.
    static let seed = UInt64.random(in: .min ... .max)

    @inline(__always)
    static func hash(_ key: String) -> UInt64 { key.withBytes { hashOfBytes($0, seed: seed) } }
}

/// A hash of all bytes and a seed, computed from full-width products of words.
@inline(__always)
func hashOfBytes(_ bytes: Span<UInt8>, seed: UInt64) -> UInt64 {
    var hash = seed ^ UInt64(truncatingIfNeeded: bytes.count) &* 0x9E37_79B9_7F4A_7C15
    var at = 0
    while at + 8 < bytes.count {
        hash = mixed(hash ^ bytes.word(at), seed | 1)
        at += 8
    }
    let last = bytes.count >= 8 ? bytes.word(bytes.count - 8) : bytes.lastWord(0)
    return mixed(mixed(hash ^ last, seed | 1), 0xD6E8_FEB8_6659_FD93)
}

/// Both halves of a full-width product, combined into one word.
private func mixed(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
}
