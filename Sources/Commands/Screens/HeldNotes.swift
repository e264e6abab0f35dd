internal import Platform
internal import Synchronization

/// The streams of a command that fills the screen. Lines for standard error are held back.
final class HeldNotes: Terminal {
    private let inner: any Terminal
    private let lines = Mutex<[String]>([])

    init(_ inner: any Terminal) { self.inner = inner }

    /// Returns the lines since the last call.
    @discardableResult
    func drop() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }

    func width(of stream: StandardStream) -> Int? { inner.width(of: stream) }

    func isTerminal(_ stream: StandardStream) -> Bool { inner.isTerminal(stream) }

    func write(_ bytes: RawSpan, to stream: StandardStream) throws(SystemFailure) {
        guard stream == .errors else { return try inner.write(bytes, to: stream) }
        let text = bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        lines.withLock { $0 += text.split(separator: "\n").map(String.init) }
    }

    func input(from descriptor: Int32, limit: Int) throws(SystemFailure) -> [UInt8] {
        try inner.input(from: descriptor, limit: limit)
    }

    func exit(_ status: Int32) throws(ProgramExit) -> Never { try inner.exit(status) }
}
