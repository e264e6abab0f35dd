// Unsafe: system calls take pointers, which are valid during the call, and a signal handler uses two globals.
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

/// The terminal of this process, as a screen.
package final class SystemScreen: ScreenTerminal {
    /// The pipe that receives the number of each signal, and 0 for a wake.
    private let pipes = Mutex<(read: Int32, write: Int32)?>(nil)

    package init() {}

    package var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    package func enter() throws(SystemFailure) {
        try listen()
        var settings = termios()
        _ = try systemCall(.open, nil) { unsafe tcgetattr(STDIN_FILENO, &settings) }
        if unsafe !isEntered { unsafe formerSettings = settings }
        restoreAfterCrash()
        unsafe isEntered = true
        unsafe cfmakeraw(&settings)
        _ = try systemCall(.open, nil) { unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &settings) }
        // The alternate screen, pastes in brackets, and the mouse.
        try write("\u{1B}[?1049h\u{1B}[?2004h\u{1B}[?1000h\u{1B}[?1006h\u{1B}[0m\u{1B}[2J")
    }

    package func leave() { restoreScreen() }

    package func write(_ text: String) throws(SystemFailure) {
        try SystemTerminal().write(text)
    }

    package func next(milliseconds limit: Int32?) throws(SystemFailure) -> ScreenEvent {
        let signals = try listen()
        var polled = [signals, STDIN_FILENO].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let count = try systemCall(.read, nil) { unsafe poll(&polled, 2, limit ?? -1) }
        if count == 0 { return .timeout }
        if polled[0].revents != 0 {
            switch try bytes(from: signals, limit: 1).first.map(Int32.init) ?? 0 {
            case 0: return .woken
            case SIGWINCH: return .resized
            case SIGCONT: return .continued
            case SIGTSTP: return .suspended
            case let number: return .ended(signal: number)
            }
        }
        let bytes = try bytes(from: STDIN_FILENO, limit: 4096)
        return bytes.isEmpty ? .endOfInput : .bytes(bytes)
    }

    package func wake() { pipes.withLock { if let pipe = $0 { Self.send(0, to: pipe.write) } } }

    package func suspend() throws(SystemFailure) {
        leave()
        // A thread waits for SIGTSTP, so that signal would not stop the process. A session leader does not stop,
        // because it has no shell that could continue it.
        if getsid(0) != getpid() { kill(getpid(), SIGSTOP) }
        try enter()
    }

    package func end(with number: Int32) {
        leave()
        _ = signal(number, SIG_DFL)
        var signals = Self.set(of: [number])
        unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(number)
    }

    // MARK: Signals

    /// Starts a thread that writes signals to a pipe, which can be polled together with the input. Returns the read end
    /// of the pipe.
    @discardableResult
    private func listen() throws(SystemFailure) -> Int32 {
        try pipes.withLock { pipes throws(SystemFailure) in
            if let pipes { return pipes.read }
            var ends: [Int32] = [0, 0]
            _ = try systemCall(.open, nil) { unsafe pipe(&ends) }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
            let end = ends[1]
            var awaited = Self.set(of: [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH])
            unsafe pthread_sigmask(SIG_BLOCK, &awaited, nil)
            let signals = awaited
            try startThread {
                var (signals, number) = (signals, Int32(0))
                while unsafe sigwait(&signals, &number) == 0 { Self.send(UInt8(truncatingIfNeeded: number), to: end) }
            }
            pipes = (ends[0], end)
            return ends[0]
        }
    }

    /// Writes a byte. A full pipe already wakes the reader.
    private static func send(_ byte: UInt8, to end: Int32) {
        var byte = byte
        _ = unsafe writeByte(&byte, end)
    }

    private static func set(of numbers: [Int32]) -> sigset_t {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for number in numbers { unsafe sigaddset(&set, number) }
        return set
    }

    private func bytes(from descriptor: Int32, limit: Int) throws(SystemFailure) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: limit)
        do throws(SystemFailure) {
            let count = try systemCall(.read, nil) { unsafe read(descriptor, &buffer, limit) }
            return Array(buffer[..<count])
        } catch {
            // The terminal was closed.
            if error.code.rawValue == EIO { return [] }
            throw error
        }
    }
}

private func writeByte(_ byte: UnsafePointer<UInt8>, _ end: Int32) -> Int { unsafe write(end, byte, 1) }

// MARK: Restoring

// Unsafe globals, because a signal handler reads them, and a handler must not allocate memory or take a lock. A process
// has one terminal, so one copy is enough. Only the main thread and the signal handler change it.
nonisolated(unsafe) private var formerSettings = termios()  // because of the signal handler
nonisolated(unsafe) private var isEntered = false  // because of the signal handler

private let leaving: StaticString = "\u{1B}[0m\u{1B}[?1006l\u{1B}[?1000l\u{1B}[?2004l\u{1B}[?25h\u{1B}[?1049l"

/// Restores the terminal. Safe in a signal handler.
private func restoreScreen() {
    guard unsafe isEntered else { return }
    unsafe isEntered = false
    _ = unsafe write(STDOUT_FILENO, leaving.utf8Start, leaving.utf8CodeUnitCount)
    _ = unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &formerSettings)
}

/// Restores the terminal before a crash ends the process.
private func restoreAfterCrash() {
    for number in [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE] {
        _ = signal(number) { number in
            restoreScreen()
            _ = signal(number, SIG_DFL)
            _ = raise(number)
        }
    }
}
