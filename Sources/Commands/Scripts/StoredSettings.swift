internal import Platform
internal import Preferences
internal import PropertyLists
internal import SettingsSchema

/// The stored settings of a domain with a schema.
struct StoredSettings {
    let schema: Schema
    let domain: AddressedDomain
    let access: StoreAccess

    /// Saves values, and removes others from all layers of the user, in one transaction. Values under former keys are
    /// moved. Returns the layers that were written.
    @discardableResult
    func save(_ changes: Form.Changes) throws -> [Layer] {
        var parts: [Layer: Form.Changes] = [:]
        let values = schema.anchored(changes.values, in: access.system.workingFolder?.description)
        let stored = domain.name == nil ? [] : try access.storedLayers(domain).filter(\.layer.isOfUser)
        let layers = { (key: String) in
            let keys = schema.anyDeclaration(of: key)?.allKeys ?? [key]
            return stored.filter { source in keys.contains { source.values[$0] != nil } }.map(\.layer)
        }
        let hostValues = stored.first { $0.layer == .userHost }?.values ?? [:]
        for entry in values {
            let isByHost = domain.name != nil && schema.savesByHost(entry.key, over: hostValues)
            parts[isByHost ? .userHost : domain.layer, default: .init()].values[entry.key] = entry.value
        }
        for key in changes.resets {
            for layer in domain.name == nil ? [domain.layer] : layers(key) {
                parts[layer, default: .init()].resets.append(key)
            }
        }
        let keys = changes.values.keys.map(\.self) + changes.resets
        try access.checkNotForced(keys, in: domain)
        try checkSecrets(changes.values)
        let sorted = parts.sorted { $0.key.name < $1.key.name }
        try access.commit(sorted.map { layer, changes in try edit(layer, changes) }, .write)
        return sorted.map(\.key)
    }

    /// Throws if a value is a secret that other commands would not recognize as one.
    private func checkSecrets(_ values: PropertyList.Dictionary) throws {
        guard let name = domain.name,
            let key = schema.keyOfSecret(in: values, shownBy: access.schemas[name]?.readable)
        else { return }
        throw CommandFailure(
            .invalidValue,
            "\(domain.word.onOneLine) \(key.onOneLine): is a secret, and would be shown and mirrored until its schema is installed; nothing was saved (prefs schema install FILE)"
        )
    }

    /// Migrates the stored settings to the schema's version, in one transaction.
    func migrate(_ layers: [LayerSource]) throws {
        let due = layers.filter { $0.layer.isOfUser && schema.needsMigration($0.values) }
        guard !due.isEmpty, let name = domain.name else { return }
        try access.commit(DomainMigration(schema, name).edits(of: due.compactMap(\.file)), .migrate)
    }

    private func edit(_ layer: Layer, _ changes: Form.Changes) throws -> DomainEdit {
        let file = try domain.name.map { try access.file(of: $0, in: layer) } ?? domain.file
        let (rules, name) = (SchemaRules(schema), domain.word)
        return DomainEdit(file) { draft in
            try rules.change(&draft, of: name) { draft in
                for entry in changes.values { draft.values[entry.key] = entry.value }
                for key in changes.resets { draft.values[key] = nil }
            }
        }
    }
}
