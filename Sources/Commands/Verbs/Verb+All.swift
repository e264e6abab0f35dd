extension Verb {
    /// Every verb, in the order of help and manual.
    package static let all: [Verb] = [
        read, readType, write, rename, delete, deleteAll, importing, export, domains, find, help,
        explain, diff, apply, watch, edit, history, undo, restore, convert, lint, args, schema, form, mirror, doctor,
        completions, complete,
    ]
}
