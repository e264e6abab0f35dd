internal import MirrorEngine
internal import Platform

// Access to single files.
extension SharedDirectory {
    /// The size limit of a file of a mirror.
    static let mostBytes = 128 << 20

    /// Returns the contents of a file, or nil if there is none. A link is not followed, even if it was created just
    /// now.
    func contents(of place: FilePath, limit: Int) throws(SystemFailure) -> [UInt8]? {
        try files.open(place, .readingItself)?.contents(limit: limit)
    }

    /// Reads and verifies a file. A link is not followed, because it could lead anywhere.
    func fetch(_ address: PackAddress, of mirror: MirrorID) -> Fetch {
        let place = place(of: address)
        do {
            guard try files.status(of: place, followingLink: false)?.kind == .file,
                let bytes = try contents(of: place, limit: Self.mostBytes)
            else {
                return .unreadable
            }
            return .pack(try pack(bytes, at: address, of: mirror))
        } catch let fault as PackFault {
            return .faulty(fault)
        } catch {
            return .unreadable
        }
    }

    /// Creates a file of our own after its blobs. An existing file with the same bytes is accepted.
    func create(_ address: PackAddress, _ pack: EncodedPack) throws(SystemFailure) {
        for blob in pack.blobs {
            try create(place(of: blob.name, of: address.writer), blob.value.bytes, of: address.writer)
        }
        try create(place(of: address), pack.bytes, of: address.writer)
    }

    private func create(_ place: FilePath, _ content: [UInt8], of writer: WriterID) throws(SystemFailure) {
        // Another user may have put a link to a folder of ours in its place.
        guard try isFolder(writers) else { throw SystemFailure(.notAFolder, .open, writers) }
        let folder = folder(of: writer)
        try makeOwnFolder(folder)
        if place.parent.parent != folder, place.parent != folder { try makeOwnFolder(place.parent.parent) }
        if place.parent != folder { try makeOwnFolder(place.parent) }
        if let kind = try files.status(of: place, followingLink: false)?.kind {
            if kind == .file, try contents(of: place, limit: Self.mostBytes) == content { return }
            // Only we may write here, so this is a remnant of our own file.
            try files.remove(place)
        }
        try write(content, to: place, in: folder)
    }

    func remove(_ address: PackAddress) throws(SystemFailure) { try files.remove(place(of: address)) }

    func remove(_ blob: BlobName, of writer: WriterID) throws(SystemFailure) {
        try files.remove(place(of: blob, of: writer))
    }

    /// Removes a writer's folder and its contents.
    func removeFolder(of writer: WriterID) throws(SystemFailure) { try removeAll(folder(of: writer), depth: 0) }

    private func removeAll(_ path: FilePath, depth: Int) throws(SystemFailure) {
        if depth <= 4, try isFolder(path) {
            for name in try files.names(in: path) ?? [] { try removeAll(path.appending(name), depth: depth + 1) }
        }
        try files.remove(path)
    }

    // MARK: Writing

    /// Writes a temporary file, syncs it, and renames it to its name.
    func write(_ bytes: [UInt8], to place: FilePath, in folder: FilePath) throws(SystemFailure) {
        let permissions = permissions
        guard let name = FileName("~\(files.unpredictableName()).tmp") else { return }
        let temporary = folder.appending(name)
        do throws(SystemFailure) {
            guard let file = try files.open(temporary, .creatingAnew(permissions.ofFiles)) else {
                throw SystemFailure(.noSuchFile, .open, temporary)
            }
            try settle(file, at: temporary, permissions.ofFiles)
            try file.write(bytes, at: 0)
            try file.synchronize()
            try giveName(temporary, place)
        } catch {
            _ = try? files.remove(temporary)
            // Report the final name. The temporary name means nothing to a user, and would make each failure look new.
            throw SystemFailure(error.code, error.operation, place)
        }
        try files.synchronizeFolder(place.parent)
    }

    /// Renames without replacing where possible. The name is new, and some file systems do not support the option.
    private func giveName(_ temporary: FilePath, _ place: FilePath) throws(SystemFailure) {
        do throws(SystemFailure) {
            try files.rename(temporary, to: place, .keeping)
        } catch  where error.code == .unsupported {
            try files.rename(temporary, to: place)
        }
    }

    /// Makes a folder of our own. Anything else in its place is removed: only we may write there, and a link would make
    /// us write elsewhere.
    private func makeOwnFolder(_ folder: FilePath) throws(SystemFailure) {
        let kind = try files.status(of: folder, followingLink: false)?.kind
        if kind == .folder { return }
        if kind != nil { try files.remove(folder) }
        try makeFolder(folder)
    }

    @discardableResult
    func makeFolder(_ folder: FilePath) throws(SystemFailure) -> Bool {
        let permissions = permissions.ofFolders
        guard try files.status(of: folder, followingLink: false) == nil, try files.makeFolder(folder, permissions)
        else { return false }
        if let made = try files.open(folder, .readingItself) { try settle(made, at: folder, permissions) }
        try files.synchronizeFolder(folder.parent)
        return true
    }

    /// Sets the permissions that the umask removed, so that the users of a group can share a directory, and gives what
    /// root creates in another user's directory to that user.
    private func settle(
        _ file: any OpenFile, at path: FilePath, _ permissions: FilePermissions
    ) throws(SystemFailure) {
        try files.giveToOwnerOfFolder(file, at: path)
        let present = try file.status().permissions
        let wanted = permissions.union(present.intersection(.inheritsGroup))
        if present != wanted { try file.setPermissionsIfSupported(wanted) }
    }

    /// The permissions of new files and folders. They are as private as the directory.
    ///
    /// In a sticky directory everyone may add files, but only their owners may change them.
    private var permissions: (ofFolders: FilePermissions, ofFiles: FilePermissions) {
        let ofDirectory = ((try? files.status(of: path)) ?? nil)?.permissions ?? .privateFolder
        let ofFolders = ofDirectory.subtracting(.inheritsGroup).union(.privateFolder)
        let ofFiles = ofFolders.intersection(.anyFile)
        return (ofFolders, ofDirectory.contains(.sticky) ? ofFiles.subtracting(.writableByAny) : ofFiles)
    }

    // MARK: Remnants of crashes

    /// Removes our own temporary files that are older than an hour, and files that were removed while they were open.
    func sweep(_ writer: WriterID, at now: Timestamp) {
        let folder = folder(of: writer)
        guard (try? isFolder(folder)) ?? false else { return }
        for name in ((try? files.names(in: folder)) ?? nil) ?? [] {
            let text = name.description
            let isPassing = text.hasPrefix("~") && text.hasSuffix(".tmp")
            guard isPassing || text.hasPrefix(".nfs") || text.hasPrefix(".fuse_hidden") else { continue }
            let path = folder.appending(name)
            guard let status = (try? files.status(of: path, followingLink: false)) ?? nil,
                status.modified.advanced(by: .seconds(3600)) < now
            else { continue }
            _ = try? files.remove(path)
        }
    }
}

extension CreationFailure {
    init(_ failure: SystemFailure) {
        switch failure.code {
        case .noSpace, .overQuota: self = .space
        case .accessDenied, .readOnly, .notPermitted: self = .permission
        default: self = .later
        }
    }
}
