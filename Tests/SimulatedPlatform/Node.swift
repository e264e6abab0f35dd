internal import Platform

/// The identity of a file in the simulation. Unlike an inode number, it is never reused.
typealias NodeID = UInt64

/// A file, folder or symbolic link, in its visible state and its state on the disk.
struct Node: Sendable {
    enum Contents: Sendable {
        case file([UInt8])
        case folder([FileName: NodeID], parent: NodeID)
        case symbolicLink(FilePath)
    }

    struct Attributes: Hashable, Sendable { var permissions: FilePermissions, owner: UInt32, group: UInt32 }

    var contents: Contents
    var attributes: Attributes
    let inode: UInt64
    var links = 1
    var openings = 0
    var modified: Timestamp
    var changed: Timestamp

    /// The data that is certain to survive a crash.
    var savedData: [UInt8] = []
    var savedAttributes: Attributes
    var effects = Effects<DataEffect>()

    init(_ contents: Contents, _ attributes: Attributes, inode: UInt64, at time: Timestamp) {
        self.contents = contents
        self.attributes = attributes
        savedAttributes = attributes
        self.inode = inode
        (modified, changed) = (time, time)
    }

    var kind: FileStatus.Kind {
        switch contents {
        case .file: .file
        case .folder: .folder
        case .symbolicLink: .symbolicLink
        }
    }

    var data: [UInt8] {
        if case .file(let data) = contents { data } else { [] }
    }

    var names: [FileName: NodeID]? {
        if case .folder(let names, _) = contents { names } else { nil }
    }

    var status: FileStatus {
        let size = if case .symbolicLink(let target) = contents { target.bytes.count } else { data.count }
        return FileStatus(
            kind: kind, device: 1, inode: inode, size: size, modified: modified, changed: changed,
            permissions: attributes.permissions, owner: attributes.owner, group: attributes.group, links: links)
    }

    mutating func setName(_ name: FileName, to node: NodeID?) {
        guard case .folder(var names, let parent) = contents else { return }
        // Removes the second reference, so that the dictionary is changed in place.
        contents = .symbolicLink(.root)
        names[name] = node
        contents = .folder(names, parent: parent)
    }

    /// Applies a change to the visible state.
    mutating func change(_ effect: DataEffect, at time: Timestamp) {
        switch effect {
        case .attributes(let permissions, let owner, let group):
            attributes = Attributes(permissions: permissions, owner: owner, group: group)
        case .write, .truncate:
            guard case .file(var data) = contents else { return }
            contents = .file([])
            effect.apply(to: &data)
            contents = .file(data)
            modified = time
        }
        changed = time
        effects.append(effect)
    }

    /// Applies a change to the state on the disk.
    private mutating func save(_ effect: DataEffect) {
        effect.apply(to: &savedData)
        if case .attributes(let permissions, let owner, let group) = effect {
            savedAttributes = Attributes(permissions: permissions, owner: owner, group: group)
        }
    }

    mutating func synchronize(failing: Bool) {
        effects.settle(failing: failing)
        for effect in effects.takeSaved() { save(effect) }
    }

    /// Simulates a crash.
    mutating func crash(_ leave: (DataEffect) -> [DataEffect]) {
        for effect in effects.afterCrash(leave) { save(effect) }
        effects = Effects()
        attributes = savedAttributes
        openings = 0
        if case .file = contents { contents = .file(savedData) }
    }
}
