internal import Platform

/// A progress display on a terminal. Prints nothing if standard error is not a terminal.
final class Progress {
    private let what: String
    private let surroundings: Surroundings
    private var last = Instant(nanoseconds: .min)
    private var hasSaid = false

    init(_ what: String, _ surroundings: Surroundings) {
        self.what = what
        self.surroundings = surroundings
    }

    func note(_ count: Int, of all: Int) {
        guard surroundings.terminal.isTerminal(.errors) else { return }
        let now = surroundings.clock.now
        // Prints nothing until there is progress, and at most ten times per second.
        guard hasSaid || count > 0, last.advanced(by: .milliseconds(100)) <= now else { return }
        last = now
        hasSaid = true
        try? surroundings.cursor.write("\r\(count) of \(all) \(what)", to: .errors)
    }

    func end() {
        guard hasSaid else { return }
        try? surroundings.cursor.write("\r\u{1B}[K", to: .errors)
    }
}
