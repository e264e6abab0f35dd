internal import Platform
internal import PropertyLists
internal import Synchronization

extension Defaults {
    /// A problem that could not be thrown to a caller.
    public struct Issue: Sendable {
        /// The kind of problem.
        public let kind: Kind
        /// The affected domain.
        public let domain: String

        /// The kinds of problems.
        @nonexhaustive
        public enum Kind: Sendable {
            /// A change could not be written. It remains pending and is tried again.
            case unwritten(StoreFailure)
            /// A file could not be read. The values that were read before remain in use.
            case unreadable(StoreFailure)
            /// A file is damaged, and a kept version is used instead.
            case recovered(String)
            /// A change was written, but a version of the settings could not be kept in this folder.
            case unkept(history: String)
            /// A value was refused, and nothing was changed.
            case refused(key: String, reason: String)
            /// A value is not of the setting's type, or violates a rule.
            /// The value of the next layer, or else the default, is used.
            case ignored(key: String, origin: Origin, reason: String)
            /// The schema that is installed for the domain is invalid, and is ignored.
            case invalidSchema(file: String, reason: String)
        }

        package init(_ kind: Kind, domain: String) {
            self.kind = kind
            self.domain = domain
        }
    }
}

extension Defaults.Issue: CustomStringConvertible {
    public var description: String {
        switch kind {
        case .unwritten(let failure): "not written yet: \(failure)"
        case .unreadable(let failure): failure.description
        case .recovered(let text): text
        case .unkept(let history): "\(domain): written, but a version could not be kept in \(history)"
        case .refused("", let reason): "\(domain): \(reason); nothing was changed"
        case .refused(let key, let reason): "\(domain): \(key): \(reason); nothing was changed"
        case .ignored(let key, let origin, let reason):
            "\(domain): \(key) in \(origin): \(reason); it is ignored"
        case .invalidSchema(let file, let reason): "\(file): \(reason); the schema is ignored"
        }
    }
}

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
