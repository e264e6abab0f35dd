internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let apply = Verb(
        "apply", .new, "make domains equal to what files declare, all or none",
        details: [
            "A file whose values are all dictionaries is a dictionary of domains. Any other one holds one domain, the one that it is named for or that --domain names.",
            "Keys that no file names stay, unless --prune is given and a former apply has set them; so name all files in one call. --dry-run prints what would change, and ends with 8 where something would.",
        ],
        options: [.prune, .dryRun, .force, .fromLines, .losslessJSON, .declaredDomain], forms: [[.files]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout, .different]
    ) { invocation, context in
        let access = try StoreAccess(invocation, context)
        let declaration = try Declaration(
            invocation.words("FILE"), only: invocation[.declaredDomain], invocation, context)
        let applying = Applying(
            access: access, declaration: declaration, prunes: invocation.has(.prune),
            isForced: invocation.has(.force))
        guard invocation.has(.dryRun) else {
            try applying.commit()
            return .done
        }
        let drift = try applying.differences()
        for (domain, differences) in drift {
            try context.say(domain.heading.onOneLine + ":")
            try context.terminal.write(differences.text(masking: access.masking(domain)), to: .output)
        }
        return drift.isEmpty ? .done : .different
    }
}

extension Option {
    package static let prune = Option("--prune", "also delete what a former apply set and no file names now")
    package static let declaredDomain = Option(
        "--domain", Argument("DOMAIN", .domain), "the domain that the file is about, whatever it holds")
}
