package import Platform
package import Preferences
internal import PropertyLists

/// Everything a verb can access: the system's services, and the user who runs the command.
package struct CommandContext: Sendable {
    package var machine: Machine
    /// Waits until the gate opens. Returns false if the user has interrupted the command.
    package let wait: @Sendable (Gate) -> Bool
    /// Runs a program in the terminal, and returns its exit status as a shell would.
    package let run: @Sendable (_ program: FilePath, _ arguments: [String]) throws(SystemFailure) -> Int32
    /// Reads a named pipe or a device.
    let stream: @Sendable (_ path: FilePath, _ limit: Int) throws(SystemFailure) -> [UInt8]
    /// Starts or ends a delay of interrupts.
    package let delayInterrupts: @Sendable (Bool) -> Void
    package let dialogue: any Dialogue
    /// Runs a command of `sh` and returns the lines that it prints.
    let choices: @Sendable (_ command: String) throws -> [String]
    /// The screen of the terminal, for verbs that fill it; nil if there is none.
    let screen: (any ScreenTerminal)?

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
        choices: @escaping @Sendable (_ command: String) throws -> [String] = { _ in [] },
        dialogue: (any Terminal) -> any Dialogue = { BatchDialogue($0) }, screen: (any ScreenTerminal)? = nil
    ) {
        self.machine = machine
        self.machine.terminal = EscapingTerminal(machine.terminal)
        self.wait = wait
        self.run = run
        self.stream = stream
        self.delayInterrupts = delayInterrupts
        self.choices = choices
        self.screen = screen
        self.dialogue = dialogue(self.machine.terminal)
    }
}

extension CommandContext {
    package var environment: Environment { machine.environment }
    package var fileSystem: any FileSystem { machine.fileSystem }
    package var clock: any Clock { machine.clock }
    package var terminal: any Terminal { machine.terminal }

    /// The screen, if the command talks to a terminal that can move its cursor.
    var fullScreen: (any ScreenTerminal)? {
        let kind = environment.variables[Variable.terminalKind.rawValue] ?? ""
        guard !kind.isEmpty, kind != "dumb", terminal.isTerminal(.input), terminal.isTerminal(.output) else {
            return nil
        }
        return screen
    }

    /// The unescaped streams, for cursor control.
    var cursor: any Terminal { (terminal as? EscapingTerminal)?.inner ?? terminal }
}

extension CommandContext {
    /// The name by which the program was called: `prefs`, or that of a link to it.
    package var program: String {
        let name = environment.arguments.first?.split(separator: "/").last.map(String.init) ?? ""
        return name.isEmpty ? Prefs.name : name
    }

    /// The command that the name selects.
    package var dialect: Dialect { Dialect(program: program) }

    /// Returns the path that an argument names, with `~/` expanded.
    package func path(_ argument: String) throws -> FilePath {
        guard argument == "~" || argument.utf8.starts(with: "~/".utf8) else {
            guard let path = FilePath(bytes(of: argument)) else {
                throw CommandFailure(.usage, "missing file name")
            }
            return path
        }
        let home = try environment.home(in: fileSystem)
        return FilePath(bytes(of: argument).dropFirst(2)).map(home.resolving) ?? home
    }

    /// Returns the original bytes of an argument, even if they are not valid UTF-8. Text that the command has added
    /// before or after the argument is kept.
    private func bytes(of argument: String) -> [UInt8] {
        let bytes = Array(argument.utf8)
        for (text, given) in environment.changedArguments {
            guard let range = bytes.firstRange(of: Array(text.utf8)) else { continue }
            return Array(bytes[..<range.lowerBound]) + given + bytes[range.upperBound...]
        }
        return bytes
    }

    /// Returns the absolute path that an argument names.
    func absolutePath(_ argument: String) throws -> FilePath {
        let path = try path(argument)
        if path.isAbsolute { return path }
        let folder = try fileSystem.destination(ofLink: "/proc/self/cwd") ?? .root
        // The link of a deleted folder leads to a path that does not exist.
        if folder.bytes.suffix(10) == Array(" (deleted)".utf8), try fileSystem.status(of: folder) == nil {
            throw SystemFailure(.noSuchFile, .open, path)
        }
        let isHere = path.bytes.starts(with: "./".utf8)
        return folder.resolving(FilePath(path.bytes.dropFirst(isHere ? 2 : 0)) ?? path)
    }

    /// Whether the program was called by the name of one of Apple's tools, and behaves like it.
    var isRunAsAppleTool: Bool { program == "defaults" || program == "plutil" }

    /// Reports that dates were written without fractions of a second. Apple's tools drop them without a message.
    func noteDroppedFractions(in name: String) {
        guard !isRunAsAppleTool else { return }
        note("\(name): dates are written without fractions of a second")
    }

    /// Prints a line to standard output.
    package func say(_ line: String) throws { try terminal.write(line + "\n", to: .output) }

    /// Prints a line to standard error, after the program's name. If it cannot be printed, the command continues: a note
    /// is not part of the result.
    package func note(_ line: String) { try? terminal.write("\(program): \(line)".shown + "\n", to: .errors) }
}
