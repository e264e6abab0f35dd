internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let rename = Verb(
        "rename", .classic, "move a value to another key, over what is there",
        options: [.layer, .force], forms: [[.domain, Operand("OLD", .key), Operand("NEW", .key)]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout]
    ) { invocation, surroundings in
        let (access, domain) = try StoreAccess.ofDomain(invocation, surroundings)
        let old = try access.present(KeyArgument(forWriting: invocation[operand: "OLD"] ?? ""), in: domain)
        let new = try access.present(KeyArgument(forWriting: invocation[operand: "NEW"] ?? ""), in: domain)
        if !invocation.has(.force) { try access.checkNotForced([old.key, new.key], in: domain) }
        try access.change(domain, WriteReason(rawValue: "rename"), isForced: invocation.has(.force)) { values in
            var root = PropertyList.dictionary(values)
            guard let value = try root.remove(at: old.path) else {
                throw CommandFailure(
                    .notFound,
                    "Key \(old.spelling.onOneLine) does not exist in domain \(domain.word.onOneLine); leaving defaults unchanged"
                )
            }
            try root.set(value, at: new.path)
            values = root.dictionaryValue ?? values
        }
        return .done
    }
}
