internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PreferencesMirror
internal import PropertyLists

/// What a mirror tells, in lines for people and for programs.
enum MirrorLine {
    /// A line for a person; nil for what concerns nobody.
    static func text(of report: Report, in session: MirrorSession) -> String? {
        switch report {
        case .changed(let domain, let keys, let writer):
            return "\(domain.onOneLine): \(abridged(keys)) from \(session.host(writer).onOneLine)"
        case .conflict(let id):
            let number = session.number(ofConflict: id) ?? 0
            return "conflict \(number): a change of this host lost; `prefs mirror conflicts show \(number)`"
        case .held(let domain, let held):
            return "\(domain.onOneLine): held, \(held.phrase); `prefs mirror status` says what to type"
        case .standing(.present): return "the directory is there"
        case .standing(.paused): return paused
        case .standing(.left): return left
        case .standing(let standing): return standing.phrase
        case .waiting(let waiting): return "waiting: \(waiting.phrase)"
        case .vanished(let writer): return "the folder of \(session.host(writer).onOneLine) is not in view"
        case .unknownDomain: return nil
        default:
            guard case .waiting(_, let detail)? = session.event(report) else { return nil }
            return detail.onOneLine
        }
    }

    /// The event as an object on one line; nil for what concerns no program.
    static func json(_ report: Report, in session: MirrorSession) -> String? {
        var line: PropertyList.Dictionary
        switch session.event(report) {
        case .changed(let domain, let keys, let host, let reason)?:
            line = [
                "event": "changed", "domain": .string(domain), "keys": .array(keys.map { .string($0) }),
                "host": .string(host), "reason": .string(reason.rawValue),
            ]
        case .conflict(let number, let host, let reason)?:
            line = [
                "event": "conflict", "number": .integer(PropertyList.Integer(number)), "host": .string(host),
                "reason": .string(reason.rawValue),
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

    static let paused = "paused; `prefs mirror resume` goes on"
    static let left = "this host has left; `prefs mirror resume` takes part again"
    static let mounting = "mount it, or let it be synced"
    static let unwritable = "cannot be written, so nothing of this host goes out"
    static let leaving = "this host leaves at the next exchange; `prefs mirror resume` takes that back"

    /// What a person can type where nothing goes on by itself.
    static func advice(_ condition: MirrorCondition, _ session: MirrorSession) -> String? {
        let place = session.directory.path.description.shown
        switch condition {
        case .inSync: return nil
        case .paused: return paused
        case .left: return left
        case .conflicts: return "conflicts wait: `prefs mirror conflicts`"
        case .waiting: return "not all is exchanged yet; `prefs mirror status` says what waits"
        case .readOnly: return "\(place): \(unwritable)"
        case .overQuota: return "the mirror is over a limit; `prefs mirror status` shows which"
        case .unavailable:
            return "\(place): not available: \(mounting); local settings go on as they are"
        case .halted: return halt(session, place)
        }
    }

    private static func halt(_ session: MirrorSession, _ place: String) -> String {
        switch session.engine.standing {
        case .split: "halted, there are two mirrors in \(place): \(staying(with: session.id, in: place))"
        case .swapped: "halted, another mirror is in \(place): \(joining(place))"
        default: "a domain is held: `prefs mirror status` says which, and what to type"
        }
    }

    static func staying(with id: MirrorID, in place: String) -> String {
        "`prefs mirror join \(ShellWord.quoted(place)) --id \(id)` stays with this one"
    }

    static func joining(_ place: String) -> String {
        "`prefs mirror detach`, then `prefs mirror join \(ShellWord.quoted(place)) --seed merge`"
    }
}
