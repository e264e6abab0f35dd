package import MirrorEngine

/// An event of a mirror.
@nonexhaustive
public enum MirrorEvent: Hashable, Sendable {
    /// Keys of a domain now have the values of another host. At most 1,000 of one write are named.
    case changed(domain: String, keys: [String], host: String, reason: Reason)
    /// A value of a key is not in force and was not seen by the host whose value is. It is kept on all hosts until a
    /// user accepts or restores it. The identifier is that of `prefs mirror conflicts`, and the host is the one that
    /// wrote the value in force, or empty if there is none.
    case conflict(id: String, domain: String, key: String, host: String, reason: Reason)
    /// A domain is not exchanged until a user decides.
    case held(domain: String, reason: String)
    /// Nothing is exchanged until a user decides.
    case halted(reason: String)
    /// An exchange is incomplete, and is tried again.
    case waiting(reason: Reason, detail: String)
    /// All changes of other hosts are in the domains' files, and all changes of this host are published.
    case caughtUp
    /// So many events before the next one were dropped, because their reader was late.
    case dropped(Int)

    /// The reason for a change, a conflict or a delay.
    @nonexhaustive
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// Another host changed the keys.
        case host
        /// The changes of this host would exceed a limit.
        case quota
        /// Files in the directory are missing, damaged or incomplete.
        case directoryChanged
        /// The domain is mirrored from now on, and receives the values of the mirror.
        case initialSync
        /// Two hosts changed the key, and neither had seen the other's change.
        case conflict
        /// A program that had not read another host's change wrote the previous value back.
        case reverted
        /// The format of the domain's file cannot hold the values.
        case format
        /// The system refuses to write the domain's file.
        case refused
    }
}

extension MirrorSession {
    /// Returns the label of a writer, or its number if it has none.
    package func host(_ writer: WriterID) -> String {
        if engine.status.numbers.contains(writer) { return configuration.label }
        return engine.status.label(of: writer) ?? writer.description
    }

    /// Converts a report to an event. Returns nil for reports that concern only users of the command.
    package func event(_ report: Report) -> MirrorEvent? {
        switch report {
        case .changed(let domain, let keys, let writer):
            return .changed(domain: domain, keys: keys, host: host(writer), reason: .host)
        case .seeded(let domain, let keys, let writer):
            return .changed(domain: domain, keys: keys, host: host(writer), reason: .initialSync)
        case .unheld(let domain, let keys):
            let names = keys.prefix(5).joined(separator: ", ")
            return .waiting(reason: .format, detail: "\(domain): the format of its file cannot hold \(names)")
        case .unwritten(let domain):
            return .waiting(reason: .refused, detail: "\(domain): its file cannot be written")
        case .conflict(let conflict):
            return .conflict(
                id: conflict.name(in: id), domain: conflict.place.domain, key: conflict.place.key ?? "",
                host: conflict.winner.map { host(of: $0) } ?? "", reason: conflict.isReversion ? .reverted : .conflict)
        case .held(let domain, let held): return .held(domain: domain, reason: held.phrase)
        case .directory(.present): return nil
        case .directory(let status): return .halted(reason: status.phrase)
        case .waiting(let waiting):
            return .waiting(
                reason: [.quota, .writers].contains(waiting) ? .quota : .directoryChanged, detail: waiting.phrase)
        case .quarantined(let address, let fault):
            return .waiting(reason: .directoryChanged, detail: "\(address) remains damaged: \(fault.phrase)")
        case .missingBlobs(let address):
            return .waiting(
                reason: .directoryChanged, detail: "\(address) is waiting for large values that have not arrived")
        case .tooNew(let address):
            return .waiting(reason: .directoryChanged, detail: "\(address) was written by a newer version")
        case .unread(let address):
            return .waiting(
                reason: .directoryChanged,
                detail: "\(address) was not read yet or cannot be read; the folder is kept")
        case .closed(let writer):
            return .waiting(
                reason: .directoryChanged, detail: "the folder of \(host(writer)) cannot be read and is kept")
        case .lostFiles:
            return .waiting(reason: .directoryChanged, detail: "files of this host were lost and will be rewritten")
        case .tookNewNumber:
            return .waiting(
                reason: .directoryChanged,
                detail: "another copy of this store has written to the mirror; this store has a new number")
        case .vanished: return nil
        }
    }
}

extension HoldReason {
    package var phrase: String {
        switch self {
        case .missing: "its file is missing and was not deleted with prefs"
        case .empty: "its file is empty"
        case .unreadable: "its file cannot be read"
        case .emptied: "more than half of its keys were removed at once"
        case .rolledBack: "its file has reverted to an earlier version"
        case .newerVersion: "the mirror has settings of a later version than the schema here"
        }
    }
}

extension DirectoryStatus {
    package var phrase: String {
        switch self {
        case .unknown: "not checked yet"
        case .present: "present"
        case .unavailable: "the directory is not available"
        case .split: "the directory contains two mirrors"
        case .swapped: "the directory contains another mirror"
        case .paused: "paused"
        case .left: "left"
        case .detached: "forgotten"
        }
    }
}

extension Report.Waiting {
    package var phrase: String {
        switch self {
        case .quota: "the changes of this host would exceed a limit of the mirror"
        case .writers: "too many hosts: those beyond the limit are ignored"
        case .space: "the directory is full"
        case .permission: "the directory cannot be written"
        case .later: "the directory does not respond"
        case .signature: "files of this host could not be signed"
        }
    }
}
