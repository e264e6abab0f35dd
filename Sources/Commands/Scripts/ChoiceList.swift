internal import Platform
internal import SettingsSchema

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The choices that a command of a script's own head lists, one in each line.
enum ChoiceList {
    static let mostMilliseconds = 2000
    static let mostBytes = 64 << 10

    /// The reason there are no choices.
    struct Failure: Error, CustomStringConvertible { let description: String }

    /// Runs a command of `sh` without input and returns its lines.
    static func lines(of command: String) throws(Failure) -> [String] {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure(description: "cannot create a pipe") }
        // A background process of the command must not keep the pipe open.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let process = try? spawn("/bin/sh", ["sh", "-c", command], output: ends[1])
        close(ends[1])
        defer { close(ends[0]) }
        guard let process else { throw Failure(description: "/bin/sh cannot be run") }
        let output = read(ends[0])
        // The process leads a group, so that its child processes end with it.
        if output == nil { kill(-process, SIGKILL) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) == -1, errno == EINTR {}
        guard let output else {
            throw Failure(description: "\(command) took more than 2 s or printed more than 64 KiB")
        }
        let signal = status & 0x7F
        guard signal == 0 else { throw Failure(description: "\(command) was ended by signal \(signal)") }
        guard status == 0 else {
            throw Failure(description: "\(command) failed with status \(status >> 8 & 0xFF)")
        }
        return output.split(separator: UInt8(ascii: "\n")).map { ByteText.text($0) }
    }

    /// Reads to the end of the pipe; nil beyond the limits.
    private static func read(_ descriptor: Int32) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        let clock = ContinuousClock()
        let end = clock.now + .milliseconds(mostMilliseconds)
        while bytes.count <= mostBytes {
            let left = (end - clock.now).components
            let milliseconds = left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000
            guard milliseconds > 0 else { return nil }
            var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = poll(&wait, 1, Int32(milliseconds))
            if ready == -1, errno == EINTR { continue }
            guard ready == 1 else { return nil }
            let size = buffer.count
            let count = buffer.withUnsafeMutableBytes { readBytes(descriptor, $0.baseAddress, size) }
            if count == 0 { return bytes }
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
        return nil
    }
}

private func readBytes(_ descriptor: Int32, _ start: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, start, count)
}
