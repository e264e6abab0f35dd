internal import Platform
package import PropertyLists
package import SettingsSchema
internal import Synchronization

extension Defaults {
    /// Stores values of a command line as the user's settings, all or none.
    func save(_ values: PropertyList.Dictionary, by schema: Schema) throws {
        try checkReentrancy(of: target, name)
        let host = try store.process.hostTarget(of: name)
        var parts: [(domain: OpenDomain, values: PropertyList.Dictionary)] = [(target, [:])]
        if let host { parts.append((host, [:])) }
        for entry in values {
            let isByHost = host != nil && schema.anyDeclaration(of: entry.key)?.isByHost ?? false
            parts[isByHost ? 1 : 0].values[entry.key] = entry.value
        }
        parts.removeAll(where: \.values.isEmpty)
        let files = parts.compactMap(\.domain.file)
        guard files.count == parts.count else { return try keep(parts, by: SchemaRules(schema)) }
        for part in parts { try part.domain.flush() }
        let machine = store.process.machine
        let policy = store.process.signals.policy.value
        let writer = DomainWriter(machine, WriteNote(.write, by: machine), by: policy)
        let (rules, name) = (SchemaRules(schema), name.text)
        try writer.commit(
            zip(files, parts).map { file, part in
                let values = part.values
                return DomainEdit(file) { draft in
                    try rules.change(&draft, of: name) { draft in
                        for entry in values { draft.values[entry.key] = entry.value }
                    }
                }.made(in: policy.newFormat)
            })
        for part in parts { part.domain.look(isExact: true) }
    }

    /// Stores values in memory, where no step can fail.
    private func keep(
        _ parts: [(domain: OpenDomain, values: PropertyList.Dictionary)], by rules: SchemaRules
    ) throws {
        for (domain, values) in parts {
            domain.state.withLock { $0.rules = rules }
            try domain.change(.write) { stored in for entry in values { stored[entry.key] = entry.value } }
        }
    }
}

extension SharedStore {
    /// Returns a key with a secret that other programs would not protect, or nil if there is none.
    ///
    /// The declarations of a program apply only to that program. Others use the installed schema: without it they would
    /// print secrets, and a mirror would publish them.
    func keyOfUnprotectedSecret(
        in values: PropertyList.Dictionary, of schema: Schema, _ name: DomainName
    ) -> String? {
        // Values in memory are not visible to other programs.
        guard target(of: name).file != nil else { return nil }
        return schema.keyOfSecret(in: values, shownBy: schemas[name]?.readable)
    }
}

extension Schema {
    /// Returns a key with a secret that would be shown according to another schema of the domain.
    package func keyOfSecret(in values: PropertyList.Dictionary, shownBy other: @autoclosure () -> Schema?) -> String? {
        let secrets = values.filter { containsSecret($0.value, under: $0.key) }
        guard !secrets.isEmpty else { return nil }
        let other = other()
        return secrets.first { entry in
            let shown = other?.anyDeclaration(of: entry.key)?.masked(entry.value) ?? entry.value
            return containsSecret(shown, under: entry.key)
        }?.key
    }
}
