internal import Platform
internal import Preferences
internal import SettingsSchema

/// A script given to `prefs args`: its name, its beginning, and the location of its schema.
struct ScriptFile {
    let path: FilePath
    /// The part of the script that is searched, or the reason it cannot be read.
    private let beginning: Result<String, any Error>
    private let context: CommandContext

    init(_ argument: String, _ context: CommandContext) throws {
        let path = try context.path(argument)
        self.path = path
        self.context = context
        beginning = Result { try Self.beginning(of: path, in: context.fileSystem) }
    }

    /// The script's name in help and messages.
    var program: String { (path.lastComponent?.description ?? path.description).onOneLine }

    /// The shell named in the script's first line.
    var shell: ScriptOutput? {
        guard case .success(let text) = beginning else { return nil }
        return ScriptOutput(firstLine: text.utf8.first == UInt8(ascii: "#") ? text.prefix { !$0.isNewline } : "")
    }

    /// Returns the schema named on the command line, or else the one that the script contains or names.
    func schema(_ invocation: Invocation) throws -> SchemaFile {
        try invocation[.schema].map { try SchemaFile($0, context) } ?? ownSchema()
    }

    /// Returns the schema that the script contains or names.
    func ownSchema() throws -> SchemaFile {
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
                source: .head, shell: shell ?? .sh, context)
        case .lines(let text):
            return SchemaFile(
                name: path.description, bytes: Array(text.utf8), modified: try modified(path), folder: path.parent,
                source: .head, shell: shell ?? .sh, hasLines: true, context)
        case .file(let name):
            let place = try place(of: name)
            return try SchemaFile(place, named: place.description, source: .fileOfScript, shell: shell ?? .sh, context)
        }
    }

    /// Returns the script with its parser in place of the line that calls `prefs args`.
    ///
    /// - Parameters:
    ///   - file: The schema, which must have no errors.
    ///   - prefix: The prefix of variables; nil for that of the call.
    ///   - ownSchema: Whether the schema is that of the script, so that the call must not name another one.
    func built(by file: SchemaFile, prefix: String?, ownSchema: Bool) throws -> [UInt8] {
        let name = "\(path)".onOneLine
        if shell == .fish {
            throw CommandFailure(.usage, "\(name): --build writes POSIX shell, and this is a script for fish")
        }
        if shell == nil { throw CommandFailure(.usage, "\(name): the first line names no shell") }
        let text = try beginning.get()
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let call = lines.indices.first { index in
            let line = lines[index].drop { $0 == " " || $0 == "\t" }
            return line.hasPrefix("eval ") && line.contains("prefs args")
        }
        guard let call else {
            throw CommandFailure(.damaged, "\(name): no line begins with eval \"$(prefs args")
        }
        guard let words = Self.words(ofCall: lines[call]) else {
            throw CommandFailure(
                .usage, "\(name):\(call + 1): --build requires a line that contains only eval \"$(prefs args …)\"")
        }
        var callPrefix = ""
        var options = words.prefix { $0 != "--" }
        while let word = options.popFirst() {
            let option = word.prefix { $0 != "=" }
            guard option.hasPrefix("--"), ownSchema || option != "--schema" else { continue }
            if option == "--prefix" {
                callPrefix = option == word ? options.popFirst() ?? "" : String(word.dropFirst(option.count + 1))
                // Anything but a plain word is known only to the shell.
                if callPrefix.isVariableName { continue }
            }
            throw CommandFailure(.usage, "\(name):\(call + 1): --build cannot inline a call with \(word.onOneLine)")
        }
        let schema = try file.schema()
        do {
            lines[call] = String(
                try StandaloneParser(schema, program: program, for: shell ?? .sh, prefix: prefix ?? callPrefix).code()
                    .dropLast())
        } catch let refusal as StandaloneParser.Refusal {
            let parts = file.lines(for: refusal.parts)
            throw CommandFailure(.usage, parts, classic: parts)
        } catch let failure as ScriptFailure {
            throw ScriptValuesFailure(script: program, failure: failure)
        }
        return Array(lines.joined(separator: "\n").utf8)
    }

    /// Returns the words after `prefs args` in a line, without quotes, or nil if the line has more than the call.
    private static func words(ofCall line: String) -> [String]? {
        guard let start = line.firstRange(of: "$("), let name = line.firstRange(of: "prefs args") else { return nil }
        var depth = 1
        var end = start.upperBound
        while depth > 0 {
            guard end < line.endIndex else { return nil }
            if line[end] == "(" { depth += 1 }
            if line[end] == ")" { depth -= 1 }
            end = line.index(after: end)
        }
        let rest = line[end...].drop { $0 == "\"" }.drop(while: \.isWhitespace)
        guard name.upperBound < end, rest.isEmpty || rest.hasPrefix("#") else { return nil }
        return line[name.upperBound..<end].split(whereSeparator: \.isWhitespace).map { word in
            String(word.filter { $0 != "\"" && $0 != "'" })
        }
    }

    /// Returns the path of a file that the script names: in the script's folder, or, if the script is a symbolic link,
    /// in the folder of its target.
    private func place(of name: String) throws -> FilePath {
        guard let file = FilePath(name) else { throw CommandFailure(.damaged, "\(path): missing file name") }
        // A bare name is easier to read in messages than one with "./" before it.
        let place = path.parent == "." ? file : path.parent.resolving(file)
        if try context.fileSystem.status(of: place) != nil { return place }
        let target = try path.followingLinks(in: context.fileSystem)
        let other = target.parent.resolving(file)
        return try context.fileSystem.status(of: other) == nil ? place : other
    }

    private func modified(_ path: FilePath) throws -> Timestamp? {
        try context.fileSystem.status(of: path)?.modified
    }

    private static func beginning(of path: FilePath, in fileSystem: any FileSystem) throws -> String {
        guard let file = try fileSystem.open(path, .reading) else {
            throw CommandFailure(.notFound, "\(path): no such script".onOneLine)
        }
        guard try file.status().kind == .file else {
            throw CommandFailure(.systemFailed, "\(path): not a regular file".onOneLine)
        }
        return String(decoding: try file.beginning(limit: ScriptReference.mostBytes), as: UTF8.self)
    }
}
