extension Verb {
    package static let history = Verb(
        "history", .new, "list the earlier versions of a domain, and what each changed",
        options: [.format(FormatName.ofValues)], forms: [[.domain]], statuses: [.notFound, .systemFailed])

    package static let undo = Verb(
        "undo", .new, "go back one version of a domain, or several; can itself be undone",
        forms: [[.domain, Operand("N", .word, .optional)]],
        statuses: [.notFound, .invalidValue, .forced, .systemFailed, .lockTimeout])

    package static let restore = Verb(
        "restore", .new, "make a domain what it was in one of its versions",
        forms: [[.domain, Operand("ID", .word)]],
        statuses: [.notFound, .invalidValue, .forced, .systemFailed, .lockTimeout])
}
