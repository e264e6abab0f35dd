extension Verb {
    package static let diff = Verb(
        "diff", .new, "compare two domains, files or layers",
        details: ["With --format commands it prints the commands that turn A into B."],
        options: [.format([.text, .json, .commands]), .from, .losslessJSON],
        forms: [[Operand("A", .domainOrFile), Operand("B", .domainOrFile)]],
        statuses: [.notFound, .damaged, .systemFailed, .different])
}
