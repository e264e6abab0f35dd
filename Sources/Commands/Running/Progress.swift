internal import Platform

/// Says on a terminal how far long work has come; nothing where nobody looks.
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
        // What is over at once is not worth a line.
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
