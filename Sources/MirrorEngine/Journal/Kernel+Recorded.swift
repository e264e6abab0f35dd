// How the kernel's types stand in the journal.

extension Stamp: Recorded {
    func write(to bytes: inout [UInt8]) { bytes.append(leb128: number) }
    init(from reader: inout ByteReader) throws(PackFault) { self = try reader.stamp() }
}

extension WriterID: Recorded {
    func write(to bytes: inout [UInt8]) { bytes.append(littleEndian: number) }
    init(from reader: inout ByteReader) throws(PackFault) { self.init(number: try reader.word()) }
}

extension MirrorID: Recorded {
    func write(to bytes: inout [UInt8]) { bytes += self.bytes }

    init(from reader: inout ByteReader) throws(PackFault) {
        let high = try reader.word()
        self.init(high: high, low: try reader.word())
    }
}

extension Dot: Recorded {
    func write(to bytes: inout [UInt8]) { bytes.append(self) }
    init(from reader: inout ByteReader) throws(PackFault) { self = try reader.dot() }
}

extension VersionVector: Recorded {
    func write(to bytes: inout [UInt8]) { bytes.append(entries) }
    init(from reader: inout ByteReader) throws(PackFault) { self.init(try reader.dots(mayRepeatWriters: true)) }
}

extension Fingerprint: Recorded {
    func write(to bytes: inout [UInt8]) { bytes += self.bytes }

    init(from reader: inout ByteReader) throws(PackFault) {
        guard let fingerprint = Fingerprint(try reader.bytes(32)) else { throw .endsEarly }
        self = fingerprint
    }
}

extension Path: Recorded {
    func write(to bytes: inout [UInt8]) { bytes.append(run: self.bytes) }

    init(from reader: inout ByteReader) throws(PackFault) {
        let run = try reader.run(limit: Path.mostComponents * (Path.longestComponent + 3))
        try self.init(decoding: Array(run))
    }
}

extension CanonicalValue: Recorded {
    func write(to bytes: inout [UInt8]) { bytes.append(run: self.bytes) }

    init(from reader: inout ByteReader) throws(PackFault) {
        try self.init(decoding: Array(try reader.run(limit: Self.longest)))
    }
}

extension AtomValue: Recorded {
    func write(to bytes: inout [UInt8]) { bytes.append(run: self.bytes) }
    init(from reader: inout ByteReader) throws(PackFault) { self = try reader.atomValue() }
}

extension Atom: Recorded {
    func write(to bytes: inout [UInt8]) {
        path.write(to: &bytes)
        stamp.write(to: &bytes)
        dot.write(to: &bytes)
        value.write(to: &bytes)
    }

    /// About how many bytes that takes.
    fileprivate var recordedLength: Int { path.bytes.count + value.bytes.count + 28 }

    init(from reader: inout ByteReader) throws(PackFault) {
        let path = try reader.read(Path.self)
        let stamp = try reader.read(Stamp.self)
        let dot = try reader.read(Dot.self)
        self.init(path: path, stamp: stamp, dot: dot, value: try reader.read())
    }
}

extension AtomStore: Recorded {
    /// Room for what a record is wrapped in, so that a large one need not be moved for it.
    private static let lengthOfFrame = 64

    func write(to bytes: inout [UInt8]) {
        var length = 0
        visit { length += $0.recordedLength }
        bytes.reserveCapacity(bytes.count + length + Self.lengthOfFrame)
        bytes.append(leb128: UInt64(count))
        visit { $0.write(to: &bytes) }
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        self.init()
        let count = try reader.count(limit: reader.remaining, of: "atoms")
        for _ in 0..<count { join(try reader.read()) }
    }
}

extension Transaction.StampedWrite: Recorded {
    func write(to bytes: inout [UInt8]) { bytes.write(path, stamp, value, replaced) }

    init(from reader: inout ByteReader) throws(PackFault) {
        let path = try reader.read(Path.self)
        let stamp = try reader.read(Stamp.self)
        let value = try reader.read(AtomValue.self)
        self.init(path: path, stamp: stamp, value: value, replaced: try reader.read())
    }
}

extension Transaction: Recorded {
    func write(to bytes: inout [UInt8]) { bytes.write(dot, stamp, context, writes) }

    init(from reader: inout ByteReader) throws(PackFault) {
        let dot = try reader.read(Dot.self)
        guard dot.sequence > 0 else { throw .contradiction("a transaction before the first") }
        let stamp = try reader.read(Stamp.self)
        let context = try reader.read(VersionVector.self)
        let writes = try reader.read([StampedWrite].self)
        // A log could not say anything else.
        let ascend = zip(writes, writes.dropFirst()).allSatisfy { $0.path < $1.path && !$0.path.isPrefix(of: $1.path) }
        guard !writes.isEmpty, ascend, writes.allSatisfy({ $0.stamp >= stamp }) else {
            throw .contradiction("writes of a transaction")
        }
        self.init(dot: dot, stamp: stamp, context: context, writes: writes)
    }
}
