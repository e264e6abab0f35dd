internal import Platform

/// A progress display on a terminal. Prints nothing if standard error is not a terminal.
final class Progress {
    private let what: String
    private let context: CommandContext
    private var last = Instant(nanoseconds: .min)
    private var hasPrinted = false

    init(_ what: String, _ context: CommandContext) {
        self.what = what
        self.context = context
    }

    func note(_ count: Int, of all: Int) {
        guard context.terminal.isTerminal(.errors) else { return }
        let now = context.clock.now
        // Prints nothing until there is progress, and at most ten times per second.
        guard hasPrinted || count > 0, last.advanced(by: .milliseconds(100)) <= now else { return }
        last = now
        hasPrinted = true
        try? context.cursor.write("\r\(count) of \(all) \(what)", to: .errors)
    }

    func end() {
        guard hasPrinted else { return }
        try? context.cursor.write("\r\u{1B}[K", to: .errors)
    }
}
