internal import Platform
internal import Preferences
internal import PropertyLists
internal import SettingsSchema

extension StoreAccess {
    /// What is installed as the schema of a domain, be the domain addressed by its name or by its file.
    func installedSchema(_ domain: AddressedDomain) -> InstalledSchema? {
        guard let name = domain.name ?? places.user.domain(ofOwn: domain.file) else { return nil }
        return schemas[name]
    }

    /// The installed schema of a domain, for a verb that can do nothing without one.
    ///
    /// - Parameter hint: What goes behind the complaint that there is none.
    func installedSchema(mustBeThereFor domain: AddressedDomain, hint: @autoclosure () -> String) throws -> Schema {
        guard let installed = installedSchema(domain) else {
            throw CommandFailure(.notFound, "no schema is installed for \(domain.word.onOneLine)\(hint())")
        }
        guard let schema = installed.schema else {
            throw FaultySchema(mistakes: installed.faults.map { "\(installed.place):\($0)".onOneLine })
        }
        return schema
    }

    /// The schema that look-ups in a domain go by.
    func schemaInForce(_ domain: AddressedDomain) -> SchemaInForce? {
        guard let installed = installedSchema(domain), let schema = installed.schema else { return nil }
        return SchemaInForce(schema, file: installed.file?.description)
    }

    /// What the schema of a domain demands of those who write it; nil where there is none. That one has mistakes is
    /// said.
    func rules(for domain: AddressedDomain) throws -> SchemaRules? {
        guard let installed = installedSchema(domain) else { return nil }
        if let fault = installed.faults.first {
            try surroundings.note("\(installed.place):\(fault); the schema does not count")
        }
        return installed.schema.map { SchemaRules($0) }
    }

    /// What of a domain's values is never shown. Of a schema with mistakes what can be read counts.
    func masking(_ domain: AddressedDomain) -> Masking {
        guard let schema = installedSchema(domain)?.readable, schema.hasSecrets else { return .none }
        return Masking { path, value in schema.isSensitive(path, holding: value) }
    }

    /// The edit, as the schema of the domain allows it.
    ///
    /// - Parameter isForced: Whether values are written that break the schema.
    func edit(
        _ domain: AddressedDomain, isForced: Bool, _ body: @escaping @Sendable (inout DomainDraft) throws -> Void
    ) throws -> DomainEdit {
        guard let rules = try rules(for: domain) else { return DomainEdit(domain.file, change: body) }
        // What the administrator writes says nothing of a version.
        let hasVersion = domain.layer.isOfUser
        let word = domain.word.onOneLine
        return DomainEdit(domain.file) { draft in
            try rules.change(&draft, of: word, hasVersion: hasVersion, isForced: isForced, body)
        }
    }

    /// The key, or where that is a former one the one that its setting has now, which is said.
    func present(_ key: KeyArgument, in domain: AddressedDomain) throws -> KeyArgument {
        guard let present = schemaInForce(domain)?.presentKeys[ExactKey(key.key)]?.text else { return key }
        try surroundings.note("\(key.key) is called \(present) now".onOneLine)
        return try KeyArgument(EntryPath([EntryPath.Component(present)] + key.rest.components))
    }

    /// The values of a text without types, each as the schema of the domain declares it where it says one of that type.
    func adapted(_ values: PropertyList.Dictionary, in domain: AddressedDomain) -> PropertyList.Dictionary {
        guard let schema = installedSchema(domain)?.schema else { return values }
        return PropertyList.Dictionary(
            values.map { ($0.key, schema.anyDeclaration(of: $0.key)?.rule.adapted($0.value) ?? $0.value) })
    }

    /// The values of a file that are taken into a domain, but for the store's own keys.
    func taken(
        _ values: PropertyList.Dictionary, from input: InputFile, into domain: AddressedDomain
    ) throws -> PropertyList.Dictionary {
        for key in values.keys where key.isHidden {
            try surroundings.note("\(key): left out, since prefs itself keeps this key")
        }
        let visible = try underPresentKeys(values.withoutHidden, in: domain)
        return try input.isUntyped() ? adapted(visible, in: domain) : visible
    }

    /// The values under the keys that their settings have now. What stands under both counts under the present one.
    private func underPresentKeys(
        _ values: PropertyList.Dictionary, in domain: AddressedDomain
    ) throws -> PropertyList.Dictionary {
        guard let former = schemaInForce(domain)?.presentKeys, !former.isEmpty else { return values }
        var result = values
        for entry in values {
            guard former[ExactKey(entry.key)] != nil else { continue }
            let key = try present(KeyArgument(EntryPath([EntryPath.Component(entry.key)])), in: domain).key
            result[entry.key] = nil
            if values[key] == nil { result[key] = entry.value }
        }
        return result
    }

    /// What may be given away of a domain: to the standard output no secret, and none to a file that others can read.
    func publishable(
        _ values: PropertyList.Dictionary, of domain: AddressedDomain, to argument: String
    ) throws -> (values: PropertyList.Dictionary, isSensitive: Bool) {
        let masking = masking(domain)
        let secrets = values.filter { masking.touches($0.value, at: [EntryPath.Component($0.key)]) }.map(\.key)
        guard !secrets.isEmpty else { return (values, false) }
        if argument != "-" {
            let status = try machine.fileSystem.status(of: surroundings.path(argument))
            guard status?.isExposed(to: machine.environment.user) ?? false else { return (values, true) }
            throw CommandFailure(
                .invalidValue,
                "\(argument.onOneLine): others can read it, and \(secrets[0].onOneLine) is sensitive; nothing was written"
            )
        }
        var shown = values
        for key in secrets { shown[key] = nil }
        let names = secrets.map(\.onOneLine).joined(separator: ", ")
        try surroundings.note("\(domain.word.onOneLine): left out, since it is sensitive: \(names)")
        return (shown, false)
    }
}
