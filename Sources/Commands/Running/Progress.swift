internal import Platform
package import Preferences
internal import PropertyLists
internal import Screens
internal import Synchronization

/// A line on standard error that states how far long work is, such as `converting d: 812 of 1000 files written`.
///
/// It appears after a second, is rewritten in place, and is erased before anything else is written to the terminal and
/// at the end of the work. Nothing is written unless standard error is a terminal that can move its cursor.
package final class Progress: Sendable {
    private let system: SystemServices
    private let state = Mutex(State())

    private struct State: Sendable {
        /// The present work; nil if there is none.
        var work: String?
        /// How far it is.
        var stage = ""
        /// The time from which on the line can be written.
        var next = Instant.never
        var isShown = false
    }

    /// The time without a line, and the time between two lines.
    package static let patience = Duration.seconds(1), interval = Duration.milliseconds(100)

    /// - Parameter system: The services, with the unescaped streams.
    package init(on system: SystemServices) { self.system = system }

    /// Does work, which can state how far it is. Work within other work is part of it.
    package func during<Result, Failure>(
        _ work: String, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard state.withLock({ $0.work == nil }), system.hasCursor, system.terminal.isTerminal(.errors) else {
            return try body()
        }
        let start = system.clock.now.advanced(by: Self.patience)
        state.withLock { $0 = State(work: work.shown, next: start) }
        // For work that states nothing for long.
        let wakeup = system.clock.wake(at: start) { [weak self] in self?.update() }
        defer {
            wakeup.cancel()
            state.withLock { state in
                erase(&state)
                state.work = nil
            }
        }
        return try body()
    }

    /// States how many things are done.
    ///
    /// - Parameters:
    ///   - what: The things, such as `files written`.
    ///   - all: The number of all; nil if it is unknown.
    package func show(_ count: Int, of all: Int? = nil, _ what: String) {
        guard state.withLock({ $0.work != nil }) else { return }
        let all = all.map { " of \($0)" } ?? ""
        state.withLock { $0.stage = ": \(count)\(all) \(what)" }
        update()
    }

    /// Returns the function that states how far a commit of domains is.
    func ofCommit(of domains: Int) -> @Sendable (CommitStep) -> Void {
        let counts = Mutex((files: 0, versions: 0))
        return { [self] step in
            switch step {
            case .wroteFile(let all):
                // A domain that is a folder has several files.
                let files = counts.withLock { counts in
                    counts.files += 1
                    return counts.files
                }
                show(files, of: max(files, domains, all), "files written")
            case .keptVersion:
                let versions = counts.withLock { counts in
                    counts.versions += 1
                    return counts.versions
                }
                show(versions, of: domains, "versions kept")
            }
        }
    }

    /// Writes the line if it is due.
    private func update() {
        let now = system.clock.now
        state.withLock { state in
            guard let work = state.work, state.next <= now else { return }
            state.next = now.advanced(by: Self.interval)
            state.isShown = true
            let room = max(1, (system.terminal.width(of: .errors) ?? 80) - 1)
            let line = (work + state.stage).beginning(toColumns: room)
            // The work does not depend on this line.
            try? system.terminal.write("\r\(line)\u{1B}[K", to: .errors)
        }
    }

    /// Writes something else to the terminal, in place of the line.
    func withoutLine<Failure>(_ write: () throws(Failure) -> Void) throws(Failure) {
        try state.withLock { state throws(Failure) in
            erase(&state)
            try write()
        }
    }

    /// Reads what the user types, without a line over it.
    package func whileTyping<Result, Failure>(_ read: () throws(Failure) -> Result) throws(Failure) -> Result {
        state.withLock { state in
            erase(&state)
            state.next = .never
        }
        defer {
            let next = system.clock.now.advanced(by: Self.patience)
            state.withLock { $0.next = next }
        }
        return try read()
    }

    private func erase(_ state: inout State) {
        guard state.isShown else { return }
        state.isShown = false
        try? system.terminal.write("\r\u{1B}[K", to: .errors)
    }
}
