package import Platform
package import Preferences
internal import PropertyLists

/// All that a verb can reach: the machine, and what only a command has, a user who waits for it.
package struct Surroundings: Sendable {
    package var machine: Machine
    /// Returns once the gate is open, or false once the user has interrupted the command.
    package let wait: @Sendable (Gate) -> Bool
    /// Runs a program, which has the terminal meanwhile, and returns its exit status as a shell says it.
    package let run: @Sendable (_ program: FilePath, _ arguments: [String]) throws(SystemFailure) -> Int32
    /// All that comes from what is no file but can be read: a pipe with a name, or a device.
    let stream: @Sendable (_ path: FilePath, _ limit: Int) throws(SystemFailure) -> [UInt8]
    /// Puts off what would end the command, or lets it come.
    package let delayInterrupts: @Sendable (Bool) -> Void
    /// Where questions are asked and answered.
    package let dialogue: any Dialogue

    package init(
        _ machine: Machine,
        wait: @escaping @Sendable (Gate) -> Bool = { _ in false },
        run: @escaping @Sendable (_ program: FilePath, _ arguments: [String]) throws(SystemFailure) -> Int32 = {
            program, _ throws(SystemFailure) in throw SystemFailure(.noSuchFile, .run, program)
        },
        stream: @escaping @Sendable (_ path: FilePath, _ limit: Int) throws(SystemFailure) -> [UInt8] = {
            path, _ throws(SystemFailure) in throw SystemFailure(.invalidArgument, .read, path)
        },
        delayInterrupts: @escaping @Sendable (Bool) -> Void = { _ in },
        dialogue: (any Terminal) -> any Dialogue = { WrittenDialogue($0) }
    ) {
        self.machine = machine
        self.machine.terminal = VisibleTerminal(machine.terminal)
        self.wait = wait
        self.run = run
        self.stream = stream
        self.delayInterrupts = delayInterrupts
        self.dialogue = dialogue(self.machine.terminal)
    }
}

extension Surroundings {
    package var environment: Environment { machine.environment }
    package var fileSystem: any FileSystem { machine.fileSystem }
    package var clock: any Clock { machine.clock }
    package var terminal: any Terminal { machine.terminal }

    /// The streams themselves, for what moves the cursor of a terminal on purpose.
    var cursor: any Terminal { (terminal as? VisibleTerminal)?.inner ?? terminal }
}

extension Surroundings {
    /// The name that the program was called by: `prefs`, or that of a link to it.
    package var program: String {
        let name = environment.arguments.first?.split(separator: "/").last.map(String.init) ?? ""
        return name.isEmpty ? Prefs.name : name
    }

    /// The file that an argument names; `~/` is the user's home.
    package func path(_ argument: String) throws -> FilePath {
        guard argument == "~" || argument.utf8.starts(with: "~/".utf8) else {
            guard let path = FilePath(bytes(of: argument)) else {
                throw CommandFailure(.usage, "a file needs a name")
            }
            return path
        }
        let home = try environment.home(in: fileSystem)
        return FilePath(bytes(of: argument).dropFirst(2)).map(home.resolving) ?? home
    }

    /// The bytes in which an argument was given, even if they are not UTF-8. Text that the command itself has added
    /// before or after it stays.
    private func bytes(of argument: String) -> [UInt8] {
        let bytes = Array(argument.utf8)
        for (text, given) in environment.changedArguments {
            guard let range = bytes.firstRange(of: Array(text.utf8)) else { continue }
            return Array(bytes[..<range.lowerBound]) + given + bytes[range.upperBound...]
        }
        return bytes
    }

    /// The file that an argument names, as seen from the root.
    func absolutePath(_ argument: String) throws -> FilePath {
        let path = try path(argument)
        if path.isAbsolute { return path }
        let folder = try fileSystem.destination(ofLink: "/proc/self/cwd") ?? .root
        // The link from a folder that is gone leads to a name that never was.
        if folder.bytes.suffix(10) == Array(" (deleted)".utf8), try fileSystem.status(of: folder) == nil {
            throw SystemFailure(.noSuchFile, .open, path)
        }
        let isHere = path.bytes.starts(with: "./".utf8)
        return folder.resolving(FilePath(path.bytes.dropFirst(isHere ? 2 : 0)) ?? path)
    }

    /// Whether the program was called by the name of one of Apple's tools, and behaves like it.
    var isCalledLikeApples: Bool { program == "defaults" || program == "plutil" }

    /// Reports that dates were written without their fractions, which Apple's tools drop without a message.
    func noteDroppedFractions(in name: String) throws {
        guard !isCalledLikeApples else { return }
        try note("\(name): dates are written without fractions of a second")
    }

    /// Writes a line of results.
    package func say(_ line: String) throws { try terminal.write(line + "\n", to: .output) }

    /// Writes one line about what was done. That it cannot be written does not undo what was done, so it is no failure.
    package func remark(_ line: String) { try? note(line) }

    /// Writes one line about what happened, behind the program's name.
    package func note(_ line: String) throws { try terminal.write("\(program): \(line)".shown + "\n", to: .errors) }
}
