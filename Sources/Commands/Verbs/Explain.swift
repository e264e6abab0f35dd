extension Verb {
    package static let explain = Verb(
        "explain", .new, "show where a value comes from: every layer that has it, the highest first",
        options: [.format(FormatName.ofValues)], forms: [[.domain, .anyKey]],
        statuses: [.notFound, .invalidValue, .damaged, .systemFailed])
}
