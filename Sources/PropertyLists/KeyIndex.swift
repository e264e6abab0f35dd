/// Where each key of a large dictionary stands: a hash table of positions.
///
/// A slot is 32 bits of the key's hash above its position plus one; 0 is free. Collisions go to the next slot.
/// The last element of the table is no slot: it says whether the entries are sorted.
struct KeyIndex: Sendable {
    private var table: ContiguousArray<UInt64>
    private var count: Int

    private var mask: Int { table.count - 2 }

    /// An empty index with room for `capacity` keys.
    init(capacity: Int) {
        var slots = 32
        while slots < capacity + capacity / 3 { slots *= 2 }
        table = ContiguousArray(repeating: 0, count: slots + 1)
        count = 0
    }

    /// The index of entries whose keys all differ.
    init(unique entries: ContiguousArray<PropertyList.Dictionary.Entry>, areSorted: Bool) {
        self.init(capacity: entries.count)
        count = entries.count
        let (mask, seed) = (mask, Self.seed)
        table[table.count - 1] = areSorted ? 1 : 0
        table.withUnsafeMutableBufferPointer { table in
            entries.withUnsafeBufferPointer { entries in
                for position in entries.indices {
                    let hash = entries[position].key.withBytes { hashOfBytes($0, seed: seed) }
                    var slot = Int(truncatingIfNeeded: hash) & mask
                    while table[slot] != 0 { slot = (slot + 1) & mask }
                    table[slot] = Self.filled(hash, position)
                }
            }
        }
    }

    var entriesAreSorted: Bool { table[table.count - 1] == 1 }

    func position(
        of key: UnsafeBufferPointer<UInt8>, hash: UInt64, in entries: ContiguousArray<PropertyList.Dictionary.Entry>
    ) -> Int? {
        let mask = mask
        var slot = Int(truncatingIfNeeded: hash) & mask
        while table[slot] != 0 {
            if (table[slot] ^ hash) >> 32 == 0 {
                let position = Int(table[slot] & 0xFFFF_FFFF) - 1
                if entries[position].key.hasSameBytes(as: key) { return position }
            }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// Adds the position of a key that is not there yet; false when the table is full.
    mutating func insert(position: Int, hash: UInt64, isGreatest: Bool) -> Bool {
        guard count + count / 3 < mask else { return false }
        let mask = mask
        var slot = Int(truncatingIfNeeded: hash) & mask
        while table[slot] != 0 { slot = (slot + 1) & mask }
        table[slot] = Self.filled(hash, position)
        if !isGreatest { table[table.count - 1] = 0 }
        count += 1
        return true
    }

    /// Adds all entries to an empty index of their size; false, and stops, where two have the same key.
    mutating func insertAll(of entries: ContiguousArray<PropertyList.Dictionary.Entry>) -> Bool {
        let (mask, seed) = (mask, Self.seed)
        let isUnique = table.withUnsafeMutableBufferPointer { table in
            entries.withUnsafeBufferPointer { entries in
                for position in entries.indices {
                    let isNew = entries[position].key.withBytes { key in
                        let hash = hashOfBytes(key, seed: seed)
                        var slot = Int(truncatingIfNeeded: hash) & mask
                        while table[slot] != 0 {
                            if (table[slot] ^ hash) >> 32 == 0 {
                                let other = entries[Int(table[slot] & 0xFFFF_FFFF) - 1].key
                                if other.hasSameBytes(as: key) { return false }
                            }
                            slot = (slot + 1) & mask
                        }
                        table[slot] = Self.filled(hash, position)
                        return true
                    }
                    if !isNew { return false }
                }
                return true
            }
        }
        if isUnique { count = entries.count }
        return isUnique
    }

    @inline(__always)
    private static func filled(_ hash: UInt64, _ position: Int) -> UInt64 {
        (hash & ~0xFFFF_FFFF) | UInt64(truncatingIfNeeded: position + 1)
    }
}

extension KeyIndex {
    /// Differs from process to process, so that nobody can prepare keys that collide.
    static let seed = UInt64.random(in: .min ... .max)

    static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 { hashOfBytes(bytes, seed: seed) }

    /// A cheap number that mostly differs where keys differ.
    @inline(__always)
    static func fingerprint(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        guard let last = bytes.last else { return 0 }
        let number =
            UInt64(bytes.count) &+ UInt64(last) &* 7 &+ UInt64(bytes[0]) &* 31 &+ UInt64(bytes[bytes.count / 2]) &* 113
        return number ^ number >> 6
    }
}

/// A hash that depends on every byte and on a seed: words are folded into it by a full product.
@inline(__always)
func hashOfBytes(_ bytes: UnsafeBufferPointer<UInt8>, seed: UInt64) -> UInt64 {
    var hash = seed ^ UInt64(truncatingIfNeeded: bytes.count) &* 0x9E37_79B9_7F4A_7C15
    guard let base = bytes.baseAddress else { return mixed(hash, seed) }
    let raw = UnsafeRawPointer(base)
    let count = bytes.count
    if count >= 8 {
        var at = 0
        while at + 8 < count {
            hash = mixed(hash ^ raw.word(at), seed | 1)
            at += 8
        }
        return mixed(mixed(hash ^ raw.word(count - 8), seed | 1), 0xD6E8_FEB8_6659_FD93)
    }
    var tail: UInt64 = 0
    for at in 0..<count { tail = tail << 8 | UInt64(base[at]) }
    return mixed(mixed(hash ^ tail, seed | 1), 0xD6E8_FEB8_6659_FD93)
}

/// Both halves of a product, folded into one word.
@inline(__always)
private func mixed(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
}
