/// Since when an engine waits for files of others, and what it has looked after: what a program that ends at once
/// leaves to the next one. It stands beside the journal; whoever loses it waits anew, and loses nothing else.
package struct Vigil: Hashable, Sendable {
    /// The files in view that could not be joined yet.
    package internal(set) var files: [PackAddress: Wait] = [:]
    /// When one of our own files was last read again, and which.
    package internal(set) var lastCheck: Int64?
    var lastChecked: PackName?

    package init() {}

    package struct Wait: Hashable, Sendable {
        let since: Int64
        /// Whether people were told.
        package let isTold: Bool
    }

    /// Whether one of our own files is to be read again to see whether it is whole.
    package func isCheckDue(at now: Int64, _ limits: EngineLimits) -> Bool {
        lastCheck.map { !now.isWithin(limits.checksEvery, of: $0) } ?? false
    }
}

extension Int64 {
    /// Whether this is less than so much time from `start`, before or after: what is long to come says no more than
    /// what is long gone, for some clock was wrong.
    func isWithin(_ time: Int64, of start: Int64) -> Bool {
        let (passed, overflows) = subtractingReportingOverflow(start)
        return !overflows && passed.magnitude < time.magnitude
    }
}

extension Engine {
    /// What the next engine is to know.
    package var vigil: Vigil {
        // Before the first look there is nothing to add to what was left to us.
        guard !folders.isEmpty else { return recalled }
        var vigil = Vigil()
        (vigil.lastCheck, vigil.lastChecked) = (lastCheck?.at, lastCheck?.name)
        let times = waiting.mapValues(\.since).merging(faulty.mapValues(\.since)) { min($0, $1) }
        for (address, since) in times where folders[address.writer]?.contains(address.name) ?? false {
            let isTold = quarantined.contains(address) || unheard.contains(address) || faulty[address]?.kind == .tooNew
            vigil.files[address] = Vigil.Wait(since: since, isTold: isTold)
        }
        return vigil
    }

    /// Goes on waiting where another engine left off.
    package mutating func recall(_ vigil: Vigil) {
        recalled = vigil
        lastCheck = vigil.lastCheck.map { ($0, vigil.lastChecked) }
        let told = vigil.files.filter(\.value.isTold).keys
        quarantined.formUnion(told)
        unheard.formUnion(told)
    }

    /// Since when a file has been waited for by those before us; a time that is still to come says nothing.
    func waitedSince(_ address: PackAddress, at now: Int64) -> Int64? {
        recalled.files[address].map { min(max($0.since, 0), now) }
    }
}

extension Vigil: Recorded {
    func write(to bytes: inout [UInt8]) { bytes.write(files, lastCheck, lastChecked) }

    init(from reader: inout ByteReader) throws(PackFault) {
        files = try reader.read()
        lastCheck = try reader.read()
        lastChecked = try reader.read()
    }
}

extension Vigil.Wait: Recorded {
    func write(to bytes: inout [UInt8]) { bytes.write(since, isTold) }

    init(from reader: inout ByteReader) throws(PackFault) {
        since = try reader.read()
        isTold = try reader.read()
    }
}

extension PackAddress: Recorded {
    func write(to bytes: inout [UInt8]) { bytes.write(writer, name) }

    init(from reader: inout ByteReader) throws(PackFault) {
        let writer = try reader.read(WriterID.self)
        self.init(writer: writer, name: try reader.read())
    }
}
