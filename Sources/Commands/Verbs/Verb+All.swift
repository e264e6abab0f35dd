extension Verb {
    /// Every verb, in the order of help and manual.
    package static let all: [Verb] = [
        read, readType, write, rename, delete, deleteAll, importing, export, domains, find, help,
        explain, diff, apply, watch, edit, history, undo, restore, convert, lint, args, schema, form, mirror, doctor,
        completions, complete,
    ]

    /// A verb that scripts call again and again, without the table of all, whose making takes longer than the rest.
    package static func often(_ name: String) -> Verb? {
        switch name {
        case "read": .read
        case "write": .write
        case "args": .args
        default: nil
        }
    }
}
