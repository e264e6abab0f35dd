package import Platform
package import Preferences
internal import PropertyLists

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Everything a verb can access: the system's services, and the user who runs the command.
package struct CommandContext: Sendable {
    package var system: SystemServices
    /// Waits until the gate opens. Returns false if the user has interrupted the command.
    package let wait: @Sendable (Gate) -> Bool
    /// From now on, interrupts the command when the reader of its output has gone away.
    package let followReader: @Sendable () -> Void
    /// Runs a program in the terminal, and returns its exit status as a shell would.
    package let run: @Sendable (ForegroundProgram) throws(SystemFailure) -> Int32
    /// Reads a named pipe or a device.
    let stream: @Sendable (_ path: FilePath, _ limit: Int) throws(SystemFailure) -> [UInt8]
    /// Starts or ends a delay of interrupts.
    package let delayInterrupts: @Sendable (Bool) -> Void
    package let dialogue: any Dialogue
    package let progress: Progress
    /// The screen of the terminal, for verbs that fill it; nil if there is none.
    let screen: (any ScreenTerminal)?

    package init(
        _ system: SystemServices,
        wait: @escaping @Sendable (Gate) -> Bool = { _ in false },
        followReader: @escaping @Sendable () -> Void = {},
        run: @escaping @Sendable (ForegroundProgram) throws(SystemFailure) -> Int32 = {
            program throws(SystemFailure) in throw SystemFailure(.noSuchFile, .run, program.path)
        },
        stream: @escaping @Sendable (_ path: FilePath, _ limit: Int) throws(SystemFailure) -> [UInt8] = {
            path, _ throws(SystemFailure) in throw SystemFailure(.invalidArgument, .read, path)
        },
        delayInterrupts: @escaping @Sendable (Bool) -> Void = { _ in },
        dialogue: (any Terminal) -> any Dialogue = { BatchDialogue($0) }, screen: (any ScreenTerminal)? = nil
    ) {
        self.system = system
        self.system.environment.arguments = system.environment.words
        progress = Progress(on: system)
        self.system.terminal = EscapingTerminal(system.terminal, progress)
        self.wait = wait
        self.followReader = followReader
        self.run = run
        self.stream = stream
        self.delayInterrupts = delayInterrupts
        self.screen = screen
        self.dialogue = dialogue(self.system.terminal)
    }
}

extension CommandContext {
    package var environment: Environment { system.environment }
    package var fileSystem: any FileSystem { system.fileSystem }
    package var clock: any Clock { system.clock }
    package var terminal: any Terminal { system.terminal }

    /// The screen, if the command talks to a terminal that can move its cursor.
    var fullScreen: (any ScreenTerminal)? { system.canMoveCursor ? screen : nil }
}

extension Environment {
    /// The arguments, with bytes that are not valid UTF-8 in the notation of `ByteText`.
    fileprivate var words: [String] {
        guard !bytesOfArguments.isEmpty || arguments.contains(where: ByteText.holdsRaw) else { return arguments }
        return arguments.enumerated().map { ByteText.text(bytesOfArguments[$0.offset] ?? Array($0.element.utf8)) }
    }
}

extension FilePath {
    /// The path as an argument of a command, with bytes that are not valid UTF-8 in the notation of `ByteText`.
    var word: String { ByteText.text(bytes) }
}

extension SystemServices {
    /// Whether the standard streams are a terminal that can move its cursor.
    fileprivate var canMoveCursor: Bool {
        hasCursor && terminal.isTerminal(.input) && terminal.isTerminal(.output)
    }

    /// Whether the kind of the terminal has a cursor that can be moved.
    var hasCursor: Bool {
        let kind = environment.variables[Variable.terminalKind.rawValue] ?? ""
        return !kind.isEmpty && kind != "dumb"
    }
}

extension CommandContext {
    /// The name by which the program was called: `prefs`, or that of a link to it.
    package var program: String {
        let name = environment.arguments.first?.split(separator: "/").last.map(String.init) ?? ""
        return name.isEmpty ? Prefs.name : name
    }

    /// Returns the author of a change by this command, under the name by which it was called.
    func author(of reason: WriteReason) -> WriteAuthor {
        WriteAuthor(program: program, process: environment.process, reason: reason)
    }

    /// The command that the name selects.
    package var dialect: Dialect { Dialect(program: program) }

    /// Returns the path that an argument names, with `~/` expanded. Its bytes are those that were given.
    package func path(_ argument: String) throws -> FilePath {
        let bytes = ByteText.bytes(argument)
        guard argument == "~" || argument.utf8.starts(with: "~/".utf8) else {
            guard let path = FilePath(bytes) else { throw CommandFailure(.usage, "missing file name") }
            return path
        }
        let home = try environment.home(in: fileSystem)
        return FilePath(bytes.dropFirst(2)).map(home.resolving) ?? home
    }

    /// Returns the absolute path that an argument names.
    func absolutePath(_ argument: String) throws -> FilePath {
        let path = try path(argument)
        if path.isAbsolute { return path }
        guard let folder = try fileSystem.destination(ofLink: "/proc/self/cwd") ?? environment.workingFolder else {
            throw SystemFailure(.noSuchFile, .open, path)
        }
        // The link of a deleted folder leads to a path that does not exist.
        if folder.bytes.suffix(10) == Array(" (deleted)".utf8), try fileSystem.status(of: folder) == nil {
            throw SystemFailure(.noSuchFile, .open, path)
        }
        let isHere = path.bytes.starts(with: "./".utf8)
        return folder.resolving(FilePath(path.bytes.dropFirst(isHere ? 2 : 0)) ?? path)
    }

    /// Whether the program was called by the name of one of Apple's tools, and behaves like it.
    var isRunAsAppleTool: Bool { dialect == .classic || [Plutil.name, PlistBuddy.name].contains(program) }

    /// Reports that dates were written without fractions of a second. Apple's tools drop them without a message.
    func noteDroppedFractions(in name: String) {
        guard !isRunAsAppleTool else { return }
        note("\(name): dates are written without fractions of a second")
    }

    /// Reports the comments that an edit has removed from a file, in one note.
    func note(removed comments: [String], from name: String) {
        if let text = EditResult.note(onRemoved: comments) { note("\(name.onOneLine): \(text)") }
    }

    /// Prints a line to standard output.
    package func say(_ line: String) throws { try terminal.write(line + "\n", to: .output) }

    /// Prints a text whose control characters are our own.
    func writeUnescaped(_ text: String, to stream: StandardStream = .output) throws {
        let inner = (terminal as? EscapingTerminal)?.inner ?? terminal
        try progress.withoutLine { () throws(SystemFailure) in try inner.write(text, to: stream) }
    }

    /// Calls `body` whenever the bell rings, until the command is interrupted, and then once more, for changes that
    /// preceded the interrupt. The command is also interrupted when the reader of its output goes away.
    func follow(_ bell: ResettableEvent, _ body: () throws -> Void) rethrows {
        followReader()
        var isInterrupted = false
        while !isInterrupted {
            isInterrupted = !wait(bell.next)
            bell.reset()
            try body()
        }
    }

    /// Calls `body` after a change was made. An error states that the change was made.
    func after<Result>(_ change: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            if let failure = error as? SystemFailure, failure.isBrokenPipe { throw error }
            throw CommandFailure(error, after: change)
        }
    }

    /// Prints a line to standard error, after the program's name. If that fails, the command continues: a note is not
    /// part of the result.
    package func note(_ line: String) { try? terminal.write("\(program): \(line)".shown + "\n", to: .errors) }
}

extension CommandContext {
    /// The context of the running process. From now on, a write to a closed pipe or beyond the file size limit fails
    /// instead of ending the process.
    static var ofThisProcess: CommandContext {
        for ending in [SIGPIPE, SIGXFSZ] { _ = signal(ending, SIG_IGN) }
        let (interruption, delay) = (Interruption(), InterruptDelay())
        let (system, raw) = (SystemServices.ofThisProcess(), RawTerminal())
        return CommandContext(
            system, wait: { gate in interruption.wait(for: gate) },
            followReader: { interruption.followReader() }, run: { program throws(SystemFailure) in try program.run() },
            stream: { path, limit throws(SystemFailure) in try readStream(path, limit: limit) },
            delayInterrupts: { delay.set($0) },
            dialogue: { _ in TerminalDialogue(on: raw, canMoveCursor: system.canMoveCursor) }, screen: raw)
    }
}

extension CommandContext {
    /// Allows this process as many open files as the system permits, instead of the 1,024 that are usual.
    static func allowDescriptors() {
        var limit = rlimit()
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(resource, &limit)
    }
}

/// Reads a pipe or a device, and waits for its data.
private func readStream(_ path: FilePath, limit: Int) throws(SystemFailure) -> [UInt8] {
    let descriptor = open(path.bytes.map { CChar(bitPattern: $0) } + [0], O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { throw SystemFailure(ErrorCode(rawValue: errno), .open, path) }
    defer { close(descriptor) }
    do {
        return try SystemTerminal().input(from: descriptor, limit: limit)
    } catch {
        throw SystemFailure(error.code, .read, path)
    }
}

extension SystemFailure {
    /// Whether the reader of a pipe has closed it.
    var isBrokenPipe: Bool { path == nil && operation == .write && code.rawValue == EPIPE }
}

extension CommandContext {
    /// Returns the contents of the file that an argument names; `-` is the standard input.
    package func contents(_ argument: String, limit: Int) throws -> [UInt8] {
        if argument == "-" {
            guard terminal.isTerminal(.input) else { return try terminal.input(limit: limit) }
            return try progress.whileTyping { () throws(SystemFailure) in try terminal.input(limit: limit) }
        }
        let path = try path(argument)
        // Checked without opening it: the writer of a pipe would take the check for its reader.
        if try isStream(argument) {
            if let own = Self.descriptor(argument) { return try terminal.input(from: own, limit: limit) }
            try checkOwnPipe(path)
            return try stream(path, limit)
        }
        guard let bytes = try storedContents(of: path, limit: limit) else {
            throw CommandFailure(.notFound, "\(path): no such file")
        }
        return bytes
    }

    /// Returns the contents of a file. A file of a store is read as it is once the pending transactions are complete.
    private func storedContents(of path: FilePath, limit: Int) throws -> [UInt8]? {
        guard let folder = try storeFolder(of: path) else { return try fileSystem.contents(of: path, limit: limit) }
        return try folder.file(of: .global).reading(on: system) { system throws(SystemFailure) in
            try system.fileSystem.contents(of: path, limit: limit)
        }
    }

    /// Returns the folder of the store that has a file, or nil for any other file.
    private func storeFolder(of path: FilePath) throws -> StoreFolder? {
        guard let places = try? StorePlaces(.native, on: system),
            let target = try? path.followingLinks(in: fileSystem)
        else { return nil }
        for folder in [places.user, places.forced].compactMap(\.self) + places.site {
            if try folder.ownFile(at: target, name: "", in: fileSystem) != nil
                || folder.ownMember(at: target, in: fileSystem) != nil
            {
                return folder
            }
        }
        return nil
    }

    /// Returns the path of a file, where a word without a slash can name one. The ending `.plist` can be omitted.
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
        let kind = try fileSystem.status(of: path(argument))?.kind
        return kind == .pipe || kind == .other
    }

    /// Throws for a named pipe of another user, who may never write to it, so that the command would wait forever.
    /// Devices of all users are read, and a socket cannot be opened.
    private func checkOwnPipe(_ path: FilePath) throws {
        guard let pipe = try fileSystem.status(of: path), pipe.kind == .pipe, pipe.owner != environment.user else {
            return
        }
        throw SystemFailure(.notPermitted, .readForeignPipe, path)
    }

    /// Returns the descriptor that an argument names. It is read directly, because a socket cannot be opened again.
    private static func descriptor(_ argument: String) -> Int32? {
        if argument == "/dev/stdin" { return StandardStream.input.rawValue }
        let folder = ["/dev/fd/", "/proc/self/fd/"].first { argument.hasPrefix($0) }
        return folder.flatMap { Int32(argument.dropFirst($0.count)) }
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
        let file = DomainFile(name: argument, path: try absolutePath(argument), lock: .byPath)
            .addressedByPath
        delayInterrupts(true)
        defer { delayInterrupts(false) }
        let writer = DomainWriter(system, author(of: .write))
        try writer.replace(file, with: bytes, isSensitive: isSensitive)
    }

    private static let nullDevice = "/dev/null"

    /// Throws if there is no such file yet and its extension states a language that prefs does not write.
    func checkLanguage(ofNewFile name: String) throws {
        guard dialect == .modern, let language = FileExtension.unsupportedLanguage(ofFile: name),
            try fileSystem.status(of: path(name)) == nil
        else { return }
        throw CommandFailure(.usage, "\(name.onOneLine): prefs does not write \(language.name)")
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

/// The environment variables that the command uses. Each has a row in the manual.
package enum Variable: String, Hashable, Sendable, CaseIterable {
    case home = "HOME"
    case configHome = "XDG_CONFIG_HOME"
    case configFolders = "XDG_CONFIG_DIRS"
    case stateHome = "XDG_STATE_HOME"
    case dataHome = "XDG_DATA_HOME"
    case dataFolders = "XDG_DATA_DIRS"
    case visual = "VISUAL"
    case editor = "EDITOR"
    case temporaryFolder = "TMPDIR"
    case programFolders = "PATH"
    case columns = "COLUMNS"
    case noColor = "NO_COLOR"
    case terminalKind = "TERM"
    case background = "COLORFGBG"
    case colorsOfTerminal = "COLORTERM"
    case locale = "LC_ALL"
    case localeOfMessages = "LC_MESSAGES"
    case defaultLocale = "LANG"
    case languages = "LANGUAGE"
}

/// The streams of a command. On a terminal, control characters are escaped.
///
/// Values, keys and names can come from anyone and could otherwise control the terminal. Files and pipes receive all
/// bytes unchanged.
struct EscapingTerminal: Terminal {
    /// The unescaped streams, for cursor control.
    let inner: any Terminal
    private let progress: Progress?

    init(_ inner: any Terminal, _ progress: Progress? = nil) { (self.inner, self.progress) = (inner, progress) }

    func width(of stream: StandardStream) -> Int? { inner.width(of: stream) }

    func isTerminal(_ stream: StandardStream) -> Bool { inner.isTerminal(stream) }

    func write(_ bytes: RawSpan, to stream: StandardStream) throws(SystemFailure) {
        guard isTerminal(stream) else { return try inner.write(bytes, to: stream) }
        let text = bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }.visible
        guard let progress else { return try inner.write(text, to: stream) }
        try progress.withoutLine { () throws(SystemFailure) in try inner.write(text, to: stream) }
    }

    func input(from descriptor: Int32, limit: Int) throws(SystemFailure) -> [UInt8] {
        try inner.input(from: descriptor, limit: limit)
    }

    func exit(_ status: Int32) throws(ProgramExit) -> Never { try inner.exit(status) }
}

extension String {
    /// The text with invisible characters escaped, other than newlines and tabs. Control characters, and those that
    /// change the direction or the shape of others, are written as in a string literal: `\u{1B}`.
    var visible: String {
        guard unicodeScalars.contains(where: \.isInvisible) else { return self }
        var result = ""
        for scalar in unicodeScalars {
            if scalar.isInvisible {
                result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
