internal import Platform

/// In whose name something is done.
struct Identity: Hashable, Sendable {
    var user: UInt32
    /// The groups that the user is in beside the own one, which has the user's number.
    var groups: Set<UInt32> = []

    var isRoot: Bool { user == 0 }

    func isIn(_ group: UInt32) -> Bool { group == user || groups.contains(group) }
}

/// What of a file someone wants to use.
enum Right: UInt16 { case read = 4, write = 2, search = 1 }

/// Where a path leads: a name in a folder, and what stands there.
struct Location: Sendable {
    var folder: NodeID
    /// Nil for a path that ends in no name, as `/` does.
    var name: FileName?
    var node: NodeID?
}

extension DiskState {
    /// The link to the folder that relative paths start from. Without it, this is the root.
    static let workingFolder: FilePath = "/proc/self/cwd"

    /// Follows a path to its end; the last component's symbolic link only if asked to.
    func locate(
        _ path: FilePath, followingLink: Bool, as user: Identity
    ) throws(ErrorCode) -> Location {
        var rest = Array(path.components.reversed())
        var here = Location(folder: Self.root, name: nil, node: Self.root)
        if !path.isAbsolute, let start = try? locate(Self.workingFolder, followingLink: true, as: Identity(user: 0)),
            let node = start.node
        {
            here = Location(folder: node, name: nil, node: node)
        }
        var links = 0
        while let component = rest.popLast() {
            guard let folder = here.node else { throw .noSuchFile }
            here = try step(component, from: folder, as: user)
            guard let node = here.node, case .symbolicLink(let target) = self[node].contents else { continue }
            guard followingLink || !rest.isEmpty else { continue }
            links += 1
            guard links <= 40 else { throw .tooManySymbolicLinks }
            rest += target.components.reversed()
            let start = target.isAbsolute ? Self.root : here.folder
            here = Location(folder: start, name: nil, node: start)
        }
        return here
    }

    private func step(_ component: ArraySlice<UInt8>, from folder: NodeID, as user: Identity) throws(ErrorCode)
        -> Location
    {
        guard case .folder(let names, let parent) = self[folder].contents else { throw .notAFolder }
        guard allows(.search, folder, user) else { throw .accessDenied }
        guard component.count <= 255 else { throw .nameTooLong }
        guard let name = FileName(component) else {
            let next = component.count == 1 ? folder : parent
            return Location(folder: next, name: nil, node: next)
        }
        return Location(folder: folder, name: name, node: names[name])
    }

    func allows(_ right: Right, _ id: NodeID, _ user: Identity) -> Bool {
        let attributes = self[id].attributes
        if user.isRoot { return true }
        let shift: UInt16 = attributes.owner == user.user ? 6 : user.isIn(attributes.group) ? 3 : 0
        return attributes.permissions.rawValue >> shift & right.rawValue != 0
    }

    /// The place of a name that is to be given or taken away, in a folder where that is allowed.
    func locateForChange(_ path: FilePath, as user: Identity) throws(ErrorCode) -> Location {
        let place = try locate(path, followingLink: false, as: user)
        guard place.name != nil else { throw place.node == Self.root ? .exists : .invalidArgument }
        guard !isReadOnly else { throw .readOnly }
        guard allows(.write, place.folder, user) else { throw .accessDenied }
        return place
    }
}
