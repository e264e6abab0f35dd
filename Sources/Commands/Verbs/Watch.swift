internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let watch = Verb(
        "watch", .new, "print a line for each change as it happens, until interrupted",
        details: [
            "Without DOMAIN all domains are watched. A line has the layer, the domain, the key or the path of the entry, and the old and new values in lossless JSON. With --format commands a text with a newline in it takes as many lines as it has.",
            "Changes of the values in force are printed, with the layer that they come from; with --layer, changes of that layer, and with --format commands, changes of each layer. Without KEY, a value from the global domain is printed for that domain only.",
            "With --run, COMMAND with its arguments is run for each change instead, one at a time. Its environment has the domain in PREFS_DOMAIN, the key or path in PREFS_KEY, and the values in PREFS_OLD and PREFS_NEW as read --format raw prints them, containers as lossless JSON. A variable is missing if there is no such value, or if it has a NUL or over 64 KiB. Changes made while COMMAND runs are awaited until it ends; those that it makes with prefs do not run it again, as long as their versions are kept.",
            "GLOB is a pattern with * ? [a-z] for names of domains or keys. DOMAIN is a name and not a pattern.",
        ],
        options: [
            .effective, .layer, .format([.text, .json, .commands]), .ignore, .initial, .once, .program,
        ], forms: [[.anyDomain, .anyKey]],
        statuses: [.notFound, .invalidValue, .damaged, .systemFailed]
    ) { invocation, context in
        let access = try StoreAccess(invocation, context)
        var domain = try invocation[operand: "DOMAIN"].map { try access.named($0) }
        if let domain { try access.checkLayer(of: domain, invocation) }
        domain?.file.inexactIntegers = .text
        if let name = domain?.name, DomainArgument.isPattern(name.text),
            try domain?.file.status(on: access.system) == nil
        {
            context.note("\(name): waiting for a domain of this name; DOMAIN is not a pattern".onOneLine)
        }
        let report = try WatchReport(access, invocation)
        let program = try WatchProgram(invocation, context)
        let bell = ResettableEvent()
        var watch = try StoreWatch(
            access, domain, hasKey: report.key != nil, hasCommands: invocation.format == .commands,
            program: program?.identifier, ringing: bell)
        if !invocation.has(.initial) { _ = try watch.look() }
        context.followReader()
        var (isInitial, isInterrupted) = (invocation.has(.initial), false)
        while true {
            // After an interrupt, the changes that preceded it are printed. No program is run for them.
            if let program {
                guard !isInterrupted else { return .done }
                let changes = try watch.look().flatMap { try report.entries(of: $0) }
                for change in changes {
                    guard try program.run(for: change, in: context) else { return .done }
                }
                if !changes.isEmpty {
                    if invocation.has(.once), !isInitial { return .done }
                    isInitial = false
                    // What has changed in the meantime.
                    continue
                }
            } else {
                let text = try watch.look().map { try report.text(of: $0) }.joined()
                if !text.isEmpty { try context.terminal.write(text, to: .output) }
                if isInterrupted || invocation.has(.once) && !isInitial && !text.isEmpty { return .done }
            }
            isInitial = false
            isInterrupted = !context.wait(bell.next)
            bell.reset()
        }
    }
}

/// The program that `watch --run` runs for each change.
private struct WatchProgram {
    private let program: ForegroundProgram
    /// The beginning of the names of all transactions that the program makes with the library.
    let identifier: String

    init?(_ invocation: Invocation, _ context: CommandContext) throws {
        let words = invocation.all(.program)
        guard let name = words.first else { return nil }
        guard invocation.format == nil else {
            throw CommandFailure(.usage, "watch: \(Option.program.name) prints no changes, so --format has no effect")
        }
        let path: FilePath? =
            if DomainArgument.isPath(name) { try context.absolutePath(name) } else {
                FileName(ByteText.bytes(name)).flatMap(context.system.program)
            }
        guard let path, try context.fileSystem.status(of: path)?.kind == .file else {
            throw CommandFailure(.notFound, "\(name.onOneLine): no such program")
        }
        identifier = WatchedTransactions.name(context.fileSystem.unpredictableNumber())
        var program = ForegroundProgram(path, Array(words.dropFirst()))
        // An interrupt ends the command too.
        program.takesInterrupts = false
        self.program = program
    }

    private static let mostBytes = 64 << 10

    /// Runs the program for a change. Returns false if it was interrupted.
    func run(for change: WatchReport.Entry, in context: CommandContext) throws -> Bool {
        func text(_ value: PropertyList?) -> [UInt8]? {
            guard let value else { return nil }
            let bytes = Array(LineText.text(of: change.masking.hidden(value, at: change.entry.path)).utf8)
            return bytes.count > Self.mostBytes || bytes.contains(0) ? nil : bytes
        }
        var program = program
        program.variables = [
            (WatchedTransactions.variable, Array(identifier.utf8)), ("PREFS_DOMAIN", Array(change.domain.word.utf8)),
            ("PREFS_KEY", Array(change.entry.key.utf8)), ("PREFS_OLD", text(change.entry.change.old)),
            ("PREFS_NEW", text(change.entry.change.new)),
        ]
        let status = try context.run(program)
        guard !endingSignals.map({ 128 + $0 }).contains(status) else { return false }
        if status != 0 { context.note("\(program.path.word.onOneLine): status \(status)") }
        return true
    }
}

extension Option {
    package static let ignore = Option(
        "--ignore", Argument("GLOB", .word), "ignore matching domains or keys", repeats: true)
    package static let initial = Option("--initial", "begin with the present values")
    package static let once = Option("--once", "end after the first change; the values of --initial are none")
    package static let program = Option(
        "--run", Argument("COMMAND", .program), "run COMMAND, with all words after it, for each change")
}

/// Reports changes in the stored settings by comparing the files with their previous contents.
///
/// The events of the watcher only trigger a comparison, so neither their order nor a lost event affects the result.
struct StoreWatch {
    private let access: StoreAccess
    /// The domain to watch; nil for all.
    private let domain: AddressedDomain?
    /// Whether the layers are watched one by one, and not the values in force.
    private let isOfLayers: Bool
    /// Whether values from the global domain are reported for that domain only.
    private let leavesOutGlobal: Bool
    /// The beginning of the names of transactions whose changes are not reported.
    private let program: String?
    private let folders: FolderWatches
    private var files: FileContentsCache
    private var known: [Name: Known] = [:]
    /// The failures that have been reported.
    private var failures: [Name: String] = [:]

    private struct Known {
        let domain: AddressedDomain
        let files: [DomainFile]
        let values: WatchedValues
        let generations: [FileGeneration?]
        /// The transactions of the versions of each file, if those of a program are not reported.
        let transactions: [[String]]
    }

    /// A unit of comparison: its identifier, its domain and its files.
    private struct Subject {
        let id: Name
        let domain: AddressedDomain
        let files: [(layer: Layer, file: DomainFile)]
    }

    init(
        _ access: StoreAccess, _ domain: AddressedDomain?, hasKey: Bool, hasCommands: Bool, program: String? = nil,
        ringing bell: ResettableEvent
    ) throws {
        self.access = access
        self.domain = domain
        self.program = program
        // A command writes one layer.
        isOfLayers = access.reading() == .layer || access.requestedReading == nil && hasCommands
        leavesOutGlobal = domain == nil || !hasKey && access.reading() == .inForce
        files = FileContentsCache(on: access.system)
        folders = try FolderWatches(access, domain) { bell.ring() }
    }

    // MARK: Comparing

    /// Returns the changes since the last call, ordered by layer and name; at the first call, all values.
    mutating func look() throws -> [WatchedChange] {
        let subjects = try subjects()
        var changes = try subjects.compactMap { try look(at: $0) }
        let ids = Set(subjects.map(\.id))
        for (id, gone) in known.sorted(by: { $0.key < $1.key }) where !ids.contains(id) {
            known[id] = nil
            let change = change(
                of: gone.domain, gone.files, from: gone, to: WatchedValues(), try generations(of: gone.files))
            if let change { changes.append(change) }
        }
        return changes
    }

    private mutating func look(at subject: Subject) throws -> WatchedChange? {
        let system = access.system
        let former = known[subject.id]
        do {
            // Before the files are read, so that no later change is missed.
            for (_, file) in subject.files { folders.watchPlaces(of: file) }
            let generations = try generations(of: subject.files.map(\.file))
            if let former, former.generations == generations { return nil }
            let files = subject.files.map(\.file)
            let transactions = program == nil ? [] : files.map { History(of: $0, on: system)?.transactions ?? [] }
            let values = try values(subject)
            known[subject.id] = Known(
                domain: subject.domain, files: files, values: values, generations: generations,
                transactions: transactions)
            failures[subject.id] = nil
            return change(of: subject.domain, files, from: former, to: values, generations)
        } catch let failure as StoreFailure {
            report(failure.description, of: subject.id)
        } catch let failure as SystemFailure {
            report(failure.description, of: subject.id)
        }
        return nil
    }

    /// Returns the change of a domain, without the keys that only the program has changed; nil if nothing is left.
    private func change(
        of domain: AddressedDomain, _ files: [DomainFile], from former: Known?, to new: WatchedValues,
        _ generations: [FileGeneration?]
    ) -> WatchedChange? {
        var old = former?.values ?? WatchedValues()
        if let others = keysOfOthers(in: domain, files, since: former, generations) {
            for key in old.entries.keys(differingFrom: new.entries) where !others.contains(Name(key)) {
                old.entries[key] = new.entries[key]
            }
        }
        return old.entries == new.entries ? nil : WatchedChange(domain: domain, old: old, new: new)
    }

    /// Returns the keys that were changed in the files by others than the program; nil if that is unknown.
    private func keysOfOthers(
        in domain: AddressedDomain, _ files: [DomainFile], since former: Known?, _ generations: [FileGeneration?]
    ) -> Set<Name>? {
        guard let program, former.map({ $0.files == files }) ?? true else { return nil }
        var keys: Set<Name> = []
        for (index, file) in files.enumerated() where former?.generations[index] != generations[index] {
            if leavesOutGlobal, !file.name.hasSameBytes(as: domain.word) { continue }
            guard let history = History(of: file, on: access.system),
                let present = try? file.contents(on: access.system)
            else { return nil }
            let (versions, known) = (history.versions, Set(former?.transactions[index] ?? []))
            let start = versions.firstIndex { !known.contains($0.transaction) } ?? versions.endIndex
            // Earlier versions than those that are kept may be of others.
            var state: DomainState? =
                if start > 0 { history.state(of: versions[start - 1]) } else {
                    versions.first?.sequence == 1 ? .absent : nil
                }
            for version in versions[start...] {
                guard let former = state, let new = history.state(of: version) else { return nil }
                if !version.transaction.hasPrefix(program) {
                    keys.formUnion(former.values.keys(differingFrom: new.values).map { Name($0) })
                }
                state = new
            }
            guard let state else { return nil }
            keys.formUnion(state.values.keys(differingFrom: present.values).map { Name($0) })
        }
        return keys
    }

    private func generations(of files: [DomainFile]) throws -> [FileGeneration?] {
        try files.map { try $0.status(on: access.system)?.generation }
    }

    private mutating func report(_ failure: String, of subject: Name) {
        guard failures.updateValue(failure, forKey: subject) != failure else { return }
        access.context.note(failure)
    }

    private mutating func values(_ subject: Subject) throws -> WatchedValues {
        let access = access
        let stored = try access.layers(in: subject.files) { file in
            try files.contents(of: file) { access.warn($0) }
        }
        if isOfLayers { return WatchedValues(entries: stored.first?.values.withoutHidden ?? [:]) }
        var values = try access.valuesInForce(access.layers(subject.domain, stored: stored), of: subject.domain)
        if leavesOutGlobal, subject.domain.name?.isGlobal == false { values.removeGlobal() }
        return WatchedValues(inForce: values)
    }

    // MARK: Subjects

    private func subjects() throws -> [Subject] {
        if let domain, domain.name == nil {
            return [Subject(id: Name(domain.word), domain: domain, files: try access.files(domain))]
        }
        if !isOfLayers {
            let names = try domain?.name.map { [$0] } ?? access.namesInAllLayers()
            return try names.map { name in
                let domain = try access.domain(name)
                return Subject(id: name.name, domain: domain, files: try access.files(domain))
            }
        }
        return try layers.flatMap { layer in
            let names = try domain?.name.map { [$0] } ?? access.names(in: layer)
            return try names.map { name in
                let domain = try access.domain(name, in: layer)
                return Subject(id: Name(domain.file.path.description), domain: domain, files: [(layer, domain.file)])
            }
        }
    }

    /// The layers to watch: the one that the command line names, or all.
    private var layers: [Layer] {
        guard access.requestedReading == nil else { return [access.layer] }
        return Layer.writable.reversed().filter { access.places.folder(of: $0) != nil }
    }
}

/// Watches of the folders in which the files of a domain, or of all domains, are changed.
final class FolderWatches {
    private let access: StoreAccess
    private let notify: @Sendable () -> Void
    private var watches: [FilePath: any FolderWatch] = [:]

    /// - Parameters:
    ///   - domain: The domain to watch; nil for all.
    ///   - notify: Is called on any thread when something may have changed.
    init(_ access: StoreAccess, _ domain: AddressedDomain?, _ notify: @escaping @Sendable () -> Void) throws {
        (self.access, self.notify) = (access, notify)
        if let domain, domain.name == nil {
            watch(domain.file.path.parent)
        } else {
            for place in try access.places.allPlaces() { watch(place.path) }
        }
    }

    deinit { for watch in watches.values { watch.cancel() } }

    private func watch(_ folder: FilePath) {
        guard watches[folder] == nil else { return }
        watches[folder] = access.system.watcher.watch(folder) { [notify] event in
            // A temporary file is still being written.
            if case .change(_, let name) = event, name.isTemporary { return }
            notify()
        }
    }

    /// Watches the folder of a symbolic link's target, where the file is replaced, and the domain's folder. Call this
    /// before the file is read.
    func watchPlaces(of file: DomainFile) {
        let files = access.system.fileSystem
        if let folder = file.folder, (try? files.status(of: folder)) != nil { watch(folder) }
        guard let target = try? file.path.followingLinks(in: files) else { return }
        if target.parent != file.path.parent || file.isAdopted { watch(target.parent) }
    }

    /// Watches the folder of a file's versions.
    func watchHistory(of file: DomainFile) {
        if let folder = file.history { watch(folder) }
    }

    /// Watches the folders of all domains, to notice the first values in a new one.
    func watchDomainFolders() {
        for place in (try? access.places.allPlaces()) ?? [] {
            for name in (try? access.system.fileSystem.names(in: place.path)) ?? []
            where name.folderStem != nil {
                watch(place.path.appending(name))
            }
        }
    }
}

/// The output of `watch`.
///
///     user com.example.app theme: "light" -> "dark"
///     site com.example.app :window:width: (none) -> 80
struct WatchReport {
    let access: StoreAccess
    let invocation: Invocation
    let key: KeyArgument?
    private let ignored: [Glob]

    init(_ access: StoreAccess, _ invocation: Invocation) throws {
        self.access = access
        self.invocation = invocation
        key = try invocation.key
        ignored = invocation.all(.ignore).map { Glob($0) }
    }

    /// A difference that a change made.
    struct Entry {
        let domain: AddressedDomain
        let layer: Layer
        let entry: Differences.Entry
        let masking: Masking
    }

    /// Returns the lines for a change; empty if the command does not request it.
    func text(of change: WatchedChange) throws -> String {
        guard invocation.format != .commands else {
            guard !isIgnored(change.domain.word) else { return "" }
            let (old, new) = selected(change.old.entries, change.new.entries)
            let command = access.spelling(change.domain.word, in: change.domain.layer)
            return try CommandLines(from: old, to: new, command, masking: access.masking(change.domain)).text()
        }
        return try entries(of: change).map { invocation.format == .json ? json($0) : line($0) }.joined()
    }

    /// Returns the differences that the command requests.
    func entries(of change: WatchedChange) throws -> [Entry] {
        guard !isIgnored(change.domain.word) else { return [] }
        let (old, new) = selected(change.old.entries, change.new.entries)
        let masking = access.masking(change.domain)
        return Differences(from: old, to: new).entries.map { entry in
            let layer = change.layer(of: entry.path.components.first?.text ?? "")
            return Entry(domain: change.domain, layer: layer, entry: entry, masking: masking)
        }
    }

    private func isIgnored(_ name: String) -> Bool { ignored.contains { $0.matches(name) } }

    // MARK: Selection

    /// Returns both states, reduced to the keys that the command requests.
    private func selected(
        _ old: PropertyList.Dictionary, _ new: PropertyList.Dictionary
    ) -> (PropertyList.Dictionary, PropertyList.Dictionary) {
        guard let key else {
            func seen(_ values: PropertyList.Dictionary) -> PropertyList.Dictionary {
                guard !ignored.isEmpty else { return values }
                return PropertyList.Dictionary(values.filter { !isIgnored($0.key) }.map { ($0.key, $0.value) })
            }
            return (seen(old), seen(new))
        }
        guard !isIgnored(key.key) else { return ([:], [:]) }
        func only(_ value: PropertyList?) -> PropertyList.Dictionary {
            value.map { [key.key: $0] } ?? [:]
        }
        let (former, later) = (only(old[key.key]), only(new[key.key]))
        let (entry, newEntry) = (PropertyList.dictionary(former)[key.path], PropertyList.dictionary(later)[key.path])
        if entry == newEntry { return ([:], [:]) }
        var root = PropertyList.dictionary(former)
        do throws(EntryPath.Failure) {
            if let newEntry { try root.set(newEntry, at: key.path) } else { try root.remove(at: key.path) }
        } catch {
            // A container on the path has been replaced, so the whole key is reported.
            return (former, later)
        }
        return (former, root.dictionaryValue ?? later)
    }

    // MARK: Text

    private func line(_ line: Entry) -> String {
        let entry = line.entry
        func shown(_ value: PropertyList?) -> String {
            value.map { line.masking.text(of: $0, at: entry.path) } ?? "(none)"
        }
        let subject = "\(line.layer) \(line.domain.word.onOneLine) \(entry.label)"
        return "\(subject): \(shown(entry.change.old)) -> \(shown(entry.change.new))\n"
    }

    private func json(_ line: Entry) -> String {
        let subject: PropertyList.Dictionary = [
            "domain": .string(line.domain.word), "layer": .string(line.layer.name),
        ]
        let values = line.entry.values(line.masking, in: subject)
        return LosslessJSON.text(of: .dictionary(values)).map { $0 + "\n" } ?? ""
    }
}

/// A change of a domain's values, in one layer or in force.
struct WatchedChange: Sendable {
    let domain: AddressedDomain
    let old: WatchedValues
    let new: WatchedValues

    /// Returns the layer of a key's new value or, if it was removed, of its old value.
    func layer(of key: String) -> Layer { new.layer(of: key) ?? old.layer(of: key) ?? domain.layer }
}

/// The values of a domain at one time.
struct WatchedValues: Sendable {
    fileprivate(set) var entries: PropertyList.Dictionary
    /// The values in force; nil for those of one layer.
    private let inForce: ValuesInForce?

    init(entries: PropertyList.Dictionary = [:]) { (self.entries, inForce) = (entries, nil) }

    init(inForce: ValuesInForce) { (entries, self.inForce) = (inForce.entries, inForce) }

    fileprivate func layer(of key: String) -> Layer? { inForce?.origin(of: Name(key))?.layer }
}

extension History {
    /// The transactions that made the kept versions.
    fileprivate var transactions: [String] { versions.map(\.transaction) }
}

extension PropertyList.Dictionary {
    /// Returns the keys whose values differ.
    fileprivate func keys(differingFrom other: PropertyList.Dictionary) -> [String] {
        (map(\.key) + other.filter { self[$0.key] == nil }.map(\.key)).filter { self[$0] != other[$0] }
    }
}
