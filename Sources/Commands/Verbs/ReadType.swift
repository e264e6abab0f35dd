internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let readType = Verb(
        "read-type", .classic, "print the type of a value",
        options: [.effective, .layer], forms: [[.domain, .key]],
        statuses: [.notFound, .invalidValue, .damaged, .systemFailed]
    ) { invocation, context in
        let (access, domain) = try StoreAccess.ofDomain(invocation, context)
        let key = try KeyArgument(invocation[operand: "KEY"] ?? "")
        guard let value = try access.value(key, in: domain, effective: invocation.has(.effective)) else {
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
