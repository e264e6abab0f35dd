internal import MirrorEngine
internal import Platform
internal import PreferencesMirror
internal import PropertyLists

/// Conflicts as a person reads them.
enum ConflictText {
    /// `3  2026-01-01T00:00:00Z  com.example.editor :fontSize  desk wrote over it`
    static func line(_ number: Int, _ conflict: ConflictJournal.Conflict, _ session: MirrorSession) -> String {
        "\(number)  \(when(conflict))  \(place(conflict.path))  \(what(conflict, session))"
    }

    /// What lost, and what is in force.
    static func lines(_ conflict: ConflictJournal.Conflict, _ session: MirrorSession) -> [String] {
        [
            "\(when(conflict))  \(what(conflict, session))", place(conflict.path),
            "    lost      \(text(conflict.value.value))",
            "    in force  \(text(session.engine.local.atoms.value(at: conflict.path)))",
        ]
    }

    private static func when(_ conflict: ConflictJournal.Conflict) -> String {
        Timestamp(seconds: conflict.when / 1000, nanoseconds: 0).description
    }

    private static func what(_ conflict: ConflictJournal.Conflict, _ session: MirrorSession) -> String {
        let host = conflict.winner.map { session.host($0.writer).onOneLine } ?? "another host"
        return switch conflict.kind {
        case .overwritten: "\(host) wrote over it"
        case .deleted: "\(host) deleted it"
        case .reverted: "a program here put the former value back"
        case .replaced: "the mirror had another value"
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
