internal import Platform

/// Changes that are seen at once, and are on the disk later, or never.
///
/// They are kept in order. Those that are on the disk for sure are applied to what stands there as soon as none before
/// them is in doubt; a crash keeps any of the others, and loses the rest.
struct Effects<Effect: Sendable>: Sendable {
    private enum Fate { case pending, lost, saved }
    private var entries: [(effect: Effect, fate: Fate)] = []

    mutating func append(_ effect: Effect) { entries.append((effect, .pending)) }

    var isEmpty: Bool { entries.isEmpty }
    var all: [Effect] { entries.map(\.effect) }

    /// Decides that the pending effects that `isMeant` picks are on the disk, or, after a failure, that saving them
    /// again will do nothing: a kernel forgets that it owes the pages of a failed `fsync`.
    mutating func settle(failing: Bool = false, _ isMeant: (Effect) -> Bool = { _ in true }) {
        for index in entries.indices where entries[index].fate == .pending && isMeant(entries[index].effect) {
            entries[index].fate = failing ? .lost : .saved
        }
    }

    /// Removes and returns the first effects, as long as they are on the disk for sure.
    mutating func takeSaved() -> [Effect] {
        let saved = entries.prefix { $0.fate == .saved }.map(\.effect)
        entries.removeFirst(saved.count)
        return saved
    }

    /// What a crash leaves of the effects, in order: those on the disk, and whatever `leave` makes of each other one.
    func afterCrash(_ leave: (Effect) -> [Effect]) -> [Effect] {
        entries.flatMap { $0.fate == .saved ? [$0.effect] : leave($0.effect) }
    }
}

/// A change of names that happens as a whole: one in one folder, or two by a rename.
struct NameEffect: Sendable {
    struct Change: Sendable { var folder: NodeID, name: FileName, node: NodeID? }

    var changes: [Change]
}

/// A change of what a file holds, or of what is said of it.
enum DataEffect: Sendable {
    case write([UInt8], at: Int)
    case truncate(to: Int)
    case attributes(FilePermissions, owner: UInt32, group: UInt32)
}

/// What is written at once or not at all, in bytes: the sector of a disk.
let sectorLength = 512

extension DataEffect {
    /// The pieces of which a crash may keep any.
    var sectors: [DataEffect] {
        guard case .write(let bytes, let offset) = self else { return [self] }
        var pieces: [DataEffect] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + sectorLength - (offset + start) % sectorLength)
            pieces.append(.write(Array(bytes[start..<end]), at: offset + start))
            start = end
        }
        return pieces
    }

    func apply(to data: inout [UInt8]) {
        switch self {
        case .write(let bytes, let offset):
            data.grow(to: offset + bytes.count)
            data.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
        case .truncate(let size):
            data.grow(to: size)
            data.removeLast(data.count - size)
        case .attributes: break
        }
    }
}

extension [UInt8] {
    fileprivate mutating func grow(to size: Int) {
        // Not repeated elements, which are copied one by one where nothing is optimised.
        if count < size { append(contentsOf: [UInt8](repeating: 0, count: size - count)) }
    }
}
