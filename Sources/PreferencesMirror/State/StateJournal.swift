internal import MirrorEngine
internal import Platform

/// A mirror's local state on the disk: a journal that only grows, until it is begun anew, and a small head beside it.
///
/// Only whoever holds the state's lock touches it.
struct StateJournal: Sendable {
    private let folder: FilePath
    private let files: any FileSystem
    private var file: (any OpenFile)?
    private var number: FileNumber?
    /// The bytes that are known to be whole.
    private(set) var length = 0
    private var checkpointLength = 0

    static let name: FileName = "journal"
    private static let headName: FileName = "head"
    private static let mostBytes = 4 << 30
    /// Below this a journal is not worth beginning anew.
    private static let fewBytes = 1 << 20

    init(in folder: FilePath, _ files: any FileSystem) {
        self.folder = folder
        self.files = files
    }

    private var path: FilePath { folder.appending(Self.name) }

    // MARK: Reading

    /// Whether the journal is the one that was read, with nothing added by others.
    var isCurrent: Bool {
        guard file != nil, let status = (try? files.status(of: path)) ?? nil else { return false }
        return status.number == number && status.size == length
    }

    /// The state that the journal says; nil where there is none that can be read, so that a new one must be begun.
    mutating func load() throws(SystemFailure) -> LocalState? {
        file = nil
        guard let open = try files.open(path, .writing) else { return nil }
        let bytes = try open.contents(limit: Self.mostBytes)
        guard let reading = try? Journal.replay(bytes) else {
            try keepDamaged()
            return nil
        }
        if reading.damage != nil {
            // What is behind the damage is lost; our own folder shows it, and then we take another name.
            try keepDamaged()
            var state = reading.state
            state.apply(.suspected(.stateIsOlder))
            try begin(state)
            return state
        }
        if reading.isOfFirstVersion {
            try begin(reading.state)
            return reading.state
        }
        if reading.length < bytes.count {
            try open.truncate(to: reading.length)
            try open.synchronize()
        }
        (file, number, length) = (open, try open.status().number, reading.length)
        checkpointLength = Journal.checkpointLength(bytes)
        return reading.state
    }

    private func keepDamaged() throws(SystemFailure) {
        guard let name = FileName(Self.damagedPrefix + "\(files.unpredictableNumber())") else { return }
        try files.rename(path, to: folder.appending(name))
        for name in damaged.dropLast(Self.mostDamaged) { _ = try? files.remove(folder.appending(name)) }
    }

    private static let damagedPrefix = "journal.damaged-"
    private static let mostDamaged = 2

    /// The damaged journals that were kept, the last one at the end.
    private var damaged: [FileName] {
        let names = ((try? files.names(in: folder)) ?? nil) ?? []
        let dated = names.filter { $0.description.hasPrefix(Self.damagedPrefix) }.map { name in
            (name, ((try? files.status(of: folder.appending(name), followingLink: false)) ?? nil)?.modified)
        }
        return dated.sorted { ($0.1?.nanoseconds ?? .min) < ($1.1?.nanoseconds ?? .min) }.map(\.0)
    }

    // MARK: Writing

    /// Begins a journal with a state, in place of any other.
    mutating func begin(_ state: LocalState) throws(SystemFailure) {
        forgetHead()
        let bytes = Journal.beginning(with: state)
        try files.makeFolders(folder)
        try files.replace(path, with: bytes)
        guard let open = try files.open(path, .writing) else { throw SystemFailure(.noSuchFile, .open, path) }
        (file, number, length) = (open, try open.status().number, bytes.count)
        checkpointLength = bytes.count
    }

    /// Adds records; once this has returned, they are on the disk.
    mutating func append(_ records: [LocalRecord]) throws(SystemFailure) {
        guard let file else { throw SystemFailure(.noSuchFile, .write, path) }
        var end = length
        do throws(SystemFailure) {
            for record in records {
                let bytes = Journal.entry(record)
                try file.write(bytes, at: end)
                end += bytes.count
            }
            try file.synchronize()
        } catch {
            // A part may stand there, which the next reader cuts off.
            self.file = nil
            throw error
        }
        length = end
    }

    /// Begins anew once most of the journal is history.
    mutating func compact(_ state: @autoclosure () -> LocalState) throws(SystemFailure) {
        guard length > Self.fewBytes, length / 4 > checkpointLength else { return }
        try begin(state())
    }

    // MARK: The head

    /// The head, if it is one of the journal as it is.
    var head: LocalHead? {
        guard let bytes = (try? files.contents(of: folder.appending(Self.headName), limit: 256 << 20)) ?? nil,
            let head = try? Journal.head(bytes),
            let status = (try? files.status(of: path)) ?? nil, status.size == head.journalLength
        else {
            return nil
        }
        return head
    }

    /// Keeps a head for those who only want to know whether there is anything to do. It may be lost.
    func keep(_ head: LocalHead) {
        let bytes = Journal.encoded(head)
        let place = folder.appending(Self.headName)
        if let former = (try? files.contents(of: place, limit: bytes.count)) ?? nil, former == bytes { return }
        _ = try? files.replace(place, with: bytes)
    }

    func forgetHead() { _ = try? files.remove(folder.appending(Self.headName)) }

    // MARK: The vigil

    private static let vigilName: FileName = "vigil"

    /// Since when files are waited for; nil where nobody has left that.
    var vigil: Vigil? {
        let bytes = (try? files.contents(of: folder.appending(Self.vigilName), limit: 16 << 20)) ?? nil
        return bytes.flatMap { try? Journal.vigil($0) }
    }

    func keep(_ vigil: Vigil) {
        _ = try? files.replace(folder.appending(Self.vigilName), with: Journal.encoded(vigil))
    }
}
