internal import MirrorEngine
internal import Platform
internal import PreferencesMirror
internal import PropertyLists

/// A conflict of one key as text and JSON.
struct ConflictText {
    let item: ConflictJournal.Item
    let session: MirrorSession
    let masking: Masking

    /// Returns the line: `3 2026-01-01T00:00:00Z com.example.editor :fontSize replaced by desk`
    func line(withState: Bool) -> String {
        let state = withState ? "  \(state)" : ""
        return "\(item.number)\(state)  \(Self.time(item.latest.when))  \(item.key.place)  \(outcome)"
    }

    /// The lost values and the value in force.
    var lines: [String] {
        var lines = [line(withState: !item.isOpen)]
        for conflict in item.conflicts {
            let part = conflict.path == item.key ? "" : "\(conflict.path.entry)  "
            lines.append("    lost      \((part + values.text(conflict.value.value, at: conflict.path)).shown)")
        }
        return lines + ["    in force  \(values.text(inForce, at: item.key).shown)"]
    }

    /// The conflict as a JSON object on one line.
    var json: String? {
        var line: PropertyList.Dictionary = [
            "mirror": .string(session.id.description), "number": .integer(PropertyList.Integer(item.number)),
            "state": .string(state), "domain": .string(item.key.domain), "key": .string(item.key.key ?? ""),
            "reason": .string("\(item.latest.kind)"),
            "lost": .array(
                item.conflicts.map { conflict in
                    var lost: PropertyList.Dictionary = [
                        "entry": .string(conflict.path.entry.description), "when": .string(Self.time(conflict.when)),
                    ]
                    lost["value"] = values.masked(conflict.value.value, at: conflict.path)
                    return .dictionary(lost)
                }),
        ]
        line["host"] = winner.map { .string($0) }
        line["inForce"] = values.masked(inForce, at: item.key)
        line["resolved"] = item.latest.resolvedAt.map { .string(Self.time($0)) }
        return LosslessJSON.text(of: .dictionary(line))
    }

    private var state: String { item.isOpen ? "open" : "resolved" }
    private var winner: String? { item.latest.winner.map { session.host($0.writer) } }
    private var inForce: CanonicalValue? { session.mergeState.value(at: item.key) }

    /// A description of how the value was lost.
    var outcome: String {
        let host = winner?.onOneLine ?? "another host"
        return switch item.latest.kind {
        case .overwritten: "replaced by \(host)"
        case .deleted: "deleted by \(host)"
        case .reverted: "reverted by a program on this host"
        case .replaced: "replaced by the mirror's value"
        }
    }

    private var values: MirrorValueText { MirrorValueText(masking: masking) }

    private static func time(_ milliseconds: Int64) -> String {
        Timestamp(seconds: milliseconds / 1000, nanoseconds: 0).description
    }
}

/// A value of a mirror as text, without secrets.
struct MirrorValueText {
    let masking: Masking

    func text(_ value: CanonicalValue?, at path: Path) -> String {
        masked(value, at: path).map { LosslessJSON.text(of: $0) ?? "(too deep)" } ?? "(deleted)"
    }

    func masked(_ value: CanonicalValue?, at path: Path) -> PropertyList? {
        value.map {
            masking.hides(path.entry) ? .string(Masking.dots) : masking.masked($0.propertyList, at: path.entry)
        }
    }
}

extension Path {
    /// The path of the entry within its domain.
    var entry: EntryPath { EntryPath(components.dropFirst().map { EntryPath.Component($0.text) }) }

    /// The domain and the entry, for messages.
    var place: String { "\(domain) \(entry)".onOneLine }
}
