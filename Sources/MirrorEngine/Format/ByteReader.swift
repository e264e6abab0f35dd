/// A cursor that decodes bytes from front to back and throws at their end.
package struct ByteReader: Sendable {
    private let bytes: [UInt8]
    package private(set) var position: Int
    private var end: Int
    /// Whether the bytes are from a journal of the first version, whose records have other contents.
    var isOfFirstVersion = false

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        position = 0
        end = bytes.count
    }

    package var isAtEnd: Bool { position >= end }
    package var remaining: Int { end - position }

    package mutating func byte() throws(PackFault) -> UInt8 {
        guard position < end else { throw .endsEarly }
        defer { position += 1 }
        return bytes[position]
    }

    package mutating func bytes(_ count: Int) throws(PackFault) -> ArraySlice<UInt8> {
        guard count >= 0, count <= remaining else { throw .endsEarly }
        defer { position += count }
        return bytes[position..<position + count]
    }

    /// Decodes a number in groups of seven bits, lowest first. A number that could be shorter is refused.
    package mutating func number() throws(PackFault) -> UInt64 {
        var (number, shift): (UInt64, UInt64) = (0, 0)
        while true {
            let byte = try byte()
            let group = UInt64(byte & 0x7F)
            guard shift < 63 || group <= 1 else { throw .notCanonical }
            number |= group << shift
            if byte < 0x80 {
                guard byte != 0 || shift == 0 else { throw .notCanonical }
                return number
            }
            shift += 7
            guard shift < 70 else { throw .notCanonical }
        }
    }

    /// Decodes a number that is the count or length of the following bytes.
    package mutating func count(limit: Int, of what: StaticString = "length") throws(PackFault) -> Int {
        let number = try number()
        guard number <= UInt64(limit) else { throw .beyondLimit("\(what)") }
        return Int(number)
    }

    /// Decodes bytes that are preceded by their length.
    package mutating func run(limit: Int) throws(PackFault) -> ArraySlice<UInt8> {
        try bytes(try count(limit: limit))
    }

    package mutating func text(limit: Int) throws(PackFault) -> String {
        guard let text = String(validating: try run(limit: limit), as: UTF8.self) else { throw .notUTF8 }
        return text
    }

    /// Decodes a number of eight bytes, lowest first.
    package mutating func word() throws(PackFault) -> UInt64 {
        try bytes(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    package mutating func halfWord() throws(PackFault) -> UInt32 {
        try bytes(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Returns a reader of the next `count` bytes, and skips them here.
    package mutating func part(_ count: Int) throws(PackFault) -> ByteReader {
        guard count >= 0, count <= remaining else { throw .endsEarly }
        var part = self
        part.end = position + count
        position += count
        return part
    }

    package func expectEnd() throws(PackFault) {
        guard isAtEnd else { throw .bytesLeftOver }
    }
}
