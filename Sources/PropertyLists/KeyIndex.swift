// Unsafe: the bytes of a key are lent for one call, and words are loaded only where eight bytes remain.
/// The positions of the keys of a dictionary, as an open hash table.
///
/// It is one array, so that a dictionary is two words: twice the number of keys, plus one if the entries are sorted;
/// the mask of the slots; the slots. A slot is 32 bits of the key's hash above its position plus one; 0 is free.
struct KeyIndex: Sendable {
    typealias Entries = ContiguousArray<PropertyList.Dictionary.Entry>

    private var table: ContiguousArray<UInt64>

    /// How many words stand before the slots.
    private static var header: Int { 2 }

    private var mask: Int { Int(table[1]) }
    private var count: Int { Int(table[0] >> 1) }

    /// An empty index with room for `capacity` keys.
    private init(capacity: Int) {
        var slots = 32
        while slots < capacity + capacity / 3 { slots *= 2 }
        table = ContiguousArray(repeating: 0, count: Self.header + slots)
        table[1] = UInt64(slots - 1)
    }

    /// The index of entries whose keys all differ.
    init(unique entries: Entries, areSorted: Bool) {
        self.init(capacity: entries.count)
        fill(with: entries) { _, _ in false }
        table[0] = UInt64(entries.count) << 1 | (areSorted ? 1 : 0)
    }

    /// The index of `entries`, or nil where two have the same key.
    init?(checking entries: Entries) {
        self.init(capacity: entries.count)
        let isUnique = fill(with: entries) { entries[$0].key.hasSameBytes(as: entries[$1].key) }
        guard isUnique else { return nil }
        table[0] = UInt64(entries.count) << 1
    }

    /// Adds all entries to an empty index; false, and stops, where two of the same hash are the same.
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

    /// Adds the position of a key that is not there yet; false when the table is full, or must be made anew.
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
    /// Differs from process to process, so that nobody can prepare keys that collide.
    static let seed = UInt64.random(in: .min ... .max)

    @inline(__always)
    static func hash(_ key: String) -> UInt64 { unsafe key.withBytes { unsafe hashOfBytes($0, seed: seed) } }

    /// A cheap number that mostly differs where keys differ.
    @inline(__always)
    static func fingerprint(_ key: String) -> UInt64 {
        unsafe key.withBytes { bytes in
            guard let last = unsafe bytes.last else { return 0 }
            let middle = unsafe UInt64(bytes[bytes.count / 2])
            let number = unsafe UInt64(bytes.count) &+ UInt64(last) &* 7 &+ UInt64(bytes[0]) &* 31 &+ middle &* 113
            return number ^ number >> 6
        }
    }
}

/// A hash that depends on every byte and on a seed: words are folded into it by a full product.
@inline(__always)
func hashOfBytes(_ bytes: UnsafeBufferPointer<UInt8>, seed: UInt64) -> UInt64 {
    var hash = seed ^ UInt64(truncatingIfNeeded: bytes.count) &* 0x9E37_79B9_7F4A_7C15
    guard let base = bytes.baseAddress else { return mixed(hash, seed) }
    let raw = unsafe UnsafeRawPointer(base)
    let count = bytes.count
    if count >= 8 {
        var at = 0
        while at + 8 < count {
            hash = unsafe mixed(hash ^ raw.word(at), seed | 1)
            at += 8
        }
        return unsafe mixed(mixed(hash ^ raw.word(count - 8), seed | 1), 0xD6E8_FEB8_6659_FD93)
    }
    var tail: UInt64 = 0
    for at in 0..<count { tail = unsafe tail << 8 | UInt64(base[at]) }
    return mixed(mixed(hash ^ tail, seed | 1), 0xD6E8_FEB8_6659_FD93)
}

/// Both halves of a product, folded into one word.
@inline(__always)
private func mixed(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
}
