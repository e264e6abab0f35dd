internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let history = Verb(
        "history", .new, "list the earlier versions of a domain, and what each changed",
        details: [
            "Versions are listed newest first, each with its number for prefs restore and with what it changed, shortened unless --full is given.",
            "For a domain over 1 MiB, a version has the replaced contents, and is listed with the time and the program that replaced them.",
        ],
        options: [.full, .layer, .format(FormatName.ofValues)],
        forms: [[.domain]], statuses: [.notFound, .invalidValue, .damaged, .systemFailed]
    ) { invocation, context in
        let (access, addressed) = try StoreAccess.ofDomain(invocation, context)
        var domain = addressed
        domain.file.inexactIntegers = .text
        let listing = HistoryListing(try access.history(of: domain))
        guard !listing.entries.isEmpty else {
            guard try access.values(domain) != nil else { throw CommandFailure.noDomain(domain) }
            throw CommandFailure(.notFound, "\(domain.word.onOneLine): no earlier version is kept")
        }
        if invocation.format == nil {
            let contents = try domain.file.contents(on: access.machine)
            try access.warn(contents.recovery)
            let present = DomainState(contents)
            let text = listing.text(present: present, isFull: invocation.has(.full), masking: access.masking(domain))
            try context.terminal.write(text, to: .output)
        } else {
            let value = listing.propertyList(domain: domain.word, masking: access.masking(domain))
            let rendering = Rendering(invocation)
            try context.print(rendering.bytes(of: value), of: value, rendering)
        }
        return .done
    }
}

extension Option {
    package static let full = Option("--full", "print all changes, without shortening")
}
