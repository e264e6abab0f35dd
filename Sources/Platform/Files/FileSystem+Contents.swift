extension FileSystem {
    package func status(of path: FilePath) throws(SystemFailure) -> FileStatus? {
        try status(of: path, followingLink: true)
    }

    package func rename(_ path: FilePath, to other: FilePath) throws(SystemFailure) {
        try rename(path, to: other, .replacing)
    }

    /// A name for a new file that nobody can guess, so that nobody can lay a link there before.
    package func unpredictableName() -> FileName { .temporary(unpredictableNumber()) }

    /// All bytes of a file, or nil where there is none. One that is larger than `limit` fails with `fileTooLarge`.
    package func contents(of path: FilePath, limit: Int = .max) throws(SystemFailure) -> [UInt8]? {
        try open(path, .reading)?.contents(limit: limit)
    }

    /// Makes the folder and those that lead to it, for the audience, and sees that they outlast a crash.
    package func makeFolders(_ path: FilePath, for audience: Audience = .owner) throws(SystemFailure) {
        guard try makeFolderWithParents(path, audience) else {
            guard try status(of: path)?.kind == .folder else { throw SystemFailure(.notAFolder, .makeFolder, path) }
            return
        }
        try settle(path, audience)
        try synchronizeFolder(path.parent)
    }

    private func makeFolderWithParents(_ path: FilePath, _ audience: Audience) throws(SystemFailure) -> Bool {
        let permissions: FilePermissions = audience == .everyone ? .publicFolder : .privateFolder
        do {
            return try makeFolder(path, permissions)
        } catch  where error.code == .noSuchFile && path.parent != path {
            try makeFolders(path.parent, for: audience)
            return try makeFolder(path, permissions)
        }
    }

    /// Gives a new folder the permissions that a strict umask took away, and in another user's home its owner.
    private func settle(_ path: FilePath, _ audience: Audience) throws(SystemFailure) {
        guard let folder = try open(path, .readingItself), let status = try? folder.status() else { return }
        if audience == .everyone, !status.permissions.isSuperset(of: .publicFolder) {
            try folder.setPermissions(FilePermissions.publicFolder.union(status.permissions))
        }
        try giveToOwnerOfFolder(folder, at: path)
    }

    /// Gives what root has just made in another user's folder to that user, who could not use it otherwise. Where
    /// anybody may make files, it stays root's.
    package func giveToOwnerOfFolder(_ file: any OpenFile, at path: FilePath) throws(SystemFailure) {
        let own = try file.status()
        guard own.owner == 0, let folder = try status(of: path.parent), folder.owner != 0, !folder.isOpenToAll else {
            return
        }
        do throws(SystemFailure) {
            try file.setOwner(folder.owner, group: folder.group)
        } catch  where error.code.meansNoRight {
            // The user of a container may be root in name only.
        }
    }

    /// Writes a new file beside `path`, to be renamed to it, and returns where it is once its contents are on the disk.
    ///
    /// It has owner and permissions of `model`, the file at `path`, as far as we may give them, so that what replaces a
    /// file is as private as the file was. Nothing is left behind after a failure, unless removing fails too.
    package func writeTemporary(
        _ bytes: RawSpan, beside path: FilePath, like model: FileStatus? = nil, for audience: Audience = .owner
    ) throws(SystemFailure) -> FilePath {
        let (temporary, file) = try startTemporary(bytes, beside: path, like: model, for: audience)
        do {
            try file.synchronize()
        } catch {
            _ = try? remove(temporary)
            throw error
        }
        return temporary
    }

    /// The same up to the file whose contents are still to be synchronized, so that there is something to do meanwhile.
    package func startTemporary(
        _ bytes: RawSpan, beside path: FilePath, like model: FileStatus? = nil, for audience: Audience = .owner
    ) throws(SystemFailure) -> (FilePath, any OpenFile) {
        let isNew = model == nil
        let (temporary, file) = try makeTemporary(beside: path, audience == .umask && isNew ? .anyFile : .privateFile)
        do {
            try file.write(bytes, at: 0)
            if let model {
                try file.adopt(model, of: path, keepsOwner: keepsOwner(model, of: path))
            } else {
                try giveToOwnerOfFolder(file, at: path)
            }
            if audience == .everyone {
                let permissions = model?.permissions.subtracting(.special) ?? []
                try file.setPermissions(permissions.union(.publicFile))
            }
        } catch {
            _ = try? remove(temporary)
            throw error
        }
        return (temporary, file)
    }

    /// Whether what replaces a file may belong to the file's owner. In the folder of a third user, root must not give
    /// a file away to the user who planted the former one.
    private func keepsOwner(_ model: FileStatus, of path: FilePath) throws(SystemFailure) -> Bool {
        guard let folder = try status(of: path.parent) else { return false }
        return folder.owner == model.owner || folder.owner == 0
    }

    /// Makes an empty file of an unpredictable name beside `path`, to be renamed to it.
    package func makeTemporary(
        beside path: FilePath, _ permissions: FilePermissions = .privateFile
    ) throws(SystemFailure) -> (FilePath, any OpenFile) {
        for _ in 0..<16 {
            let name = path.lastComponent ?? "file"
            let temporary = path.parent.appending(name.temporaryName(unpredictableNumber()))
            do {
                if let file = try open(temporary, .creatingAnew(permissions)) { return (temporary, file) }
            } catch  where error.code == .exists {
                continue
            }
        }
        throw SystemFailure(.exists, .open, path)
    }

    /// Makes `bytes` the contents of `path`: at every moment, and after a crash, the file is the old or the new one,
    /// and once this has returned it is the new one. A symbolic link at `path` is replaced itself.
    package func replace(
        _ path: FilePath, with bytes: RawSpan, like model: FileStatus? = nil, for audience: Audience = .owner
    ) throws(SystemFailure) {
        let temporary = try writeTemporary(bytes, beside: path, like: model, for: audience)
        do {
            try rename(temporary, to: path)
        } catch {
            _ = try? remove(temporary)
            throw error
        }
        try synchronizeFolder(path.parent)
    }

    /// Removes temporary files of killed writers of `path`. Only the holder of its lock may call this.
    ///
    /// - Parameter folder: Where they are; nil for beside `path`.
    package func removeLeftovers(of path: FilePath, in folder: FilePath? = nil) {
        let folder = folder ?? path.parent
        guard let name = path.lastComponent, let names = try? names(in: folder) else { return }
        for left in names where left.isTemporary(of: name) { _ = try? remove(folder.appending(left)) }
    }

    /// Opens a file and locks it, so that the path still stands for it: another holder may have replaced the file that
    /// was waited for.
    package func openLocked(
        _ path: FilePath, _ access: FileAccess, _ mode: LockMode, until deadline: Instant, by clock: any Clock
    ) throws(SystemFailure) -> LockAttempt {
        try openLocked(path, access, mode) { max(clock.now.duration(to: deadline), .zero) }
    }

    /// The same for whoever does not wait.
    package func openLocked(
        _ path: FilePath, _ access: FileAccess, _ mode: LockMode
    ) throws(SystemFailure) -> LockAttempt {
        try openLocked(path, access, mode) { .zero }
    }

    private func openLocked(
        _ path: FilePath, _ access: FileAccess, _ mode: LockMode, _ patience: () -> Duration
    ) throws(SystemFailure) -> LockAttempt {
        // Each turn in vain is another holder's success, so many of them may come in a row.
        for _ in 0..<4096 {
            guard let file = try open(path, access) else { return .absent }
            do {
                guard try file.lock(mode, patience: patience()) else { return .busy(file) }
            } catch  where error.code == .staleHandle {
                continue
            }
            if try status(of: path)?.number == file.status().number { return .locked(file) }
            file.unlock()
        }
        throw SystemFailure(.wouldBlock, .lock, path)
    }
}

/// Who is to use a file or folder that is made.
package enum Audience: Hashable, Sendable {
    /// Nobody but its owner.
    case owner
    /// Everyone may read, whatever the umask takes away.
    case everyone
    /// Whoever the umask says.
    case umask
}

/// What came of opening and locking a file.
package enum LockAttempt: Sendable {
    case locked(any OpenFile)
    /// Somebody else holds the lock; what the file says may tell who.
    case busy(any OpenFile)
    case absent
}

extension OpenFile {
    /// All bytes of the file. More than `limit` fail with `fileTooLarge`.
    package func contents(limit: Int = .max) throws(SystemFailure) -> [UInt8] {
        try contents(status(), limit: limit)
    }

    /// The same of a file whose status is known.
    package func contents(_ status: FileStatus, limit: Int) throws(SystemFailure) -> [UInt8] {
        guard status.kind == .file else {
            throw status.kind == .folder
                ? SystemFailure(.isAFolder, .read, path) : SystemFailure(.invalidArgument, .readSpecial, path)
        }
        guard status.size <= limit else { throw SystemFailure(.fileTooLarge, .read, path) }
        // One byte more than there should be shows whether the file has grown meanwhile. Files that the kernel makes up
        // say that they are empty, and some are read in one piece or not at all.
        var bytes = [UInt8](repeating: 0, count: max(status.size + 1, 4096))
        var count = 0
        while true {
            count += try fill(&bytes, from: count)
            if count < bytes.count { break }
            guard count <= limit else { throw SystemFailure(.fileTooLarge, .read, path) }
            bytes.append(contentsOf: repeatElement(0, count: count))
        }
        guard count <= limit else { throw SystemFailure(.fileTooLarge, .read, path) }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// The first bytes of the file, at most `limit`, however large it is.
    package func beginning(limit: Int) throws(SystemFailure) -> [UInt8] {
        let status = try status()
        guard status.kind == .file else {
            throw status.kind == .folder
                ? SystemFailure(.isAFolder, .read, path) : SystemFailure(.invalidArgument, .readSpecial, path)
        }
        var bytes = [UInt8](repeating: 0, count: max(0, min(status.size, limit)))
        let count = try fill(&bytes, from: 0)
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// Reads from `start` on, in the file and in `bytes`.
    private func fill(_ bytes: inout [UInt8], from start: Int) throws(SystemFailure) -> Int {
        var span = bytes.mutableSpan
        return try span.withUnsafeMutableBytes { buffer throws(SystemFailure) in
            try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[start...]), at: start)
        }
    }

    /// Takes over owner and permissions of the file at `path`, as far as this process may give them away.
    ///
    /// A file that keeps our group must not open to it what the model opened to another: then those bits stay off. With
    /// an access list they are the most that it gives to anybody; so without the list they stay off too.
    ///
    /// - Parameter keepsOwner: Whether the file may be given to the owner of the model.
    package func adopt(_ model: FileStatus, of path: FilePath, keepsOwner: Bool = true) throws(SystemFailure) {
        // What runs as its owner has been checked by somebody; what replaces it has not.
        var permissions = model.permissions.subtracting(.special)
        if try !adoptOwner(model, keepsOwner) { permissions.subtract(.ofGroup) }
        if !adoptAttributes(of: path) { permissions.subtract(.ofGroup) }
        do {
            try setPermissions(permissions)
        } catch  where error.code.meansNoRight {
            // Some network file systems refuse to change any; the file is private then.
        }
    }

    /// Takes over owner and group, or else the group alone: whoever is in it may give a file of his to it, so that the
    /// former owner is not locked out. Whether the group is that of the model.
    private func adoptOwner(_ model: FileStatus, _ keepsOwner: Bool) throws(SystemFailure) -> Bool {
        let own = try status()
        if (own.owner, own.group) == (model.owner, model.group) { return true }
        guard keepsOwner || own.owner != 0 else { return own.group == model.group }
        for owner in own.owner == model.owner ? [own.owner] : [model.owner, own.owner] {
            do {
                try setOwner(owner, group: model.group)
                return true
            } catch  where error.code.meansNoRight {
                continue
            }
        }
        return own.group == model.group
    }
}

extension ErrorCode {
    /// Whether we may not, or the file system has no such thing. Nothing is broken then.
    fileprivate var meansNoRight: Bool { [.notPermitted, .accessDenied, .unsupported, .notImplemented].contains(self) }
}
