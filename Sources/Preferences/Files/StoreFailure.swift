package import Platform
public import PropertyLists
public import SettingsSchema

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The reason a domain could not be read or written.
public struct StoreFailure: Error, Hashable, Sendable {
    /// The kind of failure.
    public let problem: Problem
    /// The domain name or path as it was requested.
    public let domain: String
    /// The affected file, if there is one.
    public let file: String?
    /// The newest readable version of a damaged file that is not replaced by it; nil for other failures.
    package private(set) var goodVersion: KeptVersion?

    package init(_ problem: Problem, _ domain: String, file: FilePath? = nil) {
        self.problem = problem
        self.domain = domain
        self.file = file?.description
    }

    /// The kinds of failures.
    @nonexhaustive
    public enum Problem: Hashable, Sendable {
        /// The file cannot be parsed, and no readable version of it is kept. The location is nil for a binary file.
        case damaged(DecodingFailure, TextLocation?)
        /// The file contains a value that is not a dictionary.
        case notADictionary(PropertyList.Kind)
        /// Another process held the lock for too long. The string names it, if it is known.
        case locked(holder: String?)
        /// A change of several files by another user is incomplete, and only that user can complete it.
        case pendingOfAnotherUser(record: String)
        /// The domain was changed in the body of its own transaction, but not through the draft.
        case reentrant
        /// The store is read-only.
        case readOnly
        /// The format of the file cannot hold a value.
        case unwritable(EncodingFailure)
        /// The current value is not the expected one.
        case notCurrent
        /// The current contents could not be kept as a version, so they are not overwritten.
        case notKept(folder: String)
        /// The key is empty or contains a NUL character.
        case invalidKey(String)
        /// The user's home directory is unknown.
        case noHomeFolder
        /// The files are in different stores, so they cannot be changed together.
        case differentStores
        /// A transaction names the file twice.
        case duplicateFile
        /// The administrator has forced the value.
        case forced
        /// A value, a declaration or the files of the domain cannot be used. The string is the reason.
        case notAllowed(String)
        /// Values violate the domain's schema. All violations are listed.
        case refused([Schema.Problem])
        /// A value that is forced or given to the process violates the schema of the domain.
        case invalid(key: String, origin: Origin, reason: String)
        /// The version of the stored settings differs from that of the schema. Older settings must be migrated before
        /// they are written, and newer ones are read-only.
        case otherVersion(stored: Int, known: Int, isNewer: Bool)
        /// Other users can read the file, which would contain a sensitive value.
        case exposed(key: String)
        /// The file is that of a program, so it is not removed and keeps its format.
        case adopted
        /// The key is reserved for the store.
        case reservedKey(String)
        /// The operating system refused a step of a committed change of several files. The next program that opens one
        /// of the files completes it.
        case unfinished(code: Int32, description: String)
        /// The operating system refused an operation.
        case system(code: Int32, description: String)
    }
}

extension StoreFailure {
    package init(_ failure: SystemFailure, _ domain: String) {
        self.init(
            .system(code: failure.code.rawValue, description: failure.description), domain, file: failure.path)
    }

    package init(_ file: DomainFile, _ problem: Problem) { self.init(problem, file.name, file: file.path) }
}

extension StoreFailure {
    /// Whether another program has replaced the file since it was read, so that the change can be tried again.
    var meansOtherContents: Bool {
        if case .system(ErrorCode.staleHandle.rawValue, _) = problem { true } else { false }
    }

    /// Returns the damage of a file with the version that a user can restore.
    func with(goodVersion version: KeptVersion) -> StoreFailure {
        var failure = self
        failure.goodVersion = version
        return failure
    }

    /// The failure as one that occurred after the change was committed.
    var afterCommit: StoreFailure {
        guard case .system(let code, let description) = problem else { return self }
        return StoreFailure(
            .unfinished(code: code, description: description), domain, file: file.flatMap { FilePath($0) })
    }

    /// Returns the reason for each key that could not be set. If no single key is the cause, the list has one entry.
    func reasons(of keys: [String]) -> [(key: String, reason: String)] {
        switch problem {
        case .refused(let problems):
            problems.map { ($0.path.components.first?.text ?? "", "\($0.shownValue)\($0.reason)") }
        case .invalidKey(let key), .exposed(let key), .reservedKey(let key): [(key, reason)]
        default: [(keys.first ?? "", reason)]
        }
    }

    /// The description without the domain and the key, which an issue states itself.
    private var reason: String {
        switch problem {
        case .invalidKey(let key): key.unfitness
        case .reservedKey: "this key is reserved for prefs"
        case .exposed: "is sensitive, but other users can read the file"
        case .reentrant: "within a transaction of this domain, only its draft can be changed"
        case .notAllowed(let reason): reason
        default: description
        }
    }
}

extension Schema.Problem {
    fileprivate var shownValue: String { value.map { "\($0) " } ?? "" }
}

extension StoreFailure: CustomStringConvertible {
    public var description: String {
        let place = file ?? domain
        switch problem {
        case .damaged(let failure, let location):
            guard let location else { return "\(place): \(failure)" }
            let entry = failure.path.components.isEmpty ? "" : " (at \(failure.path))"
            return "\(place):\(location.line):\(location.column): \(failure.problem)\(entry)"
        case .notADictionary(let kind):
            return "\(place): the root value is of type \(kind.rawValue), not a dictionary of settings"
        case .locked(let holder):
            return "\(domain) is locked\(holder.map { " by \($0)" } ?? ""): timed out"
        case .pendingOfAnotherUser(let record):
            return
                "\(domain): another user has an incomplete transaction in this store (\(record)), which only that user can complete; nothing was written"
        case .reentrant: return "\(domain): \(reason); nothing was changed"
        case .readOnly: return "\(domain): this store is read-only"
        case .unwritable(let failure): return "\(place): \(failure)"
        case .notCurrent: return "\(domain): the value is not the expected one; nothing was changed"
        case .notKept(let folder): return "\(domain): the present contents cannot be saved in \(folder)"
        case .invalidKey: return "\(domain): \(reason)"
        case .noHomeFolder: return "HOME is not set, and /etc/passwd has no home for this user"
        case .differentStores: return "\(domain): is in another store; a transaction can change files of only one store"
        case .duplicateFile: return "\(place): named twice in one transaction; nothing was changed"
        case .forced: return "\(domain): this value is forced by the administrator"
        case .notAllowed: return "\(domain): \(reason)"
        case .refused(let problems): return problems.map { "\(domain): \($0)" }.joined(separator: "\n")
        case .invalid(let key, let origin, let reason): return "\(domain): \(key.shown) in \(origin): \(reason)"
        case .otherVersion(let stored, let known, let isNewer):
            return isNewer
                ? "\(domain): its settings have version \(stored), but its schema supports only up to \(known); they are read-only"
                : "\(domain): its settings have version \(stored), but its schema requires version \(known); migrate them first"
        case .adopted:
            return
                "\(domain): \(place) belongs to a program; it is not removed and keeps its format (prefs adopt --remove \(domain) removes the domain only)"
        case .exposed(let key):
            return "\(domain): \(key.shown) \(reason); nothing was changed"
        case .reservedKey(let key): return "\(key): \(reason)"
        case .unfinished(_, let description):
            return
                "\(description); the transaction of several files that this belongs to is committed, and will be completed as soon "
                + "as possible"
        case .system(_, let description): return description
        }
    }
}

// `localizedDescription` is the same sentence as `description`.

extension DomainName.Failure: LocalizedError {
    public var errorDescription: String? { description }
}

extension StoreFailure: LocalizedError {
    public var errorDescription: String? { description }
}

extension Schema.EarlyExit: LocalizedError {
    public var errorDescription: String? { description }
}
