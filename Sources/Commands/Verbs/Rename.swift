extension Verb {
    package static let rename = Verb(
        "rename", .classic, "move a value to another key, over what is there",
        options: [.layer, .force], forms: [[.domain, Operand("OLD", .key), Operand("NEW", .key)]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout])
}
