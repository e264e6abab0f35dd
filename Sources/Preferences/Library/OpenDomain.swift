internal import Platform
internal import PropertyLists
internal import Synchronization

/// A change of the value of a key, or of an entry in the dictionary under a key.
struct ValueEdit: Sendable {
    let key: String
    /// The path of the entry in the dictionary; empty for the value of the key as a whole.
    let rest: ArraySlice<EntryPath.Component>
    /// The new value; nil to remove it.
    let value: PropertyList?

    init(_ key: String, _ value: PropertyList?) { (self.key, rest, self.value) = (key, [], value) }

    init(_ path: EntryPath, _ value: PropertyList?) {
        (key, rest, self.value) = (path.components.first?.text ?? "", path.components.dropFirst(), value)
    }

    var path: EntryPath { EntryPath([EntryPath.Component(key)] + rest) }

    /// Makes the edit. Throws if an entry is to be set in a value that is not a dictionary.
    func apply(to values: inout PropertyList.Dictionary) throws(EntryPath.Failure) {
        if rest.isEmpty {
            values[key] = value
            return
        }
        if let value { try values.put(value, at: path) } else { values.remove(at: path) }
    }
}

/// A domain file as this process sees it: the contents of the file, and the pending changes of this process.
///
/// A change is visible to the whole process at once. It is written to the disk shortly after, together with other
/// changes.
final class OpenDomain: Sendable {
    /// The place of the values.
    enum Storage: Sendable {
        case file(DomainFile, mustBeTrusted: Bool)
        /// Memory only. The failure is the reason if there should be a file.
        case memory(PropertyList.Dictionary, failure: StoreFailure?)
    }

    let storage: Storage
    let system: SystemServices
    let context: StoreContext
    let state: Mutex<State>
    /// The version of the last visible change, readable without a lock.
    private let published = Atomic<UInt64>(1)
    /// A lock for writing the file.
    let writing = Mutex(())

    struct State: Sendable {
        /// The contents of the file when it was last read.
        var stored = DomainContents.absent
        /// The number of times that the values were replaced by contents of the file.
        var readings: UInt64 = 0
        /// The reason the file could not be read.
        var failure: StoreFailure?
        /// The generation of a damaged file, which need not be read again while it is the same.
        var damaged: FileGeneration?
        /// The changes that are not on the disk yet; nil for a removal.
        var pending: [Name: PendingChange] = [:]
        /// The values that the process sees.
        var values = PropertyList.Dictionary()
        /// The values that other processes replaced, newest last.
        var former: [Name: [FormerValue]] = [:]
        var changes = ChangeLog()
        /// The time of the last check of the file, or nil if there was none.
        var lastCheck: Instant?
        /// Whether the file is to be removed when it has no values.
        var removesFile = false
        var flush = FlushState()
        var watch = WatchState()
        /// Whether this process is writing the file, so that a change of it is our own.
        var isWriting = false
        /// Whether a check was postponed while this process was writing.
        var missedCheck = false
        /// The threads that run the body of a transaction.
        var threadsInTransaction: Set<ThreadIdentity> = []
        /// The rules of the domain's schema, if it has one.
        var rules: SchemaRules?
        /// The place in which the next write remembers the sensitive settings of the schema, or nil if there are none.
        var memory: RememberedSecrets?
    }

    /// The changes of a key's value that are not on the disk yet.
    struct PendingChange: Sendable {
        /// The edits in their order, each with its version. An edit of the whole value precedes those of entries.
        private(set) var edits: [(edit: ValueEdit, version: UInt64)] = []

        /// The version of the last edit.
        var version: UInt64 { edits.last?.version ?? 0 }

        /// Adds an edit, which replaces those of the same entry and of what is in it.
        mutating func add(_ edit: ValueEdit, version: UInt64) {
            edits.removeAll { $0.edit.rest.starts(with: edit.rest) }
            edits.append((edit, version))
        }

        /// Removes the edits that were written.
        mutating func settle(upTo version: UInt64) { edits.removeAll { $0.version <= version } }

        /// Removes the edits of an entry that cannot be written, or all if there are none of it.
        mutating func discard(_ entry: ArraySlice<EntryPath.Component>) {
            let others = edits.filter { !entry.starts(with: $0.edit.rest) }
            edits = others.count < edits.count ? others : []
        }
    }

    init(_ storage: Storage, on system: SystemServices, _ context: StoreContext) {
        self.storage = storage
        self.system = system
        self.context = context
        var state = State()
        if case .memory(let values, _) = storage { state.values = values }
        self.state = Mutex(state)
    }

    var file: DomainFile? {
        if case .file(let file, _) = storage { file } else { nil }
    }

    // MARK: Reading

    /// Returns the values, after a check of the file if the last one is too old.
    func snapshot() -> (values: PropertyList.Dictionary, failure: StoreFailure?) {
        checkFile()
        return state.withLock { ($0.values, $0.failure) }
    }

    /// The values as this process sees them.
    var stored: PropertyList.Dictionary { state.withLock(\.values) }

    func value(_ key: String) -> PropertyList? { state.withLock { $0.values[key] } }

    /// Whether there may be changes since a version.
    func hasChanged(since version: UInt64) -> Bool { published.load(ordering: .acquiring) != version }

    /// Whether others can read the file.
    var isExposed: Bool {
        guard let file else { return false }
        return state.withLock { file.isExposed($0.stored.status, to: system.environment.user) }
    }

    /// Returns the present version and the changes since another, or nil for these if they are no longer known.
    func changes(since version: UInt64) -> (version: UInt64, changes: [ChangeLog.Change]?) {
        state.withLock { ($0.changes.version, $0.changes.changes(since: version)) }
    }

    /// Publishes that there is a change.
    func publishChange() { publishChange(state.withLock(\.changes.version)) }

    private func publishChange(_ version: UInt64) {
        published.max(version, ordering: .releasing)
        context.publishChange()
    }

    /// Checks whether another process has changed the file.
    ///
    /// - Parameter isExact: Whether to check even if the file was checked within the same clock tick.
    func checkFile(isExact: Bool = false) {
        guard case .file(let file, let mustBeTrusted) = storage else { return }
        let tick = system.clock.tick
        let isDue = state.withLock { state in
            guard isExact || (state.lastCheck != tick && !state.watch.isNotified) else { return false }
            if state.isWriting {
                state.missedCheck = true
                return false
            }
            state.lastCheck = tick
            return true
        }
        guard isDue else { return }
        let generation: FileGeneration?
        do throws(SystemFailure) {
            generation = try file.status(on: system)?.generation
        } catch {
            return recordFailure(file.failure(error))
        }
        let isSame = state.withLock { $0.knows(generation, isExact) }
        // Each failed attempt means that another thread has read or written the file.
        if !isSame { for _ in 0..<64 where read(file, generation, mustBeTrusted) { return } }
    }

    /// Reads the file. Returns false if another thread has read it meanwhile, because these contents may be older.
    private func read(_ file: DomainFile, _ generation: FileGeneration?, _ mustBeTrusted: Bool) -> Bool {
        let number = state.withLock(\.readings)
        do throws(StoreFailure) {
            let isTrusted = mustBeTrusted ? try file.isTrusted(on: system) : true
            let contents = isTrusted ? try file.contents(on: system) : .absent
            let version = state.withLock(\.changes.version)
            let reportsRecovery = state.withLock { state -> Bool? in
                guard state.readings == number else { return nil }
                if state.isWriting {
                    // The contents may be those being written, which the writer takes itself.
                    state.missedCheck = true
                    return false
                }
                let isNew = contents.recovery != nil && state.stored.recovery != contents.recovery
                state.failure = nil
                state.take(contents)
                state.damaged = contents.recovery == nil ? nil : generation
                return isNew
            }
            guard let reportsRecovery else { return false }
            publishChange()
            forgetReported(since: version)
            if reportsRecovery, let recovery = contents.recovery { post(.recovered(recovery.description)) }
        } catch {
            // The system may permit the next attempt.
            recordFailure(error, damaged: error.isDamage ? generation : nil)
        }
        return true
    }

    /// Records the reason the file could not be read, and reports it once. The values read before remain in use.
    private func recordFailure(_ failure: StoreFailure, damaged generation: FileGeneration? = nil) {
        let isNew = state.withLock { state in
            defer { state.failure = failure }
            state.damaged = generation
            return state.failure != failure
        }
        guard isNew else { return }
        post(.unreadable(failure))
        publishChange()
    }

    func post(_ kind: Defaults.Issue.Kind) { context.issues.post(Defaults.Issue(kind, domain: file?.name ?? "")) }

    // MARK: Changes

    /// Sets values, or removes those that are nil. The whole process sees the changes at once.
    func set(_ changes: [(key: String, value: PropertyList?)]) { set(changes.map { ValueEdit($0.key, $0.value) }) }

    /// Sets values and entries, or removes those that are nil. An entry of a value that is not a dictionary is not set.
    func set(_ edits: [ValueEdit]) {
        let isFile = file != nil
        if case .memory(_, let failure?) = storage { post(.unwritten(failure)) }
        let (version, isToBeFlushed) = state.withLock { state in
            state.removesFile = false
            let isToBeFlushed = isFile && !(state.flush.isScheduled && state.flush.isAwaitedAtEnd)
            for edit in edits {
                let former = state.former.isEmpty ? nil : state.values[edit.key]
                guard (try? edit.apply(to: &state.values)) != nil else { continue }
                if !state.former.isEmpty {
                    state.forgetFormer(Name(edit.key), changedFrom: former, to: state.values[edit.key])
                }
                let version = state.changes.record(edit.key, isOwn: true)
                if isFile { state.pending[Name(edit.key), default: PendingChange()].add(edit, version: version) }
            }
            return (state.changes.version, isToBeFlushed)
        }
        publishChange(version)
        if isToBeFlushed { scheduleFlush() }
        notifyObservers()
    }

    /// Replaces all values.
    func replaceAll(_ values: PropertyList.Dictionary) {
        checkFile()
        let former = state.withLock(\.values)
        let removed = former.keys.filter { values[$0] == nil }.map { ($0, PropertyList?.none) }
        let changed = values.filter { former[$0.key] != $0.value }.map { ($0.key, PropertyList?.some($0.value)) }
        set(removed + changed)
    }

    /// Replaces all values by those that a provider has now.
    func take(_ values: PropertyList.Dictionary) {
        state.withLock { $0.take(DomainContents(values: values)) }
        publishChange()
        notifyObservers()
    }

    /// Removes all values and the file.
    func removeAll() {
        replaceAll([:])
        state.withLock { $0.removesFile = $0.values.isEmpty }
    }
}

extension OpenDomain.State {
    /// Whether the file is the one that was read.
    ///
    /// - Parameter isExact: Whether to read a damaged file again, because a kept version may have become available.
    fileprivate func knows(_ generation: FileGeneration?, _ isExact: Bool) -> Bool {
        if failure == nil, stored.recovery == nil { return stored.generation == generation }
        return !isExact && generation != nil && generation == damaged
    }

    /// Replaces the values by the contents of the file with the pending changes.
    ///
    /// - Parameter own: The keys that this process changed in the file.
    mutating func take(_ contents: DomainContents, own: Set<Name> = []) {
        var next = contents.values
        // The next flush reports an entry that can no longer be set.
        pending.apply(to: &next)
        for entry in values where next[entry.key] == nil {
            changes.record(entry.key, isOwn: own.contains(Name(entry.key)))
            former[Name(entry.key)] = nil
        }
        // Sensitive values are ignored in a file that others can read, so a change of permissions can affect all keys.
        let (old, new) = (stored.status, contents.status)
        let hasOtherAccess = old?.isExposed != new?.isExposed || old?.owner != new?.owner
        // What others could read does not come back in a file that they cannot.
        let isHiddenNow = hasOtherAccess && (old?.owner != new?.owner || !(new?.isExposed ?? false))
        if isHiddenNow { former = [:] }
        for entry in next where hasOtherAccess || values[entry.key] != entry.value {
            let key = Name(entry.key)
            let isOwn = own.contains(key)
            changes.record(entry.key, isOwn: isOwn)
            if isOwn {
                forgetFormer(key, changedFrom: values[entry.key], to: entry.value)
            } else if !isHiddenNow, values[entry.key] != entry.value, let value = values[entry.key] {
                former[key] = FormerValue.list(former[key] ?? [], adding: value)
            }
        }
        values = next
        stored = contents
        readings += 1
    }
}

extension OpenDomain.State {
    /// Forgets the former values of what this process changes. A dictionary may have settings that it left alone.
    fileprivate mutating func forgetFormer(_ key: Name, changedFrom old: PropertyList?, to new: PropertyList?) {
        guard let list = former[key] else { return }
        let changed = PropertyList.paths(changedFrom: old, to: new)
        former[key] = changed.contains(EntryPath()) ? nil : list.map { $0.forgetting(changed) }
    }
}

extension PropertyList {
    /// Returns the paths at which two values differ.
    fileprivate static func paths(changedFrom old: PropertyList?, to new: PropertyList?) -> [EntryPath] {
        if old == new { return [] }
        guard case (.dictionary(let old)?, .dictionary(let new)?) = (old, new) else { return [EntryPath()] }
        let keys = Array(old.keys) + new.keys.filter { old[$0] == nil }
        return keys.flatMap { key in
            paths(changedFrom: old[key], to: new[key]).map { EntryPath([EntryPath.Component(key)] + $0.components) }
        }
    }
}

/// A value of the file that another process replaced. It stays in force if the present one is invalid.
struct FormerValue: Sendable {
    let value: PropertyList
    /// Whether a look-up returned it. It is kept then, although later values may be invalid as well.
    var isUsed = false
    /// The paths of the entries that this process has changed since.
    private var forgotten: [EntryPath] = []

    init(_ value: PropertyList) { self.value = value }

    /// Returns the entry at a path; nil if there is none, or if this process has changed it, or a part of it, since.
    func entry(at path: EntryPath) -> PropertyList? {
        let isForgotten = forgotten.contains {
            $0.components.starts(with: path.components) || path.components.starts(with: $0.components)
        }
        return isForgotten ? nil : value[path]
    }

    fileprivate func forgetting(_ paths: [EntryPath]) -> FormerValue {
        var result = self
        for path in paths where !forgotten.contains(path) { result.forgotten.append(path) }
        return result
    }

    /// The most that a key has. Without a look-up in between, several can be invalid.
    private static let most = 8

    /// Returns the values with a newer one.
    static func list(_ list: [FormerValue], adding value: PropertyList) -> [FormerValue] {
        var list = list
        if list.count == most { list.remove(at: list.firstIndex { !$0.isUsed } ?? 0) }
        list.append(FormerValue(value))
        return list
    }
}

extension OpenDomain {
    /// The values of this time with their version, and those before them.
    var present: (values: PropertyList.Dictionary, former: [Name: [FormerValue]], version: UInt64) {
        state.withLock { ($0.values, $0.former, $0.changes.version) }
    }

    /// Returns the former values of a key, newest last.
    func formerValues(of key: Name) -> [FormerValue] { state.withLock { $0.former[key] ?? [] } }

    /// Keeps a former value, which a look-up returned.
    func keepFormer(_ value: PropertyList, of key: Name) {
        state.withLock { state in
            guard let index = state.former[key]?.lastIndex(where: { $0.value == value }) else { return }
            state.former[key]?[index].isUsed = true
        }
    }

    /// Reports values that changed since a version again if they are invalid.
    fileprivate func forgetReported(since version: UInt64) {
        guard let file, context.hasReported else { return }
        context.forgetReported(changes(since: version).changes, in: file.place(on: system).description)
    }
}

// Changing the file, by one thread at a time.
extension OpenDomain {
    /// Changes the file under its lock together with pending changes, or makes no change.
    ///
    /// `body` receives the values of the file with this process's changes applied. Its errors are thrown.
    ///
    /// - Parameter checks: Whether the domain's schema is applied.
    func change<Result: Sendable>(
        _ reason: WriteReason, checks: Bool = true,
        _ body: @escaping @Sendable (inout PropertyList.Dictionary) throws -> Result
    ) throws -> Result {
        let rules = checks ? state.withLock(\.rules) : nil
        guard let file else { return try changeInMemory(rules, body) }
        let made = Mutex<(result: Result, keys: Set<Name>, refused: PropertyList.Dictionary)?>(nil)
        try writeAlone {
            let pending = state.withLock(\.pending)
            let outcome = try commit(file, reason) { draft in
                let former = draft.values
                var refused = PropertyList.Dictionary()
                let result = try draft.change(rules, file.name) { draft in
                    refused = pending.apply(to: &draft.values)
                    return try body(&draft.values)
                }
                made.withLock { $0 = (result, former.keysThatDiffer(from: draft.values), refused) }
            }
            settle(pending, outcome.after, own: made.withLock { $0?.keys } ?? [])
            postRefused(made.withLock { $0?.refused } ?? [:])
        }
        notifyObservers()
        guard let result = made.withLock({ $0?.result }) else { throw StoreFailure(file, .notCurrent) }
        return result
    }

    private func changeInMemory<Result: Sendable>(
        _ rules: SchemaRules?, _ body: (inout PropertyList.Dictionary) throws -> Result
    ) throws -> Result {
        if case .memory(_, let failure?) = storage { throw failure }
        let result = try state.withLock { state in
            var draft = DomainDraft(values: state.values, form: .file(.binary), status: nil)
            let result = try draft.change(rules, "") { draft in try body(&draft.values) }
            state.take(DomainContents(values: draft.values), own: state.values.keysThatDiffer(from: draft.values))
            return result
        }
        publishChange()
        notifyObservers()
        return result
    }

    /// Calls `body` as the only writer of the file in this process, and then checks for changes by other processes.
    func writeAlone(_ body: () throws -> Void) throws {
        defer {
            let missedCheck = state.withLock { state in
                defer { state.missedCheck = false }
                return state.missedCheck
            }
            if missedCheck {
                checkFile(isExact: true)
                notifyObservers()
            }
        }
        try writing.withLock { _ in
            state.withLock { $0.isWriting = true }
            defer { state.withLock { $0.isWriting = false } }
            try body()
        }
    }

    func commit(
        _ file: DomainFile, _ reason: WriteReason, _ change: @escaping @Sendable (inout DomainDraft) throws -> Void
    ) throws -> CommittedDomain {
        let (memory, schema) = state.withLock { ($0.memory.take(), $0.rules?.schema) }
        // Without the memory, the values remain masked as long as the schema is installed.
        if let memory, let schema { try? memory.add(schema) }
        // A failed attempt may have renamed the file without syncing it, and another fsync would not report that.
        let (rewrites, known, unkept) = state.withLock { ($0.flush.failures > 0, $0.stored, $0.flush.unkept) }
        var edit = DomainEdit(file.made(in: context.policy.format(by: schema)), known: known) { draft in
            draft.rewrites = rewrites
            try change(&draft)
        }
        (edit.unkept, edit.isKeptLater) = (unkept, reason == .flush)
        let outcomes = try writer(reason).commit([edit])
        guard let outcome = outcomes.first else { throw StoreFailure(file, .notCurrent) }
        if outcome.isChanged {
            state.withLock { $0.flush.unkept = outcome.unkept }
            reportHistory(unwritable: outcome.unwritableHistory)
            scheduleKeeping()
        }
        return outcome
    }

    func writer(_ reason: WriteReason) -> DomainWriter {
        DomainWriter(system, WriteAuthor(reason, by: system), by: context.policy)
    }

    /// Replaces the values after a write. Values that were set meanwhile remain pending.
    func settle(
        _ written: [Name: PendingChange], _ contents: DomainContents, own: Set<Name> = []
    ) {
        let version = state.withLock(\.changes.version)
        let isDone = state.withLock { state in
            for (key, change) in written {
                state.pending[key]?.settle(upTo: change.version)
                if state.pending[key]?.edits.isEmpty ?? false { state.pending[key] = nil }
            }
            (state.failure, state.damaged) = (nil, nil)
            state.flush.failures = 0
            state.flush.reportedFailure = nil
            state.take(contents, own: own)
            return state.pending.isEmpty
        }
        publishChange()
        forgetReported(since: version)
        if isDone { context.pending.forget(self) }
    }
}

extension [Name: OpenDomain.PendingChange] {
    /// Makes the edits. Returns the keys with an entry that cannot be set, because another process has replaced the
    /// dictionary by another value.
    @discardableResult
    func apply(to values: inout PropertyList.Dictionary) -> PropertyList.Dictionary {
        var refused = PropertyList.Dictionary()
        for (key, change) in self {
            for (edit, _) in change.edits {
                do throws(EntryPath.Failure) { try edit.apply(to: &values) } catch {
                    refused[key.text] = .string(error.description)
                }
            }
        }
        return refused
    }
}

extension DomainDraft {
    /// Applies a change according to the rules, if there are any.
    fileprivate mutating func change<Result>(
        _ rules: SchemaRules?, _ domain: String, _ body: (inout DomainDraft) throws -> Result
    ) throws -> Result {
        if let rules { try rules.change(&self, of: domain, body) } else { try body(&self) }
    }
}

extension PropertyList.Dictionary {
    /// Returns the keys with different values, including those that only one dictionary has.
    fileprivate func keysThatDiffer(from other: PropertyList.Dictionary) -> Set<Name> {
        var keys: Set<Name> = []
        for entry in self where other[entry.key] != entry.value { keys.insert(Name(entry.key)) }
        for entry in other where self[entry.key] == nil { keys.insert(Name(entry.key)) }
        return keys
    }
}
