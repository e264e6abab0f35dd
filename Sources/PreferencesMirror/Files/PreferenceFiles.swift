internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PropertyLists

/// The preference files of a store, as the mirror reads and writes them.
struct PreferenceFiles: Sendable {
    let places: StorePlaces
    let system: SystemServices
    let writer: DomainWriter
    private let newFormat: PropertyList.Format

    /// The least age of a file that was written without a lock, before it is captured.
    static let quiet: Duration = .milliseconds(200)
    /// The least age of a program's file that lacks keys, because the program may write it in parts.
    private static let quietOfProgram: Duration = .seconds(2)

    init(_ places: StorePlaces, on system: SystemServices) {
        self.places = places
        self.system = system
        let policy = StorePolicy(in: places, on: system)
        newFormat = policy.format(by: nil)
        writer = DomainWriter(
            system, WriteAuthor(program: "prefs mirror", process: system.environment.process, reason: .mirrored),
            by: policy)
    }

    /// Returns the file of a domain, or nil for an invalid domain name.
    func file(of domain: String) -> DomainFile? {
        guard let name = try? DomainName(domain) else { return nil }
        return (try? places.adoptedFile(of: name)) ?? places.user.file(of: name).made(in: newFormat)
    }

    /// Whether a domain is the file of a program here, or may be.
    func isAdopted(_ domain: DomainName) -> Bool {
        do throws(StoreFailure) { return try places.adoptedFile(of: domain) != nil } catch { return true }
    }

    /// Returns the identity of a domain's file without opening it.
    func presence(of domain: String) -> Presence {
        guard let file = file(of: domain) else { return .absent }
        do throws(SystemFailure) {
            let status = try file.status(on: system)
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

    /// Throws if a record of the store cannot be used, so that its files cannot be read. Otherwise they would look
    /// unchanged.
    func checkRecords() throws(MirrorFailure) {
        do throws(SystemFailure) {
            _ = try places.user.domains(on: system)
        } catch  where error.operation == .useRecord {
            throw MirrorFailure(error)
        } catch {
            // A folder that cannot be read is reported for each of its domains.
        }
    }

    /// The domains that have a file.
    func domains() -> [DomainName] {
        // A transaction may have committed a domain whose file is not created yet.
        ((try? places.user.domains(on: system)) ?? []) + ((try? places.user.adoptedDomains(on: system)) ?? [])
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

    /// - Parameters:
    ///   - lastRead: The file as it was last read, or nil if there was none. A file that is missing now may be about to
    ///     be replaced.
    ///   - lastHash: The hash of its contents.
    ///   - secrecy: The sensitive values of the domain. A value of a program's file is read as null, which stays
    ///     here, if an entry in it has the name of a secret or program.
    ///   - lacks: Returns whether values lack a key that the file had.
    func read(
        _ domain: String, since lastRead: MirrorEngine.FileIdentity?, with lastHash: ContentHash?,
        under locks: LockedDomains,
        hiding secrecy: (DomainName) -> Secrecy, lacks: (PropertyList.Dictionary) -> Bool
    ) throws(SystemFailure) -> Reading {
        guard var file = file(of: domain) else {
            return reading(domain, nil, nil, .unreadable, mark: nil, settled: true)
        }
        // The mirror cannot keep an inexact integer. It is read as null, which is reported as beyond a limit.
        file.inexactIntegers = .null
        let found = try file.versionBytes(on: system)
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
                domain, status, ContentHash(of: []), .unreadable, mark: nil, settled: isQuiet(status))
        }
        let contentHash = ContentHash(of: bytes)
        let isMarked = mark?.hash == contentHash.bytes
        let values = bytes.isEmpty ? nil : try? file.parse(bytes).0
        // A program that changes its file all the time is captured between two changes.
        let isInParts = file.isAdopted && values.map(lacks) ?? true
        let history = History(of: file, on: system)
        let lastFound = { history?.lastFound(since: lastRead, with: lastHash) }
        // If another program has removed the file, a write that created it anew has not seen what is gone.
        let isCreated = { lastRead != nil && lastFound()?.isEmpty ?? false }
        let isOwn = isMarked || file.isAdopted && history?.wasWritten(bytes) ?? false && !isCreated()
        let settled = isOwn || isQuiet(status, for: isInParts ? Self.quietOfProgram : Self.quiet)
        if settled { makeDurable(file, isMarked: isMarked) }
        if bytes.isEmpty { return reading(domain, status, contentHash, .empty, mark: nil, settled: settled) }
        guard var values else {
            return reading(domain, status, contentHash, .unreadable, mark: nil, settled: settled)
        }
        if file.isAdopted, let secrecy = (try? DomainName(domain)).map(secrecy) {
            for entry in values where secrecy.suspects(in: entry.value, under: entry.key) { values[entry.key] = .null }
        }
        let meaning = isMarked ? mark.map { self.mark($0, of: file) } : isOwn ? .write : nil
        let isChanged = settled && MirrorEngine.FileIdentity(status) != lastRead
        return reading(
            domain, status, contentHash, .values(values), mark: meaning, settled: settled,
            foreign: isChanged && isOwn ? lastFound() : nil,
            times: isChanged ? writeTimes(of: file, values, since: lastRead) : WriteTimes())
    }

    private func writeTimes(
        of file: DomainFile, _ values: PropertyList.Dictionary, since lastRead: MirrorEngine.FileIdentity?
    ) -> WriteTimes {
        History(of: file, on: system)?.writeTimes(of: values, since: lastRead) ?? WriteTimes()
    }

    /// Returns the reading of a domain whose file or lock the system refuses.
    func refusal(of domain: String) -> Reading { reading(domain, nil, nil, .unreadable, mark: nil, settled: true) }

    private func reading(
        _ domain: String, _ status: FileStatus?, _ hash: ContentHash?, _ content: Observation.Content,
        mark: LibraryWrite?, settled: Bool, foreign: PropertyList.Dictionary? = nil, times: WriteTimes = WriteTimes()
    ) -> Reading {
        var observation = Observation(
            domain: domain, identity: status.map { MirrorEngine.FileIdentity($0) }, hash: hash, content: content,
            modified: times.ofRemoval ?? (status?.modified ?? system.clock.wall).milliseconds, mark: mark,
            foreign: foreign, written: times.ofKeys)
        observation.isOfProgram = file(of: domain)?.isAdopted ?? false
        return Reading(observation: observation, status: status, isUnsettled: !settled)
    }

    // MARK: Programs that do not use the library

    private func isQuiet(_ folder: FilePath) -> Bool {
        guard let status = try? system.fileSystem.status(of: folder) else { return true }
        return isQuiet(status)
    }

    private func isQuiet(_ status: FileStatus, for quiet: Duration = quiet) -> Bool {
        let age = system.clock.wall.nanoseconds - max(status.modified, status.changed).nanoseconds
        // The absolute value, so that a clock that was set back does not delay the file.
        return abs(age) >= quiet.nanoseconds
    }

    /// Syncs a file that a program without the library wrote, because published values must survive a crash.
    private func makeDurable(_ file: DomainFile, isMarked: Bool) {
        if !isMarked { try? file.synchronize(on: system) }
    }

    // MARK: Marks

    /// Converts the mark of the last write.
    private func mark(_ mark: WriteMarker, of file: DomainFile) -> LibraryWrite {
        switch mark.author.reason {
        case .restore: return .restore
        case .recovered:
            guard let history = History(of: file, on: system) else { return .write }
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

extension MirrorEngine.FileIdentity {
    init(_ status: FileStatus) {
        self.init(
            device: status.device, inode: status.inode, size: Int64(status.size),
            modified: status.modified.nanoseconds, changed: status.changed.nanoseconds)
    }
}

// From the state to the preference files.
extension PreferenceFiles {
    /// Makes all changes in one transaction, each file only if it is still as it was read. Also returns a note for each
    /// file that was converted or has lost comments.
    func write(
        _ application: Application, under locks: LockedDomains, read readings: [Path: Reading],
        schema: (DomainName) -> Schema?, hiding secrecy: (DomainName) -> Secrecy,
        staysLocal: @escaping @Sendable (Path) -> Bool,
        hosts: (DomainChange) -> [String]
    ) throws -> (WriteOutcome, notes: [String]) {
        var (edits, raised) = ([DomainEdit](), Set<Path>())
        for change in application.domains {
            guard let file = file(of: change.domain.domain) else {
                return (.failed(domain: change.domain.domain), [])
            }
            let reading = readings[change.domain]
            let newer = (try? DomainName(file.name)).flatMap(schema).flatMap { $0.isRaised(by: change) ? $0 : nil }
            if newer != nil { raised.insert(change.domain) }
            let hosts = hosts(change)
            let author = hosts.isEmpty ? nil : WriteAuthor.program(ofHosts: hosts)
            let change = file.isAdopted ? change.without(secrecy) : change
            var edit = edit(file, change, reading?.status, application.isChecked, by: author, migratedBy: newer) {
                staysLocal(change.domain.appending($0))
            }
            // A user has decided in favor of the mirror. A copy of the damaged file is kept next to the new one.
            edit.acceptsLoss = reading?.isDamaged ?? false
            edits.append(edit)
        }
        do {
            let written = try locks.commit(edits)
            let outcome = WriteOutcome.done(
                zip(application.domains, written).map { change, written in
                    // The migration has changed other keys, so the file is read again.
                    observation(change, written, readings, isReadAgain: raised.contains(change.domain))
                })
            return (outcome, written.flatMap { [$0.conversion, $0.removal].compactMap(\.self) })
        } catch let failure as StoreFailure {
            if case .notCurrent = failure.problem { return (.changedMeanwhile, []) }
            throw failure
        }
    }

    private func edit(
        _ file: DomainFile, _ change: DomainChange, _ status: FileStatus?, _ isChecked: Bool, by author: String?,
        migratedBy schema: Schema?, staysLocal: @escaping @Sendable (String) -> Bool
    ) -> DomainEdit {
        var edit = DomainEdit(file, known: DomainContents(values: [:], status: status)) { draft in
            draft.program = author
            var values = draft.values
            // With the mirror's version, the settings of an earlier version would never be migrated.
            if let schema, schema.needsMigration(values) { values = try schema.migrated(values).values }
            // To sort the entries took a tenth of the time of a join.
            for path in change.changes.keys.sorted() {
                guard let key = path.key else { continue }
                values[key] = try change.changes[path]?.new?.decoded()
            }
            // If another host deletes all keys, a program's file keeps them.
            let removed = Set(change.changes.filter { $0.value.new == nil }.keys.compactMap { $0.key.map { Name($0) } })
            if file.isAdopted, !removed.isEmpty,
                !values.contains(where: { !removed.contains($0.name) && !staysLocal($0.key) })
            {
                for entry in draft.values where removed.contains(entry.name) { values[entry.key] = entry.value }
            }
            if !file.canHold(values, draft.format) {
                // No text format can hold the values exactly. A file without comments becomes binary; otherwise the
                // values wait, because a user wrote the comments. A program's file keeps its format.
                let isConverted = !file.isAdopted && !file.hasComments(on: system)
                if isConverted { draft.format = .binary }
                if !isConverted || !file.canHold(values, .binary) {
                    values = try file.values(draft, changedBy: change)
                }
            }
            draft.values = values
        }
        edit.requiresKnown = isChecked
        return edit
    }

    private func observation(
        _ change: DomainChange, _ committed: CommittedDomain, _ readings: [Path: Reading], isReadAgain: Bool
    ) -> Observation {
        let domain = change.domain.domain
        guard let bytes = committed.bytes, let status = committed.after.status else {
            // Nothing was changed.
            return readings[change.domain]?.observation
                ?? Observation(domain: domain, identity: nil, hash: nil, content: .missing, modified: 0)
        }
        // The values as they are read back. If they equal those written, the existing copy is used.
        let read = try? committed.file.parse(bytes).0
        let values = read.flatMap { $0 == committed.after.values ? nil : $0 } ?? committed.after.values
        return Observation(
            domain: domain, identity: isReadAgain ? nil : MirrorEngine.FileIdentity(status),
            hash: ContentHash(of: bytes), content: .values(values), modified: status.modified.milliseconds,
            mark: .write)
    }
}

extension DomainChange {
    /// Returns the change without values in which an entry has the name of a secret or program. Another user with
    /// access to the mirror may have written them.
    fileprivate func without(_ secrecy: (DomainName) -> Secrecy) -> DomainChange {
        guard let secrecy = (try? DomainName(domain.domain)).map(secrecy) else { return self }
        var result = self
        result.changes = changes.filter { path, replacement in
            guard let key = path.key, let value = try? replacement.new?.decoded() else { return true }
            return !secrecy.suspects(in: value, under: key)
        }
        return result
    }
}

extension Schema {
    /// Whether a change from the mirror brings the settings of this version.
    fileprivate func isRaised(by change: DomainChange) -> Bool {
        let brought = change.changes[change.domain.appending(Self.versionKey)]?.new
        guard version > 1, let value = try? brought?.decoded() else { return false }
        return storedVersion(of: [Self.versionKey: value]) == version
    }
}

extension CommittedDomain {
    /// The note on comments that were removed with their entries.
    fileprivate var removal: String? { EditResult.note(onRemoved: removedComments).map { "\(file.path): \($0)" } }

    /// The note that the file was converted to binary, which holds values that its former format cannot.
    fileprivate var conversion: String? {
        guard let former = before.format, let format = after.format, former != format else { return nil }
        return "\(file.path): converted from \(former.rawValue) to \(format.rawValue), "
            + "to hold a value of another host"
    }
}

extension DomainFile {
    fileprivate func canHold(_ values: PropertyList.Dictionary, _ format: PropertyList.Format) -> Bool {
        guard values.keys.allSatisfy(\.isFitForWriting), let bytes = try? serialized(values, as: format) else {
            return false
        }
        return format == .binary || (try? parse(bytes).0) == values
    }

    /// Returns the values with every change that the format can hold. The mirror records those that it cannot.
    fileprivate func values(_ draft: DomainDraft, changedBy change: DomainChange) throws -> PropertyList.Dictionary {
        var values = draft.values
        for path in change.changes.keys.sorted() {
            guard let key = path.key else { continue }
            guard let new = try change.changes[path]?.new?.decoded() else {
                values[key] = nil
                continue
            }
            if canHold([key: new], draft.format) { values[key] = new }
        }
        return values
    }
}

/// The times at which the keys of a file were written, as far as the history has them.
///
/// A file has one time for all of its keys. Several changes between two exchanges would all have the time of the last.
struct WriteTimes: Hashable, Sendable {
    /// The times by key, in milliseconds since 1970. A key that is in no version is missing.
    var ofKeys: [Name: Int64] = [:]
    /// The time at which the domain was deleted, or nil if it was not deleted or no version records it.
    var ofRemoval: Int64?
}

extension History {
    /// Returns what a program without the library wrote last, if the library has replaced it since the file was last
    /// read.
    func lastFound(since lastRead: MirrorEngine.FileIdentity?, with hash: ContentHash?) -> PropertyList.Dictionary? {
        let limit = lastRead.map { max($0.modified, $0.changed) / 1_000_000 } ?? .min
        for version in versions.reversed() {
            if version.author.reason == .found { return values(of: version) }
            guard version.time.milliseconds > limit else { return nil }
            // The version of the file that was last read is recorded after the file is written, so its time is later.
            if version.size == lastRead.map({ Int($0.size) }), bytes(of: version).map({ ContentHash(of: $0) }) == hash {
                return nil
            }
        }
        return nil
    }

    /// Returns the time since which each key has had its present value.
    ///
    /// A key is dated by the oldest version of the trailing run in which it already had that value. A deleted key is
    /// dated likewise, by the versions without it.
    ///
    /// - Parameters:
    ///   - values: The present values, which are empty if there is no file.
    ///   - lastRead: The file as it was last read, or nil if there was none. Older versions are ignored.
    func writeTimes(of values: PropertyList.Dictionary, since lastRead: MirrorEngine.FileIdentity?) -> WriteTimes {
        let versions = versions
        let limit = lastRead.map { max($0.modified, $0.changed) / 1_000_000 } ?? .min
        let start = versions.lastIndex { $0.time.milliseconds <= limit }.map { $0 + 1 } ?? 0
        let newer = versions[start...]
        var times = WriteTimes()
        guard let newest = newer.last else { return times }
        if values.isEmpty, state(of: newest) == .absent { times.ofRemoval = newest.time.milliseconds }
        // For a single change, the time of the file is sufficient.
        guard newer.count > 1 else { return times }
        var running = Set(values.map(\.name))
        var removed: Set<Name> = []
        // The version before `newer` is used only to find the keys that the first version in `newer` deleted.
        for index in versions.indices[max(0, start - 1)...].reversed() {
            // Unreadable versions are never crossed, because their values are unknown.
            guard let former = state(of: versions[index])?.values else { return times }
            if index >= start {
                running = running.filter { former[$0.text] == values[$0.text] }
                for key in running { times.ofKeys[key] = versions[index].time.milliseconds }
            }
            for key in former.map(\.name) where values[key.text] == nil && removed.insert(key).inserted {
                // A key that the newest version still has was removed by a program that records no versions.
                if index + 1 < versions.count { times.ofKeys[key] = versions[index + 1].time.milliseconds }
            }
        }
        return times
    }
}
