#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// GNUstep's data, `<[aGVsbG8=]>`: base64 with white space between any two characters.
extension OpenStepReader {
    mutating func readBase64() throws(Fault) -> Data {
        at += 2
        scratch.truncate(to: 0)
        var bits: UInt32 = 0
        var digits = 0
        while let digit = try nextBase64Digit() {
            bits = bits << 6 | digit
            digits += 1
            if digits & 3 == 0 { appendToScratch(bits, bytes: 3) }
        }
        try skipPadding(behind: digits)
        switch digits & 3 {
        case 1: throw complaint(.invalidData("one character of base64 too few or too many"))
        case 2: appendToScratch(bits >> 4, bytes: 1)
        case 3: appendToScratch(bits >> 2, bytes: 2)
        default: break
        }
        try skip("]")
        try skip(">")
        return Data(bytes: scratch.base, count: scratch.count)
    }

    /// The value of the next character, or nil where another than one of the 64 comes.
    @inline(__always)
    private mutating func nextBase64Digit() throws(Fault) -> UInt32? {
        if at < count, base[at] <= 0x20 { try skipSpace() }
        guard at < count else { throw Fault(.unexpectedEnd(inside: "data"), at: count) }
        let digit: UInt32
        switch base[at] {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit = UInt32(base[at]) - 0x41
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = UInt32(base[at]) - 0x61 + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = UInt32(base[at]) - 0x30 + 52
        case UInt8(ascii: "+"): digit = 62
        case UInt8(ascii: "/"): digit = 63
        default: return nil
        }
        at += 1
        return digit
    }

    /// Skips up to as many `=` as `digits` lack to a group of four; GNUstep does not insist on them.
    private mutating func skipPadding(behind digits: Int) throws(Fault) {
        var missing = -digits & 3
        while missing > 0, at < count, base[at] == UInt8(ascii: "=") {
            at += 1
            missing -= 1
            try skipSpace()
        }
        guard at < count else { throw Fault(.unexpectedEnd(inside: "data"), at: count) }
    }

    private mutating func skip(_ character: Unicode.Scalar) throws(Fault) {
        try skipSpace()
        guard at < count else { throw Fault(.unexpectedEnd(inside: "data"), at: count) }
        guard base[at] == UInt8(ascii: character) else { throw complaint(.invalidData("expected \(character)")) }
        at += 1
    }

    @inline(__always)
    private mutating func appendToScratch(_ bits: UInt32, bytes: Int) {
        scratch.reserve(3)
        for byte in 0..<bytes { scratch.end[byte] = UInt8(truncatingIfNeeded: bits >> UInt32(8 * (bytes - 1 - byte))) }
        scratch.advance(bytes)
    }
}

extension OutputBuffer {
    /// Writes `bytes` in base64, without breaks.
    mutating func append(base64 bytes: UnsafeRawBufferPointer) {
        let digits = base64Digits.utf8Start
        var rest = bytes[...]
        while let first = rest.popFirst() {
            reserve(4)
            let (second, third) = (rest.popFirst(), rest.popFirst())
            let bits = UInt32(first) << 16 | UInt32(second ?? 0) << 8 | UInt32(third ?? 0)
            end[0] = digits[Int(bits >> 18)]
            end[1] = digits[Int(bits >> 12 & 63)]
            end[2] = second == nil ? UInt8(ascii: "=") : digits[Int(bits >> 6 & 63)]
            end[3] = third == nil ? UInt8(ascii: "=") : digits[Int(bits & 63)]
            advance(4)
        }
    }

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
            append(hexadecimalDigit(byte >> 4))
            append(hexadecimalDigit(byte & 15))
        }
    }
}

private let base64Digits: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

@inline(__always)
private func hexadecimalDigit(_ nibble: UInt8) -> UInt8 { nibble < 10 ? 0x30 + nibble : 0x57 + nibble }

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
