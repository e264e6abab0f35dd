internal import MirrorEngine
internal import PreferencesMirror

/// What an examination of a mirror's files has found, in words.
enum FolderFindingText {
    static func line(_ finding: FolderCheck.Finding, _ session: MirrorSession) -> String {
        words(finding, session).onOneLine
    }

    private static func words(_ finding: FolderCheck.Finding, _ session: MirrorSession) -> String {
        func host(_ writer: WriterID) -> String { session.host(writer) }
        switch finding {
        case .stray(let writer, let name): return "w/\(writer)/\(name): does not belong there; it is left alone"
        case .faulty(let address, let fault): return "\(address): damaged, or not whole yet: \(fault.phrase)"
        case .unreadable(let address): return "\(address): cannot be read"
        case .closed(let writer): return "w/\(writer): the folder of \(host(writer)) cannot be looked into"
        case .missing(let name): return "\(name): a file of this host is missing; the next exchange writes it anew"
        case .missingBlob(let name):
            return "\(name): a long value of this host is missing; the next exchange writes it anew"
        case .foreign(let name):
            return "\(name): another copy of this host wrote it; the next exchange takes a new name"
        case .gap(let writer, let range):
            return "\(host(writer)): the changes \(range.lowerBound) to \(range.upperBound) stand in no file"
        case .brokenChain(let address): return "\(address): the file before it is missing"
        case .unsaid(let dot):
            return "\(host(dot.writer)): the change \(dot.sequence) is known to others and stands in no file"
        case .notJoined(let address): return "\(address): not fetched yet; `prefs mirror sync`"
        case .stateLacks(let domains):
            return "the state lacks what files say of \(abridged(domains)); `prefs mirror rebuild`"
        case .filesLack(let domains): return "no file says what the state has of \(abridged(domains))"
        case .digestMismatch(let writer):
            return "the state differs from that of \(host(writer)); `prefs mirror rebuild`"
        }
    }
}
