internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let watch = Verb(
        "watch", .new, "print a line for each change as it happens, until interrupted",
        details: [
            "Without DOMAIN all domains are watched. A line has the layer, the domain, the key or the path of the entry, and the old and new values in lossless JSON. With --format commands a text with a newline in it takes as many lines as it has.",
            "Changes of the values in force are printed, with the layer that they come from; with --layer, changes of that layer, and with --format commands, changes of each layer. Without KEY, a value from the global domain is printed for that domain only.",
            "GLOB is a pattern with * ? [a-z] for names of domains or keys. DOMAIN is a name and not a pattern.",
        ],
        options: [.effective, .layer, .format([.text, .json, .commands]), .ignore], forms: [[.anyDomain, .anyKey]],
        statuses: [.invalidValue, .damaged, .systemFailed]
    ) { invocation, context in
        let access = try StoreAccess(invocation, context)
        var domain = try invocation[operand: "DOMAIN"].map { try access.named($0) }
        domain?.file.inexactIntegers = .text
        if let name = domain?.name, DomainArgument.isPattern(name.text),
            try domain?.file.status(on: access.system) == nil
        {
            context.note("\(name): waiting for a domain of this name; DOMAIN is not a pattern".onOneLine)
        }
        let report = try WatchReport(access, invocation)
        let bell = ResettableEvent()
        var watch = try StoreWatch(
            access, domain, hasKey: report.key != nil, hasCommands: invocation.format == .commands, ringing: bell)
        try context.follow(bell) {
            for change in try watch.look() {
                let text = try report.text(of: change)
                if !text.isEmpty { try context.terminal.write(text, to: .output) }
            }
        }
        return .done
    }
}

extension Option {
    package static let ignore = Option(
        "--ignore", Argument("GLOB", .word), "ignore matching domains or keys", repeats: true)
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
    private let folders: FolderWatches
    private var files: FileContentsCache
    private var known: [Name: Known] = [:]
    /// The failures that have been reported.
    private var failures: [Name: String] = [:]

    private struct Known {
        let domain: AddressedDomain
        let values: WatchedValues
        let generations: [FileGeneration?]
    }

    /// A unit of comparison: its identifier, its domain and its files.
    private struct Subject {
        let id: Name
        let domain: AddressedDomain
        let files: [(layer: Layer, file: DomainFile)]
    }

    init(
        _ access: StoreAccess, _ domain: AddressedDomain?, hasKey: Bool, hasCommands: Bool,
        ringing bell: ResettableEvent
    ) throws {
        self.access = access
        self.domain = domain
        // A command writes one layer.
        isOfLayers = access.reading() == .layer || access.requestedReading == nil && hasCommands
        leavesOutGlobal = domain == nil || !hasKey && access.reading() == .inForce
        files = FileContentsCache(on: access.system)
        folders = try FolderWatches(access, domain) { bell.ring() }
        // Reads the initial state, which is not a change.
        _ = try look()
    }

    // MARK: Comparing

    /// Returns the changes since the last call, ordered by layer and name.
    mutating func look() throws -> [WatchedChange] {
        let subjects = try subjects()
        var changes = try subjects.compactMap { try look(at: $0) }
        let ids = Set(subjects.map(\.id))
        for (id, gone) in known.sorted(by: { $0.key < $1.key }) where !ids.contains(id) {
            known[id] = nil
            changes.append(WatchedChange(domain: gone.domain, old: gone.values, new: WatchedValues()))
        }
        return changes
    }

    private mutating func look(at subject: Subject) throws -> WatchedChange? {
        let system = access.system
        let former = known[subject.id]
        do {
            // Before the files are read, so that no later change is missed.
            for (_, file) in subject.files { folders.watchPlaces(of: file) }
            let generations = try subject.files.map { try $0.file.status(on: system)?.generation }
            if let former, former.generations == generations { return nil }
            let values = try values(subject)
            known[subject.id] = Known(domain: subject.domain, values: values, generations: generations)
            failures[subject.id] = nil
            let old = former?.values ?? WatchedValues()
            return old.entries == values.entries
                ? nil : WatchedChange(domain: subject.domain, old: old, new: values)
        } catch let failure as StoreFailure {
            report(failure.description, of: subject.id)
        } catch let failure as SystemFailure {
            report(failure.description, of: subject.id)
        }
        return nil
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
        if target.parent != file.path.parent { watch(target.parent) }
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

    /// Returns the lines for a change; empty if the command does not request it.
    func text(of change: WatchedChange) throws -> String {
        guard !isIgnored(change.domain.word) else { return "" }
        let (old, new) = selected(change.old.entries, change.new.entries)
        let masking = access.masking(change.domain)
        guard invocation.format != .commands else {
            let command = access.spelling(change.domain.word, in: change.domain.layer)
            return try CommandLines(from: old, to: new, command, masking: masking).text()
        }
        return Differences(from: old, to: new).entries.map { entry in
            let layer = change.layer(of: entry.path.components.first?.text ?? "")
            return invocation.format == .json
                ? json(entry, change.domain, layer, masking) : line(entry, change.domain, layer, masking)
        }.joined()
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

    private func line(
        _ entry: Differences.Entry, _ domain: AddressedDomain, _ layer: Layer, _ masking: Masking
    ) -> String {
        func shown(_ value: PropertyList?) -> String {
            value.map { masking.text(of: $0, at: entry.path) } ?? "(none)"
        }
        let place = "\(layer) \(domain.word.onOneLine) \(entry.label)"
        return "\(place): \(shown(entry.change.old)) -> \(shown(entry.change.new))\n"
    }

    private func json(
        _ entry: Differences.Entry, _ domain: AddressedDomain, _ layer: Layer, _ masking: Masking
    ) -> String {
        let place: PropertyList.Dictionary = ["domain": .string(domain.word), "layer": .string(layer.name)]
        let line = entry.values(masking, in: place)
        return LosslessJSON.text(of: .dictionary(line)).map { $0 + "\n" } ?? ""
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
    let entries: PropertyList.Dictionary
    /// The values in force; nil for those of one layer.
    private let inForce: ValuesInForce?

    init(entries: PropertyList.Dictionary = [:]) { (self.entries, inForce) = (entries, nil) }

    init(inForce: ValuesInForce) { (entries, self.inForce) = (inForce.entries, inForce) }

    fileprivate func layer(of key: String) -> Layer? { inForce?.origin(of: Name(key))?.layer }
}
