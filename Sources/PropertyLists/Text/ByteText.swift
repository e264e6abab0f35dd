/// Text from bytes that need not be valid UTF-8, such as the arguments of a command: paths, and words for a script.
///
/// Each invalid byte becomes a scalar from U+10FE80 to U+10FEFF, which nothing else uses. These scalars in valid text
/// are replaced byte by byte too, so that no two texts become the same.
package enum ByteText {
    private static let base: UInt32 = 0x10FE00

    /// Returns the text for bytes.
    package static func text(_ bytes: some Collection<UInt8>) -> String {
        let bytes = Array(bytes)
        var result = String.UnicodeScalarView()
        var position = 0
        while position < bytes.count {
            if let scalar = scalar(bytes[position...]), !isRaw(scalar) {
                result.append(scalar)
                position += UTF8.width(scalar)
            } else {
                if let scalar = Unicode.Scalar(base + UInt32(bytes[position])) { result.append(scalar) }
                position += 1
            }
        }
        return String(result)
    }

    /// Returns the bytes of a text.
    package static func bytes(_ text: String) -> [UInt8] {
        guard holdsRaw(text) else { return Array(text.utf8) }
        return text.unicodeScalars.flatMap { scalar in byte(scalar).map { [$0] } ?? Array(String(scalar).utf8) }
    }

    /// Whether the text has bytes that are not valid UTF-8.
    package static func holdsRaw(_ text: String) -> Bool {
        // The first byte of the scalars that represent bytes.
        text.utf8.contains(0xF4) && text.unicodeScalars.contains(where: isRaw)
    }

    /// Returns the byte that a scalar represents, or nil for other scalars.
    static func byte(_ scalar: Unicode.Scalar) -> UInt8? {
        isRaw(scalar) ? UInt8(truncatingIfNeeded: scalar.value) : nil
    }

    private static func isRaw(_ scalar: Unicode.Scalar) -> Bool { base + 0x80...base + 0xFF ~= scalar.value }

    /// Returns the scalar at the beginning of bytes, or nil if they are not valid UTF-8.
    private static func scalar(_ bytes: ArraySlice<UInt8>) -> Unicode.Scalar? {
        var decoder = UTF8()
        var iterator = bytes.prefix(4).makeIterator()
        guard case .scalarValue(let scalar) = decoder.decode(&iterator) else { return nil }
        return scalar
    }
}
