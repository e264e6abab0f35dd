internal import MirrorEngine
internal import Platform
internal import Preferences

/// A notification on the desktop of the conflicts that an exchange found.
///
///     prefs: 1 new conflict
///     com.example.editor :theme replaced by laptop; lost "dark"
struct ConflictNotification {
    private let program: FilePath
    private let summary: String
    private let body: String

    private static let mostLines = 5

    /// Returns nil without `notify-send`.
    init?(of conflicts: [ListedConflict], _ access: MirrorAccess) {
        guard !conflicts.isEmpty, let program = access.context.system.program(named: "notify-send") else { return nil }
        self.program = program
        summary = "prefs: \(counted(conflicts.count, "new conflict"))"
        var lines = conflicts.prefix(Self.mostLines).map { conflict in
            let masking = (try? access.masking(conflict.place.domain)) ?? Masking { _ in true }
            let value = MirrorValueText(masking: masking).text(conflict.value.value, at: conflict.place).onOneLine
            let lost = conflict.isOfOlder ? "" : "; lost \(value)"
            return "\(conflict.place.place) \(conflict.outcome)\(lost)"
        }
        let rest = conflicts.count - lines.count
        if rest > 0 { lines.append("and \(rest) more") }
        // A notification can contain markup.
        body = [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")].reduce(lines.joined(separator: "\n")) {
            $0.replacing($1.0, with: $1.1)
        }
    }

    /// Shows the notification. If that fails, the conflicts are still listed.
    func show(in context: CommandContext) {
        let notifier = LimitedProgram(
            path: program, words: ["notify-send", "--", summary, body], mostMilliseconds: 5000, mostBytes: 64 << 10)
        _ = try? context.system.output(notifier, [])
    }
}

extension MirrorAccess {
    /// Resolves new conflicts by the program that the settings of the store name, and notifies the user of those that
    /// stay open if the settings ask for it. Returns whether any was resolved.
    func announce(_ conflicts: [ListedConflict]) -> Bool {
        guard !conflicts.isEmpty else { return false }
        // The mirror runs for a long time, and follows the settings.
        let policy = StorePolicy(in: stored.places, on: stored.system)
        var open = conflicts
        do {
            if let program = policy.conflictResolver { open = try ConflictResolver(program, self).resolve(conflicts) }
        } catch {
            note("\(error.asLine); the conflicts stay open")
        }
        if policy.notifiesOfConflicts { ConflictNotification(of: open, self)?.show(in: context) }
        return open.count < conflicts.count
    }
}
