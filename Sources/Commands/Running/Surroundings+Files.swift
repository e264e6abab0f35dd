internal import Platform
internal import Preferences
internal import PropertyLists

extension Surroundings {
    /// The bytes of the file that an argument names; `-` is the standard input.
    package func contents(_ argument: String, limit: Int) throws -> [UInt8] {
        if argument == "-" { return try terminal.input(limit: limit) }
        let path = try path(argument)
        // It is not opened to look: a pipe's writer would take that for its reader.
        if try isStream(argument) {
            if let own = Self.descriptor(argument) { return try terminal.input(from: own, limit: limit) }
            return try stream(path, limit)
        }
        guard let bytes = try fileSystem.contents(of: path, limit: limit) else {
            throw CommandFailure(.notFound, "\(path): no such file")
        }
        return bytes
    }

    /// Whether an argument names what can only be read from its beginning to its end, once.
    func isStream(_ argument: String) throws -> Bool {
        if argument == "-" { return true }
        return try fileSystem.status(of: path(argument))?.kind == .other
    }

    /// The descriptor that an argument names; to open a socket once more is not possible.
    private static func descriptor(_ argument: String) -> Int32? {
        if argument == "/dev/stdin" { return StandardStream.input.rawValue }
        let folder = "/dev/fd/"
        return argument.hasPrefix(folder) ? Int32(argument.dropFirst(folder.count)) : nil
    }

    /// Whether a path leads to a descriptor of a process, as `/dev/stdout` does. The kernel has such a link lead
    /// to the file behind it, but to replace that file is not to write to the descriptor.
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

    /// Writes a file as a whole, or to the standard output for `-`. A symbolic link is kept.
    ///
    /// - Parameter isSensitive: Whether the bytes are for nobody but this user.
    func write(_ bytes: [UInt8], to argument: String, isSensitive: Bool = false) throws {
        if argument == "-" { return try terminal.write(bytes, to: .output) }
        try checkReplaceable(argument)
        let file = DomainFile(name: argument, path: try absolutePath(argument), lock: .itself)
            .addressedByPath
        delayInterrupts(true)
        defer { delayInterrupts(false) }
        let writer = DomainWriter(machine, WriteNote(.write, by: machine))
        try writer.replace(file, with: bytes, isSensitive: isSensitive)
    }

    /// Refuses to write where a file would come to lie beside what was meant.
    func checkNoDescriptor(_ path: FilePath, _ name: String) throws {
        guard try isDescriptor(path) else { return }
        throw CommandFailure(
            .systemFailed, "\(name.onOneLine): stands for an open descriptor; - is the standard output")
    }

    /// Refuses what cannot be replaced by a file; `-` is never replaced.
    func checkReplaceable(_ argument: String) throws {
        if argument == "-" { return }
        try checkNoDescriptor(absolutePath(argument), argument)
        let former = try fileSystem.status(of: path(argument).followingLinks(in: fileSystem))
        // What is renamed to the name of a device or a pipe would stand in its place for all programs.
        guard former.map({ $0.kind == .file }) ?? true else {
            throw CommandFailure(.systemFailed, "\(argument.onOneLine): is no file that could be replaced")
        }
    }

    /// Judges files one by one, so that one that cannot be read does not keep the others from it; the worst that is
    /// found.
    func worst(of names: [String], _ judge: (String) throws -> ExitStatus) throws -> ExitStatus {
        var worst = ExitStatus.done
        for name in names {
            var status: ExitStatus
            do {
                status = try judge(name)
            } catch let failure as CommandFailure where failure.status != .usage {
                try note(failure.lines.joined(separator: "\n"))
                status = failure.status
            } catch let failure as SystemFailure where failure.path != nil {
                try note(failure.description)
                status = .systemFailed
            }
            if Self.rank(status) > Self.rank(worst) { worst = status }
        }
        return worst
    }

    /// That a file is damaged was the question, so it counts for more than that another one could not be asked.
    private static func rank(_ status: ExitStatus) -> Int32 {
        status == .damaged ? .max : status.rawValue
    }
}
