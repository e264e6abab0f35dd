extension Verb {
    package static let importing = Verb(
        "import", .classic, "take the keys of a file into a domain",
        details: ["FILE is in any of the formats; - is the standard input. Keys that it does not have stay."],
        options: [.layer, .force, .replace, .from, .losslessJSON], forms: [[.domain, .file]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout])
}

extension Option {
    package static let replace = Option("--replace", "make the domain equal to the file")
}
