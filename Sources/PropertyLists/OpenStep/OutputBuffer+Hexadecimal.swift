internal import Digests

extension OutputBuffer {
    /// Writes `bytes` in hexadecimal digits, with a space behind each four as GNUstep and Core Foundation have it.
    mutating func append(hexadecimal bytes: UnsafeRawBufferPointer) {
        var at = 0
        while at + 4 <= bytes.count {
            if at > 0 { append(UInt8(ascii: " ")) }
            let four = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self))
            reserve(8)
            UnsafeMutableRawPointer(end).storeBytes(of: digits(of: four).littleEndian, as: UInt64.self)
            advance(8)
            at += 4
        }
        if at > 0, at < bytes.count { append(UInt8(ascii: " ")) }
        for byte in bytes[at...] {
            append(Hexadecimal.digit(byte >> 4))
            append(Hexadecimal.digit(byte & 15))
        }
    }
}

/// The eight hexadecimal digits of four bytes, the first of each in the lowest byte.
@inline(__always)
private func digits(of bytes: UInt32) -> UInt64 {
    var spread = UInt64(bytes)
    spread = (spread | spread << 16) & 0x0000_FFFF_0000_FFFF
    spread = (spread | spread << 8) & 0x00FF_00FF_00FF_00FF
    let nibbles = (spread >> 4 & 0x000F_000F_000F_000F) | (spread & 0x000F_000F_000F_000F) << 8
    // Six more than nine carries into the fifth bit, which says that a letter is due.
    let isLetter = (nibbles &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
    return nibbles &+ 0x3030_3030_3030_3030 &+ isLetter &* 39
}
