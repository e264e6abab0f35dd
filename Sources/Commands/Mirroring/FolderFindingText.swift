internal import MirrorEngine
internal import PreferencesMirror

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
        case .faulty(let address, .contradiction("mirror")):
            return "\(address): foreign, a file of another mirror; ignored, delete it"
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
        case .brokenChain(let address):
            return "\(address): the file before it is not fetched yet; wait until it is synced"
        case .missingChange(let id):
            return "w/\(id.writer): not fetched yet, the changes of \(host(id.writer)) up to \(id.sequence); "
                + "let it be synced, or \(republish(id.writer))"
        case .notJoined(let address): return "\(address): not read yet; `prefs mirror sync`"
        case .stateLacks(let domains):
            return "\(abridged(domains)): this host lacks values that files have; `prefs mirror rebuild`"
        case .filesLack(let domains):
            return "\(abridged(domains)): this host has values that no file has; "
                + "`prefs mirror sync` on the host that wrote them publishes them again"
        case .digestMismatch(let writer):
            return "the state differs from that of \(host(writer)); `prefs mirror rebuild`"
        }
    }
}

extension FolderCheck.Finding {
    /// Whether a file is still missing, which is not damage.
    var isOfWaiting: Bool {
        switch self {
        case .stray(_, .placeholder), .empty, .faulty(_, .missingBlobs), .gap, .brokenChain, .missingChange, .notJoined,
            .filesLack:
            true
        default: false
        }
    }
}
