/// Something that a binary property list can be read from piece by piece: an open file, mostly.
public protocol ByteSource: Sendable {
    /// How many bytes there are.
    var byteCount: Int { get }

    /// Fills `buffer` with the bytes from `offset` on; fewer than asked for is an error to be thrown.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws
}
