// Encoding of the state of preference files in the journal.

extension FileIdentity: JournalCodable {
    /// Encodes some numbers in full, because a file system may report any. They are only compared.
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

extension TrackedFile.Exception: JournalCodable {
    func write(to bytes: inout [UInt8]) {
        bytes.write(value, reason, shown)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        value = try reader.read()
        reason = try reader.read()
        if !reader.isOfFirstVersion { shown = try reader.read() }
    }
}

extension TrackedFile.Replacement: JournalCodable {
    func write(to bytes: inout [UInt8]) {
        old.write(to: &bytes)
        new.write(to: &bytes)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        old = try reader.read()
        new = try reader.read()
    }
}

extension TrackedFile: JournalCodable {
    func write(to bytes: inout [UInt8]) {
        bytes.write(file, hash, generations)
        bytes.write(byPath: exceptions)
        bytes.write(held, isMirrored, isCaptured, suspicion)
        bytes.write(byPath: replaced)
        bytes.write(byPath: interrupted)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        file = try reader.read()
        hash = try reader.read()
        generations = try reader.read()
        exceptions = try reader.read()
        try reader.skipKnowledgeOfFirstVersion()
        held = try reader.read()
        isMirrored = try reader.read()
        isCaptured = try reader.read()
        if !reader.isOfFirstVersion { suspicion = try reader.read() }
        replaced = try reader.read()
        if reader.isOfFirstVersion { retryFormats() } else { interrupted = try reader.read() }
    }
}

extension CapturedDomain: JournalCodable {
    func write(to bytes: inout [UInt8]) {
        bytes.write(domain, file, hash)
        bytes.write(byPath: exceptions)
        bytes.write(held, reverted, adopted)
        bytes.write(byPath: replaced)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        domain = try reader.read()
        file = try reader.read()
        hash = try reader.read()
        exceptions = try reader.read()
        try reader.skipKnowledgeOfFirstVersion()
        held = try reader.read()
        reverted = try reader.read()
        if reader.isOfFirstVersion { return }
        adopted = try reader.read()
        replaced = try reader.read()
    }
}

extension Capture: JournalCodable {
    func write(to bytes: inout [UInt8]) { bytes.write(transactions, clock, when, domains, settlesApplication) }

    init(from reader: inout ByteReader) throws(PackFault) {
        transactions = try reader.read()
        clock = try reader.read()
        when = reader.isOfFirstVersion ? Int64(clock.milliseconds) : try reader.read()
        domains = try reader.read()
        settlesApplication = try reader.read()
    }
}

extension DomainChange: JournalCodable {
    /// The approximate length of the encoding.
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

extension Application: JournalCodable {
    func write(to bytes: inout [UInt8]) {
        bytes.reserveCapacity(domains.reduce(bytes.count) { $0 + $1.recordedLength })
        bytes.write(domains, isChecked)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        domains = try reader.read()
        try reader.skipKnowledgeOfFirstVersion()
        isChecked = try reader.read()
    }
}

extension AppliedDomain: JournalCodable {
    func write(to bytes: inout [UInt8]) {
        bytes.write(domain, file, hash)
        bytes.write(byPath: exceptions)
        bytes.write(byPath: replaced)
    }

    init(from reader: inout ByteReader) throws(PackFault) {
        domain = try reader.read()
        file = try reader.read()
        hash = try reader.read()
        exceptions = try reader.read()
        try reader.skipKnowledgeOfFirstVersion()
        replaced = try reader.read()
    }
}

extension LocalState: JournalCodable {
    func write(to bytes: inout [UInt8]) {
        bytes.write(mirror, writer, formerWriters, sequence, clock.local, knowledge, peers, outbox, intent, folder)
        bytes.write(trackedFiles, application, conflicts, adopted, foreign, lineage, restoreMarkers)
        bytes.write(carried, retired, participation, mergeState)
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
        trackedFiles = try reader.read()
        application = try reader.read()
        conflicts = try reader.read()
        if reader.isOfFirstVersion {
            // The first version recorded the transaction IDs that writes replaced, which this version ignores.
            _ = try reader.read([Path: [ReplacedPair]].self)
        } else {
            adopted = try reader.read()
            foreign = try reader.read()
            lineage = try reader.read()
            restoreMarkers = try reader.read()
        }
        carried = try reader.read()
        retired = try reader.read()
        participation = try reader.read()
        mergeState = try reader.read()
    }
}

extension RestoreMarkers: JournalCodable {
    func write(to bytes: inout [UInt8]) { bytes.write(marks.map(WriteID.init), unwritten, isDue) }

    init(from reader: inout ByteReader) throws(PackFault) {
        marks = try reader.read([WriteID].self).map(\.number)
        unwritten = try reader.read()
        isDue = try reader.read()
    }
}

extension TrackedFile.Suspicion: JournalCodable {}

// MARK: The first version

/// The ID of a replaced transaction, and of the one that replaced it.
private struct ReplacedPair: JournalCodable {
    func write(to bytes: inout [UInt8]) {}

    init(from reader: inout ByteReader) throws(PackFault) {
        _ = try reader.read(TransactionID.self)
        _ = try reader.read(TransactionID.self)
    }
}

extension ByteReader {
    /// Skips a vector that the first version recorded: what the author of a change knew of other writers.
    mutating func skipKnowledgeOfFirstVersion() throws(PackFault) {
        if isOfFirstVersion { _ = try read(VersionVector.self) }
    }
}
