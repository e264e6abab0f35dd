internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let apply = Verb(
        "apply", .new, "make domains equal to files, in one transaction",
        details: [
            "A file contains one domain, named by the file name or by --domain; with --domains it is a dictionary of domains. For a folder, all files in it that end in .plist, .json or .xml are read.",
            "Keys that no file declares are kept, unless --prune is given and a previous apply has set them; so pass all files in one call. --dry-run prints what would change, and exits with 8 if anything would.",
            "prefs undo DOMAIN --transaction undoes the whole of it.",
        ],
        options: [.prune, .dryRun, .force, .rewrite, .fromLines, .declaredDomain, .severalDomains], forms: [[.files]],
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
            try context.say(domain.heading(context.dialect).onOneLine + ":")
            try context.terminal.write(differences.text(masking: access.masking(domain)), to: .output)
        }
        return drift.isEmpty ? .done : .different
    }
}

extension Option {
    package static let prune = Option("--prune", "also delete keys that a previous apply set and no file declares now")
    package static let declaredDomain = Option(
        "--domain", Argument("DOMAIN", .domain), "the domain of the file, regardless of its name")
    package static let severalDomains = Option("--domains", "each file is a dictionary of domains")
}
