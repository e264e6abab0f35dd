internal import MirrorEngine
internal import Platform

/// The files of a mirror's local state: a journal, which is appended to until it is restarted, its long values, and a
/// small summary.
///
/// All access requires the lock of the state.
struct StateJournal: Sendable {
    private let folder: FilePath
    private let files: any FileSystem
    private var file: (any OpenFile)?
    private var number: FileID?
    /// The length of the journal's valid part.
    private(set) var length = 0
    private var checkpointLength = 0
    let longValues: LongValueFiles
    /// The size of the long values when the journal was started.
    private var checkpointBytes = 0

    static let name: FileName = "journal"
    private static let summaryName: FileName = "head"
    private static let mostBytes = 4 << 30
    /// A journal shorter than this is not restarted.
    private static let fewBytes = 1 << 20
    /// Long values with fewer bytes cause no restart.
    private static let fewBytesOfLongValues = 64 << 20

    init(in folder: FilePath, _ files: any FileSystem) {
        self.folder = folder
        self.files = files
        longValues = LongValueFiles(in: folder.appending("values"), files)
    }

    private var path: FilePath { folder.appending(Self.name) }

    // MARK: Reading

    /// Whether the journal is the one that was read, without changes by other programs.
    var isCurrent: Bool {
        guard file != nil, let status = try? files.status(of: path) else { return false }
        return status.number == number && status.size == length
    }

    /// Loads the state. Returns nil if there is none that can be read, so that a new journal must be started. Throws a
    /// `PackFault` for a journal of an earlier format.
    mutating func load() throws -> LocalState? {
        file = nil
        try longValues.reload()
        guard let open = try files.open(path, .writing) else { return nil }
        let bytes = try open.contents(limit: Self.mostBytes)
        let reading: Journal.Reading
        do throws(PackFault) {
            reading = try Journal.replay(bytes, longValues: longValues)
        } catch {
            // A store of an earlier format is not a damaged one.
            if error == .olderVersion { throw error }
            try setAsideDamaged()
            return nil
        }
        try endAfterLoss()
        if reading.damage != nil {
            // The records after the damage are lost. Our own folder will show that, and make us take another number.
            var state = reading.state
            state.apply(.suspected(.stateIsOlder))
            try begin(Journal.checkpoint(of: state))
            storeDamaged(bytes)
            return state
        }
        if reading.length < bytes.count {
            try open.truncate(to: reading.length)
            try open.synchronize()
        }
        (file, number, length) = (open, try open.status().number, reading.length)
        (checkpointLength, checkpointBytes) = (reading.checkpointLength, reading.bytesOfLongValues)
        return reading.state
    }

    /// Returns the state without a lock, and changes nothing. Returns nil if it cannot be read.
    func peek() -> LocalState? {
        guard (try? longValues.reload(removesTemporaries: false)) != nil,
            let bytes = try? files.contents(of: path, limit: Self.mostBytes)
        else { return nil }
        return (try? Journal.replay(bytes, longValues: longValues))?.state
    }

    var exists: Bool { (try? files.status(of: path)) != nil }

    /// Whether the journal is of an earlier format, which is not read.
    var isOfEarlierFormat: Bool {
        guard let bytes = try? files.contents(of: path, limit: Self.mostBytes) else { return false }
        do throws(PackFault) {
            _ = try Journal.replay(bytes, longValues: longValues)
            return false
        } catch {
            return error == .olderVersion
        }
    }

    /// Throws if a long value could not be read, so that nothing that followed from it is recorded. The next program
    /// loads the state again, or starts a new one if the value is lost.
    mutating func endAfterLoss() throws(SystemFailure) {
        guard let loss = longValues.loss else { return }
        file = nil
        switch loss {
        case .refused(let failure): throw failure
        case .damaged(let path):
            try setAsideDamaged()
            throw SystemFailure(.inputOutput, .read, path)
        }
    }

    /// Moves the journal aside.
    private func setAsideDamaged() throws(SystemFailure) {
        try files.rename(path, to: placeOfDamaged)
        removeOldDamaged()
    }

    /// Stores a copy of a damaged journal that was replaced.
    private func storeDamaged(_ bytes: [UInt8]) {
        _ = try? files.replace(placeOfDamaged, with: bytes)
        removeOldDamaged()
    }

    private var placeOfDamaged: FilePath {
        folder.appending(FileName(Self.damagedPrefix + "\(files.unpredictableNumber())") ?? Self.name)
    }

    private func removeOldDamaged() {
        for name in damaged.dropLast(Self.mostDamaged) { _ = try? files.remove(folder.appending(name)) }
    }

    private static let damagedPrefix = "journal.damaged-"
    private static let mostDamaged = 2

    /// The damaged journals that were kept, latest last.
    private var damaged: [FileName] {
        let names = (try? files.names(in: folder)) ?? []
        let dated = names.filter { $0.description.hasPrefix(Self.damagedPrefix) }.map { name in
            (name, (try? files.status(of: folder.appending(name), followingLink: false))?.modified)
        }
        return dated.sorted { ($0.1?.nanoseconds ?? .min) < ($1.1?.nanoseconds ?? .min) }.map(\.0)
    }

    // MARK: Writing

    /// Starts a journal, replacing any other.
    mutating func begin(_ checkpoint: Journal.Checkpoint) throws(SystemFailure) {
        forgetSummary()
        try files.makeFolders(folder)
        try longValues.store(checkpoint.longValues)
        try files.replace(path, with: checkpoint.bytes)
        longValues.remove(allBut: checkpoint.longValues)
        guard let open = try files.open(path, .writing) else { throw SystemFailure(.noSuchFile, .open, path) }
        (file, number, length) = (open, try open.status().number, checkpoint.bytes.count)
        (checkpointLength, checkpointBytes) = (length, longValues.size)
    }

    /// Appends records, durably.
    mutating func append(_ records: [LocalRecord]) throws(SystemFailure) {
        guard let file else { throw SystemFailure(.noSuchFile, .write, path) }
        var end = length
        do throws(SystemFailure) {
            for record in records {
                let entry = Journal.entry(of: record)
                try longValues.store(entry.longValues)
                try file.write(entry.bytes, at: end)
                end += entry.bytes.count
            }
            try file.synchronize()
        } catch {
            // The next reader truncates a record that was written in part.
            self.file = nil
            throw error
        }
        length = end
    }

    /// Whether the journal or its long values are four times as long as when it was started, so that it should be
    /// started again.
    var isLong: Bool {
        length > Self.fewBytes && length / 4 > checkpointLength
            || longValues.size > Self.fewBytesOfLongValues && longValues.size / 4 > checkpointBytes
    }

    // MARK: The summary

    /// The summary, if it matches the length of the journal, and the time at which it was written.
    var datedSummary: (summary: StateSummary, written: Timestamp)? {
        let place = folder.appending(Self.summaryName)
        guard let written = (try? files.status(of: place))?.modified,
            let bytes = try? files.contents(of: place, limit: 256 << 20),
            let summary = try? Journal.summary(bytes),
            let status = try? files.status(of: path), status.size == summary.journalLength
        else {
            return nil
        }
        return (summary, written)
    }

    /// Writes a summary, from which other programs can conclude that there is nothing to do. It may be lost.
    ///
    /// - Parameter isNew: Whether to write it even if it is unchanged, because its time must be new.
    func store(_ summary: StateSummary, isNew: Bool) {
        let bytes = Journal.encoded(summary)
        let place = folder.appending(Self.summaryName)
        if !isNew, let former = try? files.contents(of: place, limit: bytes.count), former == bytes { return }
        _ = try? files.replace(place, with: bytes)
    }

    func forgetSummary() { _ = try? files.remove(folder.appending(Self.summaryName)) }

    // MARK: Waits

    private static let waitsName: FileName = "vigil"

    /// The recorded waits, or nil if there are none.
    var pendingWaits: PendingWaits? {
        let bytes = try? files.contents(of: folder.appending(Self.waitsName), limit: 16 << 20)
        return bytes.flatMap { try? Journal.pendingWaits($0) }
    }

    func store(_ waits: PendingWaits) {
        _ = try? files.replace(folder.appending(Self.waitsName), with: Journal.encoded(waits))
    }

    // MARK: Troubles

    private static let troublesName: FileName = "troubles"

    /// The failures of the last exchange, in a file that separates them with zero bytes.
    var troubles: [String] {
        let bytes = try? files.contents(of: folder.appending(Self.troublesName), limit: 1 << 20)
        return (bytes ?? []).split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    }

    func store(troubles: [String]) {
        if troubles == self.troubles { return }
        let place = folder.appending(Self.troublesName)
        if troubles.isEmpty {
            _ = try? files.remove(place)
        } else {
            _ = try? files.replace(place, with: Array(troubles.joined(separator: "\0").utf8))
        }
    }
}
