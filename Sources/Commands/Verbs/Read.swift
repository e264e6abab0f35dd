internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let read = Verb(
        "read", .classic, "print all domains, one domain, or one value",
        details: [
            "A scalar is printed as itself, data as Base64; everything else as JSON, in which {\"$date\": …}, {\"$data\": …}, {\"$uid\": …} and {\"$real\": …} stand for values that JSON has no type for.",
            "A key that begins with a colon is the path of an entry within a value: :windows:0:width. Write \\:key for a key that itself begins with a colon.",
            "A sensitive value is not printed without --reveal, and the status is 3. A condition on a Boolean compares text: [ \"$(prefs read D K)\" = true ].",
            "--unarchive shows the contents of a file or value that NSKeyedArchiver wrote: objects of the usual classes as plain values, others as dictionaries with $class, and second references to an object as {\"$ref\": \":path\"}. Entry paths then lead into the contents.",
        ],
        classicDetails: [
            "Without --format the text is the one of macOS. It loses types: use json, xml or typed to read it back, and raw for one scalar in a script.",
            "A key that begins with a colon is the path of an entry within a value: :windows:0:width. Write \\:key for a key that itself begins with a colon.",
        ],
        options: [.effective, .layer, .format(FormatName.ofValues), .defaultText, .reveal, .from, .unarchive, .deep],
        forms: [[], [.domain, .anyKey]], statuses: [.notFound, .invalidValue, .damaged, .systemFailed]
    ) { invocation, context in
        let access = try StoreAccess(invocation, context)
        let rendering = Rendering(invocation)
        guard !invocation.has(.reveal) || invocation[operand: Operand.key.name] != nil else {
            throw CommandFailure(.usage, "read: \(Option.reveal.name) requires KEY")
        }
        guard let word = invocation[operand: "DOMAIN"] else { return try readAll(access, rendering) }
        if DomainArgument.isPath(word), !invocation.has(.reveal),
            let files = try context.files(matching: word, isWriting: false)
        {
            let status = try readFiles(files.words, word, access, rendering, invocation)
            return files.status == .done ? status : files.status
        }
        let domain = try access.named(word).requiringFormat(of: invocation)
        try access.checkLayer(of: domain, invocation)
        let key = try invocation.key
        if let (value, layer) = try value(key, in: domain, access, invocation) {
            let reveals = invocation.has(.reveal)
            if key != nil, !reveals { try access.checkSecrecy(of: domain, "this value is not shown") }
            let masking = reveals ? .none : access.masking(domain)
            if let key, masking.hides(key.path) {
                // A script would take the mask for the value.
                throw CommandFailure.hidden(key, in: domain, context.dialect)
            }
            let bytes = try rendering.bytes(of: value, under: key, masking)
            if rendering.dropsFractions(of: value) { context.noteDroppedFractions(in: word.onOneLine) }
            try context.print(bytes, of: value, rendering, from: layer == .user ? nil : layer)
        } else if let text = invocation[.defaultText] {
            try context.say(text)
        } else {
            throw try access.failure(ofMissing: key, in: domain)
        }
        return .done
    }

    /// Returns the value to print, and its layer if that is not the only one that was read.
    private static func value(
        _ key: KeyArgument?, in domain: AddressedDomain, _ access: StoreAccess, _ invocation: Invocation
    ) throws -> (value: PropertyList, layer: Layer?)? {
        if invocation.unarchives { return try access.openedValue(key, in: domain, invocation).map { ($0, nil) } }
        if let key { return try access.shownValue(key, in: domain) }
        guard access.reading(domain) == .layer else {
            return try access.shownValues(domain).map { (.dictionary($0), nil) }
        }
        return try access.existingContents(domain).map { ($0.root, nil) }
    }

    /// Prints the values of the files that a pattern matches, under their paths. A file that cannot be read is reported
    /// and skipped, and one without the key is left out.
    private static func readFiles(
        _ words: [String], _ pattern: String, _ access: StoreAccess, _ rendering: Rendering, _ invocation: Invocation
    ) throws -> ExitStatus {
        let key = try invocation.key
        var all = PropertyList.Dictionary()
        var status = ExitStatus.done
        for word in words {
            let failed = try access.reportingUnreadable {
                let domain = try access.domain(word).requiringFormat(of: invocation)
                try access.checkLayer(of: domain, invocation)
                if let (value, _) = try value(key, in: domain, access, invocation) {
                    let masking = access.masking(domain)
                    all[word.onOneLine] =
                        key.map { masking.hidden(value, at: $0.path) } ?? masking.masked(value, at: [])
                } else if let text = invocation[.defaultText] {
                    all[word.onOneLine] = .string(text)
                }
            }
            status = failed ?? status
        }
        if all.isEmpty, status == .done, let key { throw CommandFailure.noFile(of: pattern, has: key) }
        if rendering.dropsFractions(of: .dictionary(all)) {
            access.context.noteDroppedFractions(in: pattern.onOneLine)
        }
        try access.context.print(rendering.bytes(ofMasked: .dictionary(all)), of: .dictionary(all), rendering)
        return status
    }

    /// Prints all domains. A domain that cannot be read is reported and skipped.
    private static func readAll(
        _ access: StoreAccess, _ rendering: Rendering
    ) throws -> ExitStatus {
        var all = PropertyList.Dictionary()
        var status = ExitStatus.done
        for name in try access.shownNames() {
            let failed = try access.reportingUnreadable {
                let domain = try access.domain(name)
                if let values = try access.shownValues(domain) {
                    all[domain.heading(access.context.dialect)] = access.masking(domain).masked(
                        .dictionary(values), at: [])
                }
            }
            status = failed ?? status
        }
        try access.context.print(rendering.bytes(ofMasked: .dictionary(all)), of: .dictionary(all), rendering)
        return status
    }
}

extension CommandFailure {
    /// A value that is sensitive.
    fileprivate static func hidden(
        _ key: KeyArgument, in domain: AddressedDomain, _ dialect: Dialect
    ) -> CommandFailure {
        let fact = "\(domain.word.onOneLine) \(key.spelling.onOneLine) is sensitive and not shown"
        return CommandFailure(
            dialect == .classic ? .notFound : .invalidValue, "\(fact); \(Option.reveal.name) prints it",
            classic: "\(fact); prefs read \(Option.reveal.name) prints it")
    }
}

extension Option {
    fileprivate static let reveal = Option("--reveal", "with KEY, print the value although it is sensitive")
    package static let defaultText = Option(
        "--default", Argument("TEXT", .word), "print TEXT if there is no value, and exit with 0")
}

extension Verb {
    package static let readType = Verb(
        "read-type", .classic, "print the type of a value",
        options: [.effective, .layer], forms: [[.domain, .key]],
        statuses: [.notFound, .invalidValue, .damaged, .systemFailed]
    ) { invocation, context in
        let (access, domain) = try StoreAccess.ofDomain(invocation, context)
        let key = try KeyArgument(invocation[operand: "KEY"] ?? "")
        guard let (value, _) = try access.shownValue(key, in: domain) else {
            throw try access.failure(ofMissing: key, in: domain)
        }
        try context.say(context.dialect == .classic ? "Type is \(value.kind.typeName)" : value.kind.rawValue)
        return .done
    }
}

extension PropertyList.Kind {
    /// The name of the type in `defaults`.
    fileprivate var typeName: String { self == .real ? "float" : rawValue }
}
