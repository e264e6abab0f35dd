package import PropertyLists
package import SettingsSchema

/// A full-screen browser of all domains: their names on the left, the entries of one of them as a tree, and the details
/// of the selected entry below.
///
/// The caller masks all sensitive values before it passes them here.
package struct BrowseScreen: PaneScreen {
    package enum Event: ScreenEvent {
        case key(KeyPress)
        case resized(columns: Int, rows: Int)
        case domains([String])
        /// The current contents of a domain.
        indirect case contents(Contents)
        /// The contents of all domains, for a search.
        case catalog([Contents])
        /// A domain that the user has named, and that may have no entries yet.
        indirect case created(Contents)
        case details(EntryPath, [Detail])
        /// The versions of an entry, of a domain, or of all domains if the path is nil, newest first. One of them is
        /// shown first, by default the newest.
        case history(EntryPath?, [Version], at: Int? = nil)
        indirect case moment(Moment)
        /// The open conflicts at a place, which is the entry or one above or below it: their names, and a line for the
        /// value in force and for each lost one.
        case conflicts(EntryPath, place: EntryPath, names: [String], values: [String])
        /// Files whose path begins with the text of the field.
        case completed([String])
        /// A command line was copied.
        case copied(String)
        /// The changes made in this browser, as lines.
        case differences([String])
        /// A change was made. The entry is selected.
        case done(String, at: EntryPath)
        case refused(String)
        /// Something that the user should know.
        case noted(String)
    }

    package enum Effect: Hashable, Sendable {
        case open(String)
        /// Opens a domain that need not exist.
        case create(String)
        case explain(EntryPath)
        /// Reads all domains.
        case catalog
        case change(Change)
        case undo, redo
        /// Lists the changes made in this browser.
        case differences
        /// Lets the user edit a value in an editor, and stores it.
        case edit(EntryPath)
        /// Lists the versions of an entry, of a domain, or of all domains if the path is nil.
        case history(EntryPath?, at: Int? = nil)
        /// Reads a version, and what it changed of an entry, or of the domain if the path is empty.
        case moment(Version, of: EntryPath)
        /// Restores an entry, or a domain if the path is empty.
        case restore(EntryPath, version: Int)
        /// Lists the open conflicts of mirrors at an entry.
        case conflicts(EntryPath)
        /// Keeps one of the values at an entry with open conflicts: the one in force, or the lost one of the conflict
        /// `restored`.
        case decide(EntryPath, names: [String], restored: String?)
        /// Lists the files whose path begins with a text.
        case complete(String)
        /// Copies the command line that reads or writes a value.
        case copy(EntryPath, writes: Bool)
        case finish
    }

    package enum Change: Hashable, Sendable {
        case set(EntryPath, PropertyList)
        case rename(EntryPath, to: EntryPath)
        case copy(EntryPath, to: EntryPath)
        /// Swaps two elements of an array.
        case move(EntryPath, to: EntryPath)
        case delete(EntryPath)
    }

    /// The entries of a domain or file.
    package struct Contents: Sendable {
        package let name: String
        /// The layer that is edited; nil for a file.
        package let layer: String?
        package let entries: PropertyList.Dictionary
        /// The layer of each key whose value does not come from the layer that is edited.
        package let origins: [Name: String]
        /// The sensitive entries, each with a number that changes with its value.
        package let secrets: [EntryPath: Int]
        /// The entries at which a mirror has open conflicts.
        package let conflicts: [EntryPath]
        package let schema: Schema?

        package init(
            name: String, layer: String? = "user", entries: PropertyList.Dictionary, origins: [Name: String] = [:],
            secrets: [EntryPath: Int] = [:], conflicts: [EntryPath] = [], schema: Schema? = nil
        ) {
            (self.name, self.layer, self.entries) = (name, layer, entries)
            (self.origins, self.secrets, self.conflicts, self.schema) = (origins, secrets, conflicts, schema)
        }
    }

    /// A line about an entry.
    package struct Detail: Hashable, Sendable {
        package let label: String
        package let text: String
        package let style: Style

        package init(_ label: String, _ text: String, style: Style = Style()) {
            (self.label, self.text, self.style) = (label, text, style)
        }
    }

    /// The mode, which determines what a key does.
    indirect enum Mode: Sendable {
        case browsing
        /// A search, whose matches are listed in the place of the entries.
        case searching(LineEditor, from: SearchStart)
        case editing(LineEditor, Purpose)
        case choosing(Target, [PropertyList], Int)
        case choosingType(Target, Int)
        /// The values at an entry with open conflicts, whose names are those of all but the first one.
        case deciding(Target, place: EntryPath, names: [String], values: [String], Int)
        case history(Timeline)
        /// A command after a colon.
        case prompting(LineEditor)
        /// A text in a box.
        case reading(title: String, [String], scroll: Int)
    }

    /// What was selected when a search began.
    struct SearchStart: Sendable {
        let domain: String?
        let path: EntryPath?
        let isInDomains: Bool
    }

    /// The purpose of a line editor.
    enum Purpose: Hashable, Sendable {
        case value(Target)
        case newKey(inside: Target)
        case newValue(EntryPath, inside: Target)
        case rename(Target)
        case copy(Target)
        case newDomain
    }

    /// The entry that a mode acts on, as it was when the mode began.
    struct Target: Hashable, Sendable {
        let path: EntryPath
        /// The value as it is shown; nil for the whole domain, in which only one key is changed.
        let value: PropertyList?
        /// The number of a sensitive value.
        let secret: Int?
    }

    /// The names of the domains; empty for a single file.
    private(set) var domains: [String] = []
    /// The names of the domains in which a search finds something, or of all.
    var shownDomains: [String] = []
    /// The width of the longest name, in columns.
    private(set) var widestDomain = 0
    var isInDomains: Bool
    /// The index of the first domain that is shown.
    var domainTop = 0
    /// The name of the domain that is open or is being opened.
    private(set) var current: String?
    var contents: Contents?
    /// The name of the domain whose entries were read.
    package var openedName: String? { contents?.name }
    package internal(set) var tree = EntryTree()
    /// The positions of the selected row and of the first row that is shown.
    var selected = 0, top = 0
    /// The rows that are shown.
    var rows: [EntryTree.Row] = []
    var row: EntryTree.Row?
    /// The width of the widest label that was shown, in columns.
    var labelColumns = 0
    private(set) var details: [Detail] = []
    var mode = Mode.browsing
    /// Whether the last key was the first of two that quit.
    var isLeaving = false
    /// Whether the first change of a Boolean was confirmed in a file, whose format and use are unknown.
    var hasConfirmed = false
    let keymap: Keymap
    /// The text of the search that is in force, or an empty text.
    var search = ""
    /// What the search finds, once the domains were read.
    var catalog: Catalog?
    /// The entry that is selected when its domain is open.
    var awaited: EntryPath?
    var isWatching = false
    /// The entries before the last change by another process, as long as its rows are highlighted.
    private(set) var former: PropertyList?
    private(set) var size = (columns: 80, rows: 24)
    var layout = PaneLayout(columns: 80, rows: 24, side: nil, detailRows: 5)
    var message: Message?
    /// The entry whose details were requested last.
    private var explained: EntryPath?

    static let kinds: [PropertyList.Kind] = [.string, .integer, .real, .boolean, .date, .data, .array, .dictionary]

    /// - Parameter name: The domain or file to open first, or nil for the list of domains.
    package init(_ name: String?, _ keymap: Keymap = .standard) {
        current = name
        isInDomains = name == nil
        self.keymap = keymap
    }

    // MARK: Events

    package mutating func handle(_ event: Event) -> [Effect] {
        var effects = react(to: event)
        // Details change no rows.
        if case .details = event { return effects }
        settle()
        // The details of a match follow when its domain is open.
        let path = isOpenDomainSelected && timeline == nil ? row?.path : nil
        if let path, path != explained {
            details = []
            effects.append(.explain(path))
        }
        explained = path
        return effects
    }

    package var pause: Int32? { former == nil ? nil : 1500 }

    /// Ends the highlighting of changed rows.
    package mutating func elapse() { former = nil }

    private mutating func react(to event: Event) -> [Effect] {
        switch event {
        case .key(let press):
            let press = meaning(of: press)
            message = nil
            guard let press else { break }
            if keymap.command(for: press) != .interrupt { isLeaving = false }
            return handle(press)
        case .resized(let columns, let rows): size = (columns, rows)
        case .domains(let names):
            domains = names
            widestDomain = names.map(\.shownColumns).max() ?? 0
            showDomains()
            let again: [Effect] = isSearching ? [.catalog] : []
            if current == nil, let first = names.first { return again + open(first) }
            return again
        case .contents(let new):
            let isChanged = take(new)
            if isChanged, isSearching { return readCatalog() }
        case .catalog(let contents):
            return findAgain(in: Catalog(contents))
        case .created(let new):
            _ = take(new)
            leaveHistory()
            (isInDomains, mode) = (false, .editing(LineEditor(), .newKey(inside: target(EntryPath()))))
        case .details(let path, let lines): if path == row?.path { details = lines }
        case .history(let path, let versions, let shown): return showHistory(path, versions, at: shown)
        case .moment(let moment): show(moment)
        case .conflicts(let path, let place, let names, let values):
            guard path == row?.path, !names.isEmpty, timeline == nil else { break }
            mode = .deciding(target(path), place: place, names: names, values: values, 0)
        case .completed(let paths):
            guard case .editing(var editor, let purpose) = mode else { break }
            let names = editor.complete(paths)
            mode = .editing(editor, purpose)
            if names != "" { message = Message(names ?? "No such file.", isError: names == nil) }
        case .copied(let text): message = Message("Copied: \(text)")
        case .differences(let lines):
            leaveHistory()
            let hint = keymap.hint(.delete, "deletes an entry")
            mode = .reading(
                title: "Changed here", lines.isEmpty ? ["Nothing was changed here. \(hint)."] : lines, scroll: 0)
        case .done(let text, let path):
            leaveHistory()
            // The user's own change is not highlighted.
            (mode, former) = (.browsing, nil)
            message = Message(text)
            if let position = tree.reveal(path) { selected = position }
            explained = nil
        case .refused(let reason):
            message = Message(reason, isError: true)
            awaited = nil
            leaveHistory()
            switch mode {
            // The text stays in the field.
            case .editing, .searching: break
            default: mode = .browsing
            }
        case .noted(let text): message = Message(text, isError: true)
        }
        return []
    }

    /// Shows the contents of a domain, and returns whether they have changed since it was shown.
    private mutating func take(_ new: Contents) -> Bool {
        guard let old = contents, old.name.hasSameBytes(as: new.name) else {
            if target != nil || timeline != nil { mode = .browsing }
            (contents, tree, details) = (new, EntryTree(new.entries), [])
            (current, selected, top, labelColumns, former, explained) = (new.name, 0, 0, 0, nil, nil)
            if let path = awaited { select(path) }
            return false
        }
        let shown = timeline
        leaveHistory()
        defer {
            if let shown { resume(shown) }
        }
        let path = tree.row(at: selected)?.path
        let changed = old.entries == new.entries ? [] : Self.changedKeys(old.entries, new.entries)
        contents = new
        explained = nil
        guard !changed.isEmpty else { return false }
        tree.update(new.entries)
        if let path, let position = tree.position(of: path) { selected = position }
        if isWatching {
            former = .dictionary(old.entries)
            let names = changed.prefix(3).joined(separator: ", ") + (changed.count > 3 ? ", …" : "")
            message = Message("Changed: \(names)")
        }
        leaveRemovedTarget()
        return true
    }

    /// Ends a mode whose entry another process has removed, so that its keys do not act on another entry.
    private mutating func leaveRemovedTarget() {
        guard let target, self.target(target.path).value == nil, target.value != nil else { return }
        mode = .browsing
        message = Message("\(Self.name(of: target.path)) was removed by another process.", isError: true)
    }

    private static func changedKeys(_ old: PropertyList.Dictionary, _ new: PropertyList.Dictionary) -> [String] {
        new.filter { old[$0.key] != $0.value }.map(\.key) + old.filter { new[$0.key] == nil }.map(\.key)
    }

    mutating func open(_ name: String) -> [Effect] {
        guard Name(name) != contents.map({ Name($0.name) }) else { return [] }
        (current, contents, tree, details) = (name, nil, EntryTree(), [])
        return [.open(name)]
    }

    // MARK: Keys

    private mutating func handle(_ press: KeyPress) -> [Effect] {
        switch mode {
        case .browsing: return browse(press)
        case .searching(var editor, let start): return find(&editor, press, from: start)
        case .editing(var editor, let purpose): return edit(&editor, purpose, press)
        case .choosing(let target, let choices, let index):
            switch choice(press, index, choices.map { shownText($0, of: target) }) {
            case .marked(let next): mode = .choosing(target, choices, next)
            case .chosen(let index):
                if target.value?.kind == .boolean { hasConfirmed = true }
                return set(choices[index], target)
            case .left: mode = .browsing
            }
        case .choosingType(let target, let index):
            switch choice(press, index, Self.kinds.map(\.rawValue)) {
            case .marked(let next): mode = .choosingType(target, next)
            case .chosen(let index): return convert(target, to: Self.kinds[index])
            case .left: mode = .browsing
            }
        case .deciding(let target, let place, let names, let values, let index):
            switch choice(press, index, values) {
            case .marked(let next): mode = .deciding(target, place: place, names: names, values: values, next)
            case .chosen(let index):
                return unlessChanged(
                    target, .decide(target.path, names: names, restored: index > 0 ? names[index - 1] : nil))
            case .left: mode = .browsing
            }
        case .history: return stepHistory(press)
        case .prompting(var editor):
            mode = .browsing
            switch editor.handle(press) {
            case .accepted: return execute(Prompt(editor.text))
            case .canceled: break
            case .edited, .ignored: mode = .prompting(editor)
            }
        case .reading(let title, let lines, _):
            if let start = scrolled(by: press) {
                mode = .reading(title: title, lines, scroll: start)
            } else if !press.isClick {
                mode = .browsing
            }
        }
        return []
    }

    private func choice(_ press: KeyPress, _ index: Int, _ titles: [String]) -> ListChoice {
        ListChoice(press, index, of: titles, clicked: clickedLine(press))
    }

    /// Returns the text that is shown for a choice: its title, or else its value.
    func shownText(_ choice: PropertyList, of target: Target) -> String {
        rule(at: target.path)?.title(of: choice) ?? choice.plainText
    }
}
