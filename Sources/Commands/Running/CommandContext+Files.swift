internal import Platform
internal import Preferences
internal import PropertyLists

extension CommandContext {
    /// Returns the contents of the file that an argument names; `-` is the standard input.
    package func contents(_ argument: String, limit: Int) throws -> [UInt8] {
        if argument == "-" { return try terminal.input(limit: limit) }
        let path = try path(argument)
        // Checked without opening it: the writer of a pipe would take the check for its reader.
        if try isStream(argument) {
            if let own = Self.descriptor(argument) { return try terminal.input(from: own, limit: limit) }
            return try stream(path, limit)
        }
        guard let bytes = try fileSystem.contents(of: path, limit: limit) else {
            throw CommandFailure(.notFound, "\(path): no such file")
        }
        return bytes
    }

    /// Returns the path of a file that a word names where a word without a slash can be a file; `.plist` can be omitted.
    func file(named word: String) throws -> String {
        guard word != "-", !word.isEmpty else { return word }
        let file = DomainArgument.isPath(word) ? word : "./" + word
        let longer = file + ".plist"
        guard !file.hasSuffix(".plist"), try fileSystem.status(of: absolutePath(file)) == nil,
            try fileSystem.status(of: absolutePath(longer)) != nil
        else { return file }
        if !DomainArgument.isPath(word) { note("\(word.onOneLine): no such file; using \(word.onOneLine).plist") }
        return longer
    }

    /// Returns whether the working directory has a regular file with the name of a domain.
    func hasFile(named domain: String) -> Bool {
        (try? fileSystem.status(of: path("./\(domain)")))?.kind == .file
    }

    /// Returns whether an argument names a stream, which can be read only once.
    func isStream(_ argument: String) throws -> Bool {
        if argument == "-" { return true }
        return try fileSystem.status(of: path(argument))?.kind == .other
    }

    /// Returns the descriptor that an argument names. It is read directly, because a socket cannot be opened again.
    private static func descriptor(_ argument: String) -> Int32? {
        if argument == "/dev/stdin" { return StandardStream.input.rawValue }
        let folder = "/dev/fd/"
        return argument.hasPrefix(folder) ? Int32(argument.dropFirst(folder.count)) : nil
    }

    /// Returns whether a path leads to a descriptor of a process, as `/dev/stdout` does. The kernel resolves such a
    /// link to the open file, but replacing that file would not write to the descriptor.
    func isDescriptor(_ path: FilePath) throws -> Bool {
        var path = path
        for _ in 0..<40 {
            let folder = try path.parent.resolvingLinks(in: fileSystem).components
            if folder.first == Array("proc".utf8)[...], folder.last == Array("fd".utf8)[...] { return true }
            guard let destination = try fileSystem.destination(ofLink: path) else { return false }
            path = path.parent.resolving(destination)
        }
        return false
    }

    /// Returns the standard stream that an argument names as the output, or nil for a file.
    static func outputStream(_ argument: String) -> StandardStream? {
        switch argument {
        case "-", "/dev/stdout", "/dev/fd/1": .output
        case "/dev/stderr", "/dev/fd/2": .errors
        default: nil
        }
    }

    /// Replaces a file as a whole, or writes to a standard stream. Symbolic links are kept.
    ///
    /// - Parameter isSensitive: Whether only this user may read the file.
    func write(_ bytes: [UInt8], to argument: String, isSensitive: Bool = false) throws {
        if let stream = Self.outputStream(argument) { return try terminal.write(bytes, to: stream) }
        if argument == Self.nullDevice { return }
        try checkReplaceable(argument)
        let file = DomainFile(name: argument, path: try absolutePath(argument), lock: .itself)
            .addressedByPath
        delayInterrupts(true)
        defer { delayInterrupts(false) }
        let writer = DomainWriter(machine, WriteNote(.write, by: machine))
        try writer.replace(file, with: bytes, isSensitive: isSensitive)
    }

    private static let nullDevice = "/dev/null"

    /// Throws if there is no such file yet and its extension states a language that prefs does not write.
    func checkLanguage(ofNewFile name: String) throws {
        guard dialect == .modern, let language = InvalidInput.foreignLanguage(ofFile: name),
            try fileSystem.status(of: path(name)) == nil
        else { return }
        throw CommandFailure(.usage, "\(name.onOneLine): prefs does not write \(language)")
    }

    /// Throws if the path is a descriptor, which a new file would not replace.
    func checkNoDescriptor(_ path: FilePath, _ name: String) throws {
        guard try isDescriptor(path) else { return }
        throw CommandFailure(
            .systemFailed, "\(name.onOneLine): refers to an open descriptor; use - for the standard output")
    }

    /// Throws if the argument cannot be replaced by a file. `-` is always valid.
    func checkReplaceable(_ argument: String) throws {
        if argument == "-" { return }
        try checkNoDescriptor(absolutePath(argument), argument)
        let former = try fileSystem.status(of: path(argument).followingLinks(in: fileSystem))
        // Replacing a device or a pipe would affect all programs that use it.
        guard former.map({ $0.kind == .file }) ?? true else {
            throw CommandFailure(.systemFailed, "\(argument.onOneLine): not a regular file, so it cannot be replaced")
        }
    }

    /// Checks files one by one and returns the worst status. A file that cannot be read does not stop the others.
    func worst(of names: [String], _ judge: (String) throws -> ExitStatus) throws -> ExitStatus {
        var worst = ExitStatus.done
        for name in names {
            var status: ExitStatus
            do {
                status = try judge(name)
            } catch let failure as CommandFailure where failure.status != .usage {
                note(failure.lines.joined(separator: "\n"))
                status = failure.status
            } catch let failure as SystemFailure where failure.path != nil {
                note(failure.description)
                status = .systemFailed
            }
            if Self.rank(status) > Self.rank(worst) { worst = status }
        }
        return worst
    }

    /// A damaged file is what the check looks for, so it outranks a file that could not be checked.
    private static func rank(_ status: ExitStatus) -> Int32 {
        status == .damaged ? .max : status.rawValue
    }
}
