internal import Platform

/// The operations on names, with the semantics of the kernel.
extension DiskState {
    mutating func open(_ path: FilePath, _ access: FileAccess, as user: Identity) throws(ErrorCode) -> NodeID? {
        let place: Location
        switch access {
        case .reading, .writing: place = try locate(path, followingLink: true, as: user)
        case .readingNoFollow, .creating, .creatingNew: place = try locate(path, followingLink: false, as: user)
        }
        guard let node = place.node else {
            guard let permissions = access.permissionsOfNewFile else { return nil }
            return try create(place, permissions, as: user)
        }
        if case .creatingNew = access { throw .exists }
        guard self[node].kind != .symbolicLink else { throw .tooManySymbolicLinks }
        let isReading = access == .reading || access == .readingNoFollow
        guard isReading || self[node].kind == .file else { throw .isAFolder }
        guard isReading || !isReadOnly else { throw .readOnly }
        guard allows(.read, node, user), isReading || allows(.write, node, user) else { throw .accessDenied }
        return node
    }

    private mutating func create(
        _ place: Location, _ permissions: FilePermissions, as user: Identity
    ) throws(ErrorCode) -> NodeID {
        guard let name = place.name else { throw .isAFolder }
        return try add(.file([]), permissions, name, in: place.folder, as: user)
    }

    /// Creates a node with its first name.
    private mutating func add(
        _ contents: Node.Contents, _ permissions: FilePermissions, _ name: FileName, in folder: NodeID,
        as user: Identity
    ) throws(ErrorCode) -> NodeID {
        guard !isReadOnly else { throw .readOnly }
        guard allows(.write, folder, user) else { throw .accessDenied }
        try checkName(name)
        let attributes = Node.Attributes(permissions: permissions, owner: user.user, group: user.user)
        let node = makeNode(contents, attributes)
        setNames([NameEffect.Change(folder: folder, name: name, node: node)])
        events.append((folder, .created, name))
        return node
    }

    private func checkName(_ name: FileName) throws(ErrorCode) {
        guard !limitations.contains(.asciiNames) || name.bytes.allSatisfy({ $0 < 0x80 }) else { throw .notPermitted }
    }

    mutating func makeFolder(
        _ path: FilePath, _ permissions: FilePermissions, as user: Identity
    ) throws(ErrorCode) -> Bool {
        let place = try locate(path, followingLink: false, as: user)
        guard place.node == nil, let name = place.name else { return false }
        _ = try add(.folder([:], parent: place.folder), permissions, name, in: place.folder, as: user)
        return true
    }

    mutating func makeSymbolicLink(_ path: FilePath, to target: FilePath, as user: Identity) throws(ErrorCode) {
        let place = try locate(path, followingLink: false, as: user)
        guard place.node == nil, let name = place.name else { throw .exists }
        let permissions = FilePermissions(rawValue: 0o777)
        _ = try add(.symbolicLink(target), permissions, name, in: place.folder, as: user)
    }

    mutating func link(_ path: FilePath, to other: FilePath, as user: Identity) throws(ErrorCode) {
        guard !limitations.contains(.noHardLinks) else { throw .notPermitted }
        let source = try locate(path, followingLink: false, as: user)
        guard let node = source.node else { throw .noSuchFile }
        guard self[node].kind != .folder else { throw .notPermitted }
        let target = try locateForChange(other, as: user)
        guard target.node == nil, let name = target.name else { throw .exists }
        setNames([NameEffect.Change(folder: target.folder, name: name, node: node)])
        events.append((target.folder, .created, name))
        if let sourceName = source.name { events.append((source.folder, .attributes, sourceName)) }
    }

    mutating func remove(_ path: FilePath, as user: Identity) throws(ErrorCode) -> Bool {
        let place = try locate(path, followingLink: false, as: user)
        guard let node = place.node else { return false }
        let target = try locateForChange(path, as: user)
        guard let name = target.name else { throw .invalidArgument }
        guard self[node].names?.isEmpty ?? true else { throw .folderNotEmpty }
        setNames([NameEffect.Change(folder: target.folder, name: name, node: nil)])
        events.append((target.folder, .removed, name))
        return true
    }

    mutating func rename(
        _ path: FilePath, to other: FilePath, _ manner: RenameMode, as user: Identity
    ) throws(ErrorCode) {
        let source = try locateForChange(path, as: user)
        guard let node = source.node, let name = source.name else { throw .noSuchFile }
        let target = try locateForChange(other, as: user)
        guard let newName = target.name else { throw .exists }
        try checkName(newName)
        guard manner == .replacing || !limitations.contains(.noExchange) else { throw .unsupported }
        try checkRename(node, to: target, manner)
        // For two names of the same file, the kernel succeeds without doing anything.
        if target.node == node { return }
        setNames([
            NameEffect.Change(folder: source.folder, name: name, node: manner == .exchanging ? target.node : nil),
            NameEffect.Change(folder: target.folder, name: newName, node: node),
        ])
        adopt(node, by: target.folder)
        if manner == .exchanging, let exchanged = target.node { adopt(exchanged, by: source.folder) }
        events.append((source.folder, .removed, name))
        events.append((target.folder, .movedHere, newName))
        if manner == .exchanging {
            events.append((target.folder, .removed, newName))
            events.append((source.folder, .movedHere, name))
        }
    }

    private func checkRename(_ node: NodeID, to target: Location, _ manner: RenameMode) throws(ErrorCode) {
        var above = target.folder
        while above != Self.root {
            guard above != node else { throw .invalidArgument }
            guard case .folder(_, let parent) = self[above].contents else { break }
            above = parent
        }
        guard let taken = target.node else {
            if manner == .exchanging { throw .noSuchFile }
            return
        }
        switch manner {
        case .exchanging: return
        case .onlyIfAbsent: throw .exists
        case .replacing:
            guard !limitations.contains(.renameKeeps) else { throw .exists }
            let (isFolder, replacesFolder) = (self[node].kind == .folder, self[taken].kind == .folder)
            guard isFolder == replacesFolder else { throw isFolder ? .notAFolder : .isAFolder }
            guard self[taken].names?.isEmpty ?? true else { throw .folderNotEmpty }
        }
    }

    private mutating func adopt(_ node: NodeID, by folder: NodeID) {
        guard case .folder(let names, _) = self[node].contents else { return }
        self[node].contents = .folder(names, parent: folder)
    }
}

extension FileAccess {
    fileprivate var permissionsOfNewFile: FilePermissions? {
        switch self {
        case .reading, .readingNoFollow, .writing: nil
        case .creating(let permissions), .creatingNew(let permissions): permissions
        }
    }
}
