internal import Digests

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension OpenStepReader {
    /// Reads what begins with `<`: data, or one of GNUstep's typed values.
    mutating func readAngleBrackets() throws(Fault) -> PropertyList {
        if at + 1 < count {
            let mark = base[at + 1]
            if mark == UInt8(ascii: "*") || mark == UInt8(ascii: "[") {
                guard dialect == .gnustep else {
                    throw Fault(.expected("data in hexadecimal digits; typed values are GNUstep's notation"), at: at)
                }
                return mark == UInt8(ascii: "*") ? try readTypedValue() : .data(try readBase64())
            }
        }
        return .data(try readHexadecimal())
    }

    /// Reads `<[aGVsbG8=]>`: base64 with white space between any two characters, its padding left out or not.
    private mutating func readBase64() throws(Fault) -> Data {
        let start = at + 2
        let rest = UnsafeBufferPointer(rebasing: bytes[min(start, count)...])
        guard let length = rest.firstIndex(of: UInt8(ascii: "]")) else {
            throw Fault(.unexpectedEnd(inside: "data"), at: count)
        }
        let data = try base64Decoded(UnsafeBufferPointer(rebasing: rest[..<length]), at: start, needsPadding: false)
        at = start + length + 1
        try skipSpace()
        guard at < count else { throw Fault(.unexpectedEnd(inside: "data"), at: count) }
        guard base[at] == UInt8(ascii: ">") else { throw complaint(.invalidData("expected >")) }
        at += 1
        return data
    }

    /// Reads `<0fbd77 1c2735ae>`: the two digits of a byte stand together, white space between any two bytes.
    private mutating func readHexadecimal() throws(Fault) -> Data {
        at += 1
        scratch.truncate(to: 0)
        while true {
            readEightDigits()
            guard at < count else { throw Fault(.unexpectedEnd(inside: "data"), at: count) }
            if let high = Hexadecimal.value(ofDigit: base[at]) {
                try readByte(high)
            } else if base[at] == UInt8(ascii: ">") {
                at += 1
                return Data(bytes: scratch.base, count: scratch.count)
            } else {
                let place = at
                // A comment may not stand here: Core Foundation takes white space only.
                try skipWhiteSpace()
                guard at > place else { throw complaint(.invalidData("expected a hexadecimal digit or >")) }
            }
        }
    }

    private mutating func readByte(_ high: UInt8) throws(Fault) {
        guard at + 1 < count else { throw Fault(.unexpectedEnd(inside: "data"), at: count) }
        guard let low = Hexadecimal.value(ofDigit: base[at + 1]) else {
            at += 1
            throw complaint(.invalidData("an odd number of hexadecimal digits"))
        }
        scratch.append(high << 4 | low)
        at += 2
    }

    /// Reads as many groups of eight digits as stand here without a gap.
    @inline(__always)
    private mutating func readEightDigits() {
        let raw = UnsafeRawPointer(base)
        while at + 8 <= count, let four = fourBytes(ofDigits: UInt64(littleEndian: raw.word(at))) {
            scratch.reserve(4)
            UnsafeMutableRawPointer(scratch.end).storeBytes(of: four.littleEndian, as: UInt32.self)
            scratch.advance(4)
            at += 8
        }
    }
}

/// The four bytes that eight hexadecimal digits say, the first in the lowest byte; nil where one is no digit.
@inline(__always)
private func fourBytes(ofDigits digits: UInt64) -> UInt32? {
    let tops: UInt64 = 0x8080_8080_8080_8080
    @inline(__always) func each(_ byte: UInt64) -> UInt64 { byte &* 0x0101_0101_0101_0101 }
    // Adding 80 − n to a byte below 80 sets its highest bit iff it is at least n.
    let lowered = digits | each(0x20)
    let isDigit = (digits &+ each(0x80 - 0x30)) & ~(digits &+ each(0x80 - 0x3A))
    let isLetter = (lowered &+ each(0x80 - 0x61)) & ~(lowered &+ each(0x80 - 0x67))
    guard digits & tops == 0, (isDigit | isLetter) & tops == tops else { return nil }
    let nibbles = (digits & each(0x0F)) &+ ((digits >> 6) & each(1)) &* 9
    let pairs = (nibbles << 4 | nibbles >> 8) & 0x00FF_00FF_00FF_00FF
    let quads = (pairs | pairs >> 8) & 0x0000_FFFF_0000_FFFF
    return UInt32(truncatingIfNeeded: quads | quads >> 16)
}
