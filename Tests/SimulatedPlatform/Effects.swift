internal import Platform

/// Changes that are visible immediately, and reach the disk later or never.
///
/// They are kept in order. A change that is certain to be on the disk is applied there once all changes before it are
/// certain too. A crash keeps any subset of the others.
struct Effects<Effect: Sendable>: Sendable {
    private enum Fate { case pending, lost, saved }
    private var entries: [(effect: Effect, fate: Fate)] = []

    mutating func append(_ effect: Effect) { entries.append((effect, .pending)) }

    var all: [Effect] { entries.map(\.effect) }

    /// Marks the pending effects that `isMeant` selects as written to the disk or, after a failure, as no longer to be
    /// written, because the kernel marks pages as clean after a failed `fsync`.
    mutating func settle(failing: Bool = false, _ isMeant: (Effect) -> Bool = { _ in true }) {
        for index in entries.indices where entries[index].fate == .pending && isMeant(entries[index].effect) {
            entries[index].fate = failing ? .lost : .saved
        }
    }

    /// Removes and returns the leading effects that are certain to be on the disk.
    mutating func takeSaved() -> [Effect] {
        let saved = entries.prefix { $0.fate == .saved }.map(\.effect)
        entries.removeFirst(saved.count)
        return saved
    }

    /// The effects that remain after a crash, in order: those on the disk, and the result of `leave` for each of the
    /// others.
    func afterCrash(_ leave: (Effect) -> [Effect]) -> [Effect] {
        entries.flatMap { $0.fate == .saved ? [$0.effect] : leave($0.effect) }
    }
}

/// An atomic change of names: one in one folder, or two in a rename.
struct NameEffect: Sendable {
    struct Change: Sendable { var folder: NodeID, name: FileName, node: NodeID? }

    var changes: [Change]
}

/// A change of a file's contents or metadata.
enum DataEffect: Sendable {
    case write([UInt8], at: Int)
    case truncate(to: Int)
    case attributes(FilePermissions, owner: UInt32, group: UInt32)
}

/// The length in bytes of a disk sector, which is written completely or not at all.
let sectorLength = 512

extension DataEffect {
    /// The parts of the change, of which a crash may keep any subset.
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
        // In a debug build, an array is appended faster than repeated elements, which are copied one by one.
        if count < size { append(contentsOf: [UInt8](repeating: 0, count: size - count)) }
    }
}
