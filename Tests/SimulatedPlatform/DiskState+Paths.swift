internal import Platform

/// The credentials of a process.
struct Identity: Hashable, Sendable {
    var user: UInt32
    /// The supplementary groups. The primary group has the number of the user.
    var groups: Set<UInt32> = []

    var isRoot: Bool { user == 0 }

    func isIn(_ group: UInt32) -> Bool { group == user || groups.contains(group) }
}

/// A permission that an operation on a file requires.
enum Right: UInt16 { case read = 4, write = 2, search = 1 }

/// The result of resolving a path: a name in a folder, and the node with that name.
struct Location: Sendable {
    var folder: NodeID
    /// The last component, or nil for a path without one, such as `/`.
    var name: FileName?
    var node: NodeID?
}

extension DiskState {
    /// The link to the working folder. If it is missing, the working folder is the root.
    static let workingFolder: FilePath = "/proc/self/cwd"

    /// Resolves a path. A symbolic link in the last component is followed only if requested.
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
        let spelling = spelling(of: name, among: names)
        return Location(folder: folder, name: spelling, node: names[spelling])
    }

    /// Returns the name under which a folder has a file, which may be spelled differently.
    private func spelling(of name: FileName, among names: [FileName: NodeID]) -> FileName {
        guard limitations.contains(.normalizesNames), names[name] == nil else { return name }
        // Swift compares strings by canonical equivalence.
        return names.keys.filter { $0.description == name.description }.min() ?? name
    }

    func allows(_ right: Right, _ id: NodeID, _ user: Identity) -> Bool {
        let attributes = self[id].attributes
        if user.isRoot { return true }
        let shift: UInt16 = attributes.owner == user.user ? 6 : user.isIn(attributes.group) ? 3 : 0
        return attributes.permissions.rawValue >> shift & right.rawValue != 0
    }

    /// Resolves the path of a name that is to be added or removed. Throws if the user may not change the folder.
    func locateForChange(_ path: FilePath, as user: Identity) throws(ErrorCode) -> Location {
        let place = try locate(path, followingLink: false, as: user)
        guard place.name != nil else { throw place.node == Self.root ? .exists : .invalidArgument }
        guard !isReadOnly else { throw .readOnly }
        guard allows(.write, place.folder, user) else { throw .accessDenied }
        return place
    }
}
