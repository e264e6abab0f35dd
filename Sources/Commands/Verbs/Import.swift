internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let importing = Verb(
        "import", .classic, "import the keys of a file into a domain",
        details: [
            "FILE can be in any format; - is the standard input, and pipes are accepted. To import the output of export --format typed, give --from typed. Keys that are not in the file are kept. If FILE is that of another domain, a sensitive value is imported only to a sensitive key, unless --force is given."
        ],
        options: [.layer, .force, .rewrite, .replace, .fromLines, .newDomain, .newHost], forms: [[.domain, .file]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout]
    ) { invocation, context in
        let (access, domain) = try StoreAccess.ofDomain(invocation, context)
        try access.checkNotMeantAsFile(domain, invocation)
        let input = try InputFile(
            invocation[operand: "FILE"] ?? "-", invocation, context, unwrapsJSON: domain.name != nil)
        let imported = try access.importableValues(input.dictionary(), from: input, into: domain)
        if try input.roundsReals() { context.note("\(input.name): reals are rounded to 17 digits") }
        if !invocation.has(.force) {
            try access.checkNotForced(imported.keys, in: domain)
            try access.checkNotExposing(imported, from: invocation[operand: "FILE"] ?? "-", in: domain)
        }
        let replaces = invocation.has(.replace)
        try access.change(domain, isForced: invocation.has(.force)) { root in
            guard replaces || root.kind == .dictionary else {
                let reason = "the root is \(root.kind.withArticle), which \(Option.replace.name) replaces"
                throw CommandFailure(.invalidValue, "\(domain.word.onOneLine): \(reason)")
            }
            var values = root.dictionaryValue ?? [:]
            if replaces {
                values.replaceVisible(with: imported)
            } else {
                for entry in imported { values[entry.key] = entry.value }
            }
            root = .dictionary(values)
        }
        return .done
    }
}

extension Option {
    package static let replace = Option("--replace", "make the domain equal to the file")
}
