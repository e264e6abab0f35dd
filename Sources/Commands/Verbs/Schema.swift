extension Verb {
    package static let schema = Verb(
        "schema", .new, "check, show, install and migrate declarations of settings",
        parts: [
            Verb("check", .new, "find every mistake in a schema", forms: [[.file]], statuses: [.damaged]),
            Verb(
                "show", .new, "print what a domain may hold",
                options: [.format([.text, .markdown, .man, .jsonSchema])], forms: [[.domain]],
                statuses: [.notFound, .damaged]),
            Verb(
                "install", .new, "make a schema known to the user's programs", forms: [[.file]],
                statuses: [.damaged, .systemFailed]),
            Verb(
                "migrate", .new, "move stored values to the schema's version", forms: [[.domain]],
                statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout]),
        ])
}
