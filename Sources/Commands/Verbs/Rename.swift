internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let rename = Verb(
        "rename", .classic, "move a value to another key, replacing any value there",
        details: [
            "An index in NEW refers to the array before the move. A sensitive value can be moved only to a sensitive key, unless --force is given."
        ],
        options: [.layer, .force, .rewrite, .from, .newDomain],
        forms: [[.domain, Operand("OLD", .key), Operand("NEW", .key)]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout]
    ) { invocation, context in
        let (access, domain) = try StoreAccess.ofDomain(invocation, context)
        try access.checkNewDomain(domain, invocation)
        let old = try access.currentKey(for: KeyArgument(forWriting: invocation[operand: "OLD"] ?? ""), in: domain)
        let new = try access.currentKey(for: KeyArgument(forWriting: invocation[operand: "NEW"] ?? ""), in: domain)
        let isForced = invocation.has(.force)
        if !isForced {
            try access.checkNotForced([old.key, new.key], in: domain)
            try access.checkSecrecy(of: domain, "no value is renamed")
        }
        let masking = isForced ? Masking.none : Masking(declaredBy: access.secrecy(domain))
        let edit = try access.edit(domain, isForced: isForced) { draft in
            var root = draft.root
            draft.step = .move(root.counted(old.path), to: root.counted(new.path))
            guard let value = root[old.path] else {
                let key = old.spelling.onOneLine
                throw try access.failure(
                    ofMissing: old, in: domain,
                    classic: [
                        "Key \(key) does not exist in domain \(domain.word.onOneLine); leaving defaults unchanged"
                    ])
            }
            guard !masking.exposes(value, at: old.path, movedTo: new.path, masking) else {
                throw access.exposed(old, in: domain, by: new)
            }
            try root.checkEnd(of: new.path)
            try root.move(value, from: root.counted(old.path), to: root.counted(new.path))
            draft.root = root
        }
        try access.commit([edit.ofExistingDomain])
        return .done
    }
}

extension PropertyList {
    /// Returns the path with every index of an existing element as a number from the start, so that each element has a
    /// single path that stays valid when elements are appended.
    func counted(_ path: EntryPath) -> EntryPath {
        var (value, result) = (PropertyList?.some(self), path)
        for (depth, component) in path.components.enumerated() {
            if let count = value?.arrayValue?.count, let index = component.index, -count..<count ~= index {
                result.components[depth] = EntryPath.Component(index < 0 ? index + count : index)
            }
            value = value?[EntryPath([component])]
        }
        return result
    }

    /// Sets the value at the new path before it removes the old one, so that the indices in both paths stay valid.
    mutating func move(
        _ value: PropertyList, from old: EntryPath, to new: EntryPath
    ) throws(EntryPath.Failure) {
        if old.components.starts(with: new.components) { return try set(value, at: new) }
        guard new.components.starts(with: old.components) else {
            try set(value, at: new)
            try remove(at: old)
            return
        }
        // The new path is inside the old one, whose value is replaced by the containers that lead there.
        let depth = old.components.count - 1
        var holder = PropertyList.dictionary([:])
        do throws(EntryPath.Failure) {
            try holder.set(value, at: EntryPath(Array(new.components[depth...])))
        } catch {
            let path = EntryPath(Array(old.components[..<depth]))
            throw EntryPath.Failure(problem: error.problem, place: "\(path)\(error.place)")
        }
        if let container = holder[EntryPath(Array(old.components[depth...]))] { try set(container, at: old) }
    }
}

extension Verb {
    package static let copy = Verb(
        "copy", .new, "copy a value to another key, or to another domain",
        details: [
            "A value at NEW is replaced. NEW is a key of the same domain, or with --to of another domain or file. A sensitive value can be copied only to a sensitive key, unless --force is given."
        ],
        options: [.target, .layer, .force, .rewrite, .from, .newDomain, .newHost],
        forms: [[.domain, Operand("OLD", .key), Operand("NEW", .key)]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout]
    ) { invocation, context in
        let (access, source) = try StoreAccess.ofDomain(invocation, context)
        let target = try invocation[.target].map { try access.named($0) } ?? source
        try access.checkNewDomain(target, invocation)
        let old = try access.currentKey(for: KeyArgument(forWriting: invocation[operand: "OLD"] ?? ""), in: source)
        let new = try access.currentKey(for: KeyArgument(forWriting: invocation[operand: "NEW"] ?? ""), in: target)
        let isForced = invocation.has(.force)
        if !isForced { try access.checkNotForced([new.key], in: target) }
        guard let value = try access.value(old, in: source) else {
            throw try access.failure(ofMissing: old, in: source)
        }
        if !isForced { try access.checkSecrecy(of: source, "no value is copied") }
        let masking = Masking(declaredBy: access.secrecy(target))
        let exposes = Masking(access.secrecy(source)).exposes(value, at: old.path, movedTo: new.path, masking)
        guard isForced || !exposes else { throw access.exposed(old, in: source, by: new) }
        var written = target
        if exposes, !target.file.isOfDomain { written.file.audience = .owner }
        try access.change(written, isForced: isForced) { root in
            // A copy within a domain is of the value that it has under its lock.
            let current = target.file == source.file ? root[old.path] : value
            guard let current else { throw try access.failure(ofMissing: old, in: source) }
            try root.checkEnd(of: new.path)
            try root.set(current, at: new.path)
        }
        return .done
    }
}

extension Option {
    package static let target = Option("--to", Argument("DOMAIN", .domain), "the domain or file of NEW")
}

extension StoreAccess {
    /// Returns the failure of a move or copy that would show a sensitive value.
    func exposed(
        _ old: KeyArgument, in domain: AddressedDomain, by new: KeyArgument, of other: AddressedDomain? = nil
    ) -> CommandFailure {
        let place = other.map { "\($0.word) \(new.spelling)" } ?? new.spelling
        return CommandFailure(
            .invalidValue,
            "\(domain.word.onOneLine): \(old.spelling.onOneLine) is sensitive, and \(place.onOneLine) is not; \(StoreFailure.unchanged(offersForce))"
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
