internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let history = Verb(
        "history", .new, "list the earlier versions of a domain, and what each changed",
        details: [
            "Versions are listed newest first, each with its number for prefs restore and with its changes, which are abbreviated unless --full is given.",
            "--show N prints the values of version N instead, as read does.",
            "For a domain over 1 MiB, a version is the replaced file, listed with the time of the replacement and the program that made it.",
        ],
        options: [.full, .shownVersion, .layer, .format(FormatName.ofValues)],
        forms: [[.domain]], statuses: [.notFound, .invalidValue, .damaged, .systemFailed]
    ) { invocation, context in
        let (access, addressed) = try StoreAccess.ofDomain(invocation, context)
        var domain = addressed
        domain.file.inexactIntegers = .text
        if let word = invocation[.shownVersion] {
            let state = try access.state(ofVersion: number(word, "the number of a version"), of: domain)
            let (value, rendering) = (PropertyList.dictionary(state.values.withoutHidden), Rendering(invocation))
            try context.print(rendering.bytes(of: value, under: nil, access.masking(domain)), of: value, rendering)
            return .done
        }
        let listing = HistoryListing(try access.history(of: domain))
        guard !listing.entries.isEmpty else {
            guard try access.values(domain) != nil else { throw CommandFailure.noDomain(domain, context) }
            throw CommandFailure(.notFound, "\(domain.word.onOneLine): no earlier version is kept")
        }
        if invocation.format == nil {
            let contents = try domain.file.contents(on: access.machine)
            access.warn(contents.recovery)
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
    package static let shownVersion = Option("--show", Argument("N", .version), "print the values of version N")
    package static let full = Option("--full", "print all changes, without shortening")
}
