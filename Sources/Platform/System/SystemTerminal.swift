// Unsafe: system calls take pointers, which are valid during the call, and a signal handler uses a global.
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The standard streams of this process.
package struct SystemTerminal: Terminal {
    package init() {}

    /// Opens `/dev/null` for each closed standard stream, so that no pipe and no file gets its descriptor. Reading or
    /// writing the stream still fails, because of the mode.
    package static func occupyClosedStreams() {
        for stream in [StandardStream.input, .output, .errors] where fcntl(stream.rawValue, F_GETFD) == -1 {
            // The lowest closed descriptor is that of the stream.
            _ = unsafe open("/dev/null", (stream == .input ? O_WRONLY : O_RDONLY) | O_CLOEXEC)
        }
    }

    package func width(of stream: StandardStream) -> Int? {
        var size = winsize()
        guard isTerminal(stream), unsafe ioctl(stream.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return Int(size.ws_col)
    }

    package func isTerminal(_ stream: StandardStream) -> Bool { isatty(stream.rawValue) == 1 }

    package func write(_ bytes: RawSpan, to stream: StandardStream) throws(SystemFailure) {
        try unsafe bytes.withUnsafeBytes { bytes throws(SystemFailure) in
            var count = 0
            while count < bytes.count {
                let written = try retrying(stream.rawValue, POLLOUT, .write) {
                    unsafe Self.write(stream.rawValue, UnsafeRawBufferPointer(rebasing: bytes[count...]))
                }
                // Prevents an endless loop on a device that accepts no bytes and reports no error.
                guard written > 0 else { throw SystemFailure(.inputOutput, .write, nil) }
                count += written
            }
        }
    }

    package func input(from descriptor: Int32, limit: Int) throws(SystemFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = try retrying(descriptor, POLLIN, .read) {
                unsafe read(descriptor, &buffer, buffer.count)
            }
            if count == 0 { return bytes }
            guard bytes.count + count <= limit else { throw SystemFailure(.fileTooLarge, .read, nil) }
            bytes += buffer[..<count]
        }
    }

    package func exit(_ status: Int32) throws(ProgramExit) -> Never { endProcess(status) }

    /// Repeats a call until a descriptor is ready, in case another program has made it non-blocking.
    private func retrying(
        _ descriptor: Int32, _ readiness: some BinaryInteger, _ operation: SystemFailure.Operation,
        _ call: () -> Int
    ) throws(SystemFailure) -> Int {
        while true {
            do throws(SystemFailure) {
                return try systemCall(operation, nil, call)
            } catch {
                guard error.code == .wouldBlock else { throw error }
                var polled = pollfd(fd: descriptor, events: Int16(readiness), revents: 0)
                _ = try systemCall(operation, nil) { unsafe poll(&polled, 1, -1) }
            }
        }
    }

    private static func write(_ stream: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
            unsafe Glibc.write(stream, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
            unsafe Musl.write(stream, bytes.baseAddress, bytes.count)
        #else
            unsafe Darwin.write(stream, bytes.baseAddress, bytes.count)
        #endif
    }
}

private func endProcess(_ status: Int32) -> Never { exit(status) }

/// The terminal of this process, which passes on each key, and whose whole screen can be drawn.
///
/// From the first call on, signals are events instead of ending the process.
package final class RawTerminal: ScreenTerminal {
    /// The pipe that receives the number of each signal, and 0 for a wake.
    private let pipes = Mutex<(read: Int32, write: Int32)?>(nil)
    /// Whether the pipe contains a wake.
    private let isWakePending = Atomic<Bool>(false)
    private let input: Int32

    /// - Parameter input: The descriptor whose bytes are keys.
    package init(input: Int32 = STDIN_FILENO) { self.input = input }

    package enum Mode: UInt8, Sendable {
        /// Each key is passed on, and the alternate screen is shown.
        case screen = 1
        /// Each key is passed on, without echo.
        case keys
        /// Lines are passed on, without echo.
        case hiddenLine
    }

    package var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    package func enter() throws(SystemFailure) { try enter(.screen) }

    /// Changes what the terminal passes on, until `leave()` or a crash of the program.
    package func enter(_ mode: Mode) throws(SystemFailure) {
        try listen()
        var settings = termios()
        _ = try systemCall(.open, nil) { unsafe tcgetattr(STDIN_FILENO, &settings) }
        if Mode(rawValue: terminalMode.load(ordering: .acquiring)) == nil { unsafe formerSettings = settings }
        restoreAfterCrash()
        terminalMode.store(mode.rawValue, ordering: .releasing)
        switch mode {
        case .screen: unsafe cfmakeraw(&settings)
        case .keys: settings.c_lflag &= ~tcflag_t(ECHO | ICANON | IEXTEN)
        case .hiddenLine:
            settings.c_lflag &= ~tcflag_t(ECHO)
            // Echoes the line break, so that the next question starts on a new line.
            settings.c_lflag |= tcflag_t(ECHONL)
        }
        _ = try systemCall(.open, nil) { unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &settings) }
        guard mode == .screen else { return }
        // The alternate screen, no new line after the last column, pastes in brackets, and the mouse.
        try write("\u{1B}[?1049h\u{1B}[?7l\u{1B}[?2004h\u{1B}[?1000h\u{1B}[?1006h\u{1B}[0m\u{1B}[2J")
    }

    package func leave() { restoreTerminal() }

    package func write(_ bytes: [UInt8]) throws(SystemFailure) { try SystemTerminal().write(bytes, to: .output) }

    package func next(milliseconds limit: Int32?) throws(SystemFailure) -> TerminalEvent {
        let signals = try listen()
        let events = Int16(POLLIN)
        var polled = [
            pollfd(fd: signals, events: events, revents: 0), pollfd(fd: input, events: events, revents: 0),
        ]
        let count = try systemCall(.read, nil) { unsafe poll(&polled, 2, limit ?? -1) }
        if count == 0 { return .timeout }
        if polled[0].revents != 0 {
            switch try bytes(from: signals, limit: 1).first.map(Int32.init) ?? 0 {
            case 0:
                isWakePending.store(false, ordering: .releasing)
                // Keys are first, so that frequent wakes do not delay them.
                if polled[1].revents == 0 { return .woken }
                wake()
            case SIGWINCH: return .resized
            case SIGCONT: return .continued
            case SIGTSTP: return .suspended
            case let number: return .ended(signal: number)
            }
        }
        let bytes = try bytes(from: input, limit: 1024)
        return bytes.isEmpty ? .endOfInput : .bytes(bytes)
    }

    package func wake() {
        pipes.withLock { pipes in
            guard let pipes, !isWakePending.exchange(true, ordering: .acquiringAndReleasing) else { return }
            if !Self.send(0, to: pipes.write) { isWakePending.store(false, ordering: .releasing) }
        }
    }

    package func suspend() throws(SystemFailure) {
        let mode = Mode(rawValue: terminalMode.load(ordering: .acquiring))
        leave()
        Self.stopProcess()
        if let mode { try enter(mode) }
    }

    /// Stops this process, as Control-Z does. A session leader does not stop, because it has no shell that could
    /// continue it.
    package static func stopProcess() {
        // A thread waits for SIGTSTP, so that signal would not stop the process.
        if getsid(0) != getpid() { kill(getpid(), SIGSTOP) }
    }

    package func end(with number: Int32) {
        leave()
        _ = signal(number, SIG_DFL)
        var signals = sigset_t(of: [number])
        unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(number)
    }

    // MARK: Signals

    /// Starts a thread that writes signals to a pipe, which can be polled together with the input. Returns the read end
    /// of the pipe. Signals that are ignored, for example by `nohup`, stay ignored.
    @discardableResult
    package func listen() throws(SystemFailure) -> Int32 {
        try pipes.withLock { pipes throws(SystemFailure) in
            if let pipes { return pipes.read }
            var ends: [Int32] = [0, 0]
            _ = try systemCall(.open, nil) { unsafe pipe(&ends) }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
            let end = ends[1]
            let numbers = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH]
            var awaited = sigset_t(of: numbers.filter { !isIgnored($0) })
            unsafe pthread_sigmask(SIG_BLOCK, &awaited, nil)
            let signals = awaited
            try startThread {
                var (signals, number) = (signals, Int32(0))
                while unsafe sigwait(&signals, &number) == 0 {
                    // The program that uses the terminal meanwhile receives them too, and handles them.
                    let isOfKey = [SIGINT, SIGQUIT, SIGTSTP, SIGCONT].contains(number)
                    if isOfKey, terminalMode.load(ordering: .acquiring) == leftScreen { continue }
                    Self.send(UInt8(truncatingIfNeeded: number), to: end)
                }
            }
            pipes = (ends[0], end)
            return ends[0]
        }
    }

    /// Writes a byte, and returns whether the pipe had room for it.
    @discardableResult
    private static func send(_ byte: UInt8, to end: Int32) -> Bool {
        var byte = byte
        return unsafe writeByte(&byte, end) == 1
    }

    private func bytes(from descriptor: Int32, limit: Int) throws(SystemFailure) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: limit)
        do throws(SystemFailure) {
            let count = try systemCall(.read, nil) { unsafe read(descriptor, &buffer, limit) }
            buffer.removeLast(limit - count)
            return buffer
        } catch {
            // The terminal was closed.
            if error.code.rawValue == EIO { return [] }
            throw error
        }
    }
}

private func writeByte(_ byte: UnsafePointer<UInt8>, _ end: Int32) -> Int { unsafe write(end, byte, 1) }

extension sigset_t {
    /// Creates a set of signals.
    package init(of numbers: [Int32]) {
        self.init()
        unsafe sigemptyset(&self)
        for number in numbers { unsafe sigaddset(&self, number) }
    }
}

/// Returns whether this process ignores a signal.
package func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard unsafe sigaction(number, nil, &action) == 0 else { return false }
    #if os(Linux)
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    #else
        return unsafe unsafeBitCast(action.__sigaction_u.__sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    #endif
}

// MARK: Restoring

/// The mode of the terminal, `leftScreen`, or 0 for a terminal that was not entered. A process has one terminal.
private let terminalMode = Atomic<UInt8>(0)
/// The screen was left for another program.
private let leftScreen: UInt8 = 255

// An unsafe global, because a signal handler reads it, and a handler must not allocate memory or take a lock. Only the
// main thread changes it.
nonisolated(unsafe) private var formerSettings = termios()  // because of the signal handler

private let leaving: StaticString =
    "\u{1B}[0m\u{1B}[H\u{1B}[2J\u{1B}[?1006l\u{1B}[?1000l\u{1B}[?2004l\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

/// Restores the terminal. Safe in a signal handler.
private func restoreTerminal() {
    guard let mode = RawTerminal.Mode(rawValue: terminalMode.load(ordering: .acquiring)) else { return }
    terminalMode.store(mode == .screen ? leftScreen : 0, ordering: .releasing)
    if mode == .screen { _ = unsafe write(STDOUT_FILENO, leaving.utf8Start, leaving.utf8CodeUnitCount) }
    _ = unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &formerSettings)
}

/// Restores the terminal before a crash ends the process.
private func restoreAfterCrash() {
    for number in [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE] {
        _ = signal(number) { number in
            restoreTerminal()
            _ = signal(number, SIG_DFL)
            _ = raise(number)
        }
    }
}
