extension BinaryReader where Bytes: ~Copyable {
    mutating func real(at place: Int) throws(Fault) -> Double {
        Double(bitPattern: bigEndian(try objectBytes(at: place, count: 8), 8))
    }

    /// The number in up to sixteen bytes, of which all but the last eight must be zero.
    mutating func unsigned(at place: Int, size: Int, of offset: Int) throws(Fault) -> UInt64 {
        let bytes = try objectBytes(at: place, count: size)
        let extra = max(0, size - 8)
        guard (0..<extra).allSatisfy({ bytes[$0] == 0 }) else {
            throw Fault(.integerOutOfRange("\(size) bytes"), at: offset)
        }
        return bigEndian(bytes + extra, size - extra)
    }

    @inline(__always)
    mutating func integer(_ marker: UInt8, at offset: Int) throws(Fault) -> PropertyList.Integer {
        switch marker & 0x0F {
        case let power where power < 3:
            let size = 1 << Int(power)
            return PropertyList.Integer(bigEndian(try objectBytes(at: offset + 1, count: size), size))
        case 3: return PropertyList.Integer(Int64(bitPattern: bigEndian(try objectBytes(at: offset + 1, count: 8), 8)))
        case 4:
            let bytes = try objectBytes(at: offset + 1, count: 16)
            let (high, low) = (bigEndian(bytes, 8), bigEndian(bytes + 8, 8))
            if high == 0 { return PropertyList.Integer(low) }
            guard high == .max, low >> 63 == 1 else { throw Fault(.integerOutOfRange("16 bytes"), at: offset) }
            return PropertyList.Integer(Int64(bitPattern: low))
        default: throw Fault(.invalidSize("an integer of 2^\(marker & 0x0F) bytes"), at: offset)
        }
    }

    @inline(__always)
    mutating func asciiBytes(_ head: Head) throws(Fault) -> UnsafeBufferPointer<UInt8> {
        let text = UnsafeBufferPointer(start: try objectBytes(at: head.contents, count: head.count), count: head.count)
        guard isASCII(text) else {
            let offset = text.firstIndex { $0 >= 0x80 } ?? 0
            throw Fault(.invalidText(encoding: "ASCII"), at: head.contents + offset)
        }
        return text
    }

    mutating func wideString(_ head: Head) throws(Fault) -> String {
        let text = try objectBytes(at: head.contents, count: 2 * head.count)
        scratch.truncate(to: 0)
        scratch.reserve(3 * head.count)
        var at = 0
        var isASCII = true
        while at < head.count {
            let place = head.contents + 2 * at
            var code = UInt32(bigEndian(text + 2 * at, 2))
            at += 1
            if code & 0xF800 == 0xD800 {
                guard at < head.count,
                    let scalar = Unicode.Scalar(high: code, low: UInt32(bigEndian(text + 2 * at, 2)))
                else { throw Fault(.loneSurrogate, at: place) }
                code = scalar.value
                at += 1
            }
            if code >= 0x80 { isASCII = false }
            scratch.append(utf8Of: code)
        }
        return String(validated: UnsafeBufferPointer(start: scratch.base, count: scratch.count), isASCII: isASCII)
    }
}

extension OutputBuffer {
    /// Writes the character of that code, which is no surrogate; there is room for four bytes.
    @inline(__always)
    mutating func append(utf8Of code: UInt32) {
        reserve(4)
        func byte(_ bits: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: bits) }
        switch code {
        case 0..<0x80:
            end[0] = byte(code)
            advance(1)
        case 0x80..<0x800:
            end[0] = byte(0xC0 | code >> 6)
            end[1] = byte(0x80 | code & 0x3F)
            advance(2)
        case 0x800..<0x10000:
            end[0] = byte(0xE0 | code >> 12)
            end[1] = byte(0x80 | code >> 6 & 0x3F)
            end[2] = byte(0x80 | code & 0x3F)
            advance(3)
        default:
            end[0] = byte(0xF0 | code >> 18)
            end[1] = byte(0x80 | code >> 12 & 0x3F)
            end[2] = byte(0x80 | code >> 6 & 0x3F)
            end[3] = byte(0x80 | code & 0x3F)
            advance(4)
        }
    }
}

/// Whether all bytes are below 80.
@inline(__always)
func isASCII(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let base = text.baseAddress else { return true }
    let raw = UnsafeRawPointer(base)
    var at = 0
    var seen: UInt64 = 0
    while at + 8 <= text.count {
        seen |= raw.word(at)
        at += 8
    }
    if at < text.count { seen |= raw.tail(at, text.count - at, of: text.count) }
    return seen & ByteScan.highBits == 0
}
