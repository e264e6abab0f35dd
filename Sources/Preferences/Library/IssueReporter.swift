internal import Platform
internal import PropertyLists
internal import Synchronization

/// Delivers issues to listeners, or to standard error if there are none.
final class IssueReporter: Sendable {
    private let terminal: any Terminal
    private let program: String
    private let listeners = Mutex(Listeners())

    private struct Listeners: Sendable {
        var continuations: [Int: AsyncStream<Defaults.Issue>.Continuation] = [:]
        var last = 0
    }

    init(_ terminal: any Terminal, _ program: String) {
        self.terminal = terminal
        self.program = program
    }

    func post(_ issue: Defaults.Issue) {
        let continuations = listeners.withLock { Array($0.continuations.values) }
        for continuation in continuations { continuation.yield(issue) }
        if continuations.isEmpty {
            // A failure to write to standard error cannot be reported.
            try? terminal.write("\(program): \(issue)".shown + "\n", to: .errors)
        }
    }

    /// Returns the issues of all domains from now on.
    func issues() -> AsyncStream<Defaults.Issue> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Defaults.Issue.self, bufferingPolicy: .bufferingNewest(256))
        let number = listeners.withLock { listeners in
            listeners.last += 1
            listeners.continuations[listeners.last] = continuation
            return listeners.last
        }
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { _ = $0.continuations.removeValue(forKey: number) }
        }
        return stream
    }
}
