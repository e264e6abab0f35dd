import Glibc

/// Standard output for the tables, standard error for what is said besides. Where nobody reads any more, it ends.
enum Console {
    static func show(_ line: String) { write(line + "\n", to: STDOUT_FILENO) }
    static func note(_ line: String) { write(line + "\n", to: STDERR_FILENO) }

    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { exit(2) }
            rest = rest.dropFirst(max(count, 0))
        }
    }
}

/// Why the benchmarks cannot go on, in a sentence.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// What the last call of the system says about `subject`.
    static func system(_ subject: String) -> Failure { Failure("\(subject): \(String(cString: strerror(errno)))") }
}
