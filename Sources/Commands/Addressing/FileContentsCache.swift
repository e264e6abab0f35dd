internal import Platform
internal import Preferences
internal import PropertyLists

/// A cache of files that a command has read. A file is read again only when it has changed.
struct FileContentsCache {
    private let machine: Machine
    private var seen: [FilePath: Seen] = [:]

    private struct Seen {
        let generation: FileGeneration?
        let contents: DomainContents
    }

    init(on machine: Machine) { self.machine = machine }

    /// Returns the current contents of a file. When a damaged file is replaced by a kept version, `note` is called
    /// once.
    mutating func contents(
        of file: DomainFile, note: (Recovery) throws -> Void = { _ in }
    ) throws -> DomainContents {
        let generation = try file.status(on: machine)?.generation
        if let known = seen[file.path], known.generation == generation { return known.contents }
        guard generation != nil else {
            seen[file.path] = Seen(generation: nil, contents: .absent)
            return .absent
        }
        let contents = try file.contents(on: machine)
        if let recovery = contents.recovery { try note(recovery) }
        seen[file.path] = Seen(generation: contents.generation, contents: contents)
        return contents
    }
}
