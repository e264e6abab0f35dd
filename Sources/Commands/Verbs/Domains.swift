extension Verb {
    package static let domains = Verb(
        "domains", .classic, "print the names of all domains",
        options: [.layer, .format([.lines, .json], "one line each, or JSON")], statuses: [.systemFailed])
}
