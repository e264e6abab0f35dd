package import PropertyLists

// The time line: a domain as it was after each of its changes, one step at a time.
extension BrowseScreen {
    /// A version of a domain, in a list of those that changed an entry, a domain, or anything.
    package struct Version: Hashable, Sendable {
        package let domain: String
        package let number: Int
        /// When and by whom it was made.
        package let heading: String

        package init(domain: String, number: Int, heading: String) {
            (self.domain, self.number, self.heading) = (domain, number, heading)
        }
    }

    /// A domain as it was in a version.
    package struct Moment: Sendable {
        package let version: Version
        package let entries: PropertyList.Dictionary
        /// The entries in the version before it.
        package let former: PropertyList.Dictionary
        /// What the version changed.
        package let changes: [Detail]

        package init(
            _ version: Version, entries: PropertyList.Dictionary, former: PropertyList.Dictionary, changes: [Detail]
        ) {
            (self.version, self.entries, self.former, self.changes) = (version, entries, former, changes)
        }
    }

    struct Timeline: Sendable {
        /// The entry whose versions are shown, or a whole domain; nil for all domains.
        let target: Target?
        /// The versions, newest first.
        let versions: [Version]
        var index: Int
        /// What the version shows, once it was read.
        var moment: Moment?
        /// The entries when the time line was opened, which a restored version replaces.
        let replaced: PropertyList.Dictionary
        let replacedSecrets: [EntryPath: Int]
        /// What the screen showed before.
        var present: (tree: EntryTree, selected: Int, top: Int)

        var version: Version { versions[index] }

        /// The entry whose versions are shown; empty for whole domains.
        var path: EntryPath { target?.path ?? EntryPath() }

        /// Whether the version shows what is there now, as far as that is known.
        var isPresent: Bool {
            guard let moment, target != nil, index == 0 else { return false }
            let (shown, present) = (PropertyList.dictionary(moment.entries), PropertyList.dictionary(replaced))
            return replacedSecrets.isEmpty && shown[path] == present[path]
        }

        /// The columns of the bar of versions.
        private static let mostColumns = 32

        /// The position of the version among all, the oldest on the left, and its heading.
        var title: String {
            let columns = min(versions.count, Self.mostColumns)
            let place = versions.count - 1 - index
            let at = place * columns / versions.count
            let bar = String(repeating: "─", count: at) + "█" + String(repeating: "─", count: columns - 1 - at)
            return "\(bar)  \(place + 1) of \(versions.count)  \(version.heading)"
        }
    }

    var timeline: Timeline? { if case .history(let timeline) = mode { timeline } else { nil } }

    /// Shows the time line of an entry, or of all domains if `path` is nil, at its newest version or at `shown`.
    mutating func showHistory(_ path: EntryPath?, _ versions: [Version], at shown: Int? = nil) -> [Effect] {
        leaveHistory()
        guard !versions.isEmpty else {
            let name = path.flatMap { $0.components.isEmpty ? nil : Self.name(of: $0) }
            message = Message(name.map { "No version that is kept has changed \($0)." } ?? "No version is kept.")
            return []
        }
        let index = shown.flatMap { number in versions.firstIndex { $0.number == number } } ?? 0
        let timeline = Timeline(
            target: path.map { target($0) }, versions: versions, index: index, moment: nil,
            replaced: contents?.entries ?? [:], replacedSecrets: contents?.secrets ?? [:],
            present: (tree, selected, top))
        mode = .history(timeline)
        return [.moment(timeline.version, of: timeline.path)]
    }

    mutating func show(_ moment: Moment) {
        guard case .history(var timeline) = mode, timeline.version == moment.version else { return }
        timeline.moment = moment
        let path = tree.row(at: selected)?.path
        tree.update(moment.entries)
        // The first key that the version changed is shown.
        let wanted =
            timeline.target.flatMap { $0.path.components.isEmpty ? nil : $0.path }
            ?? moment.entries.first { moment.former[$0.key] != $0.value }.map {
                EntryPath([EntryPath.Component($0.key)])
            } ?? path
        if let wanted, let position = tree.reveal(wanted) { selected = position }
        mode = .history(timeline)
    }

    /// Ends the time line, and shows the present entries again.
    mutating func leaveHistory() {
        guard let timeline else { return }
        (tree, selected, top) = timeline.present
        mode = .browsing
    }

    /// Shows a time line again, after the present entries have changed.
    mutating func resume(_ timeline: Timeline) {
        guard case .browsing = mode else { return }
        var timeline = timeline
        timeline.present = (tree, selected, top)
        mode = .history(timeline)
        if let moment = timeline.moment { show(moment) }
    }

    mutating func stepHistory(_ press: KeyPress) -> [Effect] {
        guard var timeline else { return [] }
        let page = max(1, layout.list.count - 1)
        var index = timeline.index
        switch press.isControl("c") ? .escape : press.key {
        case .left, .character("h"), .character("-"): index += 1
        case .right, .character("l"), .character("+"): index -= 1
        case .home: index = timeline.versions.count - 1
        case .end: index = 0
        case .up, .character("k"): selected -= 1
        case .down, .character("j"): selected += 1
        case .pageUp: selected -= page
        case .pageDown: selected += page
        case .wheel(let step): selected += 3 * step
        case .enter where timeline.isPresent:
            message = Message("This is the present version; ← goes to the one before it.")
        case .enter: return restore(timeline)
        case .escape, .character("q"): leaveHistory()
        default: message = Message("← and → go through the versions, Enter restores one, and Esc goes back.")
        }
        index = max(0, min(index, timeline.versions.count - 1))
        guard index != timeline.index else { return [] }
        (timeline.index, timeline.moment) = (index, nil)
        mode = .history(timeline)
        return [.moment(timeline.version, of: timeline.path)]
    }

    /// Restores the version that is shown. In the time line of all domains, goes to that of the version's domain.
    private mutating func restore(_ timeline: Timeline) -> [Effect] {
        leaveHistory()
        let version = timeline.version
        guard let target = timeline.target else {
            isInDomains = false
            return open(version.domain) + [.history(EntryPath(), at: version.number)]
        }
        let isWhole = target.path.components.isEmpty
        if isWhole, timeline.replaced != contents?.entries || timeline.replacedSecrets != contents?.secrets {
            return refuse("\(version.domain) was changed by another process meanwhile; nothing was changed")
        }
        return unlessChanged(target, .restore(target.path, version: version.number))
    }
}
