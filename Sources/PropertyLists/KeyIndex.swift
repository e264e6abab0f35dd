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
        while slots < capacity + capacity / 3 { slots *= 2 }
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
    @inline(__always)
    @discardableResult
    private mutating func fill(with entries: Entries, _ areSame: (Int, Int) -> Bool) -> Bool {
        let mask = mask
        let entries = entries.span
        var slots = table.mutableSpan
        for position in entries.indices {
            let hash = Self.hash(entries[position].key)
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
        guard count + count / 3 < mask else { return false }
        let (hash, mask) = (Self.hash(key), mask)
        var slot = Int(truncatingIfNeeded: hash) & mask
        while table[Self.header + slot] != 0 { slot = (slot + 1) & mask }
        table[Self.header + slot] = Self.filled(hash, position)
        table[0] += 2
        if !isGreatest { table[0] &= ~1 }
        return true
    }

    @inline(__always)
    private static func filled(_ hash: UInt64, _ position: Int) -> UInt64 {
        (hash & ~0xFFFF_FFFF) | UInt64(truncatingIfNeeded: position + 1)
    }

    @inline(__always)
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
@inline(__always)
private func mixed(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
}
