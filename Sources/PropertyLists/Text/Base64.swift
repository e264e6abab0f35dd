#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The meaning of each byte in base64: its six bits, one of the marks below, or 0xC0. A table that is a literal needs
/// no check for lazy initialization at each use.
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
}

/// Decodes base64 that may contain white space.
///
/// - Parameters:
///   - place: The offset of the text in the input.
///   - needsPadding: Whether an incomplete last group must be padded with `=`.
func base64Decoded(_ text: Bytes, at place: Int, needsPadding: Bool = true) throws(Fault) -> Data {
    var decoder = Base64Decoder(text)
    while decoder.at < text.count {
        decoder.takeFullGroups()
        guard decoder.at < text.count else { break }
        if let problem = decoder.takeCharacter() { throw Fault(.invalidData(problem), at: place + decoder.at) }
    }
    if let problem = decoder.takeRest(needsPadding) { throw Fault(.invalidData(problem), at: place + text.count) }
    return Data(decoder.output[..<decoder.count])
}

/// The state of a base64 decoder. A method that fails returns the problem.
private struct Base64Decoder {
    let text: Bytes
    var output: [UInt8]
    /// The number of decoded bytes.
    var count = 0
    var at = 0
    /// The current group: its bits, its characters, and its padding.
    private var group: UInt32 = 0
    private var characters = 0
    private var padding = 0

    init(_ text: Bytes) {
        self.text = text
        output = [UInt8](repeating: 0, count: text.count / 4 * 3 + 3)
    }

    /// Decodes consecutive groups of four characters.
    mutating func takeFullGroups() {
        guard characters == 0, padding == 0 else { return }
        let (bytes, values, start, end) = (text.array, base64Values, text.start, text.start + text.count)
        var (place, written) = (start + at, count)
        var target = output.mutableSpan
        while place + 4 <= end {
            let (a, b) = (values[Int(bytes[place])], values[Int(bytes[place + 1])])
            let (c, d) = (values[Int(bytes[place + 2])], values[Int(bytes[place + 3])])
            guard (a | b | c | d) & 0xC0 == 0 else { break }
            let bits = UInt32(a) << 18 | UInt32(b) << 12 | UInt32(c) << 6 | UInt32(d)
            target[written] = UInt8(truncatingIfNeeded: bits >> 16)
            target[written + 1] = UInt8(truncatingIfNeeded: bits >> 8)
            target[written + 2] = UInt8(truncatingIfNeeded: bits)
            (place, written) = (place + 4, written + 3)
        }
        (at, count) = (place - start, written)
    }

    /// Decodes one character.
    mutating func takeCharacter() -> String? {
        let value = base64Values[Int(text[at])]
        switch value {
        case Mark.space: break
        case Mark.padding:
            padding += 1
            if characters < 2 || characters + padding > 4 { return "a misplaced “=” in base64" }
        case 0..<0x40:
            if padding > 0 { return "base64 continues after its end" }
            group = group << 6 | UInt32(value)
            characters += 1
            if characters == 4 { endGroup() }
        default: return "a character that base64 does not have"
        }
        at += 1
        return nil
    }

    /// Decodes the last group, which may be incomplete.
    mutating func takeRest(_ needsPadding: Bool) -> String? {
        guard characters > 0 else { return nil }
        if !needsPadding, padding == 0, characters > 1 { padding = 4 - characters }
        guard characters + padding == 4 else { return "base64 ends in the middle of a group" }
        group <<= UInt32(6 * padding)
        endGroup()
        return nil
    }

    private mutating func endGroup() {
        for byte in 0..<3 - padding {
            output[count] = UInt8(truncatingIfNeeded: group >> UInt32(16 - 8 * byte))
            count += 1
        }
        (group, characters) = (0, 0)
    }
}

private let base64Alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

extension OutputBuffer {
    /// Writes `bytes` as base64, without line breaks.
    mutating func append(base64 bytes: Span<UInt8>) {
        let alphabet = base64Alphabet
        func character(_ bits: UInt64, _ shift: UInt64) -> UInt64 {
            UInt64(alphabet[Int(truncatingIfNeeded: bits >> shift & 63)])
        }
        func characters(_ bits: UInt64) -> UInt64 {
            character(bits, 18) | character(bits, 12) << 8 | character(bits, 6) << 16 | character(bits, 0) << 24
        }
        reserve((bytes.count + 2) / 3 * 4 + 8)
        var at = 0
        while at + 3 <= bytes.count {
            let bits = UInt64(bytes[at]) << 16 | UInt64(bytes[at + 1]) << 8 | UInt64(bytes[at + 2])
            append(word: characters(bits), count: 4)
            at += 3
        }
        let rest = bytes.count - at
        if rest > 0 {
            let bits = UInt64(bytes[at]) << 16 | (rest == 2 ? UInt64(bytes[at + 1]) << 8 : 0)
            append(word: characters(bits), count: rest + 1)
            append(repeating: UInt8(ascii: "="), count: 3 - rest)
        }
    }
}
