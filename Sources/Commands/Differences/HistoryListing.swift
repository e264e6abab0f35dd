internal import Platform
internal import Preferences
internal import PropertyLists

/// The kept versions of a domain as text, newest first, each with what it changed.
///
///     2  2026-01-01T00:00:00Z  write  prefs[4711]  61 bytes
///         - theme: "light"
///         + theme: "dark"
struct HistoryListing {
    struct Entry {
        let version: KeptVersion
        /// The state; nil if the version cannot be read.
        let state: DomainState?
        /// The previous state; nil if unknown.
        let former: DomainState?
        /// The reason the version cannot be read; nil if it is damaged.
        let failure: SystemFailure?
    }

    /// The versions, newest first.
    let entries: [Entry]

    init(_ history: History) {
        var entries: [Entry] = []
        var former: DomainState?
        for version in history.versions where !history.isTruncated(version) {
            let isFirst = version.sequence == 1 && entries.isEmpty
            let state = history.state(of: version)
            let failure = state == nil ? history.failure(of: version) : nil
            entries.append(
                Entry(version: version, state: state, former: isFirst ? .absent : former, failure: failure))
            if let state { former = state }
        }
        self.entries = entries.reversed()
    }
}

// MARK: Text

extension HistoryListing {
    /// Returns the versions as text.
    ///
    /// - Parameter present: The current state, which is listed first if it differs from the newest version.
    func text(present: DomainState, isFull: Bool, masking: Masking = .none) -> String {
        var output = ""
        if let newest = entries.first?.state, newest != present {
            output += "now  not kept: it is too large, or was written by plutil, PlistBuddy or another program\n"
            output += Self.indented(Self.changes(from: newest, to: present, masking), isFull)
        }
        for entry in entries { output += entry.heading + Self.indented(entry.changes(masking), isFull) }
        return output
    }

    fileprivate static func changes(
        from former: DomainState, to state: DomainState, _ masking: Masking
    ) -> [String] {
        let text = Differences(from: former.values.withoutHidden, to: state.values.withoutHidden).text(masking: masking)
        if !text.isEmpty { return text.split(separator: "\n").map(String.init) }
        switch (former.format, state.format) {
        case (_, nil): return ["(removed)"]
        case (nil, _?): return ["(created, without values)"]
        case (let old?, let new?) where old != new: return ["(converted from \(old.rawValue) to \(new.rawValue))"]
        default: return ["(no change)"]
        }
    }

    private static let mostLines = 10
    private static let mostCharacters = 160

    private static func indented(_ lines: [String], _ isFull: Bool) -> String {
        let shown = isFull || lines.count <= mostLines ? lines : Array(lines.prefix(mostLines - 1))
        var output = shown.map { "    " + (isFull ? $0 : shortened($0, to: mostCharacters)) + "\n" }.joined()
        if shown.count < lines.count { output += "    (and \(lines.count - shown.count) more lines)\n" }
        return output
    }
}

extension HistoryListing.Entry {
    /// The time and the reason of the change.
    var occasion: String {
        let reason = version.author.reason
        return "\(version.time)  \(reason.undoTarget.map { $0 == 0 ? "undo" : "undo to \($0)" } ?? reason.word)"
    }

    fileprivate var heading: String {
        let author = version.author
        let size = state == .absent ? "no file" : "\(version.size) bytes"
        return "\(version.sequence)  \(occasion)  \(author.program.onOneLine)[\(author.process)]  \(size)\n"
    }

    fileprivate func changes(_ masking: Masking) -> [String] {
        guard let state else { return [failure.map { "(cannot be read: \($0.code))" } ?? "(damaged)"] }
        let count = state.values.count
        guard let former else { return ["(\(counted(count, "key")); the previous version is not kept)"] }
        return HistoryListing.changes(from: former, to: state, masking)
    }
}

// MARK: Property list

extension HistoryListing {
    /// Returns the versions as a dictionary with `domain` and an array `versions`.
    func propertyList(domain: String, masking: Masking = .none) -> PropertyList {
        .dictionary(["domain": .string(domain), "versions": .array(entries.map { .dictionary($0.values(masking)) })])
    }
}

extension HistoryListing.Entry {
    fileprivate func values(_ masking: Masking) -> PropertyList.Dictionary {
        let author = version.author
        var values: PropertyList.Dictionary = [
            "id": .integer(PropertyList.Integer(version.sequence)),
            "time": .string(version.time.description),
            "reason": .string(author.reason.word), "program": .string(author.program),
            "process": .integer(PropertyList.Integer(Int(author.process))),
            "bytes": .integer(PropertyList.Integer(version.size)), "transaction": .string(version.transaction),
        ]
        if let target = author.reason.undoTarget { values["undoneTo"] = .integer(PropertyList.Integer(target)) }
        if let state {
            values["exists"] = .boolean(state != .absent)
            values["format"] = (state.format?.rawValue).map { .string($0) }
            values["changes"] = former.map { former in
                Differences(from: former.values.withoutHidden, to: state.values.withoutHidden).json(masking: masking)
            }
        }
        return values
    }
}
