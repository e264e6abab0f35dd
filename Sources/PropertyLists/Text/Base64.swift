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
        var decoder = Base64Decoder(base: base, count: text.count, values: values, target: output.end)
        while decoder.at < text.count {
            decoder.takeFullGroups()
            guard decoder.at < text.count else { break }
            if let problem = decoder.takeCharacter() { return Fault(.invalidData(problem), at: place + decoder.at) }
        }
        if let problem = decoder.takeRest(needsPadding) { return Fault(.invalidData(problem), at: place + text.count) }
        output.advance(decoder.written)
        return nil
    }
    if let failure { throw failure }
    return output.data()
}

/// How far a text in base64 has been read. What it is asked for is nil, or what is wrong.
private struct Base64Decoder {
    let base: UnsafePointer<UInt8>
    let count: Int
    let values: UnsafeBufferPointer<UInt8>
    let target: UnsafeMutablePointer<UInt8>
    var at = 0
    var written = 0
    /// The group that has begun: its bits, its characters, and the `=` that stand for the others.
    private var group: UInt32 = 0
    private var characters = 0
    private var padding = 0

    @inline(__always)
    init(
        base: UnsafePointer<UInt8>, count: Int, values: UnsafeBufferPointer<UInt8>, target: UnsafeMutablePointer<UInt8>
    ) {
        (self.base, self.count, self.values, self.target) = (base, count, values, target)
    }

    /// Takes groups of four characters as long as nothing else comes between.
    @inline(__always)
    mutating func takeFullGroups() {
        guard characters == 0, padding == 0 else { return }
        var (at, written) = (at, written)
        while at + 4 <= count {
            let (a, b, c, d) = (
                values[Int(base[at])], values[Int(base[at + 1])], values[Int(base[at + 2])],
                values[Int(base[at + 3])]
            )
            guard (a | b | c | d) & 0xC0 == 0 else { break }
            let bits = UInt32(a) << 18 | UInt32(b) << 12 | UInt32(c) << 6 | UInt32(d)
            store(bits, 3, at: written)
            written += 3
            at += 4
        }
        (self.at, self.written) = (at, written)
    }

    /// Writes the first `length` bytes of a group.
    @inline(__always)
    private func store(_ bits: UInt32, _ length: Int, at place: Int) {
        target[place] = UInt8(truncatingIfNeeded: bits >> 16)
        if length > 1 { target[place + 1] = UInt8(truncatingIfNeeded: bits >> 8) }
        if length > 2 { target[place + 2] = UInt8(truncatingIfNeeded: bits) }
    }

    /// Takes one character.
    @inline(__always)
    mutating func takeCharacter() -> String? {
        let value = values[Int(base[at])]
        switch value {
        case Mark.space: break
        case Mark.padding:
            padding += 1
            if characters < 2 || characters + padding > 4 { return "a misplaced “=” in base64" }
        case 0..<0x40:
            if padding > 0 { return "base64 goes on behind its end" }
            group = group << 6 | UInt32(value)
            characters += 1
            if characters == 4 { endGroup() }
        default: return "a character that base64 does not have"
        }
        at += 1
        return nil
    }

    /// Takes the last group, which need not be full.
    mutating func takeRest(_ needsPadding: Bool) -> String? {
        guard characters > 0 else { return nil }
        if !needsPadding, padding == 0, characters > 1 { padding = 4 - characters }
        guard characters + padding == 4 else { return "base64 ends in the middle of a group" }
        group <<= UInt32(6 * padding)
        endGroup()
        return nil
    }

    @inline(__always)
    private mutating func endGroup() {
        store(group, 3 - padding, at: written)
        written += 3 - padding
        (group, characters) = (0, 0)
    }
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
