internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let copy = Verb(
        "copy", .new, "copy a value to another key, or to another domain",
        details: [
            "A value at NEW is replaced. NEW is a key of the same domain, or with --to of another domain or file. A sensitive value can be copied only to a sensitive key, unless --force is given."
        ],
        options: [.target, .layer, .force, .rewrite],
        forms: [[.domain, Operand("OLD", .key), Operand("NEW", .key)]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout]
    ) { invocation, context in
        let (access, source) = try StoreAccess.ofDomain(invocation, context)
        let target = try invocation[.target].map { try access.domain($0) } ?? source
        let old = try access.present(KeyArgument(forWriting: invocation[operand: "OLD"] ?? ""), in: source)
        let new = try access.present(KeyArgument(forWriting: invocation[operand: "NEW"] ?? ""), in: target)
        let isForced = invocation.has(.force)
        if !isForced { try access.checkNotForced([new.key], in: target) }
        guard let value = try access.value(old, in: source) else {
            throw try access.failure(ofMissing: old, in: source)
        }
        let exposes = access.masking(source).exposes(value, at: old.path, movedTo: new.path, access.masking(target))
        guard isForced || !exposes else { throw CommandFailure.exposed(old, in: source, by: new) }
        var written = target
        if exposes, !target.file.isOfDomain { written.file.audience = .owner }
        try access.change(written, WriteReason(rawValue: "copy"), isForced: isForced) { values in
            var root = PropertyList.dictionary(values)
            // A copy within a domain is of the value that it has under its lock.
            let current = target.file == source.file ? root[old.path] : value
            guard let current else { throw try access.failure(ofMissing: old, in: source) }
            try root.checkEnd(of: new.path)
            try root.set(current, at: new.path)
            values = root.dictionaryValue ?? values
        }
        return .done
    }
}

extension Option {
    package static let target = Option("--to", Argument("DOMAIN", .domain), "the domain or file of NEW")
}

extension CommandFailure {
    /// The failure of a move or copy that would show a sensitive value.
    static func exposed(_ old: KeyArgument, in domain: AddressedDomain, by new: KeyArgument) -> CommandFailure {
        CommandFailure(
            .invalidValue,
            "\(domain.word.onOneLine): \(old.spelling.onOneLine) is sensitive, and \(new.spelling.onOneLine) is not; nothing was changed (--force overrides this)"
        )
    }
}

extension Masking {
    /// Returns whether the value would be shown at its new path, where the other masking applies, although it was
    /// masked before.
    func exposes(
        _ value: PropertyList, at old: EntryPath, movedTo new: EntryPath, _ other: Masking
    ) -> Bool {
        guard touches(value, at: old), !other.hides(new) else { return false }
        return hides(old) || other.masked(value, at: new) != masked(value, at: old)
    }
}
