internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PreferencesMirror
internal import PropertyLists

/// A conflict that is open or was resolved, as commands list it.
///
///     7kq2mx  com.example.editor :fontSize  replaced by desk
///         lost      laptop, 2026-01-01T00:00:00Z  12
///         in force  desk, 2026-01-01T00:05:00Z  14
struct ListedConflict {
    let content: Content
    let session: MirrorSession

    enum Content {
        case open(Conflict)
        /// A conflict that was open when the command began, and the time at which it no longer was.
        case closed(Conflict, at: Timestamp)
        case resolved(ResolvedConflict)
    }

    init(_ conflict: Conflict, _ session: MirrorSession) { (content, self.session) = (.open(conflict), session) }

    init(_ conflict: ResolvedConflict, _ session: MirrorSession) {
        (content, self.session) = (.resolved(conflict), session)
    }

    init(closed conflict: Conflict, at time: Timestamp, _ session: MirrorSession) {
        (content, self.session) = (.closed(conflict, at: time), session)
    }

    /// The name of the conflict in full, which is the same on all hosts.
    var name: String {
        switch content {
        case .open(let conflict), .closed(let conflict, _): conflict.name(in: session.id)
        case .resolved(let conflict): conflict.name(in: session.id)
        }
    }

    var place: Path {
        switch content {
        case .open(let conflict), .closed(let conflict, _): conflict.place
        case .resolved(let conflict): conflict.place
        }
    }

    /// The lost value.
    var value: WrittenValue {
        switch content {
        case .open(let conflict), .closed(let conflict, _): conflict.value
        case .resolved(let conflict): conflict.value
        }
    }

    /// The mirror and the name, which identify it.
    var id: Name { Name("\(session.id) \(name)") }

    var open: Conflict? { if case .open(let conflict) = content { conflict } else { nil } }

    /// Whether it stands for a number of older values.
    var isOfOlder: Bool {
        switch content {
        case .open(let conflict), .closed(let conflict, _): conflict.isOfOlder
        case .resolved: false
        }
    }
}

// MARK: Names

/// The names of conflicts, abbreviated to as many digits as they need to be unique.
struct ConflictNames {
    private let sorted: [String]

    static let leastDigits = 6

    init(_ names: some Sequence<String>) { sorted = Set(names).sorted() }

    /// The names of all conflicts of mirrors, open or resolved.
    init(of sessions: [MirrorSession]) { self.init(sessions.flatMap(\.allConflicts).map(\.name)) }

    func short(_ name: String) -> String {
        let index = sorted.firstIndex { $0 >= name } ?? sorted.count
        let before = index > 0 ? sorted[index - 1] : nil
        let after = sorted[index...].first { $0 != name }
        let common = [before, after].compactMap { $0 }.map { zip($0, name).prefix { $0 == $1 }.count }.max() ?? 0
        return String(name.prefix(max(Self.leastDigits, common + 1)))
    }
}

extension MirrorSession {
    /// All open conflicts, of all domains, and all resolved ones.
    fileprivate var allConflicts: [ListedConflict] {
        mergeState.conflicts.map { ListedConflict($0, self) } + resolvedConflicts.map { ListedConflict($0, self) }
    }

    /// Returns the short name of an open conflict.
    func shortName(of conflict: Conflict) -> String {
        ConflictNames(of: [self]).short(conflict.name(in: id))
    }
}

// MARK: Text

extension ListedConflict {
    /// Returns the lines of the conflict: its name, key and outcome, the lost value, and the value in force.
    func lines(_ names: ConflictNames, _ masking: Masking, withState: Bool) -> [String] {
        let values = MirrorValueText(masking: masking)
        let state = withState ? (open == nil ? "  resolved" : "  open") : ""
        var lines = ["\(names.short(name))\(state)  \(place.place)  \(outcome)"]
        if !isOfOlder { lines.append("    lost      \(loss)  \(values.text(value.value, at: place).shown)") }
        let winner = winner.map { "\(origin([session.host(of: $0)], $0.stamp))  " } ?? ""
        lines.append("    in force  \(winner)\(values.text(inForce, at: place).shown)")
        return lines
    }

    /// Returns the values of conflicts at one place on one line each: the one in force, and then each lost one.
    static func choices(_ conflicts: [ListedConflict], _ masking: Masking) -> [String] {
        guard let first = conflicts.first else { return [] }
        let values = MirrorValueText(masking: masking)
        let host = first.winner.map { "  \(first.origin([first.session.host(of: $0)], $0.stamp))" } ?? ""
        return ["in force  \(values.text(first.inForce, at: first.place).shown)\(host)"]
            + conflicts.map { "lost      \(values.text($0.value.value, at: $0.place).shown)  \($0.loss)" }
    }

    /// Returns the conflict as a JSON object on one line.
    func json(_ masking: Masking) -> String {
        let values = MirrorValueText(masking: masking)
        var lost: PropertyList.Dictionary = ["hosts": .array(losers.map { .string($0) })]
        lost["value"] = isOfOlder ? value.value?.propertyList : values.masked(value.value, at: place)
        lost["written"] = Self.time(stamp).map { .string($0) }
        var line: PropertyList.Dictionary = [
            "mirror": .string(session.id.description), "id": .string(name),
            "state": .string(open == nil ? "resolved" : "open"), "domain": .string(place.domain),
            "key": .string(place.key ?? ""), "entry": .string(place.entry.description),
            "mirrored": .boolean(session.isMirrored(place)), "reason": .string(reason), "lost": .dictionary(lost),
        ]
        var force: PropertyList.Dictionary = [:]
        force["value"] = values.masked(inForce, at: place)
        if let winner {
            force["host"] = .string(session.host(of: winner))
            force["written"] = Self.time(winner.stamp).map { .string($0) }
        }
        line["inForce"] = .dictionary(force)
        line["resolved"] = resolved.map { .string(Timestamp(seconds: $0 / 1000, nanoseconds: 0).description) }
        return LosslessJSON.text(of: .dictionary(line)) ?? ""
    }

    /// A description of how the value was lost.
    var outcome: String {
        guard let conflict = open else {
            guard let winner, winner.value.value != nil else { return "now deleted" }
            return "now \(session.host(of: winner).onOneLine)'s"
        }
        if conflict.isOfOlder {
            return "up to \(counted(conflict.older, "older value")) lost"
        }
        guard let winner = conflict.winner else { return "not in force" }
        let host = session.host(of: winner).onOneLine
        if winner.value == .deleted { return "deleted by \(host)" }
        if conflict.isReversion { return "reverted by a program on \(host)" }
        return conflict.loser.reason == .found ? "found in a file, replaced by \(host)" : "replaced by \(host)"
    }

    private var reason: String {
        guard let conflict = open else { return "resolved" }
        if conflict.isOfOlder { return "older" }
        if conflict.winner?.value == .deleted { return "deleted" }
        if conflict.isReversion { return "reverted" }
        return conflict.loser.reason == .found ? "found" : "overwritten"
    }

    /// The time at which the conflict was resolved, in milliseconds, or nil if it is open.
    private var resolved: Int64? {
        switch content {
        case .open: nil
        case .closed(_, let time): time.milliseconds
        case .resolved(let conflict): conflict.resolvedAt
        }
    }

    private var loss: String { origin(losers, stamp) }

    private var stamp: Stamp {
        switch content {
        case .open(let conflict), .closed(let conflict, _): conflict.loser.stamp
        case .resolved(let conflict): conflict.stamp
        }
    }

    /// The hosts that wrote the lost value.
    private var losers: [String] {
        switch content {
        case .open(let conflict), .closed(let conflict, _):
            conflict.losers.reduce(into: []) { hosts, loser in
                let host = session.host(loser.name.dot?.writer ?? session.writer)
                if !hosts.contains(exactly: host) { hosts.append(host) }
            }
        case .resolved(let conflict): [session.host(conflict.loser ?? session.writer)]
        }
    }

    /// The write that is in force at the place, or nil if there is none.
    private var winner: Atom? { open?.winner ?? session.mergeState.cells(under: place).first?.winner }

    private var inForce: CanonicalValue? { session.mergeState.value(at: place.whole) }

    private func origin(_ hosts: [String], _ stamp: Stamp) -> String {
        "\(hosts.map(\.onOneLine).joined(separator: " and ")), \(Self.time(stamp) ?? "at an unknown time")"
    }

    private static func time(_ stamp: Stamp) -> String? {
        stamp.isFound ? nil : Timestamp(seconds: Int64(stamp.milliseconds / 1000), nanoseconds: 0).description
    }
}

extension Conflict {
    /// The number of values for which it stands.
    fileprivate var older: Int { value.value?.propertyList.integerValue.flatMap { Int(exactly: $0) } ?? 0 }
}
