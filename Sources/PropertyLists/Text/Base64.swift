#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What each byte is in base64: its six bits, or one of the marks below. A literal, so that it is there without a look
/// whether it has been made.
private let base64Values: [UInt8] = [
    0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0x80, 0x80, 0xC0, 0xC0, 0x80, 0xC0, 0xC0,
    0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0,
    0x80, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0x3E, 0xC0, 0xC0, 0xC0, 0x3F,
    0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3A, 0x3B, 0x3C, 0x3D, 0xC0, 0xC0, 0xC0, 0x40, 0xC0, 0xC0,
    0xC0, 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x0E,
    0x0F, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0,
    0xC0, 0x1A, 0x1B, 0x1C, 0x1D, 0x1E, 0x1F, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
    0x29, 0x2A, 0x2B, 0x2C, 0x2D, 0x2E, 0x2F, 0x30, 0x31, 0x32, 0x33, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0,
    0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0,
    0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0,
    0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0,
    0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0,
    0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0,
    0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0,
    0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0,
    0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0,
]

private enum Mark {
    static let padding: UInt8 = 0x40
    static let space: UInt8 = 0x80
    static let invalid: UInt8 = 0xC0
}

/// The bytes that base64 with white space in it stands for.
///
/// - Parameters:
///   - place: where the text begins in the input.
///   - needsPadding: whether a last group that is not full must be filled up with `=`.
func base64Decoded(
    _ text: UnsafeBufferPointer<UInt8>, at place: Int, needsPadding: Bool = true
) throws(Fault) -> Data {
    guard let base = text.baseAddress else { return Data() }
    var output = OutputBuffer(capacity: text.count / 4 * 3 + 4)
    let failure: Fault? = base64Values.withUnsafeBufferPointer { values in
        var at = 0
        let target = output.end
        var written = 0
        var group: UInt32 = 0
        var characters = 0
        var padding = 0
        while at < text.count {
            while characters == 0, padding == 0, at + 4 <= text.count {
                let (a, b, c, d) = (
                    values[Int(base[at])], values[Int(base[at + 1])], values[Int(base[at + 2])],
                    values[Int(base[at + 3])]
                )
                guard (a | b | c | d) & 0xC0 == 0 else { break }
                let bits = UInt32(a) << 18 | UInt32(b) << 12 | UInt32(c) << 6 | UInt32(d)
                target[written] = UInt8(truncatingIfNeeded: bits >> 16)
                target[written + 1] = UInt8(truncatingIfNeeded: bits >> 8)
                target[written + 2] = UInt8(truncatingIfNeeded: bits)
                written += 3
                at += 4
            }
            guard at < text.count else { break }
            let value = values[Int(base[at])]
            switch value {
            case Mark.space: break
            case Mark.padding:
                padding += 1
                if characters < 2 || characters + padding > 4 {
                    return Fault(.invalidData("a misplaced “=” in base64"), at: place + at)
                }
            case 0..<0x40:
                if padding > 0 { return Fault(.invalidData("base64 goes on behind its end"), at: place + at) }
                group = group << 6 | UInt32(value)
                characters += 1
                if characters == 4 {
                    target[written] = UInt8(truncatingIfNeeded: group >> 16)
                    target[written + 1] = UInt8(truncatingIfNeeded: group >> 8)
                    target[written + 2] = UInt8(truncatingIfNeeded: group)
                    written += 3
                    (group, characters) = (0, 0)
                }
            default: return Fault(.invalidData("a character that base64 does not have"), at: place + at)
            }
            at += 1
        }
        if characters > 0 {
            if !needsPadding, padding == 0, characters > 1 { padding = 4 - characters }
            guard characters + padding == 4 else {
                return Fault(.invalidData("base64 ends in the middle of a group"), at: place + text.count)
            }
            group <<= UInt32(6 * padding)
            target[written] = UInt8(truncatingIfNeeded: group >> 16)
            if padding == 1 { target[written + 1] = UInt8(truncatingIfNeeded: group >> 8) }
            written += 3 - padding
        }
        output.advance(written)
        return nil
    }
    if let failure { throw failure }
    return output.data()
}

private let base64Alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

extension OutputBuffer {
    /// Writes `bytes` as base64, without line breaks.
    mutating func append(base64 bytes: UnsafeBufferPointer<UInt8>) {
        let alphabet = base64Alphabet.utf8Start
        reserve((bytes.count + 2) / 3 * 4)
        var target = end
        var at = 0
        @inline(__always) func character(_ bits: UInt32, _ shift: UInt32) -> UInt8 { alphabet[Int(bits >> shift & 63)] }
        while at + 3 <= bytes.count {
            let bits = UInt32(bytes[at]) << 16 | UInt32(bytes[at + 1]) << 8 | UInt32(bytes[at + 2])
            target[0] = character(bits, 18)
            target[1] = character(bits, 12)
            target[2] = character(bits, 6)
            target[3] = character(bits, 0)
            target += 4
            at += 3
        }
        let rest = bytes.count - at
        if rest > 0 {
            let bits = UInt32(bytes[at]) << 16 | (rest == 2 ? UInt32(bytes[at + 1]) << 8 : 0)
            target[0] = character(bits, 18)
            target[1] = character(bits, 12)
            target[2] = rest == 2 ? character(bits, 6) : UInt8(ascii: "=")
            target[3] = UInt8(ascii: "=")
        }
        advance((bytes.count + 2) / 3 * 4)
    }
}
