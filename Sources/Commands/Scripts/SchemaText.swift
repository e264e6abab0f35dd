internal import Platform
internal import Preferences
internal import SettingsSchema

/// The text of a schema that a command was given or a script has, before it is read.
struct SchemaText {
    /// What it is called in messages.
    let name: String
    let bytes: [UInt8]
    /// When it was last changed, where that is known.
    let modified: Timestamp?
    /// The folder that it lies in, and in which those that it extends may lie.
    private let folder: FilePath?

    init(name: String, bytes: [UInt8], modified: Timestamp?, folder: FilePath?) {
        self.name = name.onOneLine
        self.bytes = bytes
        self.modified = modified
        self.folder = folder
    }

    /// The text of a file.
    init(_ path: FilePath, _ surroundings: Surroundings) throws {
        guard let file = try surroundings.fileSystem.open(path, .reading) else {
            throw CommandFailure(.notFound, "\(path): no such schema".onOneLine)
        }
        let status = try file.status()
        guard status.kind == .file else {
            throw CommandFailure(.systemFailed, "\(path): is no file that could be read as a schema".onOneLine)
        }
        guard status.size <= SchemaPlaces.mostBytes else {
            throw CommandFailure(
                .damaged, "\(path): too large for a schema, with \(status.size) bytes".onOneLine)
        }
        self.init(
            name: path.description, bytes: try file.contents(status, limit: SchemaPlaces.mostBytes),
            modified: status.modified, folder: path.parent)
    }

    /// The text of what an option names; `-` is the standard input.
    init(option word: String, _ surroundings: Surroundings) throws {
        guard word == "-" else {
            self = try SchemaText(surroundings.path(word), surroundings)
            return
        }
        self.init(
            name: "standard input", bytes: try surroundings.terminal.input(limit: SchemaPlaces.mostBytes),
            modified: nil, folder: nil)
    }

    /// The schema, or all that is wrong with it.
    ///
    /// - Parameter checks: Whether its declarations are held against one another. What cannot be read is found all the
    ///   same, and then all is said.
    func schema(_ surroundings: Surroundings, checks: Bool = true) throws -> Schema {
        let (schema, mistakes) = Schema.read(bytes, checks: checks) { declared(by: $0, surroundings) }
        if let schema, mistakes.isEmpty { return schema }
        guard checks else { return try self.schema(surroundings) }
        throw FaultySchema(name: name, mistakes: mistakes)
    }

    /// What a schema that this one extends declares itself: the one beside it, else the installed one.
    private func declared(by domain: String, _ surroundings: Surroundings) -> Schema? {
        if let folder, let name = try? DomainName(domain) {
            let path = SchemaPlaces.file(of: name, in: folder)
            let bytes = try? surroundings.fileSystem.contents(of: path, limit: SchemaPlaces.mostBytes)
            if let bytes = bytes ?? nil { return Schema.declared(in: bytes) }
        }
        return SchemaPlaces(on: surroundings.machine).declared(by: domain, on: surroundings.machine)
    }
}

/// A schema that has mistakes in it.
///
///     backup.schema.plist:3:15: :Settings:0:Minimum: is above Maximum
struct FaultySchema: Reportable {
    let name: String
    let mistakes: [Schema.Mistake]

    var status: ExitStatus { .damaged }

    var lines: [String] {
        let lines = mistakes.prefix(Self.mostLines).map { mistake in
            "\(name):\(mistake.location == nil ? " " : "")\(mistake)"
        }
        guard mistakes.count > Self.mostLines else { return lines }
        return lines + ["and \(mistakes.count - Self.mostLines) mistakes more"]
    }

    private static let mostLines = 20
}
