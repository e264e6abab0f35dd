internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PreferencesMirror
internal import PropertyLists
internal import Screens
internal import SettingsSchema

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reads domains for a browser, and makes its changes by the same calls as `prefs write`.
struct BrowseActions: ScreenActions {
    typealias Content = BrowseScreen
    typealias Event = BrowseScreen.Event
    typealias Change = BrowseScreen.Change

    let context: CommandContext
    let invocation: Invocation
    let captured: CommandContext
    let access: StoreAccess
    /// The notes of the store, which would be written over the screen.
    let errors: CapturedErrors
    private let folders: FolderWatches
    /// The file that is shown instead of domains.
    private let file: AddressedDomain?
    private var names: [String] = []
    var opened: Opened?
    /// The entry whose details are shown.
    private var explained: EntryPath?
    /// The changes made in this browser, oldest first.
    var made: [MadeChange] = []
    /// Those of them that were undone, the last one at the end.
    var undone: [MadeChange] = []
    /// The reason the open domain could not be read again, as it was shown last.
    private var failure: String?

    /// A domain as it was read. A class, so that a key does not copy its many parts.
    final class Opened {
        let domain: AddressedDomain
        /// The layer in which changes are made.
        let layer: Layer
        let generations: [FileGeneration?]
        let layers: LayerStack
        /// The values in force.
        let values: PropertyList.Dictionary
        /// The values of that layer.
        let own: PropertyList.Dictionary
        let masking: Masking
        var history: HistoryListing?
        /// The open conflicts of mirrors in the domain, once they were read.
        var conflicts: [ConflictAtKey]?

        init(
            _ domain: AddressedDomain, _ layer: Layer, _ generations: [FileGeneration?], _ layers: LayerStack,
            values: PropertyList.Dictionary, own: PropertyList.Dictionary, _ masking: Masking
        ) {
            (self.domain, self.layer, self.generations, self.layers) = (domain, layer, generations, layers)
            (self.values, self.own, self.masking) = (values, own, masking)
        }

        /// Returns the layer whose value overrides any value of the layer in which changes are made.
        func layer(overriding key: String) -> Layer? {
            guard domain.name != nil, let winner = layers[key].winner?.origin.layer, winner < layer else { return nil }
            return winner
        }
    }

    struct MadeChange {
        let domain: AddressedDomain
        /// The entry that was changed.
        let place: EntryPath
        /// The keys with their values before and after the change.
        let keys: [(key: String, before: PropertyList?, after: PropertyList?)]
    }

    /// The size of all versions of a domain above which they are read only when the user asks for them.
    private static let mostHistoryBytes = 1 << 20
    /// The most characters of a value that the details show.
    private static let mostCharacters = 4000

    init(_ invocation: Invocation, _ context: CommandContext, waking terminal: any ScreenTerminal) throws {
        self.context = context
        let captured = context.capturingErrors()
        errors = captured.errors
        (self.invocation, self.captured) = (invocation, captured.context)
        access = try StoreAccess(invocation, captured.context)
        let (access, word) = (access, invocation[operand: Operand.domain.name])
        let domain = try word.map { try Self.domain($0, access) }
        file = domain?.name == nil ? domain : nil
        folders = try FolderWatches(access, file) { terminal.wake() }
        if let domain { opened = try read(domain) }
    }

    /// Returns the domain that a word names, or the file in the current folder if there is only that.
    private static func domain(_ word: String, _ access: StoreAccess) throws -> AddressedDomain {
        if !DomainArgument.isPath(word), let path = try? access.context.absolutePath(word),
            try access.system.fileSystem.status(of: path)?.kind == .file,
            try !access.namesInAllLayers().contains(where: { $0.text.hasSameBytes(as: word) })
        {
            return try access.domain("./" + word)
        }
        return try access.domain(word)
    }

    /// The events that show what the command line names.
    mutating func first() throws -> [Event] {
        let listed: [Event] = file == nil ? try listing() : []
        return try (opened.map { [.contents(try contents($0))] } ?? []) + listed + notes()
    }

    /// What the store has to report since the last call, such as a damaged file.
    private func notes() -> [Event] { errors.takeLines().last.map { [.noted($0.onOneLine)] } ?? [] }

    var name: String? { opened?.domain.word }

    // MARK: Reading

    private mutating func listing() throws -> [Event] {
        folders.watchDomainFolders()
        var found = try access.namesInAllLayers().map(\.text)
        if let word = opened?.domain.word, !found.contains(exactly: word) { found.append(word) }
        guard !found.elementsEqual(names, by: { $0.hasSameBytes(as: $1) }) else { return [] }
        names = found
        return [.domains(found)]
    }

    func generations(of domain: AddressedDomain) throws -> [FileGeneration?] {
        try access.files(domain).map { try $0.file.status(on: access.system)?.generation }
    }

    /// Reads a domain, which may have been removed if it is read again, and watches it.
    private func read(_ domain: AddressedDomain, isAgain: Bool = false) throws -> Opened {
        for (_, file) in try access.files(domain) { folders.watchPlaces(of: file) }
        // A writer keeps the version after it has replaced the file.
        folders.watchHistory(of: domain.file)
        return try load(domain, isAgain: isAgain)
    }

    private func load(_ domain: AddressedDomain, isAgain: Bool = false) throws -> Opened {
        var shown = domain
        shown.file.inexactIntegers = .text
        let generations = try generations(of: shown)
        let stored = try access.storedLayers(shown)
        let layers = access.layers(shown, stored: stored)
        guard isAgain || !layers.layers.isEmpty else { throw CommandFailure.noDomain(domain, context) }
        var values = Self.valuesInForce(layers, isGlobal: domain.name?.isGlobal ?? false)
        // The entries of a file are shown in its order.
        if domain.name != nil, !values.isSorted {
            values = PropertyList.Dictionary(values.sortedEntries.map { ($0.key, $0.value) })
        }
        let own = stored.first { $0.file?.path == domain.file.path }
        return Opened(
            domain, own?.layer ?? domain.layer, generations, layers, values: values, own: own?.values ?? [:],
            access.masking(domain))
    }

    private static func valuesInForce(_ layers: LayerStack, isGlobal: Bool) -> PropertyList.Dictionary {
        // A single layer without a schema needs no look-ups.
        if layers.schema == nil, layers.layers.count == 1, isGlobal || !layers.layers[0].layer.isGlobal {
            return layers.layers[0].values
        }
        var inForce = layers.valuesInForce()
        if !isGlobal { inForce.removeGlobal() }
        return inForce.entries
    }

    private func contents(_ opened: Opened) throws -> BrowseScreen.Contents {
        var origins: [Name: String] = [:]
        if opened.domain.name != nil, opened.layers.layers.count > 1 || opened.own.isEmpty {
            let isOverridden = opened.layers.layers.contains { $0.layer < opened.layer }
            for key in opened.values.keys where isOverridden || opened.own[key] == nil {
                let layer = opened.layers[key].winner?.origin.layer
                if layer != opened.layer { origins[Name(key)] = layer?.name }
            }
        }
        var secrets: [EntryPath: Int] = [:]
        var entries = opened.values
        if !opened.masking.isEmpty {
            let root = PropertyList.dictionary(entries)
            let masked = opened.masking.masked(root, at: [])
            Self.find(&secrets, masked, root, at: [])
            entries = masked.dictionaryValue ?? [:]
        }
        return BrowseScreen.Contents(
            name: opened.domain.word, layer: opened.domain.name.map { _ in opened.layer.name }, entries: entries,
            origins: origins, secrets: secrets, conflicts: try conflicts(opened).map(\.place.entry),
            schema: access.schemaInForce(opened.domain)?.schema)
    }

    /// Returns the contents of all domains that can be read.
    private func catalog() -> [BrowseScreen.Contents] {
        names.compactMap { name in
            if let opened, opened.domain.word.hasSameBytes(as: name) { return try? contents(opened) }
            return try? contents(load(access.domain(DomainName(name))))
        }
    }

    /// Finds the entries that a masking has replaced.
    private static func find(
        _ secrets: inout [EntryPath: Int], _ masked: PropertyList, _ value: PropertyList, at path: EntryPath
    ) {
        guard masked != value else { return }
        switch (masked, value) {
        case (.dictionary(let entries), .dictionary(let values)):
            for entry in entries {
                guard let value = values[entry.key] else { continue }
                let place = EntryPath(path.components + [EntryPath.Component(entry.key)])
                find(&secrets, entry.value, value, at: place)
            }
        case (.array(let elements), .array(let values)):
            for (index, pair) in zip(elements, values).enumerated() {
                find(&secrets, pair.0, pair.1, at: EntryPath(path.components + [EntryPath.Component(index)]))
            }
        default: secrets[path] = value.hashValue
        }
    }

    // MARK: Changes by others

    mutating func changes() -> [Event] {
        errors.takeLines()
        var events = file == nil ? (try? listing()) ?? [] : []
        if let former = opened, (try? generations(of: former.domain)) != former.generations {
            do {
                events += try reopened(former.domain) + notes()
                failure = nil
            } catch {
                let reason = error.asLine
                if reason != failure { events.append(.noted(reason)) }
                failure = reason
            }
        } else if let opened, let path = explained, hasNewVersions(opened) {
            opened.history = nil
            if let lines = try? details(of: path) { events.append(.details(path, lines)) }
        }
        return events
    }

    /// Returns whether the kept versions are others than those that were read.
    private func hasNewVersions(_ opened: Opened) -> Bool {
        guard let listing = opened.history, let history = History(of: opened.domain.file, on: access.system) else {
            return false
        }
        return history.versions.last != listing.entries.first?.version
    }

    mutating func reopened(_ domain: AddressedDomain) throws -> [Event] {
        let new = try read(domain, isAgain: opened?.domain.word == domain.word)
        opened = new
        return [.contents(try contents(new))]
    }

    // MARK: Effects

    mutating func perform(
        _ effect: BrowseScreen.Effect, on terminal: any ScreenTerminal
    ) throws -> ScreenStep<Event> {
        errors.takeLines()
        do {
            return try carryOut(effect, on: terminal)
        } catch {
            return .failed(.refused(error.asLine))
        }
    }

    private mutating func carryOut(
        _ effect: BrowseScreen.Effect, on terminal: any ScreenTerminal
    ) throws -> ScreenStep<Event> {
        switch effect {
        case .finish: return .finished(isComplete: true)
        case .open(let name):
            opened = nil
            return .events(try reopened(access.domain(DomainName(name))) + notes())
        case .create(let name):
            let new = try read(access.domain(DomainName(word: name)), isAgain: true)
            opened = new
            return .events([.created(try contents(new))] + (try listing()))
        case .catalog: return .events([.catalog(catalog())])
        case .explain(let path):
            explained = path
            return .events([.details(path, try details(of: path))])
        case .change(let change): return .events(try make(change))
        case .undo: return .events(try undo(again: false))
        case .redo: return .events(try undo(again: true))
        case .differences: return .events([.differences(differences())])
        case .edit(let path):
            let (opened, root) = try current()
            try checkShown(path)
            let rule = access.schemaInForce(opened.domain)?.schema.rule(at: path)
            let context = context
            do {
                let events = try context.edited(root[path], path.components.last?.text ?? "", on: terminal) { value in
                    try make(.set(path, rule?.adapted(value) ?? value))
                }
                return .redrawn(events ?? [])
            } catch {
                return .redrawn([.refused(error.asLine)])
            }
        case .complete(let text): return .events([.completed(context.paths(beginningWith: text))])
        case .conflicts(let path):
            let (_, found) = try openConflicts(at: path)
            let values = ListedConflict.choices(found, try current().opened.masking)
            guard let place = found.first?.place.entry else { return .events(try reopened(current().opened.domain)) }
            return .events([.conflicts(path, place: place, names: found.map(\.name), values: values)])
        case .decide(let path, let names, let restored):
            return .events(try decide(path, names, restored: restored))
        case .history(let path?, let shown): return .events([.history(path, try versions(of: path), at: shown)])
        case .history(nil, _): return .events([.history(nil, try versionsOfAll())])
        case .moment(let version, let path): return .events([.moment(try moment(version, of: path))])
        case .restore(let path, let version):
            return .events(try path.components.isEmpty ? restoreAll(version) : restore(path, version))
        case .copy(let path, let writes):
            let line = try commandLine(path, writes: writes)
            let text = Data(line.utf8).base64EncodedString()
            try terminal.write("\u{1B}]52;c;\(text)\u{7}")
            return .events([.copied(line)])
        }
    }

    func current() throws -> (opened: Opened, root: PropertyList) {
        guard let opened else { throw CommandFailure(.notFound, "no domain is open") }
        return (opened, .dictionary(opened.values))
    }

    /// Throws if a value contains something sensitive.
    private func checkShown(_ path: EntryPath) throws {
        let (opened, root) = try current()
        guard let value = root[path], opened.masking.touches(value, at: path) else { return }
        throw CommandFailure(.invalidValue, "\(try KeyArgument(path).spelling.onOneLine) contains a sensitive value")
    }
}

// MARK: Details

extension BrowseActions {
    private func details(of path: EntryPath) throws -> [BrowseScreen.Detail] {
        let (opened, root) = try current()
        guard let key = path.components.first?.text, let value = root[path] else { return [] }
        let masking = opened.masking
        var lines = rules(at: path, opened)
        if opened.domain.name != nil {
            let rest = EntryPath(Array(path.components.dropFirst()))
            for answer in opened.layers.explanation(of: key).answers {
                guard let value = (answer.value ?? answer.stored)[rest] else { continue }
                let text = masking.masked(value, at: path).beginning(limit: Self.mostCharacters)
                let file = answer.origin.file.map { "  (\($0.onOneLine))" } ?? ""
                let fault = answer.fault.map { "  ignored: \($0.onOneLine)" } ?? ""
                let style: Style = answer.fault != nil ? .invalid : answer.origin.layer == .forced ? .forced : Style()
                lines.append(.init(answer.origin.layer.name, text + fault + file, style: style))
            }
        }
        for conflict in try conflicts(opened) where conflict.concerns(path) {
            let text = conflict.text(masking).shown
            lines.append(.init("conflict", "\(text); \(conflict.advice)", style: .conflict))
        }
        if let change = lastChange(of: path, opened) { lines.append(.init("changed", change)) }
        lines.append(.init("raw", masking.masked(value, at: path).beginning(limit: Self.mostCharacters)))
        lines.append(.init("key", try KeyArgument(path).spelling.onOneLine))
        return lines
    }

    /// The open conflicts of mirrors in the domain, as of when it was read.
    private func conflicts(_ opened: Opened) throws -> [ConflictAtKey] {
        if let conflicts = opened.conflicts { return conflicts }
        let conflicts = try access.openConflicts(of: opened.domain)
        opened.conflicts = conflicts
        return conflicts
    }

    /// The schema's declarations about an entry.
    private func rules(at path: EntryPath, _ opened: Opened) -> [BrowseScreen.Detail] {
        guard let schema = access.schemaInForce(opened.domain)?.schema, let rule = schema.rule(at: path) else {
            return []
        }
        let setting =
            path.components.count == 1 ? path.components.first.flatMap { schema.anyDeclaration(of: $0.text) } : nil
        let bounds = setting?.bounds.map { $0.prefix(1).uppercased() + $0.dropFirst() }
        let words = [setting?.title, setting?.summary, bounds].compactMap { text in
            text.map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 }
        }
        return [.init("schema", (words.isEmpty ? [rule.type.noun] : words).joined(separator: ". "))]
    }

    /// The time of the last change of an entry, and the program that made it.
    private func lastChange(of path: EntryPath, _ opened: Opened) -> String? {
        if opened.history == nil {
            guard let history = History(of: opened.domain.file, on: access.system) else { return nil }
            let size = history.versions.reduce(0) { $0 + $1.size }
            guard size <= Self.mostHistoryBytes else { return "h shows the history" }
            opened.history = HistoryListing(history)
        }
        guard let listing = opened.history else { return nil }
        let own = PropertyList.dictionary(opened.own)[path]
        guard let newest = listing.entries.first else { return nil }
        if let state = newest.state, PropertyList.dictionary(state.values)[path] != own {
            return "by another program; not kept"
        }
        return listing.changes(of: path).first.map { $0.version.occasion(at: context.clock.wall) }
    }

    // MARK: History

    /// The versions that changed an entry, or all of the domain if the path is empty.
    private func versions(of path: EntryPath) throws -> [BrowseScreen.Version] {
        let (opened, _) = try current()
        let history = try access.history(of: opened.domain)
        guard !path.components.isEmpty else {
            return shown(history.versions.filter { !history.isTruncated($0) }.reversed(), of: opened.domain)
        }
        let listing = opened.history ?? HistoryListing(history)
        opened.history = listing
        return shown(listing.changes(of: path).map(\.version), of: opened.domain)
    }

    private func versionsOfAll() throws -> [BrowseScreen.Version] {
        guard file == nil else { return try versions(of: EntryPath()) }
        var found: [(time: Timestamp, version: BrowseScreen.Version)] = []
        for name in names {
            guard let domain = try? access.domain(DomainName(name)),
                let history = History(of: domain.file, on: access.system)
            else { continue }
            let versions = history.versions.filter { !history.isTruncated($0) }
            found += zip(versions, shown(versions, of: domain)).map { ($0.time, $1) }
        }
        // Versions of one time keep their order.
        return found.enumerated().sorted { ($0.element.time, $0.offset) > ($1.element.time, $1.offset) }
            .map(\.element.version)
    }

    private func shown(_ versions: [KeptVersion], of domain: AddressedDomain) -> [BrowseScreen.Version] {
        let now = context.clock.wall
        return versions.map { version in
            BrowseScreen.Version(
                domain: domain.word, number: version.sequence, heading: version.occasion(at: now))
        }
    }

    /// Reads a domain as it was in a version, and what the version changed.
    private func moment(_ version: BrowseScreen.Version, of path: EntryPath) throws -> BrowseScreen.Moment {
        let domain =
            try opened.flatMap { $0.domain.word.hasSameBytes(as: version.domain) ? $0.domain : nil }
            ?? access.domain(DomainName(version.domain))
        let history = try access.history(of: domain)
        let state = try access.state(ofVersion: version.number, of: domain)
        let earlier = history.versions.last { $0.sequence < version.number && !history.isTruncated($0) }
        let former = earlier.flatMap { history.state(of: $0) }
        let masking = access.masking(domain)
        func shown(_ state: DomainState?) -> PropertyList.Dictionary {
            let values = (state?.values ?? [:]).withoutHidden
            let sorted = PropertyList.Dictionary(values.sortedEntries.map { ($0.key, $0.value) })
            return masking.masked(.dictionary(sorted), at: []).dictionaryValue ?? [:]
        }
        let isKnown = former != nil || version.number == 1
        let differences = Differences(
            from: (former?.values ?? [:]).withoutHidden, to: state.values.withoutHidden)
        let shownDifferences = path.components.isEmpty ? differences : differences.touching([path])
        var changes = shownDifferences.lines(masking: masking).map { line in
            BrowseScreen.Detail("", line.plain.onOneLine, style: line.parts.first?.style ?? Style())
        }
        if !isKnown { changes = [.init("", "The version before it is not kept.")] }
        if changes.isEmpty { changes = [.init("", "No value was changed.")] }
        return BrowseScreen.Moment(
            version, entries: shown(state), former: isKnown ? shown(former) : shown(state), changes: changes)
    }
}

// MARK: Command lines

extension BrowseActions {
    /// Returns the command that reads or writes an entry.
    private func commandLine(_ path: EntryPath, writes: Bool) throws -> String {
        let (opened, root) = try current()
        try checkShown(path)
        let domain = opened.domain
        let key = try KeyArgument(path)
        guard let argument = key.argument, let value = root[path] else {
            throw CommandFailure(.invalidValue, "\(key.spelling.onOneLine): no command line can name this key")
        }
        let spelling = access.spelling(domain.word, in: domain.layer)
        guard writes else {
            let isRead = domain.name == nil || opened.own[key.key] != nil || access.reading() != .layer
            let words = spelling.words(
                [Verb.read.name], options: isRead ? [] : [Option.effective.name], [argument])
            return ShellWord.visibleLine(words)
        }
        guard let words = ValueWords(value), words.fitsCommandLine else {
            throw CommandFailure(.invalidValue, "\(key.spelling.onOneLine): the value is too large for a command line")
        }
        return ShellWord.visibleLine(spelling.words([Verb.write.name], [argument], value: words))
    }
}

extension ShellWord {
    /// Returns the line that bash, zsh and ksh read as `words`, without control characters. It can be pasted safely.
    package static func visibleLine(_ words: [String]) -> String {
        words.map { word in
            let isVisible = !word.unicodeScalars.contains { $0.isInvisible || $0 == "\n" || $0 == "\t" }
            guard !isVisible || ByteText.holdsRaw(word) else {
                return quoted(word)
            }
            var text = "$'"
            for scalar in word.unicodeScalars {
                switch scalar {
                case "\n": text += "\\n"
                case "\t": text += "\\t"
                case "\\", "'": text += "\\\(scalar)"
                case _ where scalar.isInvisible || ByteText.holdsRaw(String(scalar)):
                    // Three octal digits are unambiguous before any following text.
                    for byte in ByteText.bytes(String(scalar)) {
                        let digits = String(byte, radix: 8)
                        text += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
                    }
                default: text.unicodeScalars.append(scalar)
                }
            }
            return text + "'"
        }.joined(separator: " ")
    }
}
