extension StoreAccess {
    /// Returns the access to the store, and the domain named on the command line.
    static func ofDomain(
        _ invocation: Invocation, _ context: CommandContext
    ) throws -> (access: StoreAccess, domain: AddressedDomain) {
        let access = try StoreAccess(invocation, context)
        return (access, try access.domain(invocation[operand: Operand.domain.name] ?? ""))
    }
}

extension Invocation {
    /// The key named on the command line, if any.
    var key: KeyArgument? {
        get throws(KeyFailure) {
            guard let argument = self[operand: Operand.key.name] else { return nil }
            return try KeyArgument(argument)
        }
    }
}
