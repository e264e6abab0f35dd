import Foundation
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A pseudo-terminal that a test controls.
final class PseudoTerminal {
    private let master: Int32
    /// Kept open, so that the terminal remains after the program in it has ended.
    private let slave: Int32
    /// The path with which programs open the terminal.
    let path: String
    /// All output so far.
    private(set) var screen = ""

    struct Failure: Error { let code: Int32 }

    init() throws {
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (locked, number) = (Int32(0), UInt32(0))
        // `TIOCSPTLCK` and `TIOCGPTN`, which are macros that Swift does not import.
        guard master >= 0, ioctl(master, 0x4004_5431, &locked) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
            throw Failure(code: errno)
        }
        path = "/dev/pts/\(number)"
        slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw Failure(code: errno) }
    }

    deinit {
        close(slave)
        close(master)
    }

    func type(_ text: String) {
        let bytes = Array(text.utf8)
        #expect(write(master, bytes, bytes.count) == bytes.count)
    }

    /// Waits until a text appears after the previous text that was waited for. Returns false after ten seconds.
    func shows(_ text: String) -> Bool {
        while true {
            if let range = screen[seen...].range(of: text) {
                seen = range.upperBound
                return true
            }
            var polled = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
            guard poll(&polled, 1, 10_000) > 0 else { return false }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(master, &buffer, buffer.count)
            guard count > 0 else { return false }
            let offset = screen.distance(from: screen.startIndex, to: seen)
            screen += String(decoding: buffer[..<count], as: UTF8.self)
            seen = screen.index(screen.startIndex, offsetBy: offset)
        }
    }

    private lazy var seen = screen.startIndex

    /// Whether the terminal echoes input and reads whole lines.
    var isAsUsual: Bool {
        var settings = termios()
        guard tcgetattr(slave, &settings) == 0 else { return false }
        let usual = tcflag_t(ECHO) | tcflag_t(ICANON) | tcflag_t(ISIG)
        return settings.c_lflag & usual == usual && settings.c_lflag & tcflag_t(ECHONL) == 0
    }
}
