/// The contents of a folder at one time.
struct FolderSnapshot: Equatable, Sendable {
    /// The identity of the folder; nil if it did not exist.
    var folder: Folder?
    var files: [FileName: FileStatus] = [:]

    /// The properties of a folder whose change requires a new look at everything in it.
    struct Folder: Hashable, Sendable {
        var number: FileID
        var permissions: FilePermissions
        var owner: UInt32
    }

    init(folder: Folder? = nil, files: [FileName: FileStatus] = [:]) {
        self.folder = folder
        self.files = files
    }

    /// Reads the folder at `path`. A file that disappears in the meantime is left out.
    init(of path: FilePath, in fileSystem: some FileSystem) throws(SystemFailure) {
        guard let folder = try fileSystem.status(of: path), folder.kind == .folder,
            let names = try fileSystem.names(in: path)
        else {
            return
        }
        self.folder = Folder(number: folder.number, permissions: folder.permissions, owner: folder.owner)
        for name in names {
            files[name] = try fileSystem.status(of: path.appending(name), followingLink: false)
        }
    }

    /// Returns the events between this snapshot and a later one, sorted by name.
    func events(until later: FolderSnapshot) -> [FolderEvent] {
        guard folder == later.folder else { return [.anything] }
        return Set(files.keys).union(later.files.keys).sorted().compactMap { name in
            Self.change(from: files[name], to: later.files[name]).map { .change($0, name) }
        }
    }

    private static func change(from former: FileStatus?, to later: FileStatus?) -> FolderChange? {
        switch (former, later) {
        case (nil, nil): nil
        case (_?, nil): .removed
        case (nil, _?): .created
        case (let former?, let later?):
            if former.number != later.number {
                // The name leads to a different file, so a file was renamed to it.
                .movedHere
            } else if former.size != later.size || former.modified != later.modified {
                .written
            } else {
                former == later ? nil : .attributes
            }
        }
    }
}
