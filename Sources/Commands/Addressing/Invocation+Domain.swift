extension StoreAccess {
    /// The store, and in it the domain that the verb is about.
    static func ofDomain(
        _ invocation: Invocation, _ surroundings: Surroundings
    ) throws -> (access: StoreAccess, domain: AddressedDomain) {
        let access = try StoreAccess(invocation, surroundings)
        return (access, try access.domain(invocation[operand: Operand.domain.name] ?? ""))
    }
}

extension Invocation {
    /// The key that the verb is about, where it is given one.
    var key: KeyArgument? {
        get throws(KeyFailure) {
            guard let argument = self[operand: Operand.key.name] else { return nil }
            return try KeyArgument(argument)
        }
    }
}
