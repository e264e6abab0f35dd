package import Platform
public import PropertyLists
public import SettingsSchema

/// Why a domain could not be read or written: the facts, for whoever asked.
public struct StoreFailure: Error, Hashable, Sendable {
    /// What went wrong.
    public let problem: Problem
    /// What was addressed: a domain's name or a path.
    public let domain: String
    /// The file that it is about, where there is one.
    public let file: String?

    package init(_ problem: Problem, _ domain: String, file: FilePath? = nil) {
        self.problem = problem
        self.domain = domain
        self.file = file?.description
    }

    /// What may go wrong.
    @nonexhaustive
    public enum Problem: Hashable, Sendable {
        /// The file cannot be parsed, and no good version is kept.
        ///
        /// With line and column, where it is text.
        case damaged(DecodingFailure, TextLocation?)
        /// The file has a value that is no dictionary of settings.
        case notADictionary(PropertyList.Kind)
        /// Somebody else held the lock all the time.
        case locked(holder: LockHolder?)
        /// Another user has left the note of a change of several files, which only that user can carry out.
        case pendingOfOthers(note: String)
        /// The store can only be read.
        case readOnly
        /// The file's format cannot hold a value.
        case unwritable(EncodingFailure)
        /// The value is not what the writer expected.
        case notCurrent
        /// What stands there could not be kept in the folder of its versions, and must not be lost.
        case notKept(folder: String)
        /// A key that no file can be trusted with: empty, or with a NUL in it.
        case badKey(String)
        /// Nobody says where the user's files are.
        case homeless
        /// These files are not kept in one store, so they cannot be changed as one.
        case severalStores
        /// One transaction names the file twice.
        case changedTwice
        /// The administrator has decided.
        case forced
        /// What was set has no stored form.
        case notAllowed(String)
        /// Values break the rules of the domain's schema; all of them are named.
        case refused([Schema.Problem])
        /// The stored settings are of another version than the schema's: older ones must be migrated before anything is
        /// written, newer ones are only read.
        case otherVersion(stored: Int, known: Int, isNewer: Bool)
        /// A file with a sensitive value can be read by others.
        case exposed(key: String)
        /// The key is the store's own.
        case ownKey(String)
        /// The operating system refused a step of a change of several files that is decided: it holds, and whoever
        /// opens one of them next carries it out.
        case unfinished(code: Int32, description: String)
        /// The operating system refused.
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
    /// Whether another program has replaced the file since it was read. It can be read and changed again.
    var meansOtherContents: Bool {
        if case .system(ErrorCode.staleHandle.rawValue, _) = problem { true } else { false }
    }

    /// The same of a change that is decided.
    var ofDecidedChange: StoreFailure {
        guard case .system(let code, let description) = problem else { return self }
        return StoreFailure(
            .unfinished(code: code, description: description), domain, file: file.flatMap { FilePath($0) })
    }

    /// What to say of each key that could not be set; of all of them where no single one is to blame.
    func reasons(of keys: [String]) -> [(key: String, reason: String)] {
        if case .badKey(let key) = problem { return [(key, key.unfitness)] }
        guard case .refused(let problems) = problem else { return keys.prefix(1).map { ($0, description) } }
        return problems.map { ($0.path.components.first?.text ?? "", "\($0.shownValue)\($0.reason)") }
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
        case .notADictionary(let kind): return "\(place): holds one \(kind.rawValue), not a dictionary of settings"
        case .locked(let holder):
            let who = holder.map { " by process \($0.process)\($0.program.map { " (\($0))" } ?? "")" } ?? ""
            return "\(domain) is locked\(who): waited too long"
        case .pendingOfOthers(let note):
            return
                "\(domain): another user has decided on a change of several files in this store (\(note)), and only that user can carry it out; nothing was written"
        case .readOnly: return "\(domain): this store can only be read"
        case .unwritable(let failure): return "\(place): \(failure)"
        case .notCurrent: return "\(domain): the value is not the one expected; nothing was changed"
        case .notKept(let folder): return "\(domain): what stands there now cannot be kept in \(folder)"
        case .badKey(let key): return "\(domain): \(key.unfitness)"
        case .homeless: return "HOME is not set, and /etc/passwd has no home for this user"
        case .severalStores: return "\(domain): lies in another store; one transaction changes files of one store"
        case .changedTwice: return "\(place): is named twice in one transaction; nothing was changed"
        case .forced: return "\(domain): the administrator has decided on this value"
        case .notAllowed(let reason): return "\(domain): \(reason)"
        case .refused(let problems): return problems.map { "\(domain): \($0)" }.joined(separator: "\n")
        case .otherVersion(let stored, let known, let isNewer):
            return isNewer
                ? "\(domain): holds settings of version \(stored), and its schema knows them up to \(known); they are only read"
                : "\(domain): holds settings of version \(stored), and its schema wants version \(known); migrate them first"
        case .exposed(let key):
            return "\(domain): \(key.shown) is sensitive, and others can read the file; nothing was written"
        case .ownKey(let key): return "\(key): prefs itself keeps this key"
        case .unfinished(_, let description):
            return
                "\(description); the change of several files that this belongs to is decided, and is carried out as soon "
                + "as that can be done"
        case .system(_, let description): return description
        }
    }
}
