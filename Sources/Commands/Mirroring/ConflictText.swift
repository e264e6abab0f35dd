internal import MirrorEngine
internal import Platform
internal import PreferencesMirror
internal import PropertyLists

/// Conflicts as a person reads them.
enum ConflictText {
    /// `3  2026-01-01T00:00:00Z  com.example.editor :fontSize  desk wrote over it`
    static func line(_ number: Int, _ conflict: ConflictJournal.Conflict, _ session: MirrorSession) -> String {
        let places = conflict.values.keys.sorted()
        let first = places.first.map(place) ?? ""
        let more = places.count > 1 ? " and \(places.count - 1) more" : ""
        return "\(number)  \(when(conflict))  \(first)\(more)  \(what(conflict, session))"
    }

    /// What lost, and what is in force, entry by entry.
    static func lines(_ conflict: ConflictJournal.Conflict, _ session: MirrorSession) -> [String] {
        var lines = ["\(when(conflict))  \(what(conflict, session))"]
        for (path, lost) in conflict.values.sorted(by: { $0.key < $1.key }) {
            lines.append(place(path))
            lines.append("    lost      \(text(lost.value))")
            lines.append("    in force  \(text(session.engine.local.atoms.value(at: path)))")
        }
        return lines
    }

    private static func when(_ conflict: ConflictJournal.Conflict) -> String {
        Timestamp(seconds: conflict.when / 1000, nanoseconds: 0).description
    }

    private static func what(_ conflict: ConflictJournal.Conflict, _ session: MirrorSession) -> String {
        let host = session.host(conflict.winner.writer).onOneLine
        return switch conflict.kind {
        case .overwritten: "\(host) wrote over it"
        case .deleted: "\(host) deleted it"
        case .reverted: "a program here put the former value back"
        }
    }

    private static func place(_ path: Path) -> String {
        "\(path.domain) \(path.entry)".onOneLine
    }

    private static func text(_ value: CanonicalValue?) -> String {
        value.map { LosslessJSON.text(of: $0.propertyList) ?? "(too deep)" } ?? "(none)"
    }
}

extension Path {
    /// The entry in its domain.
    var entry: EntryPath { EntryPath(components.dropFirst().map { EntryPath.Component($0.text) }) }
}
