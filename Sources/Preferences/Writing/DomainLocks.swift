internal import Platform
internal import PropertyLists

/// The locks that a writer holds on the files it is about to change.
///
/// They are taken in one order, the same for everybody, so that no two writers can wait for one another: first the
/// locks that have files of their own, then those of the domains' files themselves, each by path.
struct DomainLocks: Sendable {
    /// The opening that has the lock of each file's domain; where a mark can be left, in a file of its own.
    private var held: [(place: Place, file: any OpenFile)] = []

    private enum Place: Hashable, Comparable {
        case file(FilePath), itself(FilePath)

        static func < (left: Place, right: Place) -> Bool {
            switch (left, right) {
            case (.file(let a), .file(let b)), (.itself(let a), .itself(let b)): a < b
            case (.file, .itself): true
            case (.itself, .file): false
            }
        }
    }

    /// Takes the locks of all of `files`, which lead to `targets`.
    init(of files: [ResolvedFile], on machine: Machine, patience: Duration) throws(StoreFailure) {
        var places: [(Place, DomainFile)] = []
        for resolved in files {
            if case .file(let path) = resolved.file.lock { places.append((.file(path), resolved.file)) }
            // A link's target can be addressed by its own path too.
            if resolved.file.lock == .itself || resolved.isLinked {
                places.append((.itself(resolved.target), resolved.file))
            }
        }
        let deadline = machine.clock.now.advanced(by: patience)
        var last: Place?
        var folders: [FileNumber: any OpenFile] = [:]
        for (place, file) in places.sorted(by: { $0.0 < $1.0 }) where place != last {
            last = place
            do throws(StoreFailure) {
                let lock = try Self.take(place, of: file, on: machine, until: deadline, holding: folders)
                held.append((place, lock))
                if case .itself = place, let status = try? lock.status(), status.kind == .folder {
                    folders[status.number] = lock
                }
            } catch {
                release()
                throw error
            }
        }
    }

    func release() {
        for lock in held.reversed() { lock.file.unlock() }
    }

    /// The lock file of the domain, in which a mark is left; nil for a file that is its own lock.
    func markFile(of file: DomainFile) -> (any OpenFile)? {
        guard case .file(let path) = file.lock else { return nil }
        return held.first { $0.place == .file(path) }?.file
    }

    // MARK: One lock

    private static func take(
        _ place: Place, of file: DomainFile, on machine: Machine, until deadline: Instant,
        holding folders: [FileNumber: any OpenFile]
    ) throws(StoreFailure) -> any OpenFile {
        let attempt = try file.reporting { () throws(SystemFailure) in
            switch place {
            case .file(let path): try lockFile(path, on: machine, deadline)
            case .itself(let path): try lockItself(path, on: machine, deadline, folders)
            }
        }
        switch attempt {
        case .locked(let lock): return lock
        case .busy(let lock):
            let holder = (try? lock.status()).flatMap { machine.lockHolder(of: $0.number) }
            throw StoreFailure(.locked(holder: holder), file.name, file: file.path)
        case .absent: throw StoreFailure(SystemFailure(.noSuchFile, .lock, file.path), file.name)
        }
    }

    private static func lockFile(
        _ path: FilePath, on machine: Machine, _ deadline: Instant
    ) throws(SystemFailure) -> LockAttempt {
        try machine.makingFolder(path.parent) { () throws(SystemFailure) in
            try machine.fileSystem.openLocked(
                path, .creating(.privateFile), .exclusive, until: deadline, by: machine.clock)
        }
    }

    /// Locks the file, or its folder as long as there is none: whoever makes the file has the folder's lock. A folder
    /// that is missing is made.
    ///
    /// - Parameter folders: Those whose locks are ours already: a second opening of one would wait for the first.
    private static func lockItself(
        _ path: FilePath, on machine: Machine, _ deadline: Instant, _ folders: [FileNumber: any OpenFile]
    ) throws(SystemFailure) -> LockAttempt {
        for _ in 0..<64 {
            let attempt = try machine.fileSystem.openLocked(
                path, .reading, .exclusive, until: deadline, by: machine.clock)
            guard case .absent = attempt else { return attempt }
            if !folders.isEmpty, let number = try machine.fileSystem.status(of: path.parent)?.number,
                let lock = folders[number]
            {
                return .locked(lock)
            }
            let folder = try machine.fileSystem.openLocked(
                path.parent, .reading, .exclusive, until: deadline, by: machine.clock)
            if case .absent = folder {
                try machine.fileSystem.makeFolders(path.parent)
                continue
            }
            guard case .locked(let lock) = folder else { return folder }
            if try machine.fileSystem.status(of: path) == nil { return folder }
            lock.unlock()
        }
        throw SystemFailure(.wouldBlock, .lock, path)
    }
}
