/// A place in a text as people name it; lines and columns count from 1, a column is a character.
public struct TextLocation: Hashable, Sendable {
    /// Counted from 1.
    public let line: Int
    /// Counted from 1.
    public let column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}

extension DecodingFailure {
    /// Line and column of the failure in the bytes that were read; nil in a binary file, which has none.
    public func location(in bytes: some Sequence<UInt8>) -> TextLocation? {
        guard format != .binary else { return nil }
        let contents = ContiguousArray(bytes)
        return contents.withUnsafeBufferPointer { location(inText: $0) }
    }

    private func location(inText bytes: UnsafeBufferPointer<UInt8>) -> TextLocation {
        let unit = TextEncoding.unitWidth(of: bytes)
        var (line, column) = (1, 1)
        var previous: UInt32 = 0
        var at = TextEncoding.byteOrderMark(in: bytes)?.length ?? 0
        while at < min(offset, bytes.count) {
            let code = unit.code(at: at, in: bytes)
            at += unit.width
            switch code {
            case 0x0A where previous == 0x0D: break
            case 0x0A, 0x0D: (line, column) = (line + 1, 1)
            case 0x80..<0xC0 where unit.width == 1 && unit.isUTF8: break
            case 0xDC00..<0xE000 where unit.width == 2: break
            default: column += 1
            }
            previous = code
        }
        return TextLocation(line: line, column: column)
    }
}

extension TextEncoding {
    /// The width of a text's units and how to read one.
    fileprivate struct Unit {
        let width: Int
        let isBigEndian: Bool
        let isUTF8: Bool

        func code(at offset: Int, in bytes: UnsafeBufferPointer<UInt8>) -> UInt32 {
            (0..<min(width, bytes.count - offset)).reduce(0) { code, step in
                code | UInt32(bytes[offset + step]) << UInt32(8 * (isBigEndian ? width - 1 - step : step))
            }
        }
    }

    fileprivate static func unitWidth(of bytes: UnsafeBufferPointer<UInt8>) -> Unit {
        switch byteOrderMark(in: bytes)?.encoding ?? ofLeadingTag(in: bytes) ?? .utf8 {
        case .utf16(let bigEndian): Unit(width: 2, isBigEndian: bigEndian, isUTF8: false)
        case .utf32(let bigEndian): Unit(width: 4, isBigEndian: bigEndian, isUTF8: false)
        default:
            Unit(width: 1, isBigEndian: false, isUTF8: XMLDeclaration.encoding(of: bytes).map { $0 == .utf8 } ?? true)
        }
    }
}
