internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PreferencesMirror
internal import PropertyLists
internal import SettingsSchema

/// The status of a mirror as text. Each problem is followed by the command that fixes it.
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
        case .inSync: "in sync" + (absent.isEmpty ? "" : " but for \(abridged(absent.map(\.label)))")
        case .paused: MirrorLine.paused
        case .left: MirrorLine.left
        case .conflicts: "in sync, with conflicts"
        case .waiting where !hasWork: "not in sync"
        case .waiting: isWatched ? "exchanging" : "not in sync; `prefs mirror sync`"
        case .readOnly: "read-only"
        case .overQuota: "over a limit"
        case .halted: directoryStatus == .present ? "a domain is held" : "halted"
        case .unavailable: "not available"
        }
    }

    /// The hosts whose folders are missing, but whose values other hosts have.
    private var absent: [Host] { hosts.filter { $0.isKept && $0.isGone } }

    /// Whether an exchange has work to do.
    private var hasWork: Bool {
        pending > 0 || unread > awaiting + stuck || !unwritten.isEmpty || isLeaving || lost > 0
    }

    /// Returns the rows of the status: a label and a text.
    func rows(at now: Timestamp) -> [(String, String)] {
        var rows = directoryRows
        let watching = isWatched ? "watched" : "not watched; `prefs mirror watch`, or `prefs mirror service install`"
        rows.append(("this host", "\(label.onOneLine), \(watching)"))
        if isLeaving { rows.append(("", MirrorLine.leaving)) }
        rows.append(("domains", domainsText))
        let isInView = directoryStatus == .present && obstacle == nil
        let shown = hosts.filter { !$0.isRetired }
        // By canonical equivalence, because labels that look alike cannot be told apart.
        let names = Dictionary(grouping: shown.filter { !$0.isFormer }.map(\.label) + [label]) { $0 }
        for host in shown {
            let isAlone = names[host.label]?.count == 1
            rows.append((host.label.onOneLine, host.text(at: now, isInView: isInView, isAlone: isAlone)))
        }
        rows += signing?.rows ?? []
        if lost > 0 {
            let (files, them) = (counted(lost, "file"), lost == 1 ? "it" : "them")
            rows.append(
                ("lost", "\(files) of this host; `prefs mirror sync` writes \(them) again, once an hour at most"))
        }
        if pending > 0 { rows.append(("to send", counted(pending, "change"))) }
        if unread > 0 { rows.append(("to fetch", counted(unread, "file"))) }
        if awaiting > 0 {
            rows.append(("", "\(awaiting) incomplete, or after missing files; `prefs mirror fsck` names each"))
        }
        if stuck > 0 { rows.append(("", "\(stuck) damaged, incomplete or too new; `prefs mirror fsck` names each")) }
        if !unwritten.isEmpty { rows.append(("to write", "\(abridged(unwritten)); `prefs mirror sync` tries again")) }
        rows += unmirroredRows
        for (domain, reason) in held {
            let word = ShellWord.quoted(domain.onOneLine)
            rows.append(("held", "\(domain.onOneLine): \(reason.phrase)"))
            let takeFile = "`prefs mirror release \(word) --take-file`"
            guard reason != .newerVersion else {
                rows.append(("", "install the program or schema that has that version, or"))
                rows.append(("", "\(takeFile) uses the file's values, on all hosts"))
                continue
            }
            rows.append(("", "`prefs mirror release \(word) --take-mirror` restores the mirror's values,"))
            switch reason {
            case .unreadable: rows.append(("", "or fix the file"))
            case .missing, .empty: rows.append(("", "\(takeFile) deletes all values, on all hosts"))
            case .emptied, .rolledBack, .newerVersion:
                rows.append(("", "\(takeFile) uses the file's current values, on all hosts"))
            }
        }
        for (domain, reason) in leftOut.sorted(by: { $0.key < $1.key }) {
            rows.append(("left out", "\(domain.text.onOneLine): \(reason.phrase)"))
        }
        if !conflicts.isEmpty {
            let places = Set(conflicts).sorted().map(\.place)
            let text = "\(conflicts.count) at \(abridged(places, most: 3)); `prefs mirror conflicts`"
            rows.append(("conflicts", text))
        }
        if ignoredHosts > 0 {
            rows.append(("limit", "\(counted(ignoredHosts, "new host")) ignored, because there are too many;"))
            rows.append(("", "`prefs mirror purge HOST` removes one that is gone for good"))
        } else if condition == .overQuota {
            rows.append(("limit", "the values of this host are too many or too large, so the rest is not sent;"))
            rows.append(("", "delete some, or `prefs mirror remove --withdraw GLOB`"))
        }
        if ignoredHosts == 0, condition == .overQuota || bytes > mostBytes / 2 {
            rows.append(("size", "\(bytes) of \(mostBytes) bytes"))
        }
        if deletes > 1000 { rows.append(("deletes", "\(deletes) are recorded, each until all hosts have applied it")) }
        return rows
    }

    private static let mostUnmirroredRows = 8

    private var unmirroredRows: [(String, String)] {
        var rows = unmirrored.prefix(Self.mostUnmirroredRows).flatMap { unmirrored in
            let (place, host) = (unmirrored.key.place, unmirrored.host.onOneLine)
            let (domain, key) = (ShellWord.quoted(unmirrored.key.domain), unmirrored.key.key ?? "")
            // Some keys cannot be on a command line, or are too long for it.
            let argument = (try? KeyArgument([EntryPath.Component(key)]))?.argument.map { ShellWord.quoted($0) }
            let command = argument.flatMap { $0.utf8.count < 100 ? "delete \(domain) \($0.shown)" : nil }
            let words = "\(Prefs.name) \(command ?? "edit \(domain)")"
            if let reason = unmirrored.stays { return [("stays here", "\(place): \(reason.phrase)")] }
            if unmirrored.isBeyondLimit {
                return [
                    ("waiting", "\(place) is too long, or an integer beyond 64 bits; change or remove it: `\(words)`")
                ]
            }
            let conversion = "`\(Prefs.name) convert \(domain) binary1` makes room for it, without the file's comments;"
            return [("waiting", "\(place) from \(host) cannot be written into the file here;")]
                + (unmirrored.hasComments ? [("", conversion)] : [])
                + [("", "change it on \(host), or remove it there: \(words)")]
        }
        let rest = unmirrored.count - Self.mostUnmirroredRows
        if rest > 0 { rows.append(("", "and \(counted(rest, "more key"))")) }
        return rows
    }

    private var directoryRows: [(String, String)] {
        if let obstacle { return [("directory", MirrorLine.text(of: obstacle, id, directory))] }
        return directoryStatus == .present && isReadOnly ? [("directory", MirrorLine.unwritable)] : []
    }

    private var domainsText: String {
        if domains.isEmpty {
            return patterns.isEmpty
                ? "no domain is mirrored; `prefs mirror add 'GLOB'`"
                : "none yet: \(patterns.joined(separator: " ").onOneLine)"
        }
        let shown = domains.prefix(4).map(\.onOneLine).joined(separator: ", ")
        return "\(domains.count): \(shown)" + (domains.count > 4 ? ", …; `prefs mirror list`" : "")
    }

    var propertyList: PropertyList {
        var entries: PropertyList.Dictionary = [
            "mirror": .string(id.description), "directory": .string(directory.description), "label": .string(label),
            "writer": .string(writer.description), "state": .string("\(condition)"),
            "directoryState": .string(directoryStatus.phrase), "watched": .boolean(isWatched),
            "leaving": .boolean(isLeaving), "readOnly": .boolean(isReadOnly),
            "domains": .array(domains.map { .string($0) }), "patterns": .array(patterns.map { .string($0) }),
            "hosts": .array(hosts.map(\.propertyList)), "toSend": .integer(PropertyList.Integer(pending)),
            "toFetch": .integer(PropertyList.Integer(unread)),
            "toWrite": .array(unwritten.map { .string($0) }),
            "waiting": .array(unmirrored.map(\.propertyList)), "lostFiles": .integer(PropertyList.Integer(lost)),
            "incomplete": .integer(PropertyList.Integer(awaiting)),
            "unreadable": .integer(PropertyList.Integer(stuck)),
            "held": .array(held.map { ["domain": .string($0.domain), "reason": .string("\($0.reason)")] }),
            "leftOut": .array(
                leftOut.sorted { $0.key < $1.key }.map {
                    ["domain": .string($0.key.text), "reason": .string($0.value.phrase)]
                }),
            "troubles": .array(troubles.map { .string($0) }),
            "conflicts": .integer(PropertyList.Integer(conflicts.count)),
            "ignoredHosts": .integer(PropertyList.Integer(ignoredHosts)),
            "deletes": .integer(PropertyList.Integer(deletes)), "entries": .integer(PropertyList.Integer(entries)),
            "bytes": .integer(PropertyList.Integer(bytes)), "mostBytes": .integer(PropertyList.Integer(mostBytes)),
        ]
        if let signing { entries["signing"] = signing.propertyList }
        return .dictionary(entries)
    }
}

extension MirrorSession.Signing {
    fileprivate var rows: [(String, String)] {
        let state =
            isExpelled
            ? "this host was expelled; `prefs mirror leave --anyway`, then join with a new key"
            : isAdmitted ? "" : "not admitted yet; on an admitted host: `prefs mirror admit \(fingerprint)`"
        var rows = [("key", fingerprint)] + (state.isEmpty ? [] : [("", state)])
        if let expelledTrust, !isExpelled {
            rows.append(("", "the key that this host trusted first was expelled: \(expelledTrust);"))
            rows.append(("", "`prefs mirror detach`, then join with --trust and the key of an admitted host"))
        }
        for signer in requests {
            let host = signer.label.onOneLine
            rows.append(("asks to join", "\(host); compare the key with its `prefs mirror status`, then"))
            rows.append(("", "`prefs mirror admit \(signer.key.fingerprint)`"))
        }
        for folder in ignored { rows.append(("ignored", "\(folder.text) without a valid signature")) }
        for folder in awaited {
            rows.append(
                ("waiting", "\(folder.text) without a valid signature, which may be incomplete, for ten minutes"))
        }
        return rows
    }

    fileprivate var propertyList: PropertyList {
        [
            "key": .string(fingerprint), "admitted": .boolean(isAdmitted), "expelled": .boolean(isExpelled),
            "requests": .array(
                requests.map { ["label": .string($0.label), "key": .string($0.key.fingerprint)] }),
            "ignored": .array(
                ignored.map { ["host": .string($0.host), "files": .integer(PropertyList.Integer($0.count))] }),
            "awaited": .array(
                awaited.map { ["host": .string($0.host), "files": .integer(PropertyList.Integer($0.count))] }),
        ]
    }
}

extension MirrorSession.Signing.Ignored {
    fileprivate var text: String { "\(counted(count, "file")) in the folder of \(host.onOneLine)" }
}

extension MirrorStatus.LeftOut {
    fileprivate var phrase: String {
        switch self {
        case .adopted: "it is the file of a program (prefs mirror add mirrors it by its name)"
        case .otherFile: "it is the file of a program that was not selected (prefs mirror add mirrors it by its name)"
        case .withoutSchema: "its schema, which keeps keys on each host, is missing"
        case .ofSystem: "it is a file of the system"
        case .notAdopted:
            "it is the file of a program, which is not a domain here (prefs adopt)"
        case .fileOf(let domain): "a link makes its file that of \(domain.onOneLine)"
        case .unreadableSchema(let fault): "its schema cannot be read: \(fault.onOneLine)"
        }
    }
}

extension MirrorStatus.Unmirrored {
    fileprivate var propertyList: PropertyList {
        [
            "domain": .string(key.domain), "key": .string(key.key ?? ""), "host": .string(host),
            "reason": .string(isBeyondLimit ? "limit" : "format"),
        ]
    }
}

extension MirrorStatus.StayReason {
    fileprivate var phrase: String {
        switch self {
        case .null(let path): path.components.count > 1 ? "null at \(path.description.onOneLine)" : "null"
        case .integer: "an integer beyond 64 bits"
        case .name(let path): "\(path.description.onOneLine) has the name of a secret or a program"
        case .size: "too long or too deep for the mirror"
        }
    }
}

extension MirrorStatus.Host {
    /// - Parameter isAlone: Whether no other host has the label.
    fileprivate func text(at now: Timestamp, isInView: Bool, isAlone: Bool) -> String {
        let text = self.text(at: now, isInView: isInView, name: isAlone ? shortName : writer.description)
        return isAlone || isFormer ? text : "number \(writer), \(text)"
    }

    /// The label, or the number if the label cannot be typed because it looks like an option or is not shown as it is.
    private var shortName: String {
        label.hasPrefix("-") || label != label.onOneLine ? writer.description : ShellWord.quoted(label)
    }

    private func text(at now: Timestamp, isInView: Bool, name: String) -> String {
        if isExpelled {
            return lastChange == nil ? "expelled" : "expelled; `prefs mirror purge \(name)` removes its folder"
        }
        if isFormer { return "former number; `prefs mirror retire \(writer)` hides it" }
        if isClosed { return "its folder cannot be read" }
        let lack = lacksChanges ? "; some of its changes are missing" : ""
        let purge = "`prefs mirror purge \(name)` goes on without them"
        if hasLeft { return "has left" + (lacksChanges ? "\(lack); \(purge)" : "") }
        guard let lastChange else {
            guard isInView else { return "unknown" }
            let state = "its folder is missing" + (isKept ? ", and its values are published by this host" : "")
            return "\(state); if it will not return, `prefs mirror retire \(name)`"
        }
        let ahead = clockIsAhead.map { "; its clock is \(Self.words($0)) ahead" } ?? ""
        let age = Duration.nanoseconds(now.nanoseconds - lastChange.nanoseconds)
        let change = (age < .seconds(2) ? "changed just now" : "changed \(Self.words(age)) ago") + ahead
        return lacksChanges ? "\(change)\(lack): run `prefs mirror sync` there; if it is gone, \(purge)" : change
    }

    /// Returns a duration in its largest unit.
    private static func words(_ duration: Duration) -> String {
        let seconds = duration.components.seconds
        for (length, unit) in [(86_400, "day"), (3600, "hour"), (60, "minute")] as [(Int64, String)]
        where seconds >= length {
            return counted(Int(seconds / length), unit)
        }
        return counted(Int(seconds), "second")
    }

    fileprivate var propertyList: PropertyList {
        var entries: PropertyList.Dictionary = [
            "label": .string(label), "writer": .string(writer.description), "left": .boolean(hasLeft),
            "retired": .boolean(isRetired), "former": .boolean(isFormer), "closed": .boolean(isClosed),
            "missing": .boolean(isGone), "incomplete": .boolean(lacksChanges), "expelled": .boolean(isExpelled),
        ]
        if let lastChange { entries["lastChange"] = .date(lastChange.date) }
        if let clockIsAhead {
            entries["clockAheadSeconds"] = .integer(PropertyList.Integer(Int(clockIsAhead.components.seconds)))
        }
        return .dictionary(entries)
    }
}

/// The text of findings in a mirror's files: the path, the problem and how to fix it.
enum FolderFindingText {
    static func line(_ finding: FolderCheck.Finding, _ session: MirrorSession) -> String {
        func host(_ writer: WriterID) -> String { session.host(writer).onOneLine }
        func own(_ name: some CustomStringConvertible) -> String { "w/\(session.writer)/\(name)" }
        func republish(_ writer: WriterID) -> String { "`prefs mirror sync` on \(host(writer)) publishes it again" }
        switch finding {
        case .stray(let path, .conflictCopy):
            return "\(path.onOneLine): conflict copy of a program that syncs files; ignored, delete it"
        case .stray(let path, .placeholder):
            return "\(path.onOneLine): not fetched yet; let the program that syncs files fetch it"
        case .stray(let path, .foreign): return "\(path.onOneLine): foreign, not a file of a mirror; ignored, delete it"
        case .empty(let address): return "\(address): not fetched yet, it is empty; wait until it is synced"
        case .faulty(let address, .missingBlobs):
            return "\(address): not fetched yet, its long values are missing; let them be synced, "
                + "or \(republish(address.writer))"
        case .faulty(let address, .newerVersion), .faulty(let address, .unknownField):
            return "\(address): written by a newer version; update prefs"
        case .faulty(let address, .otherMirror):
            return "\(address): foreign, a file of another mirror; ignored, delete it"
        case .faulty(let address, .unsigned):
            return "\(address): \(PackFault.unsigned.phrase), so it is ignored; wait until it is synced, or delete it: "
                + "its host publishes its own files again"
        case .faulty(let address, let fault):
            return "\(address): damaged, or incompletely synced: \(fault.phrase); if this persists, delete it, "
                + "then \(republish(address.writer))"
        case .unreadable(let address): return "\(address): cannot be read, or is not a file; check its permissions"
        case .closed(let writer):
            return "w/\(writer): the folder of \(host(writer)) cannot be read; check its permissions"
        case .missing(let name): return "\(own(name)): missing; `prefs mirror sync` publishes it again"
        case .missingBlob(let name): return "\(own(name)): missing; `prefs mirror sync` publishes it again"
        case .foreign(let name):
            return "\(own(name)): written by a copy of this store; `prefs mirror sync` gives this one a new number"
        case .gap(let writer, let range):
            let changes =
                range.count == 1 ? "change \(range.lowerBound)" : "changes \(range.lowerBound) to \(range.upperBound)"
            return "w/\(writer): not fetched yet, the \(changes) of \(host(writer)); let it be synced, "
                + "or \(republish(writer))"
        case .missingChange(let id):
            return "w/\(id.writer): not fetched yet, the changes of \(host(id.writer)) up to \(id.sequence); "
                + "let it be synced, or \(republish(id.writer))"
        case .notJoined(let address): return "\(address): not read yet; `prefs mirror sync`"
        case .stateLacks(let domains):
            return "\(abridged(domains)): this host lacks values that files have; `prefs mirror rebuild`"
        case .filesLack(let domains):
            return "\(abridged(domains)): this host has values that no file has; "
                + "`prefs mirror sync` on the host that wrote them publishes them again"
        case .fork(let writer):
            return "w/\(writer): two copies of \(host(writer)) have published under this number, "
                + "so some of its conflicts may be needless"
        }
    }
}

extension FolderCheck.Finding {
    /// Whether a file is still missing, which is not damage.
    var isOfWaiting: Bool {
        switch self {
        case .stray(_, .placeholder), .empty, .faulty(_, .missingBlobs), .faulty(_, .unsigned), .gap, .missingChange,
            .notJoined,
            .filesLack:
            true
        default: false
        }
    }
}

/// A value of a mirror as text, without secrets.
struct MirrorValueText {
    let masking: Masking

    func text(_ value: CanonicalValue?, at path: Path) -> String {
        masked(value, at: path).map { LosslessJSON.text(of: $0) ?? "(too deep)" } ?? "(deleted)"
    }

    func masked(_ value: CanonicalValue?, at path: Path) -> PropertyList? {
        value.map { value in
            if masking.hides(path.entry) { return .string(Masking.dots) }
            // A long value may have been lost.
            return (try? value.decoded()).map { masking.masked($0, at: path.entry) } ?? .string("(unreadable)")
        }
    }
}

extension Path {
    /// The path of the entry within its domain.
    var entry: EntryPath { EntryPath(keys.dropFirst().map { EntryPath.Component($0) }) }

    /// The domain and the entry, for messages.
    var place: String { "\(domain) \(entry)".onOneLine }
}
