extension Verb {
    package static let find = Verb(
        "find", .classic, "print all entries whose domain, key or text contains a word",
        options: [.effective, .layer, .format(FormatName.ofValues)], forms: [[Operand("WORD", .word)]],
        statuses: [.damaged, .systemFailed])
}
