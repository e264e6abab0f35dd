extension Verb {
    package static let watch = Verb(
        "watch", .new, "print a line for each change as it happens, until interrupted",
        options: [.effective, .format([.text, .json, .commands]), .ignore], forms: [[.anyDomain, .anyKey]],
        statuses: [.invalidValue, .systemFailed])
}

extension Option {
    package static let ignore = Option(
        "--ignore", Argument("GLOB", .word), "say nothing of domains or keys like this", repeats: true)
}
