extension ContiguousArray<PropertyList.Dictionary.Entry> {
    /// The entries by the UTF-16 code units of their keys, in which Apple sorts.
    ///
    /// Keys of one dictionary often begin alike. So what all have in common is passed over, and the next eight bytes
    /// are compared as one number; only where these are equal too are the keys looked at themselves.
    package var sortedByKey: Self {
        let common = commonPrefixLength
        var order = ContiguousArray<(rank: UInt64, position: Int)>()
        order.reserveCapacity(count)
        for position in indices {
            order.append((self[position].key.withBytes { rank($0, from: common) }, position))
        }
        order.sort { a, b in
            a.rank == b.rank ? self[a.position].key.isBefore(self[b.position].key) : a.rank < b.rank
        }
        var sorted = Self()
        sorted.reserveCapacity(count)
        for place in order { sorted.append(self[place.position]) }
        return sorted
    }

    /// How many bytes all keys begin with in common.
    private var commonPrefixLength: Int {
        guard let first else { return 0 }
        return first.key.withBytes { first in
            var length = first.count
            for entry in self {
                entry.key.withBytes { key in
                    var same = 0
                    while same < Swift.min(length, key.count), first[same] == key[same] { same += 1 }
                    length = same
                }
            }
            return length
        }
    }
}

/// Eight bytes of a key as a number that grows as the keys do.
private func rank(_ key: UnsafeBufferPointer<UInt8>, from start: Int) -> UInt64 {
    var rank: UInt64 = 0
    for at in start..<start + 8 {
        rank = rank << 8 | UInt64(at < key.count ? orderedByte(key[at]) : 0)
    }
    return rank
}

/// The place of a byte of UTF-8 in the order of UTF-16: characters beyond U+FFFF stand before U+E000–U+FFFF.
@inline(__always)
private func orderedByte(_ byte: UInt8) -> UInt8 { byte == 0xEE || byte == 0xEF ? byte + 0x10 : byte }
