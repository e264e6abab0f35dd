internal import Platform

/// The contents of a simulated disk. A value, so that a test can continue one state in several ways.
struct DiskState: Sendable {
    static let root: NodeID = 1

    var nodes: [NodeID: Node]
    /// The names that are on the disk, and the pending changes to them.
    private var savedNames: [NodeID: [FileName: NodeID]] = [:]
    private var nameEffects = Effects<NameEffect>()

    var capacity = Int.max
    private(set) var used = 0
    var isReadOnly = false
    var limitations: Set<Limitation> = []
    var randomness: Randomness

    private var lastNode = root
    private var lastInode: UInt64 = 1
    private var freeInodes: [UInt64] = []
    /// The number of nodes at which unreachable ones are removed next.
    private var mostNodes = 256
    private var wall = Timestamp(nanoseconds: 0)
    private var lastTime = Timestamp(nanoseconds: 0)
    /// The changes to names that were not reported yet.
    var events: [(folder: NodeID, change: FolderChange, name: FileName)] = []

    init(seed: UInt64) {
        randomness = Randomness(seed: seed)
        let attributes = Node.Attributes(permissions: FilePermissions(rawValue: 0o755), owner: 0, group: 0)
        nodes = [
            Self.root: Node(
                .folder([:], parent: Self.root), attributes, inode: 1, at: Timestamp(nanoseconds: 0))
        ]
    }

    subscript(id: NodeID) -> Node {
        get {
            // A reference to a removed node would be a bug in the simulation.
            guard let node = nodes[id] else { preconditionFailure("no such node") }
            return node
        }
        _modify {
            guard let index = nodes.index(forKey: id) else { preconditionFailure("no such node") }
            yield &nodes.values[index]
        }
    }
}

// MARK: Time

extension DiskState {
    /// Sets the time of the next changes.
    mutating func setTime(_ now: Timestamp) {
        if now != wall { (wall, lastTime) = (now, now) }
    }

    /// The time of the next change, which is unique unless times are coarse.
    mutating func time() -> Timestamp {
        if !limitations.contains(.coarseTimes) { lastTime.nanoseconds += 1 }
        return lastTime
    }
}

// MARK: Nodes

extension DiskState {
    mutating func makeNode(_ contents: Node.Contents, _ attributes: Node.Attributes) -> NodeID {
        lastNode += 1
        let inode: UInt64
        if limitations.contains(.reusesInodes), let free = freeInodes.popLast() {
            inode = free
        } else {
            lastInode += 1
            inode = lastInode
        }
        var node = Node(contents, attributes, inode: inode, at: time())
        node.links = 0
        nodes[lastNode] = node
        return lastNode
    }

    /// Changes the contents of a file as far as there is room. Returns an error if there is not enough.
    mutating func change(_ id: NodeID, _ effect: DataEffect) -> ErrorCode? {
        var (effect, failure) = (effect, ErrorCode?.none)
        let size = self[id].data.count
        switch effect {
        case .write(let bytes, let offset):
            let room = capacity - used
            let end = offset + bytes.count
            if end - size > room {
                let fitting = max(0, size + room - offset)
                (effect, failure) = (.write(Array(bytes.prefix(fitting)), at: offset), .noSpace)
                if fitting == 0 { return failure }
            }
        case .truncate(let end):
            if end - size > capacity - used { return .noSpace }
        case .attributes: break
        }
        let time = time()
        self[id].change(effect, at: time)
        used += self[id].data.count - size
        return failure
    }

    mutating func opened(_ id: NodeID) { self[id].openings += 1 }

    mutating func closed(_ id: NodeID) {
        guard nodes[id] != nil, self[id].openings > 0 else { return }
        self[id].openings -= 1
        freeIfUnused(id)
    }

    /// Frees the space of a file that has no name and is not open. The node remains, because a crash may restore a
    /// name.
    private mutating func freeIfUnused(_ id: NodeID) {
        guard self[id].links == 0, self[id].openings == 0 else { return }
        used -= self[id].data.count
        freeInodes.append(self[id].inode)
    }
}

// MARK: Names

extension DiskState {
    /// Adds and removes names in one step.
    mutating func setNames(_ changes: [NameEffect.Change]) {
        let time = time()
        var released: [NodeID] = []
        for change in changes {
            if let former = self[change.folder].names?[change.name] {
                self[former].links -= 1
                released.append(former)
            }
            self[change.folder].setName(change.name, to: change.node)
            self[change.folder].modified = time
            self[change.folder].changed = time
            if let node = change.node {
                self[node].links += 1
                self[node].changed = time
            }
        }
        for node in Set(released).sorted() {
            self[node].changed = time
            freeIfUnused(node)
        }
        nameEffects.append(NameEffect(changes: changes))
        if nodes.count > mostNodes { forget() }
    }

    /// Removes the nodes that are unreachable and that no crash can restore.
    private mutating func forget() {
        let changes = nameEffects.all.flatMap(\.changes)
        let restorable = Set(savedNames.values.flatMap(\.values) + changes.compactMap(\.node))
        nodes = nodes.filter { $0.value.links > 0 || $0.value.openings > 0 || restorable.contains($0.key) }
        mostNodes = 2 * nodes.count + 256
    }

    mutating func synchronizeNames(of folder: NodeID, failing: Bool) {
        nameEffects.settle(failing: failing) { $0.changes.contains { $0.folder == folder } }
        for effect in nameEffects.takeSaved() { save(effect) }
    }

    private mutating func save(_ effect: NameEffect) {
        for change in effect.changes { savedNames[change.folder, default: [:]][change.name] = change.node }
    }

    /// Writes everything to the disk, like an unmount.
    mutating func synchronizeAll() {
        nameEffects.settle()
        for effect in nameEffects.takeSaved() { save(effect) }
        for id in Array(nodes.keys) { self[id].synchronize(failing: false) }
    }
}

// MARK: Crashing

extension DiskState {
    /// Simulates a loss of power: keeps everything that was synchronized, and those other changes that `keeps` selects.
    mutating func crash(keeping keeps: (inout Randomness) -> Bool, _ randomness: inout Randomness) {
        for effect in nameEffects.afterCrash({ keeps(&randomness) ? [$0] : [] }) { save(effect) }
        nameEffects = Effects()
        // Sorted, so that the same seed gives the same crash.
        for id in nodes.keys.sorted() {
            self[id].crash { $0.sectors.filter { _ in keeps(&randomness) } }
            self[id].links = 0
        }
        self[Self.root].links = 1
        restoreNames(in: Self.root)
        nodes = nodes.filter { $0.value.links > 0 }
        savedNames = savedNames.filter { nodes[$0.key] != nil }
        used = nodes.values.reduce(0) { $0 + $1.data.count }
        freeInodes = []
        events = []
    }

    private mutating func restoreNames(in folder: NodeID) {
        guard case .folder(_, let parent) = self[folder].contents else { return }
        let names = savedNames[folder, default: [:]]
        self[folder].contents = .folder(names, parent: parent)
        for id in names.values.sorted() {
            self[id].links += 1
            guard self[id].kind == .folder, self[id].links == 1 else { continue }
            self[id].contents = .folder([:], parent: folder)
            restoreNames(in: id)
        }
    }
}
