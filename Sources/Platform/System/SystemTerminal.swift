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
            _ = open("/dev/null", (stream == .input ? O_WRONLY : O_RDONLY) | O_CLOEXEC)
        }
    }

    package func width(of stream: StandardStream) -> Int? {
        var size = winsize()
        guard isTerminal(stream), ioctl(stream.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return Int(size.ws_col)
    }

    package func isTerminal(_ stream: StandardStream) -> Bool { isatty(stream.rawValue) == 1 }

    package func write(_ bytes: RawSpan, to stream: StandardStream) throws(SystemFailure) {
        try bytes.withUnsafeBytes { bytes throws(SystemFailure) in
            var count = 0
            while count < bytes.count {
                count += try retrying(stream.rawValue, POLLOUT, .write) {
                    Self.write(stream.rawValue, UnsafeRawBufferPointer(rebasing: bytes[count...]))
                }
            }
        }
    }

    package func input(from descriptor: Int32, limit: Int) throws(SystemFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = try retrying(descriptor, POLLIN, .read) {
                read(descriptor, &buffer, buffer.count)
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
                _ = try systemCall(operation, nil) { poll(&polled, 1, -1) }
            }
        }
    }

    private static func write(_ stream: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
            Glibc.write(stream, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
            Musl.write(stream, bytes.baseAddress, bytes.count)
        #else
            Darwin.write(stream, bytes.baseAddress, bytes.count)
        #endif
    }
}

private func endProcess(_ status: Int32) -> Never { exit(status) }
