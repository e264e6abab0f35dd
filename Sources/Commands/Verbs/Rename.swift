internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let rename = Verb(
        "rename", .classic, "move a value to another key, over what is there",
        details: [
            "An index in NEW is that of the array as it was before, with OLD in it. What is sensitive goes only where it is sensitive too, unless --force is given."
        ],
        options: [.layer, .force], forms: [[.domain, Operand("OLD", .key), Operand("NEW", .key)]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout]
    ) { invocation, surroundings in
        let (access, domain) = try StoreAccess.ofDomain(invocation, surroundings)
        let old = try access.present(KeyArgument(forWriting: invocation[operand: "OLD"] ?? ""), in: domain)
        let new = try access.present(KeyArgument(forWriting: invocation[operand: "NEW"] ?? ""), in: domain)
        let isForced = invocation.has(.force)
        if !isForced { try access.checkNotForced([old.key, new.key], in: domain) }
        let masking = isForced ? Masking.none : access.masking(domain)
        try access.change(domain, WriteReason(rawValue: "rename"), isForced: isForced) { values in
            var root = PropertyList.dictionary(values)
            guard let value = root[old.path] else {
                throw CommandFailure(
                    .notFound,
                    "Key \(old.spelling.onOneLine) does not exist in domain \(domain.word.onOneLine); leaving defaults unchanged"
                )
            }
            guard !masking.exposes(value, movedFrom: old.path, to: new.path) else {
                throw CommandFailure(
                    .invalidValue,
                    "\(domain.word.onOneLine): \(old.spelling.onOneLine) is sensitive, and \(new.spelling.onOneLine) is not; nothing was changed (--force writes all the same)"
                )
            }
            try root.checkEnd(of: new.path)
            try root.move(value, from: root.counted(old.path), to: root.counted(new.path))
            values = root.dictionaryValue ?? values
        }
        return .done
    }
}

extension PropertyList {
    /// The path with each index that names an element counted from the beginning, in one spelling: so one place has one
    /// path, which an element more at the end does not change.
    fileprivate func counted(_ path: EntryPath) -> EntryPath {
        var (value, result) = (PropertyList?.some(self), path)
        for (depth, component) in path.components.enumerated() {
            if let count = value?.arrayValue?.count, let index = component.index, -count..<count ~= index {
                result.components[depth] = EntryPath.Component(index < 0 ? index + count : index)
            }
            value = value?[EntryPath([component])]
        }
        return result
    }

    /// Puts the value of one place in another, and lets the former go only then: what both paths count stays in order.
    fileprivate mutating func move(
        _ value: PropertyList, from old: EntryPath, to new: EntryPath
    ) throws(EntryPath.Failure) {
        if old.components.starts(with: new.components) { return try set(value, at: new) }
        guard new.components.starts(with: old.components) else {
            try set(value, at: new)
            try remove(at: old)
            return
        }
        // The new place lies inside the old one, which becomes what leads there.
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

extension Masking {
    /// Whether something would be shown in its new place that was not before.
    fileprivate func exposes(_ value: PropertyList, movedFrom old: EntryPath, to new: EntryPath) -> Bool {
        guard touches(value, at: old), !hides(new) else { return false }
        return hides(old) || masked(value, at: new) != masked(value, at: old)
    }
}
