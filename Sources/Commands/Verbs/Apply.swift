extension Verb {
    package static let apply = Verb(
        "apply", .new, "make domains equal to what files declare, all or none",
        details: [
            "A file holds one domain and is named for it, or it is a dictionary of domains. Keys that it does not name stay, unless --prune is given and a former apply has set them."
        ],
        options: [.prune, .dryRun, .force, .from, .losslessJSON], forms: [[.files]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout, .different])
}

extension Option {
    package static let prune = Option("--prune", "also delete what a former apply set and no file names now")
}
