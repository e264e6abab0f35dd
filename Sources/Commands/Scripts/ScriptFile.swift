internal import Platform
internal import Preferences
internal import SettingsSchema

/// A script as `prefs args` is told of it: what it is called, how it begins, and where its schema is.
struct ScriptFile {
    let path: FilePath
    /// As much of the script as is ever looked at, or why it cannot be read.
    private let beginning: Result<String, any Error>
    private let surroundings: Surroundings

    init(_ argument: String, _ surroundings: Surroundings) throws {
        let path = try surroundings.path(argument)
        self.path = path
        self.surroundings = surroundings
        beginning = Result { try Self.beginning(of: path, in: surroundings.fileSystem) }
    }

    /// What the script is called in help and messages.
    var program: String { (path.lastComponent?.description ?? path.description).onOneLine }

    /// The shell that its first line names.
    var shell: ScriptOutput? {
        guard case .success(let text) = beginning else { return nil }
        return ScriptOutput(firstLine: text.utf8.first == UInt8(ascii: "#") ? text.prefix { !$0.isNewline } : "")
    }

    /// The schema that the command names, else the one that the script names, or that stands in it.
    func schema(_ invocation: Invocation) throws -> SchemaFile {
        try invocation[.schema].map { try SchemaFile($0, surroundings) } ?? ownSchema()
    }

    private func ownSchema() throws -> SchemaFile {
        let text = try beginning.get()
        let reference: ScriptReference
        do throws(ScriptReference.Failure) {
            reference = try ScriptReference(script: text)
        } catch {
            let place = "\(path)".onOneLine
            throw CommandFailure(.damaged, error == .missing ? "\(place): \(error)" : "\(place):\(error)")
        }
        switch reference {
        case .inline(let text):
            return SchemaFile(
                name: path.description, bytes: Array(text.utf8), modified: try modified(path), folder: path.parent,
                surroundings)
        case .file(let name):
            let place = try place(of: name)
            return try SchemaFile(place, named: place.description, surroundings)
        }
    }

    /// Where a file is that the script names: in the script's folder, or in that of the file which a link to it leads
    /// to.
    private func place(of name: String) throws -> FilePath {
        guard let file = FilePath(name) else { throw CommandFailure(.damaged, "\(path): a file needs a name") }
        // A name by itself is shorter to read in messages than with the folder before it that goes without saying.
        let place = path.parent == "." ? file : path.parent.resolving(file)
        if try surroundings.fileSystem.status(of: place) != nil { return place }
        let target = try path.followingLinks(in: surroundings.fileSystem)
        let other = target.parent.resolving(file)
        return try surroundings.fileSystem.status(of: other) == nil ? place : other
    }

    private func modified(_ path: FilePath) throws -> Timestamp? {
        try surroundings.fileSystem.status(of: path)?.modified
    }

    private static func beginning(of path: FilePath, in fileSystem: any FileSystem) throws -> String {
        guard let file = try fileSystem.open(path, .reading) else {
            throw CommandFailure(.notFound, "\(path): no such script".onOneLine)
        }
        guard try file.status().kind == .file else {
            throw CommandFailure(.systemFailed, "\(path): is no file that could be read as a script".onOneLine)
        }
        return String(decoding: try file.beginning(limit: ScriptReference.mostBytes), as: UTF8.self)
    }
}
