// Unsafe: words are loaded only where both arrays have eight more bytes; measured, because every lookup compares paths.
extension [UInt8] {
    /// Whether these bytes sort before `other`, compared byte by byte with the shorter first.
    func isBefore(_ other: [UInt8]) -> Bool {
        let order = compare(with: other, first: Swift.min(count, other.count))
        return order == 0 ? count < other.count : order < 0
    }

    /// Compares the first `length` bytes, which both arrays must have. The result is negative, zero or positive.
    func compare(with other: [UInt8], first length: Int) -> Int {
        unsafe withUnsafeBytes { left in
            unsafe other.withUnsafeBytes { right in
                var at = 0
                // Most compared paths share a domain, so the common prefix is compared in words.
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
