extension Verb {
    package static let lint = Verb(
        "lint", .new, "say whether files are property lists, and if not, what is wrong and where",
        options: [.from], forms: [[.files]], statuses: [.damaged, .systemFailed])
}
