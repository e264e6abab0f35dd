/// What stood in a folder when it was looked at.
struct FolderSnapshot: Equatable, Sendable {
    /// Which folder it was; nil where there was none.
    var folder: Folder?
    var files: [FileName: FileStatus] = [:]

    /// What makes a folder another one, or all in it worth another look.
    struct Folder: Hashable, Sendable {
        var number: FileNumber
        var permissions: FilePermissions
        var owner: UInt32
    }

    init(folder: Folder? = nil, files: [FileName: FileStatus] = [:]) {
        self.folder = folder
        self.files = files
    }

    /// Looks at `path`. A name that is gone by the time it is looked at was never there.
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

    /// What happened between this look and a later one, in the order of names.
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
                // A name that at once stands for another file was renamed to.
                .movedHere
            } else if former.size != later.size || former.modified != later.modified {
                .written
            } else {
                former == later ? nil : .attributes
            }
        }
    }
}
