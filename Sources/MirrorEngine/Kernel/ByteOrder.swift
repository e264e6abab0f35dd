extension [UInt8] {
    /// Whether these bytes stand before `other`, byte by byte and the shorter first.
    func isBefore(_ other: [UInt8]) -> Bool {
        let order = compare(with: other, first: Swift.min(count, other.count))
        return order == 0 ? count < other.count : order < 0
    }

    /// Below, at or above zero, as the first `length` bytes, which both have, are below, at or above `other`'s.
    func compare(with other: [UInt8], first length: Int) -> Int {
        unsafe withUnsafeBytes { left in
            unsafe other.withUnsafeBytes { right in
                var at = 0
                // Most that are compared begin with the same domain.
                while at &+ 8 <= length {
                    let a = unsafe left.loadUnaligned(fromByteOffset: at, as: UInt64.self)
                    let b = unsafe right.loadUnaligned(fromByteOffset: at, as: UInt64.self)
                    if a != b { return a.bigEndian < b.bigEndian ? -1 : 1 }
                    at &+= 8
                }
                while at < length {
                    let (a, b) = unsafe (left[at], right[at])
                    if a != b { return a < b ? -1 : 1 }
                    at &+= 1
                }
                return 0
            }
        }
    }
}
