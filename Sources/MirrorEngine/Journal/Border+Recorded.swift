// How what is known of preference files stands in the journal.

extension FileIdentity: Recorded {
    /// Whatever a file system says: these are only compared.
    func write(to bytes: inout [UInt8]) {
        bytes.write(device, inode)
        for number in [size, modified, changed] { bytes.append(littleEndian: number) }
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        device = try reader.read()
        inode = try reader.read()
        size = Int64(bitPattern: try reader.word())
        modified = Int64(bitPattern: try reader.word())
        changed = Int64(bitPattern: try reader.word())
    }
}

extension Shadow.Exception: Recorded {
    func write(to bytes: inout [UInt8]) {
        value.write(to: &bytes)
        reason.write(to: &bytes)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        value = try reader.read()
        reason = try reader.read()
    }
}

extension Shadow.Replacement: Recorded {
    func write(to bytes: inout [UInt8]) {
        old.write(to: &bytes)
        new.write(to: &bytes)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        old = try reader.read()
        new = try reader.read()
    }
}

extension Shadow: Recorded {
    func write(to bytes: inout [UInt8]) {
        bytes.write(file, hash, generations)
        bytes.write(byPath: exceptions)
        bytes.write(seen, held, isMirrored, isCaptured)
        bytes.write(byPath: replaced)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        file = try reader.read()
        hash = try reader.read()
        generations = try reader.read()
        exceptions = try reader.read()
        seen = try reader.read()
        held = try reader.read()
        isMirrored = try reader.read()
        isCaptured = try reader.read()
        replaced = try reader.read()
    }
}

extension CapturedDomain: Recorded {
    func write(to bytes: inout [UInt8]) {
        bytes.write(domain, file, hash)
        bytes.write(byPath: exceptions)
        bytes.write(seen, held, reverted)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        domain = try reader.read()
        file = try reader.read()
        hash = try reader.read()
        exceptions = try reader.read()
        seen = try reader.read()
        held = try reader.read()
        reverted = try reader.read()
    }
}

extension Capture: Recorded {
    func write(to bytes: inout [UInt8]) { bytes.write(transactions, clock, domains, settlesApplication) }

    init(from reader: inout ByteReader) throws(PackFault) {
        transactions = try reader.read()
        clock = try reader.read()
        domains = try reader.read()
        settlesApplication = try reader.read()
    }
}

extension DomainChange: Recorded {
    /// About how many bytes this takes.
    fileprivate var recordedLength: Int {
        changes.reduce(256) { sum, change in
            let values = [change.value.old, change.value.new].reduce(8) { $0 + ($1?.bytes.count ?? 0) }
            return sum + change.key.bytes.count + values
        }
    }

    func write(to bytes: inout [UInt8]) {
        bytes.write(domain, file)
        bytes.write(byPath: changes)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        domain = try reader.read()
        file = try reader.read()
        changes = try reader.read()
    }
}

extension Application: Recorded {
    func write(to bytes: inout [UInt8]) {
        bytes.reserveCapacity(domains.reduce(bytes.count) { $0 + $1.recordedLength })
        bytes.write(domains, seen, isChecked)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        domains = try reader.read()
        seen = try reader.read()
        isChecked = try reader.read()
    }
}

extension AppliedDomain: Recorded {
    func write(to bytes: inout [UInt8]) {
        bytes.write(domain, file, hash)
        bytes.write(byPath: exceptions)
        bytes.write(seen)
        bytes.write(byPath: replaced)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        domain = try reader.read()
        file = try reader.read()
        hash = try reader.read()
        exceptions = try reader.read()
        seen = try reader.read()
        replaced = try reader.read()
    }
}

extension LocalState: Recorded {
    /// All but the rules, which are the program's.
    func write(to bytes: inout [UInt8]) {
        bytes.write(mirror, writer, formerWriters, sequence, clock.local, knowledge, peers, outbox, intent, folder)
        bytes.write(shadows, application, conflicts, beats, carried, retired, participation, atoms)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        let mirror = try reader.read(MirrorID.self)
        self.init(mirror: mirror, writer: try reader.read())
        formerWriters = try reader.read()
        sequence = try reader.sequence()
        clock = HybridClock(local: try reader.read())
        knowledge = try reader.read()
        peers = try reader.read()
        outbox = try reader.read()
        intent = try reader.read()
        folder = try reader.read()
        shadows = try reader.read()
        application = try reader.read()
        conflicts = try reader.read()
        beats = try reader.read()
        carried = try reader.read()
        retired = try reader.read()
        participation = try reader.read()
        atoms = try reader.read()
    }
}
