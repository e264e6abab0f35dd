extension Verb {
    package static let read = Verb(
        "read", .classic, "print all domains, one domain, or one value",
        details: [
            "Without --format the text is the one that defaults(1) prints. It loses types: use json, xml or typed to read it back, and raw for one scalar in a script.",
            "A key that begins with a colon is the way to an entry inside a value: :windows:0:width. Write \\:key for a key that really begins so.",
        ],
        options: [
            .effective, .layer, .format(FormatName.ofValues), .defaultText, .sort, .losslessJSON, .coerce, .lossy,
        ],
        forms: [[], [.domain, .anyKey]], statuses: [.notFound, .invalidValue, .damaged, .systemFailed])
}

extension Option {
    package static let defaultText = Option(
        "--default", Argument("TEXT", .word), "print TEXT where there is no value, and exit with 0")
}
