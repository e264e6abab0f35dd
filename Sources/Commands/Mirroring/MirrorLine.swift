internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PreferencesMirror
internal import PropertyLists

/// The reports of a mirror as text and JSON.
enum MirrorLine {
    /// Returns a line for each key that changed or has a new conflict.
    ///
    /// - Parameter most: The largest number of lines of either kind. One more states how many are left out.
    static func lines(of reports: [Report], in session: MirrorSession, most: Int = .max) -> [String] {
        let open = conflicts(in: reports, session)
        let names = ConflictNames(of: open.isEmpty ? [] : [session])
        var conflicts = open.prefix(most).map { conflict in
            let name = names.short(conflict.name)
            return "conflict \(name): \(conflict.place.place) \(conflict.outcome); "
                + "`prefs mirror conflicts show \(name)`"
        }
        if open.count > most {
            conflicts.append("and \(counted(open.count - most, "more conflict")); `prefs mirror conflicts` lists all")
        }
        var (lines, changed) = ([String](), 0)
        for report in reports {
            guard case .changed(let domain, let keys, let writer) = report else {
                if let text = text(of: report, in: session) { lines.append(text) }
                continue
            }
            for name in keys.prefix(max(0, most - changed)) {
                let key = Path(domain: domain).appending(name)
                let verb = session.mergeState.value(at: key) == nil ? "deleted" : "set"
                lines.append("\(key.place)  \(verb) by \(session.host(writer).onOneLine)")
            }
            changed += keys.count
        }
        if changed > most {
            lines.append("and \(counted(changed - most, "more key")), \(changed) in all; `prefs mirror log` lists them")
        }
        return lines + conflicts
    }

    /// The largest number of lines of each kind that a command prints that exchanges once.
    static let mostLines = 20

    /// Returns the new conflicts in reports, without those that have been resolved since.
    static func conflicts(in reports: [Report], _ session: MirrorSession) -> [ListedConflict] {
        var new: [Conflict] = []
        for case .conflict(let conflict) in reports { new.append(conflict) }
        guard !new.isEmpty else { return [] }
        return session.openConflicts.filter { item in new.contains { $0.isSame(as: item) } }
            .map { ListedConflict($0, session) }
    }

    /// Returns a line of text, or nil for reports that are not printed or are printed otherwise.
    private static func text(of report: Report, in session: MirrorSession) -> String? {
        switch report {
        case .changed, .conflict: return nil
        case .held(let domain, let held):
            return "\(domain.onOneLine): held, \(held.phrase); `prefs mirror status` shows what to do"
        case .directory(.present): return "the directory is available"
        case .directory(.paused): return paused
        case .directory(.left): return left
        case .directory(let status):
            return session.obstacle.map { "\(session.place): \(self.text(of: $0, session.id, session.directory.path))" }
                ?? status.phrase
        case .waiting(let waiting): return "waiting: \(waiting.phrase)"
        case .vanished(let writer): return "the folder of \(session.host(writer).onOneLine) is missing"
        default:
            guard case .waiting(_, let detail)? = session.event(report) else { return nil }
            return detail.onOneLine
        }
    }

    /// Returns the event as a JSON object on one line, or nil for reports without an event.
    static func json(_ report: Report, in session: MirrorSession) -> String? {
        var line: PropertyList.Dictionary
        switch session.event(report) {
        case .changed(let domain, let keys, let host, let reason)?:
            line = [
                "event": "changed", "domain": .string(domain), "keys": .array(keys.map { .string($0) }),
                "host": .string(host), "reason": .string(reason.rawValue),
            ]
        case .conflict(let id, let domain, let key, let host, let reason)?:
            line = [
                "event": "conflict", "id": .string(id), "domain": .string(domain), "key": .string(key),
                "host": .string(host), "reason": .string(reason.rawValue),
            ]
        case .held(let domain, let reason)?:
            line = ["event": "held", "domain": .string(domain), "reason": .string(reason)]
        case .halted(let reason)?: line = ["event": "halted", "reason": .string(reason)]
        case .waiting(let reason, let detail)?:
            line = ["event": "waiting", "reason": .string(reason.rawValue), "detail": .string(detail)]
        default: return nil
        }
        line["mirror"] = .string(session.id.description)
        return LosslessJSON.text(of: .dictionary(line))
    }

    static let paused = "paused; `prefs mirror resume` continues"
    static let left = "this host has left; `prefs mirror resume` rejoins the mirror"
    static let unwritable = "not writable, so changes of this host are not sent"
    static let leaving = "this host leaves at the next exchange; `prefs mirror resume` cancels this"

    /// Returns the messages that the mirror's values replaced those of a preference file when the file was first read.
    static func replaced(
        _ values: [Path: CanonicalValue], in session: MirrorSession, _ masking: Masking
    ) -> [String] {
        let text = MirrorValueText(masking: masking)
        let lines = values.sorted { $0.key < $1.key }.prefix(mostLines).map { key, value in
            let mirror = session.mergeState.value(at: key)
            let outcome = mirror == nil ? "removed" : "replaced by the mirror's \(text.text(mirror, at: key).shown)"
            return "\(key.place)  \(text.text(value, at: key).shown) \(outcome)"
        }
        let rest = values.count - lines.count
        return lines + (rest > 0 ? ["and \(counted(rest, "more key"))"] : [])
            + ["`prefs mirror conflicts --all` lists the former \(values.count == 1 ? "value" : "values")"]
    }

    /// Returns the advice for a condition that requires action by the user.
    static func advice(_ condition: MirrorCondition, _ session: MirrorSession) -> String? {
        let place = session.place
        switch condition {
        case .inSync: return nil
        case .paused: return paused
        case .left: return left
        case .conflicts: return "conflicts are open: `prefs mirror conflicts`"
        case .waiting: return "not in sync; `prefs mirror status` prints why"
        case .readOnly: return "\(place): \(unwritable)"
        case .overQuota: return "the mirror is over a limit; `prefs mirror status` shows which"
        case .unavailable, .halted:
            guard let obstacle = session.obstacle, session.directoryStatus != .present else {
                return condition == .halted
                    ? "a domain is held: `prefs mirror status` shows which, and what to do"
                    : "\(place): not available; settings on this host still work"
            }
            return "\(place): \(text(of: obstacle, session.id, session.directory.path))"
        }
    }

    /// Returns why the directory of a mirror cannot be used and how to fix it.
    static func text(of obstacle: SharedDirectory.Obstacle, _ id: MirrorID, _ directory: FilePath) -> String {
        let (own, place) = (id.abbreviation, ShellWord.quoted(directory.description.shown))
        let again = "`prefs mirror init --again \(place)`"
        switch obstacle {
        case .noDirectory:
            return "is missing: mount it; if it was moved, `prefs mirror join` its new path; "
                + "if it was deleted on purpose, \(again)"
        case .unreadable(let code): return "cannot be read: \(code); check its mount and its permissions"
        case .noMarker:
            return "has no marker: mount it, or wait until it is synced; if it was emptied on purpose, \(again)"
        case .noWriters: return "has no folder w: wait until it is synced; if it was emptied on purpose, \(again)"
        case .linkedWriters:
            return "its folder w is a symbolic link, which is not followed: replace it with the folder of the mirror"
        case .otherMirror(let other):
            return "contains the mirror \(other.abbreviation), not \(own): mount the directory of \(own), "
                + "or change to \(other.abbreviation): `prefs mirror detach --mirror \(own)`, "
                + "then `prefs mirror join \(place)` and `prefs mirror add`"
        case .earlierFormat:
            return "contains a mirror of an earlier format, which is not read; "
                + "`prefs mirror join \(place)` prints what to do"
        case .severalMirrors(let mirrors):
            let all = mirrors.map(\.abbreviation).joined(separator: " and ")
            guard mirrors.contains(id) else { return "contains the mirrors \(all), not \(own)" }
            return "contains the mirrors \(all); `prefs mirror join \(place) --id \(own)` keeps \(own)"
        }
    }
}

extension MirrorSession {
    /// The directory, with the ID of the mirror if the store is part of two mirrors in one directory.
    var place: String {
        let directory = directory.path
        let isAlone = places.joined.count { $0.configuration.directory == directory } <= 1
        return directory.description.shown + (isAlone ? "" : " (mirror \(id.abbreviation))")
    }
}
