extension Verb {
    /// All verbs, in the order of help.
    package static let all: [Verb] = [
        read, readType, write, rename, delete, deleteAll, importing, export, domains, find, help,
        copy, explain, query, diff, apply, watch, edit, history, undo, restore, convert, lint, args, schema, form,
        browse,
        mirror,
        doctor,
        completions, complete,
    ]

    /// Returns a verb that scripts call often, without creating the table of all verbs, which would take most of the
    /// time.
    package static func fastPath(_ name: String) -> Verb? {
        switch name {
        case "read": .read
        case "write": .write
        case "delete": .delete
        case "args": .args
        default: nil
        }
    }
}
