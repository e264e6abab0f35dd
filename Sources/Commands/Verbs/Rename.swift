internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let rename = Verb(
        "rename", .classic, "move a value to another key, replacing any value there",
        details: [
            "An index in NEW refers to the array before the move. A sensitive value can be moved only to a sensitive key, unless --force is given."
        ],
        options: [.layer, .force, .rewrite], forms: [[.domain, Operand("OLD", .key), Operand("NEW", .key)]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout]
    ) { invocation, context in
        let (access, domain) = try StoreAccess.ofDomain(invocation, context)
        let old = try access.present(KeyArgument(forWriting: invocation[operand: "OLD"] ?? ""), in: domain)
        let new = try access.present(KeyArgument(forWriting: invocation[operand: "NEW"] ?? ""), in: domain)
        let isForced = invocation.has(.force)
        if !isForced { try access.checkNotForced([old.key, new.key], in: domain) }
        let masking = isForced ? Masking.none : access.masking(domain)
        try access.change(domain, WriteReason(rawValue: "rename"), isForced: isForced) { values in
            var root = PropertyList.dictionary(values)
            guard let value = root[old.path] else {
                throw CommandFailure(
                    .notFound, "\(domain.word.onOneLine) has no key \(old.spelling.onOneLine)",
                    classic:
                        "Key \(old.spelling.onOneLine) does not exist in domain \(domain.word.onOneLine); leaving defaults unchanged"
                )
            }
            guard !masking.exposes(value, at: old.path, movedTo: new.path, masking) else {
                throw CommandFailure.exposed(old, in: domain, by: new)
            }
            try root.checkEnd(of: new.path)
            try root.move(value, from: root.counted(old.path), to: root.counted(new.path))
            values = root.dictionaryValue ?? values
        }
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
            let way = EntryPath(Array(old.components[..<depth]))
            throw EntryPath.Failure(problem: error.problem, place: "\(way)\(error.place)")
        }
        if let container = holder[EntryPath(Array(old.components[depth...]))] { try set(container, at: old) }
    }
}
