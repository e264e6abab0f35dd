extension Verb {
    package static let readType = Verb(
        "read-type", .classic, "print the type of a value",
        options: [.effective, .layer], forms: [[.domain, .key]],
        statuses: [.notFound, .invalidValue, .damaged, .systemFailed])
}
