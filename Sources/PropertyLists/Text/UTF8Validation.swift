/// What a look at all bytes of a text found.
struct TextTraits {
    /// The first byte that is not part of valid UTF-8.
    var firstInvalid: Int?
    var isASCII: Bool
}

/// Looks at all bytes once, so that no string made of them has to be checked again.
func textTraits(of bytes: UnsafeBufferPointer<UInt8>) -> TextTraits {
    var traits = TextTraits(isASCII: true)
    guard let base = bytes.baseAddress else { return traits }
    let raw = UnsafeRawPointer(base)
    let count = bytes.count
    var at = 0
    while at < count {
        while at + 32 <= count,
            (raw.word(at) | raw.word(at + 8) | raw.word(at + 16) | raw.word(at + 24)) & 0x8080_8080_8080_8080 == 0
        {
            at += 32
        }
        while at + 8 <= count, raw.word(at) & 0x8080_8080_8080_8080 == 0 { at += 8 }
        while at < count, base[at] < 0x80 { at += 1 }
        while at < count, base[at] >= 0x80 {
            traits.isASCII = false
            let length = lengthOfScalar(at: at, in: base, count: count)
            guard length > 0 else {
                traits.firstInvalid = at
                return traits
            }
            at += length
        }
    }
    return traits
}

/// How many bytes the character beyond ASCII at `at` takes; 0 where it is no valid UTF-8.
@inline(__always)
private func lengthOfScalar(at: Int, in base: UnsafePointer<UInt8>, count: Int) -> Int {
    @inline(__always) func continues(_ offset: Int) -> Bool { at + offset < count && base[at + offset] & 0xC0 == 0x80 }
    let lead = base[at]
    switch lead {
    case 0xC2...0xDF: return continues(1) ? 2 : 0
    case 0xE0...0xEF:
        guard continues(1), continues(2) else { return 0 }
        // Overlong forms, and the surrogates.
        if lead == 0xE0, base[at + 1] < 0xA0 { return 0 }
        if lead == 0xED, base[at + 1] >= 0xA0 { return 0 }
        return 3
    case 0xF0...0xF4:
        guard continues(1), continues(2), continues(3) else { return 0 }
        if lead == 0xF0, base[at + 1] < 0x90 { return 0 }
        if lead == 0xF4, base[at + 1] >= 0x90 { return 0 }
        return 4
    default: return 0
    }
}
