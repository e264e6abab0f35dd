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
            /// A value is not of the setting's type, or violates a rule. The last valid value that this process read
            /// from the layer is used, or else that of the next layer or the default.
            case ignored(key: String, origin: Origin, reason: String)
            /// The schema that is installed for the domain is invalid, and is ignored.
            case invalidSchema(file: String, reason: String)
            /// So many issues before the next one were dropped, because their reader was late.
            case dropped(Int)
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
        case .dropped(let count): "\(count) issues were dropped, because their reader was late"
        }
    }
}

/// Delivers issues to listeners, or to standard error if there are none.
final class IssueReporter: Sendable {
    private let terminal: any Terminal
    private let program: String
    private let listeners = Mutex(Listeners())

    private struct Listeners: Sendable {
        var streams: [Int: BoundedStream<Defaults.Issue>] = [:]
        var last = 0
    }

    init(_ terminal: any Terminal, _ program: String) {
        self.terminal = terminal
        self.program = program
    }

    func post(_ issue: Defaults.Issue) {
        let streams = listeners.withLock { Array($0.streams.values) }
        for stream in streams { stream.append(issue) }
        if streams.isEmpty {
            // A failure to write to standard error cannot be reported.
            try? terminal.write("\(program): \(issue)".shown + "\n", to: .errors)
        }
    }

    /// Returns the issues of all domains from now on.
    func issues() -> AsyncStream<Defaults.Issue> {
        let stream = BoundedStream<Defaults.Issue> { count, next in [Defaults.Issue(.dropped(count), domain: ""), next]
        }
        let number = listeners.withLock { listeners in
            listeners.last += 1
            listeners.streams[listeners.last] = stream
            return listeners.last
        }
        return stream.stream(
            from: SettingsObservation { [weak self] in
                self?.listeners.withLock { _ = $0.streams.removeValue(forKey: number) }
            })
    }
}
