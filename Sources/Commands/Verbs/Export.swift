extension Verb {
    package static let export = Verb(
        "export", .classic, "write a domain to a file",
        details: ["A file is written as binary, the standard output (-) as XML, unless --format says otherwise."],
        options: [
            .effective, .layer, .format(FormatName.ofValues, "how to write it"), .sort, .losslessJSON, .coerce, .lossy,
        ],
        forms: [[.domain, .file]], statuses: [.notFound, .invalidValue, .damaged, .systemFailed])
}
