extension Verb {
    package static let edit = Verb(
        "edit", .new, "change a domain as text in $VISUAL or $EDITOR",
        details: [
            "What is saved is checked first; a mistake opens the editor again. What others changed meanwhile is merged key by key."
        ],
        options: [.format([.xml, .json, .openstep], "the format of the text"), .layer, .force], forms: [[.domain]],
        statuses: [.invalidValue, .forced, .damaged, .systemFailed, .lockTimeout, .different])
}
