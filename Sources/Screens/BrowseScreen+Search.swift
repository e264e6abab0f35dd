internal import PropertyLists
internal import SchemaTools
internal import SettingsSchema

/// The domains with all their entries, and those that a search finds.
struct Catalog: Sendable {
    /// An entry, or a domain itself.
    private struct Item: Sendable {
        let domain: Int32
        /// The item of the container that the entry is in.
        let parent: Int32
        /// The index of the entry in its container; -1 for a domain itself.
        let index: Int32
    }

    /// Something that the search finds.
    struct Match: Sendable {
        let domain: BrowseScreen.Contents
        let path: EntryPath
        let value: PropertyList
    }

    private let domains: [BrowseScreen.Contents]
    private var items: [Item] = []
    private var index = SearchIndex()
    /// The items that match, the best first.
    private var found: [Int] = []
    /// The index of the selected match, and of the first one that is shown.
    private(set) var selected = 0, top = 0
    /// The search whose matches were found last.
    private(set) var query = SearchQuery("")

    init(_ domains: [BrowseScreen.Contents]) {
        self.domains = domains
        for (number, contents) in domains.enumerated() {
            items.append(Item(domain: Int32(number), parent: -1, index: -1))
            index.append(names: [contents.name], texts: [contents.schema?.title ?? ""])
            append(.dictionary(contents.entries), number, inside: items.count - 1, path: EntryPath(), state: nil)
        }
    }

    /// Appends the entries of a container. Those of a setting have its state.
    private mutating func append(
        _ value: PropertyList, _ domain: Int, inside parent: Int, path: EntryPath, state: (RowStates, String)?
    ) {
        let contents = domains[domain]
        let parents = path.components.isEmpty ? nil : path.description
        let isMarked = !contents.secrets.isEmpty || !contents.conflicts.isEmpty
        for index in 0..<value.entryCount {
            let entry = value.entry(at: index)
            var (states, layer) = state ?? contents.state(ofKey: entry.component.text)
            // Most entries need no path.
            let path =
                isMarked || entry.value.isContainer ? EntryPath(path.components + [entry.component]) : EntryPath()
            if isMarked, contents.secrets[path] != nil { states.insert(.secret) }
            if isMarked, contents.hasConflict(at: path) { states.insert(.conflict) }
            let setting = parents == nil ? contents.setting(entry.component.text) : nil
            items.append(Item(domain: Int32(domain), parent: Int32(parent), index: Int32(index)))
            let choices = setting.map { setting in setting.rule.choices.map { setting.rule.title(of: $0) } } ?? []
            self.index.append(
                names: [entry.component.text, contents.name, setting?.title].compactMap(\.self),
                texts: [entry.value.searchedText, setting?.summary, setting?.group, parents].compactMap(\.self)
                    + choices,
                states: states, layer: layer)
            if entry.value.isContainer {
                append(entry.value, domain, inside: items.count - 1, path: path, state: (states, layer))
            }
        }
    }

    // MARK: Matches

    /// The number of matches.
    var count: Int { found.count }

    /// Finds the matches of a search, and selects the best of them.
    mutating func find(_ query: SearchQuery) {
        (found, selected, top, self.query) = (index.matches(query), 0, 0, query)
    }

    /// Selects another match.
    mutating func select(_ index: Int) { selected = max(0, min(index, count - 1)) }

    /// Selects the match of an entry, if there is one.
    mutating func select(_ match: Match) {
        let index = found.indices.first { index in
            let other = self[index]
            return other.path == match.path && other.domain.name.hasSameBytes(as: match.domain.name)
        }
        if let index { selected = index }
    }

    /// Scrolls until the selected match is shown in a list of `height` rows.
    mutating func scroll(to height: Int) {
        top = max(0, min(max(min(top, selected), selected - height + 1), count - height))
    }

    subscript(index: Int) -> Match {
        var (item, indices) = (items[found[index]], [Int]())
        let contents = domains[Int(item.domain)]
        while item.index >= 0 {
            indices.append(Int(item.index))
            item = items[Int(item.parent)]
        }
        var (value, components) = (PropertyList.dictionary(contents.entries), [EntryPath.Component]())
        for index in indices.reversed() {
            let entry = value.entry(at: index)
            components.append(entry.component)
            value = entry.value
        }
        return Match(domain: contents, path: EntryPath(components), value: value)
    }

    var selectedMatch: Match? { count == 0 ? nil : self[selected] }

    /// The selected match as a row of a tree; nil if it is a domain.
    var selectedRow: EntryTree.Row? {
        guard let match = selectedMatch, !match.path.components.isEmpty else { return nil }
        return EntryTree.Row(match.path, match.value, isOpen: false)
    }

    /// The names of the domains in which the search finds something, in their order.
    var namesOfDomains: [String] {
        var isFound = domains.map { _ in false }
        for item in found { isFound[Int(items[item].domain)] = true }
        return zip(domains, isFound).filter(\.1).map(\.0.name)
    }
}

extension BrowseScreen.Contents {
    /// The states and the layer of a key's value.
    fileprivate func state(ofKey key: String) -> (RowStates, String) {
        guard let own = layer else { return ([], "") }
        guard let layer = origins[Name(key)] else { return ([.modified], own) }
        return (layer == "forced" ? [.forced] : [], layer)
    }

    /// The state of an entry, as its mark shows it.
    func state(of path: EntryPath) -> ValueState {
        if hasConflict(at: path) { return .conflict }
        let states = path.components.first.map { state(ofKey: $0.text).0 } ?? []
        return states.contains(.forced) ? .forced : states.contains(.modified) ? .set : .standard
    }

    fileprivate func setting(_ key: String) -> SettingDeclaration? { schema?.anyDeclaration(of: key) }

    /// Whether a mirror has an open conflict at, above or below an entry.
    func hasConflict(at path: EntryPath) -> Bool {
        conflicts.contains { place in
            zip(place.components, path.components).allSatisfy { $0 == $1 }
        }
    }
}

extension PropertyList {
    /// The text of a value that a search reads.
    fileprivate var searchedText: String? {
        switch self {
        case .array, .dictionary, .data: nil
        default: plainText
        }
    }
}

extension BrowseScreen {
    /// Whether a search is being typed.
    var isSearching: Bool { if case .searching = mode { true } else { false } }

    /// Whether matches are listed in the place of the entries.
    var showsMatches: Bool { isSearching && catalog.map { !$0.query.isEmpty } ?? false }

    /// Whether the entries of the domain that is selected were read.
    var isOpenDomainSelected: Bool {
        guard showsMatches, let match = catalog?.selectedMatch else { return true }
        return contents?.name.hasSameBytes(as: match.domain.name) ?? false
    }

    mutating func startSearch() -> [Effect] {
        search = ""
        mode = .searching(
            LineEditor(), from: SearchStart(domain: current, path: row?.path, isInDomains: isInDomains))
        return readCatalog()
    }

    /// Types a text into the search.
    mutating func type(_ text: String) -> [Effect] {
        guard case .searching(_, let start) = mode else { return [] }
        (search, mode) = (text, .searching(LineEditor(text), from: start))
        return findAgain()
    }

    /// Reads what a search searches.
    mutating func readCatalog() -> [Effect] {
        guard domains.isEmpty else { return [.catalog] }
        return findAgain(in: contents.map { Catalog([$0]) })
    }

    /// Finds the matches in entries that were read again, and selects the former one, if it is still among them.
    mutating func findAgain(in new: Catalog?) -> [Effect] {
        let former = catalog?.selectedMatch
        catalog = new
        catalog?.find(SearchQuery(search))
        if let former { catalog?.select(former) }
        showDomains()
        return openMatch()
    }

    /// Finds the matches of the text that was typed, and opens the domain of the best one.
    mutating func findAgain() -> [Effect] {
        catalog?.find(SearchQuery(search))
        showDomains()
        return openMatch()
    }

    /// Lists the domains in which the search finds something, or all.
    mutating func showDomains() {
        shownDomains = catalog.flatMap { $0.query.isEmpty ? nil : $0.namesOfDomains } ?? domains
    }

    /// Ends the search that is in force.
    mutating func endSearch() {
        (search, catalog) = ("", nil)
        showDomains()
    }

    /// Opens the domain of the selected match.
    private mutating func openMatch() -> [Effect] {
        guard showsMatches, let match = catalog?.selectedMatch else { return [] }
        return open(match.domain.name)
    }

    /// Selects an entry of the open domain, or of the domain that is being opened.
    mutating func select(_ path: EntryPath) {
        guard contents != nil else {
            awaited = path
            return
        }
        awaited = nil
        selected = tree.reveal(path) ?? 0
    }

    mutating func find(_ editor: inout LineEditor, _ press: KeyPress, from start: SearchStart) -> [Effect] {
        let page = max(1, layout.list.count - 1)
        switch press.key {
        case .up: return moveMatch(-1)
        case .down: return moveMatch(1)
        case .pageUp: return moveMatch(-page)
        case .pageDown: return moveMatch(page)
        case .wheel(let step): return moveMatch(3 * step)
        case .click(let column, let line): return click(column, line, ofMatches: showsMatches)
        default: break
        }
        switch press.isControl("c") ? .canceled : editor.handle(press) {
        case .accepted: return goToMatch()
        case .canceled:
            mode = .browsing
            endSearch()
            isInDomains = start.isInDomains
            let effects = start.domain.map { open($0) } ?? []
            select(start.path ?? EntryPath())
            return effects
        case .edited, .ignored:
            mode = .searching(editor, from: start)
            guard editor.text != search else { return [] }
            search = editor.text
            return findAgain()
        }
    }

    private mutating func moveMatch(_ step: Int) -> [Effect] {
        guard showsMatches, let catalog else { return [] }
        self.catalog?.select(catalog.selected + step)
        return openMatch()
    }

    /// Handles a click while a search is typed: on a match, or elsewhere.
    private mutating func click(_ column: Int, _ line: Int, ofMatches isOfMatches: Bool) -> [Effect] {
        guard isOfMatches, column >= layout.sideColumns else {
            mode = .browsing
            return click(column, line)
        }
        guard layout.list.contains(line), let catalog, catalog.top + line - layout.list.lowerBound < catalog.count
        else { return [] }
        self.catalog?.select(catalog.top + line - layout.list.lowerBound)
        return goToMatch()
    }

    /// Leaves the list of matches, and selects the match among the entries of its domain.
    private mutating func goToMatch() -> [Effect] {
        guard showsMatches, let match = catalog?.selectedMatch else {
            guard !showsMatches else { return refuse(SearchQuery.noMatch) }
            mode = .browsing
            endSearch()
            return []
        }
        mode = .browsing
        return go(to: match)
    }

    /// Selects the next or previous match.
    mutating func findNext(_ step: Int) -> [Effect] {
        guard let catalog, catalog.count > 0 else { return refuse("Search with / first.") }
        self.catalog?.select((catalog.selected + step + catalog.count) % catalog.count)
        return self.catalog?.selectedMatch.map { go(to: $0) } ?? []
    }

    private mutating func go(to match: Catalog.Match) -> [Effect] {
        isInDomains = false
        let effects = open(match.domain.name)
        select(match.path)
        return effects
    }
}
