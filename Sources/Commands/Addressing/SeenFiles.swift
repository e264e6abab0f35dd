internal import Platform
internal import Preferences
internal import PropertyLists

/// The files that a command has read, so that each is read again only once it is another one.
struct SeenFiles {
    private let machine: Machine
    private var seen: [FilePath: Seen] = [:]

    private struct Seen {
        let generation: FileGeneration?
        let contents: DomainContents
    }

    init(on machine: Machine) { self.machine = machine }

    /// What a file holds now; a new finding is handed to `note` the first time that a damaged file is stood in for.
    mutating func contents(
        of file: DomainFile, note: (Recovery) throws -> Void = { _ in }
    ) throws -> DomainContents {
        let generation = try machine.fileSystem.status(of: file.path)?.generation
        if let known = seen[file.path], known.generation == generation { return known.contents }
        guard generation != nil else {
            seen[file.path] = Seen(generation: nil, contents: .absent)
            return .absent
        }
        var contents = try file.contents(on: machine)
        contents.values = contents.values.withoutHidden
        if let recovery = contents.recovery { try note(recovery) }
        seen[file.path] = Seen(generation: contents.generation, contents: contents)
        return contents
    }
}
