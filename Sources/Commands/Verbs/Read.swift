internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let read = Verb(
        "read", .classic, "print all domains, one domain, or one value",
        details: [
            "A scalar is printed as itself, data as Base64; everything else as JSON, in which {\"$date\": …}, {\"$data\": …}, {\"$uid\": …} and {\"$real\": …} stand for values that JSON has no type for.",
            "A key that begins with a colon is the path of an entry within a value: :windows:0:width. Write \\:key for a key that itself begins with a colon.",
            "--unarchive shows the contents of a file or value that NSKeyedArchiver wrote: objects of the usual classes as plain values, others as dictionaries with $class, and second references to an object as {\"$ref\": \":path\"}. Entry paths then lead into the contents.",
        ],
        classicDetails: [
            "Without --format the text is the one of macOS. It loses types: use json, xml or typed to read it back, and raw for one scalar in a script.",
            "A key that begins with a colon is the path of an entry within a value: :windows:0:width. Write \\:key for a key that itself begins with a colon.",
        ],
        options: [.effective, .layer, .format(FormatName.ofValues), .defaultText, .from, .unarchive, .deep],
        forms: [[], [.domain, .anyKey]], statuses: [.notFound, .invalidValue, .damaged, .systemFailed]
    ) { invocation, context in
        let access = try StoreAccess(invocation, context)
        let rendering = Rendering(invocation)
        guard let word = invocation[operand: "DOMAIN"] else { return try readAll(access, rendering) }
        let domain = try access.named(word).requiringFormat(of: invocation)
        try access.checkLayer(of: domain, invocation)
        let key = try invocation.key
        var value: PropertyList?
        var layer: Layer?
        if invocation.unarchives {
            value = try access.openedValue(key, in: domain, invocation)
        } else if let key {
            if let found = try access.shownValue(key, in: domain) { (value, layer) = (found.value, found.layer) }
        } else {
            value =
                try access.reading(domain) == .layer
                ? access.existingContents(domain)?.root : access.shownValues(domain).map { .dictionary($0) }
        }
        if let value {
            if key != nil { try access.checkSecrecy(of: domain, "this value is not shown") }
            let bytes = try rendering.bytes(of: value, under: key, access.masking(domain))
            if rendering.dropsFractions(of: value) { context.noteDroppedFractions(in: word.onOneLine) }
            try context.print(bytes, of: value, rendering, from: layer == .user ? nil : layer)
        } else if let text = invocation[.defaultText] {
            try context.say(text)
        } else {
            throw try access.failure(ofMissing: key, in: domain)
        }
        return .done
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

extension Option {
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
