internal import Digests
package import Platform
internal import PropertyLists

/// The locks of the files that a writer is about to change.
///
/// All writers take locks in the same order, so that no deadlock can occur: first the lock of the store, which writers
/// of its domains share and a writer of very many domains holds exclusively; then the lock files of domains; then the
/// locks of files that are addressed by path.
struct DomainLocks: Sendable {
    /// The acquired locks. The lock file of a domain can contain a mark.
    private var held: [(place: Place, file: any OpenFile)] = []
    private let files: any FileSystem

    private enum Place: Hashable, Comparable {
        case store(FilePath, LockMode), file(FilePath), byPath(FilePath)

        static func < (left: Place, right: Place) -> Bool {
            switch (left, right) {
            case (.store(let a, _), .store(let b, _)), (.file(let a), .file(let b)), (.byPath(let a), .byPath(let b)):
                a < b
            default: left.rank < right.rank
            }
        }

        private var rank: Int {
            switch self {
            case .store: 0
            case .file: 1
            case .byPath: 2
            }
        }
    }

    /// The limit of domain locks held at once. Each needs a descriptor, and a process may have 1024.
    private static let mostLocks = 256

    /// Acquires the locks of all files.
    init(of files: [ResolvedFile], on system: SystemServices, patience: Duration) throws(StoreFailure) {
        var places: [(Place, DomainFile)] = []
        let isStoreWide = files.count > Self.mostLocks
        // In its own store, root keeps the locks that it creates.
        var gives = false
        for resolved in files {
            if try !resolved.file.checkLinks(on: system) { gives = system.environment.user == 0 }
            let former = resolved.file.former.flatMap {
                (try? system.fileSystem.status(of: $0.locks)) == nil ? nil : $0
            }
            for path in [resolved.file.lockOfStore, former?.lockOfStore].compactMap(\.self) {
                places.append((.store(path, isStoreWide ? .exclusive : .shared), resolved.file))
            }
            if isStoreWide, resolved.file.lockOfStore != nil { continue }
            if case .file(let path) = resolved.file.lock { places.append((.file(path), resolved.file)) }
            if let former { places.append((.file(former.lock), resolved.file)) }
            // The target of a link can also be addressed by its own path.
            if resolved.file.lock == .byPath || resolved.isLinked {
                places.append((.byPath(resolved.target), resolved.file))
            }
        }
        self.files = system.fileSystem
        let deadline = system.clock.now.advanced(by: patience)
        var last: Place?
        for (place, file) in places.sorted(by: { $0.0 < $1.0 }) where place != last {
            last = place
            do throws(StoreFailure) {
                if let lock = try Self.take(place, of: file, on: system, until: deadline, gives) {
                    held.append((place, lock))
                }
            } catch {
                release()
                throw error
            }
        }
        for resolved in files { takeFormerMark(of: resolved.file) }
    }

    /// No locks.
    static func none(in files: any FileSystem) -> DomainLocks { DomainLocks(files: files) }

    private init(files: any FileSystem) { self.files = files }

    func release() {
        for lock in held.reversed() {
            // The lock of a path contains no mark, and would otherwise remain forever.
            if case .byPath(let path) = lock.place, lock.file.path != path { _ = try? files.remove(lock.file.path) }
            lock.file.unlock()
        }
    }

    /// Returns the lock file of the domain, in which a mark can be written, or nil for a file that is addressed by
    /// path.
    func markFile(of file: DomainFile) -> (any OpenFile)? {
        guard case .file(let path) = file.lock else { return nil }
        if let store = file.lockOfStore, held.contains(where: { $0.place == .store(store, .exclusive) }) {
            return try? files.open(path, .creating(.privateFile))
        }
        return held.first { $0.place == .file(path) }?.file
    }

    /// Moves the mark that a program with an earlier version of this library left in its lock file.
    private func takeFormerMark(of file: DomainFile) {
        guard let former = file.former, let old = try? files.open(former.lock, .writing),
            let mark = try? old.contents(limit: 4096), !mark.isEmpty, let lock = markFile(of: file),
            (try? lock.write(mark, at: 0)) != nil
        else { return }
        try? old.truncate(to: 0)
    }

    // MARK: Acquiring one lock

    /// Acquires one lock. Returns nil if there is nothing to lock.
    ///
    /// - Parameter gives: Whether to give a new lock file to the owner of its folder.
    private static func take(
        _ place: Place, of file: DomainFile, on system: SystemServices, until deadline: Instant, _ gives: Bool
    ) throws(StoreFailure) -> (any OpenFile)? {
        let attempt = try file.reporting { () throws(SystemFailure) in
            switch place {
            case .store(let path, let mode): try lockFile(path, mode, in: file.audience, on: system, deadline, gives)
            case .file(let path): try lockFile(path, in: file.audience, on: system, deadline, gives)
            case .byPath(let path): try lockOfFile(file, at: path, on: system, deadline, gives)
            }
        }
        switch attempt {
        case .locked(let lock): return lock
        case .busy(let lock):
            let holder = (try? lock.status()).flatMap { system.lockHolder(of: $0.number) }
            throw StoreFailure(.locked(holder: holder?.description), file.name, file: file.path)
        case .absent: return nil
        }
    }

    /// - Parameter audience: The users who may access the parent of the lock folder.
    private static func lockFile(
        _ path: FilePath, _ mode: LockMode = .exclusive, in audience: Audience = .owner, on system: SystemServices,
        _ deadline: Instant, _ gives: Bool
    ) throws(SystemFailure) -> LockAttempt {
        func open() throws(SystemFailure) -> LockAttempt {
            try system.fileSystem.openLocked(
                path, .creating(.privateFile), mode, until: deadline, by: system.clock)
        }
        let attempt: LockAttempt
        do throws(SystemFailure) {
            attempt = try open()
        } catch  where error.code == .noSuchFile {
            try system.fileSystem.makeFolders(path.parent.parent, for: audience)
            try system.fileSystem.makeFolders(path.parent)
            attempt = try open()
        }
        if gives, case .locked(let lock) = attempt {
            try system.fileSystem.giveToOwnerOfFolder(lock, at: path)
        }
        return attempt
    }

    /// Locks a file that is addressed by path. The lock is where users who may only read the file cannot take it:
    /// beside the file if its folder belongs to a team, and otherwise in the user's state folder. If neither is
    /// writable, the file itself is locked.
    private static func lockOfFile(
        _ file: DomainFile, at path: FilePath, on system: SystemServices, _ deadline: Instant, _ gives: Bool
    ) throws(SystemFailure) -> LockAttempt {
        let files = system.fileSystem
        let resolved = (try? path.resolvingLinks(in: files)) ?? path
        let folder = try files.status(of: resolved.parent)
        guard folder != nil || file.createsFolder else { throw SystemFailure(.noSuchFile, .open, path) }
        do throws(SystemFailure) {
            if let folder, folder.isOfTeam {
                return try lockOfTeam(Self.placeOfTeamLock(of: resolved), folder, on: system, deadline)
            }
            if let lock = Self.placeOfOwnLock(of: resolved, on: system) {
                return try lockFile(lock, on: system, deadline, gives)
            }
        } catch  where error.code != .wouldBlock {
            // The lock is not required, because the replaced file is compared with the one that was read.
        }
        return try files.openLocked(path, .reading, .exclusive, until: deadline, by: system.clock)
    }

    /// Returns the lock of a file that a team shares.
    ///
    /// - Parameter path: The path of the file without symbolic links.
    fileprivate static func placeOfTeamLock(of path: FilePath) -> FilePath {
        path.parent.resolving(FilePath(".prefs-lock-\(identifier(of: path))") ?? ".")
    }

    /// Returns the lock of a file of the user, or nil if there is no folder for it.
    fileprivate static func placeOfOwnLock(of path: FilePath, on system: SystemServices) -> FilePath? {
        guard let state = try? system.environment.folder(.state, in: system.fileSystem) else { return nil }
        return state.resolving(FilePath("prefs/locks/\(identifier(of: path)).lock") ?? ".")
    }

    private static func identifier(of path: FilePath) -> String {
        Hexadecimal.text(of: Array(SHA256.hash(path.bytes).prefix(16)))
    }

    /// Acquires a lock file that only the members of a folder's group can open.
    private static func lockOfTeam(
        _ path: FilePath, _ folder: FileStatus, on system: SystemServices, _ deadline: Instant
    ) throws(SystemFailure) -> LockAttempt {
        let files = system.fileSystem
        if let file = try files.open(path, .creating(.groupFile)) {
            let status = try file.status()
            if status.owner == system.environment.user {
                if status.group != folder.group { try? file.setOwner(status.owner, group: folder.group) }
                if status.permissions != .groupFile { try? file.setPermissions(.groupFile) }
            }
        }
        return try files.openLocked(
            path, .creating(.groupFile), .exclusive, until: deadline, by: system.clock)
    }
}

/// A lock that another process holds.
package struct HeldLock: Sendable {
    package let path: FilePath
    /// The process that holds it, if the kernel reports it.
    package let holder: LockHolder?
}

extension DomainFile {
    /// Returns a lock for which a writer of this file would wait until `deadline`, or nil. Only locks that exist are
    /// examined, so that nothing is created.
    package func heldLock(on system: SystemServices, until deadline: Instant) -> HeldLock? {
        var places = [lockOfStore, former?.lockOfStore, former?.lock].compactMap(\.self)
        if case .file(let path) = lock { places.append(path) }
        if let resolved = try? ResolvedFile(self, on: system), lock == .byPath || resolved.isLinked {
            let target = (try? resolved.target.resolvingLinks(in: system.fileSystem)) ?? resolved.target
            places.append(DomainLocks.placeOfTeamLock(of: target))
            if let own = DomainLocks.placeOfOwnLock(of: target, on: system) { places.append(own) }
        }
        for place in places {
            switch try? system.fileSystem.openLocked(place, .reading, .shared, until: deadline, by: system.clock) {
            case .locked(let file)?: file.unlock()
            case .busy(let file)?:
                let holder = (try? file.status()).flatMap { system.lockHolder(of: $0.number) }
                return HeldLock(path: place, holder: holder)
            case .absent?, nil: break
            }
        }
        return nil
    }
}

/// Locked domains, for a caller that reads their contents before it changes them.
package struct LockedDomains: Sendable {
    private let writer: DomainWriter
    private let files: [ResolvedFile]
    private let locks: DomainLocks

    /// Waits for the locks of all files, at most for the writer's time-out. The caller must call `release`.
    package init(_ files: [DomainFile], by writer: DomainWriter) throws(StoreFailure) {
        self.writer = writer
        var resolved: [ResolvedFile] = []
        for file in files { resolved.append(try ResolvedFile(file, on: writer.system)) }
        self.files = resolved
        locks = try writer.lock(resolved)
    }

    package func release() { locks.release() }

    /// Returns the mark of the last writer that used the library, or nil if there is none.
    package func mark(of file: DomainFile) -> WriteMarker? { locks.markFile(of: file).flatMap { WriteMarker(in: $0) } }

    /// Makes all changes, or none if one of them fails. Every file must be locked here.
    package func commit(_ edits: [DomainEdit]) throws -> [CommittedDomain] {
        try writer.check(edits)
        let places = try edits.map { edit throws(StoreFailure) in
            guard let place = files.first(where: { $0.file.path == edit.file.path }) else {
                throw StoreFailure(edit.file, .duplicateFile)
            }
            return ResolvedFile(resolved: edit.file, target: place.target)
        }
        try writer.checkDistinct(places)
        return try writer.commit(edits, places, under: locks)
    }
}

extension SystemServices {
    /// Returns the process that holds the lock of a file, if the kernel reports it.
    func lockHolder(of file: FileID) -> LockHolder? {
        guard let table = text(of: "/proc/locks") else { return nil }
        // For example, `1: FLOCK  ADVISORY  WRITE 4711 fd:01:131090 0 EOF`. A line with an arrow is of a waiting
        // process.
        for line in table.split(separator: "\n") where !line.contains("->") {
            let fields = line.split(separator: " ")
            guard fields.count >= 6, fields[1] == "FLOCK", let process = Int32(fields[4]), process > 0 else { continue }
            let place = fields[5].split(separator: ":")
            guard place.count == 3, UInt64(place[2]) == file.inode, isDevice(place[0], place[1], file.device) else {
                continue
            }
            // The process that took the lock may have ended, while a child still holds it.
            guard let program = FilePath("/proc/\(process)/comm").flatMap({ text(of: $0) }) else { continue }
            return LockHolder(process: process, program: String(program.prefix { $0 != "\n" }))
        }
        return nil
    }

    /// Whether two hexadecimal numbers are those of the device.
    private func isDevice(_ major: Substring, _ minor: Substring, _ device: UInt64) -> Bool {
        let majorOfDevice = device >> 8 & 0xFFF | device >> 32 & 0xFFFF_F000
        let minorOfDevice = device & 0xFF | device >> 12 & 0xFFFF_FF00
        return UInt64(major, radix: 16) == majorOfDevice && UInt64(minor, radix: 16) == minorOfDevice
    }

    private func text(of path: FilePath) -> String? {
        (try? fileSystem.contents(of: path, limit: 16 << 20)).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// The process that holds a lock, as far as the system reports it.
package struct LockHolder: Hashable, Sendable {
    /// The process identifier.
    package let process: Int32
    /// The name of the program, or nil if it is unknown.
    package let program: String?
}

extension LockHolder: CustomStringConvertible {
    /// The process, as in `process 4711 (editor)`.
    package var description: String { "process \(process)" + (program.map { " (\($0))" } ?? "") }
}

/// The mark that a writer leaves in the domain's lock file before it replaces the domain's file: the new contents, and
/// the reason.
///
/// A file with the hash in the mark was written by the library. Any other file was written by another program.
package struct WriteMarker: Hashable, Sendable {
    /// The SHA-256 of the new file, or nil if it is removed.
    package var hash: [UInt8]?
    package var transaction: String
    package var author: WriteAuthor

    package init(hash: [UInt8]?, transaction: String, author: WriteAuthor) {
        self.hash = hash
        self.transaction = transaction
        self.author = author
    }

    /// The mark has a fixed length, so that no remainder of a longer one can follow it.
    private static let length = 384
    private static let beginning = "prefs 1"
    private static let deleted = "deleted"
    private static let (tab, newline) = (UInt8(ascii: "\t"), UInt8(ascii: "\n"))

    // Bytes, because processing characters would slow down each write.
    var line: [UInt8] {
        var line = Array(Self.beginning.utf8)
        let fields = [
            hash.map { Hexadecimal.digits(of: $0) } ?? Array(Self.deleted.utf8), Array(transaction.utf8),
            Array(String(author.process).utf8), Array(author.reason.rawValue.utf8),
            Array(DomainName(encoding: author.program).text.utf8),
        ]
        for field in fields {
            line.append(Self.tab)
            line += field
        }
        let check = Self.check(of: line[...])
        line.append(Self.tab)
        line += check
        line += repeatElement(UInt8(ascii: " "), count: max(0, Self.length - 1 - line.count))
        line.append(Self.newline)
        return line
    }

    func write(to lock: any OpenFile) throws(SystemFailure) { try lock.write(line, at: 0) }

    /// Reads the mark in a lock file. Returns nil if there is none or it is incomplete.
    package init?(in lock: any OpenFile) {
        guard let bytes = try? lock.contents(limit: 4096) else { return nil }
        self.init(bytes[...])
    }

    /// Reads a mark. Returns nil if it is incomplete.
    init?(_ bytes: some Collection<UInt8>) {
        let line = Array(bytes)[...].drop { $0 == 0 }.prefix { $0 != Self.newline }
        let fields = line.split(separator: Self.tab)
        guard fields.count == 7, fields[0].elementsEqual(Self.beginning.utf8),
            let process = Int32(String(decoding: fields[3], as: UTF8.self)),
            let transaction = String(validating: fields[2], as: UTF8.self),
            let reason = String(validating: fields[4], as: UTF8.self),
            String(validating: fields[5], as: UTF8.self) != nil
        else { return nil }
        let check = fields[6].prefix { $0 != UInt8(ascii: " ") }
        guard check.elementsEqual(Self.check(of: line[..<(fields[6].startIndex - 1)])) else { return nil }
        let isDeleted = fields[1].elementsEqual(Self.deleted.utf8)
        let hash = isDeleted ? nil : Hexadecimal.bytes(ofDigits: fields[1])
        guard isDeleted || hash?.count == 32 else { return nil }
        self.init(
            hash: hash, transaction: transaction,
            author: WriteAuthor(
                program: KeptVersion.decoded(fields[5]), process: process, reason: WriteReason(rawValue: reason)))
    }

    private static func check(of bytes: ArraySlice<UInt8>) -> [UInt8] {
        Hexadecimal.digits(of: Array(SHA256.hash(Array(bytes)).prefix(4)))
    }
}
