extension Verb {
    package static let delete = Verb(
        "delete", aliases: ["remove"], .classic, "remove a value, or a whole domain",
        options: [.layer, .force], forms: [[.domain, .anyKey]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout])

    package static let deleteAll = Verb(
        "delete-all", .classic, "remove from every layer that the user may write, this host's too",
        options: [.force], forms: [[.domain, .anyKey]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout])
}
