internal import Digests
internal import Platform
internal import PropertyLists

/// The locks that a writer holds on the files it is about to change.
///
/// They are taken in one order, the same for everybody, so that no two writers can wait for one another: first that of
/// the store, which all who change its domains share, and which a writer of very many domains has alone; then the
/// locks that have files of their own, then those of files that are named by their paths.
struct DomainLocks: Sendable {
    /// The opening that has the lock of each file's domain; where a mark can be left, in a file of its own.
    private var held: [(place: Place, file: any OpenFile)] = []
    private let files: any FileSystem

    private enum Place: Hashable, Comparable {
        case store(FilePath, LockMode), file(FilePath), itself(FilePath)

        static func < (left: Place, right: Place) -> Bool {
            switch (left, right) {
            case (.store(let a, _), .store(let b, _)), (.file(let a), .file(let b)), (.itself(let a), .itself(let b)):
                a < b
            default: left.rank < right.rank
            }
        }

        private var rank: Int {
            switch self {
            case .store: 0
            case .file: 1
            case .itself: 2
            }
        }
    }

    /// The most locks of domains that are held at once, each with a descriptor: a process may have 1024 of them.
    private static let mostLocks = 256

    /// Takes the locks of all of `files`, which lead to `targets`.
    init(of files: [ResolvedFile], on machine: Machine, patience: Duration) throws(StoreFailure) {
        var places: [(Place, DomainFile)] = []
        let isStoreWide = files.count > Self.mostLocks
        for resolved in files {
            if let path = resolved.file.lockOfStore {
                places.append((.store(path, isStoreWide ? .exclusive : .shared), resolved.file))
                if isStoreWide { continue }
            }
            if case .file(let path) = resolved.file.lock { places.append((.file(path), resolved.file)) }
            // A link's target can be addressed by its own path too.
            if resolved.file.lock == .itself || resolved.isLinked {
                places.append((.itself(resolved.target), resolved.file))
            }
        }
        self.files = machine.fileSystem
        let deadline = machine.clock.now.advanced(by: patience)
        var last: Place?
        for (place, file) in places.sorted(by: { $0.0 < $1.0 }) where place != last {
            last = place
            do throws(StoreFailure) {
                if let lock = try Self.take(place, of: file, on: machine, until: deadline) {
                    held.append((place, lock))
                }
            } catch {
                release()
                throw error
            }
        }
    }

    func release() {
        for lock in held.reversed() {
            // A lock of a file by its path has no mark in it, and would stay for good.
            if case .itself(let path) = lock.place, lock.file.path != path { _ = try? files.remove(lock.file.path) }
            lock.file.unlock()
        }
    }

    /// The lock file of the domain, in which a mark is left; nil for a file that is its own lock.
    func markFile(of file: DomainFile) -> (any OpenFile)? {
        guard case .file(let path) = file.lock else { return nil }
        if let store = file.lockOfStore, held.contains(where: { $0.place == .store(store, .exclusive) }) {
            return try? files.open(path, .creating(.privateFile))
        }
        return held.first { $0.place == .file(path) }?.file
    }

    // MARK: One lock

    /// The lock of a place; nil where nothing can be locked.
    private static func take(
        _ place: Place, of file: DomainFile, on machine: Machine, until deadline: Instant
    ) throws(StoreFailure) -> (any OpenFile)? {
        let attempt = try file.reporting { () throws(SystemFailure) in
            switch place {
            case .store(let path, let mode): try lockFile(path, mode, in: file.audience, on: machine, deadline)
            case .file(let path): try lockFile(path, in: file.audience, on: machine, deadline)
            case .itself(let path): try lockOfFile(file, at: path, on: machine, deadline)
            }
        }
        switch attempt {
        case .locked(let lock): return lock
        case .busy(let lock):
            let holder = (try? lock.status()).flatMap { machine.lockHolder(of: $0.number) }
            throw StoreFailure(.locked(holder: holder), file.name, file: file.path)
        case .absent: return nil
        }
    }

    /// - Parameter audience: Who is to use the folder that the folder of locks is in.
    private static func lockFile(
        _ path: FilePath, _ mode: LockMode = .exclusive, in audience: Audience = .owner, on machine: Machine,
        _ deadline: Instant
    ) throws(SystemFailure) -> LockAttempt {
        func open() throws(SystemFailure) -> LockAttempt {
            try machine.fileSystem.openLocked(
                path, .creating(.privateFile), mode, until: deadline, by: machine.clock)
        }
        let attempt: LockAttempt
        do throws(SystemFailure) {
            attempt = try open()
        } catch  where error.code == .noSuchFile {
            try machine.fileSystem.makeFolders(path.parent.parent, for: audience)
            try machine.fileSystem.makeFolders(path.parent)
            attempt = try open()
        }
        if machine.environment.user == 0, case .locked(let lock) = attempt {
            try machine.fileSystem.giveToOwnerOfFolder(lock, at: path)
        }
        return attempt
    }

    /// Locks a file that is named by its path, in a place where those who may only read it cannot hold the lock: for
    /// all members of a team beside the file, else in the user's own state folder. Where neither can be written, the
    /// file itself is locked.
    private static func lockOfFile(
        _ file: DomainFile, at path: FilePath, on machine: Machine, _ deadline: Instant
    ) throws(SystemFailure) -> LockAttempt {
        let files = machine.fileSystem
        let resolved = (try? path.resolvingLinks(in: files)) ?? path
        let folder = try files.status(of: resolved.parent)
        guard folder != nil || file.isOfDomain else { throw SystemFailure(.noSuchFile, .open, path) }
        let name = Hexadecimal.text(of: Array(SHA256.hash(resolved.bytes).prefix(16)))
        do throws(SystemFailure) {
            if let folder, folder.isOfTeam {
                let lock = resolved.parent.resolving(FilePath(".prefs-lock-\(name)") ?? ".")
                return try lockOfTeam(lock, folder, on: machine, deadline)
            }
            if let state = try? machine.environment.folder(.state, in: files) {
                let lock = state.resolving(FilePath("prefs/locks/\(name).lock") ?? ".")
                return try lockFile(lock, on: machine, deadline)
            }
        } catch  where error.code != .wouldBlock {
            // It need not be: what is replaced is compared with what was read.
        }
        return try files.openLocked(path, .reading, .exclusive, until: deadline, by: machine.clock)
    }

    /// Locks a file that all members of a folder's group can open, and nobody else.
    private static func lockOfTeam(
        _ path: FilePath, _ folder: FileStatus, on machine: Machine, _ deadline: Instant
    ) throws(SystemFailure) -> LockAttempt {
        let files = machine.fileSystem
        if let file = try files.open(path, .creating(.groupFile)) {
            let status = try file.status()
            if status.owner == machine.environment.user {
                if status.group != folder.group { try? file.setOwner(status.owner, group: folder.group) }
                if status.permissions != .groupFile { try? file.setPermissions(.groupFile) }
            }
        }
        return try files.openLocked(
            path, .creating(.groupFile), .exclusive, until: deadline, by: machine.clock)
    }
}
