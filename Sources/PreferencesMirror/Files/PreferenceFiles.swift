internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PropertyLists

/// The preference files of a store, as the mirror reads and writes them.
struct PreferenceFiles: Sendable {
    let places: StorePlaces
    let machine: Machine
    let writer: DomainWriter
    private let newFormat: PropertyList.Format

    /// The least age of a file that was written without a lock, before it is captured.
    static let quiet: Duration = .milliseconds(200)

    init(_ places: StorePlaces, on machine: Machine) {
        self.places = places
        self.machine = machine
        let policy = StorePolicy(in: places, on: machine)
        newFormat = policy.newFormat
        writer = DomainWriter(
            machine, WriteNote(program: "prefs mirror", process: machine.environment.process, reason: .mirrored),
            by: policy)
    }

    /// Returns the file of a domain, or nil for an invalid domain name.
    func file(of domain: String) -> DomainFile? {
        (try? DomainName(domain)).map { places.user.file(of: $0).made(in: newFormat) }
    }

    /// Returns the identity of a domain's file without opening it.
    func presence(of domain: String) -> Presence {
        guard let file = file(of: domain) else { return .absent }
        do throws(SystemFailure) {
            let status = try file.status(on: machine)
            return status.map { .present(MirrorEngine.FileIdentity($0)) } ?? .absent
        } catch {
            return .unknown
        }
    }

    /// Whether a file exists.
    enum Presence: Hashable, Sendable {
        case absent, unknown
        case present(MirrorEngine.FileIdentity)

        var identity: MirrorEngine.FileIdentity? { if case .present(let identity) = self { identity } else { nil } }
    }

    /// The domains that have a file.
    func domains() -> [DomainName] {
        // A transaction may have committed a domain whose file is not created yet.
        places.user.finishTransactions(on: machine)
        return (try? places.user.domains(in: machine.fileSystem)) ?? []
    }

    // MARK: Reading under the lock

    /// A file as it was read under its lock.
    struct Reading: Sendable {
        let observation: Observation
        let status: FileStatus?
        /// Whether a program that does not use the library may still be writing the file.
        let isUnsettled: Bool

        var isDamaged: Bool { observation.content == .empty || observation.content == .unreadable }
        /// Whether the system refused to read the file, so that its contents are unknown.
        var isRefused: Bool { observation.content == .unreadable && observation.hash == nil }
    }

    /// - Parameter lastRead: The file as it was last read, or nil if there was none. A file that is missing now may be
    ///   about to be replaced.
    func read(
        _ domain: String, since lastRead: MirrorEngine.FileIdentity?, under locks: LockedDomains
    ) throws(SystemFailure) -> Reading {
        guard let file = file(of: domain) else {
            return reading(domain, nil, nil, .unreadable, mark: nil, settled: true)
        }
        let found = try file.mirroredBytes(on: machine)
        let mark = locks.mark(of: file)
        guard let (bytes, status) = found else {
            let isMarked = mark.map { $0.hash == nil } ?? false
            return reading(
                domain, nil, nil, .missing, mark: isMarked ? .deleted : nil,
                settled: isMarked || lastRead == nil || isQuiet(file.path.parent),
                times: lastRead == nil ? WriteTimes() : writeTimes(of: file, [:], since: lastRead))
        }
        guard let bytes else {
            // A file in the domain's folder is damaged.
            return reading(
                domain, status, Fingerprint(of: []), .unreadable, mark: nil, settled: isQuiet(status))
        }
        let fingerprint = Fingerprint(of: bytes)
        let isMarked = mark?.hash == fingerprint.bytes
        let settled = isMarked || isQuiet(status)
        if settled { makeDurable(file, isMarked: isMarked) }
        if bytes.isEmpty { return reading(domain, status, fingerprint, .empty, mark: nil, settled: settled) }
        guard let values = try? file.parse(bytes).0 else {
            return reading(domain, status, fingerprint, .unreadable, mark: nil, settled: settled)
        }
        let meaning = isMarked ? mark.map { self.mark($0, of: file) } : nil
        let isChanged = settled && MirrorEngine.FileIdentity(status) != lastRead
        return reading(
            domain, status, fingerprint, .values(values), mark: meaning, settled: settled,
            times: isChanged ? writeTimes(of: file, values, since: lastRead) : WriteTimes())
    }

    private func writeTimes(
        of file: DomainFile, _ values: PropertyList.Dictionary, since lastRead: MirrorEngine.FileIdentity?
    ) -> WriteTimes {
        History(of: file, on: machine)?.writeTimes(of: values, since: lastRead) ?? WriteTimes()
    }

    /// Returns the reading of a domain whose file or lock the system refuses.
    func refusal(of domain: String) -> Reading { reading(domain, nil, nil, .unreadable, mark: nil, settled: true) }

    private func reading(
        _ domain: String, _ status: FileStatus?, _ hash: Fingerprint?, _ content: Observation.Content,
        mark: LibraryWrite?,
        settled: Bool, times: WriteTimes = WriteTimes()
    ) -> Reading {
        let observation = Observation(
            domain: domain, identity: status.map { MirrorEngine.FileIdentity($0) }, hash: hash, content: content,
            modified: times.ofRemoval ?? (status?.modified ?? machine.clock.wall).milliseconds, mark: mark,
            written: times.ofKeys)
        return Reading(observation: observation, status: status, isUnsettled: !settled)
    }

    // MARK: Programs that do not use the library

    private func isQuiet(_ folder: FilePath) -> Bool {
        guard let status = (try? machine.fileSystem.status(of: folder)) ?? nil else { return true }
        return isQuiet(status)
    }

    private func isQuiet(_ status: FileStatus) -> Bool {
        let age = machine.clock.wall.nanoseconds - max(status.modified, status.changed).nanoseconds
        // The absolute value, so that a clock that was set back does not delay the file.
        return abs(age) >= Self.quiet.nanoseconds
    }

    /// Syncs a file that a program without the library wrote, because what is published must survive a crash.
    private func makeDurable(_ file: DomainFile, isMarked: Bool) {
        if !isMarked { try? file.synchronize(on: machine) }
    }

    // MARK: Marks

    /// Converts the mark of the last write.
    private func mark(_ mark: WriteMarker, of file: DomainFile) -> LibraryWrite {
        switch mark.note.reason {
        case .restore: return .restore
        case .recovered:
            guard let history = History(of: file, on: machine) else { return .write }
            // The damaged file was replaced by the last good version before that write.
            let former = history.versions.prefix { $0.transaction != mark.transaction }
            return former.reversed().lazy.compactMap { history.values(of: $0) }.first.map(LibraryWrite.recovered)
                ?? .write
        case let reason where reason.undoTarget != nil: return .undo
        default: return .write
        }
    }
}

extension ErrorCode {
    /// Whether a failure with this code persists until a user fixes the cause. Other failures may be temporary.
    var isLasting: Bool {
        let lasting: [ErrorCode] = [
            .notPermitted, .accessDenied, .inputOutput, .isAFolder, .notAFolder, .invalidArgument, .fileTooLarge,
            .tooManySymbolicLinks, .nameTooLong, .noSuchDevice,
        ]
        return lasting.contains(self)
    }
}

extension WriteReason {
    /// The value came from another host.
    static let mirrored = WriteReason(rawValue: "mirror")
}

extension MirrorEngine.FileIdentity {
    init(_ status: FileStatus) {
        self.init(
            device: status.device, inode: status.inode, size: Int64(status.size),
            modified: status.modified.nanoseconds, changed: status.changed.nanoseconds)
    }
}
