internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PreferencesMirror
internal import PropertyLists
internal import SettingsSchema

/// The status of a mirror as a person reads it: what is well in a word, and what is not with the command that mends it.
///
///     /mnt/shared/settings: in sync
///       this host   laptop, watched
///       domains     2: com.example.editor, com.example.terminal
///       desk        changed 2 minutes ago
enum MirrorStatusText {
    static func text(_ status: MirrorStatus, at place: String, _ rows: [(String, String)]) -> String {
        let width = min(24, (rows.map { $0.0.columns }.max() ?? 0) + 2)
        let head = "\(place): \(status.headline)"
        return head + rows.map { name, value in "\n  \((name + "  ").padded(to: width))\(value)" }.joined()
    }
}

extension MirrorStatus {
    fileprivate var headline: String {
        switch condition {
        case .inSync: "in sync"
        case .paused: MirrorLine.paused
        case .left: MirrorLine.left
        case .conflicts: "in sync, and conflicts wait"
        case .waiting: isWatched ? "at it" : "not in sync; `prefs mirror sync`"
        case .readOnly: "can only be read"
        case .overQuota: "over a limit"
        case .halted: standing == .present ? "a domain is held" : "halted"
        case .unavailable: "not available"
        }
    }

    /// A name and what there is to say.
    func rows(at now: Timestamp) -> [(String, String)] {
        var rows = standingRows
        let watching = isWatched ? "watched" : "not watched; `prefs mirror watch`, or `prefs mirror service install`"
        rows.append(("this host", "\(label.onOneLine), \(watching)"))
        if isLeaving { rows.append(("", MirrorLine.leaving)) }
        rows.append(("domains", domainsText))
        rows += hosts.filter { !$0.isRetired }.map { ($0.label.onOneLine, $0.text(at: now)) }
        if pending > 0 { rows.append(("to send", counted(pending, "change"))) }
        if missing > 0 {
            rows.append(("to send", "\(counted(missing, "file")) of this host, missing in the directory"))
        }
        if unread > 0 { rows.append(("to fetch", counted(unread, "file"))) }
        if !unwritten.isEmpty { rows.append(("to write", abridged(unwritten))) }
        for (domain, reason) in held {
            let word = ShellWord.quoted(domain.onOneLine)
            rows.append(("held", "\(domain.onOneLine): \(reason.phrase)"))
            rows.append(("", "`prefs mirror release \(word) --take-mirror` brings back what the mirror has,"))
            rows.append(("", "`prefs mirror release \(word) --take-file` takes the file as it stands"))
        }
        if conflicts > 0 { rows.append(("conflicts", "\(conflicts); `prefs mirror conflicts`")) }
        if evictedConflicts > 0 { rows.append(("conflicts", "\(evictedConflicts) given up for want of room")) }
        if condition == .overQuota || bytes > mostBytes / 2 {
            rows.append(("size", "\(bytes) of \(mostBytes) bytes"))
        }
        if deletes > 1000 { rows.append(("deletes", "\(deletes) are remembered; a fresh mirror sheds them")) }
        return rows
    }

    private var standingRows: [(String, String)] {
        if let obstacle { return [("directory", MirrorLine.text(of: obstacle, id, directory))] }
        return standing == .present && isReadOnly ? [("directory", MirrorLine.unwritable)] : []
    }

    private var domainsText: String {
        if domains.isEmpty {
            return patterns.isEmpty
                ? "none takes part; `prefs mirror add 'GLOB'`"
                : "none yet: \(patterns.joined(separator: " ").onOneLine)"
        }
        let shown = domains.prefix(4).map(\.onOneLine).joined(separator: ", ")
        return "\(domains.count): \(shown)" + (domains.count > 4 ? ", …; `prefs mirror list`" : "")
    }

    /// The same for programs.
    var propertyList: PropertyList {
        [
            "mirror": .string(id.description), "directory": .string(directory.description), "label": .string(label),
            "writer": .string(writer.description), "state": .string("\(condition)"),
            "directoryState": .string(standing.phrase), "watched": .boolean(isWatched),
            "leaving": .boolean(isLeaving), "readOnly": .boolean(isReadOnly),
            "domains": .array(domains.map { .string($0) }), "patterns": .array(patterns.map { .string($0) }),
            "hosts": .array(hosts.map(\.propertyList)), "toSend": .integer(PropertyList.Integer(pending)),
            "missing": .integer(PropertyList.Integer(missing)), "toFetch": .integer(PropertyList.Integer(unread)),
            "toWrite": .array(unwritten.map { .string($0) }),
            "held": .array(held.map { ["domain": .string($0.domain), "reason": .string("\($0.reason)")] }),
            "conflicts": .integer(PropertyList.Integer(conflicts)),
            "deletes": .integer(PropertyList.Integer(deletes)), "entries": .integer(PropertyList.Integer(entries)),
            "bytes": .integer(PropertyList.Integer(bytes)), "mostBytes": .integer(PropertyList.Integer(mostBytes)),
        ]
    }
}

extension MirrorStatus.Host {
    fileprivate func text(at now: Timestamp) -> String {
        if isClosed { return "its folder cannot be looked into" }
        if hasLeft { return "has left" }
        guard let lastChange else {
            return "not in view; `prefs mirror retire \(ShellWord.quoted(label.onOneLine))` if it is gone for good"
        }
        let ahead = clockIsAhead.map { "; its clock is \(Self.words($0)) ahead" } ?? ""
        let age = Duration.nanoseconds(now.nanoseconds - lastChange.nanoseconds)
        return (age < .seconds(2) ? "changed just now" : "changed \(Self.words(age)) ago") + ahead
    }

    /// A time in its largest unit.
    private static func words(_ duration: Duration) -> String {
        let seconds = duration.components.seconds
        for (length, unit) in [(86_400, "day"), (3600, "hour"), (60, "minute")] as [(Int64, String)]
        where seconds >= length {
            return counted(Int(seconds / length), unit)
        }
        return "\(seconds) seconds"
    }

    fileprivate var propertyList: PropertyList {
        var entries: PropertyList.Dictionary = [
            "label": .string(label), "writer": .string(writer.description), "left": .boolean(hasLeft),
            "retired": .boolean(isRetired), "closed": .boolean(isClosed),
        ]
        if let lastChange { entries["lastChange"] = .date(lastChange.date) }
        if let clockIsAhead {
            entries["clockAheadSeconds"] = .integer(PropertyList.Integer(Int(clockIsAhead.components.seconds)))
        }
        return .dictionary(entries)
    }
}
