extension Verb {
    package static let convert = Verb(
        "convert", .new, "change the format of a file or domain",
        details: ["Where the format cannot hold a value, nothing is written and the entry is named."],
        options: [.output, .from, .sort, .losslessJSON, .coerce, .lossy],
        forms: [
            [Operand("FILE|DOMAIN", .domainOrFile), Operand("FORMAT", .choice(FormatName.ofFiles.map(\.rawValue)))]
        ],
        statuses: [.notFound, .invalidValue, .damaged, .systemFailed, .lockTimeout])
}
