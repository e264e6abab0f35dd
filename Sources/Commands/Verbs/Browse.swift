internal import Platform
internal import Preferences
internal import Screens

extension Verb {
    package static let browse = Verb(
        "browse", .new, "show and change domains and their values on the whole screen",
        details: [
            "Domains are listed on the left. The entries of the open domain are a tree with types, values and layers. Below are the details of the selected entry: the schema, the value in each layer, the last change and the value as JSON. A file that is named by its path is shown alone; a change keeps its format, comments and order.",
            "Arrow keys select and open, Enter edits, a adds an entry or a domain, r renames, c copies, x deletes, t changes the type, u undoes, h goes through the versions of an entry or a domain, and H through those of all, y copies the command that reads the value, / searches all domains, q quits, and ? lists all keys. Each change is written at once, as prefs write does it, to the user's layer or the one that --layer names.",
            "Changes by other processes are shown at once; after w they are highlighted. Sensitive values are masked.",
        ],
        options: [.layer], forms: [[.anyDomain]],
        statuses: [.notFound, .invalidValue, .damaged, .systemFailed]
    ) { invocation, context in
        guard let terminal = context.fullScreen else {
            throw CommandFailure(
                .usage,
                "browse needs a terminal, and a TERM that is not dumb; prefs read and prefs domains print values")
        }
        var actions = try BrowseActions(invocation, context, waking: terminal)
        let (keymap, problem) = actions.access.keymap
        let first = try actions.first() + (problem.map { [.noted($0)] } ?? [])
        var session = ScreenSession(BrowseScreen(actions.name, keymap), actions, on: terminal, context)
        if case .interrupted(let signal) = try session.run(first) { terminal.end(with: signal) }
        return .done
    }
}
