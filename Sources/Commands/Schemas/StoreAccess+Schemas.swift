internal import Platform
internal import Preferences
internal import PropertyLists
internal import SchemaTools
internal import SettingsSchema

extension StoreAccess {
    /// Returns the installed schema of a domain, which can be given by its name or its file.
    func installedSchema(_ domain: AddressedDomain) -> InstalledSchema? {
        name(of: domain).flatMap { schemas[$0] }
    }

    /// Returns the name of a domain that is given by its name or its file, or nil for another file.
    func name(of domain: AddressedDomain) -> DomainName? {
        domain.name
            ?? (domain.file.isAdopted ? try? DomainName(domain.file.name) : places.user.domain(ofOwn: domain.file))
    }

    /// Returns the installed schema of a domain, or throws if there is none.
    ///
    /// - Parameter hint: Appended to the message that there is no schema, if there is no better hint.
    func requiredSchema(of domain: AddressedDomain, hint: String = "") throws -> Schema {
        guard let installed = installedSchema(domain) else {
            let hint = hintAtMissingSchema(of: domain) ?? hint
            throw CommandFailure(.notFound, "no schema is installed for \(domain.word.onOneLine)\(hint)")
        }
        guard let schema = installed.schema else { throw InvalidSchema(mistakes: installed.lines) }
        return schema
    }

    /// Returns the file or the similar domain that may be meant by the name of a domain without a schema.
    private func hintAtMissingSchema(of domain: AddressedDomain) -> String? {
        guard domain.name != nil else { return nil }
        if (try? context.fileSystem.status(of: context.path("./" + domain.word))) != nil {
            return "; for the file of that name write ./\(domain.word.onOneLine)"
        }
        let nearest = Suggestion.hint(domain: domain.word, among: schemas.places.domains(on: system).map(\.text))
        return nearest.isEmpty ? nil : nearest
    }

    /// Returns the valid schema of a domain for lookups.
    func schemaInForce(_ domain: AddressedDomain) -> EffectiveSchema? {
        installedSchema(domain)?.schemaInForce
    }

    /// Returns the rules for writing to a domain, or nil if it has no valid schema. Reports errors in the schema.
    func rules(for domain: AddressedDomain) throws -> SchemaRules? {
        guard let installed = installedSchema(domain) else { return nil }
        if let line = installed.lines.first { context.note("\(line); the schema is ignored") }
        return installed.schema.map { SchemaRules($0) }
    }

    // MARK: Sensitive values

    /// Returns which values of a domain are sensitive.
    func secrecy(_ domain: AddressedDomain) -> Secrecy {
        name(of: domain).map { schemas.secrecy(of: $0) } ?? .none
    }

    /// Returns the masking for output with many values. If it is not known which values are sensitive, all are masked,
    /// which is reported.
    func masking(_ domain: AddressedDomain) -> Masking {
        let secrecy = secrecy(domain)
        if let doubt = secrecy.doubt, schemas.isNew(doubt) {
            context.note("\(doubt); values that may be sensitive are masked")
        }
        return Masking(secrecy)
    }

    /// Throws if it is not known which values of the domain are sensitive.
    ///
    /// - Parameter outcome: What is not done because of that.
    func checkSecrecy(of domain: AddressedDomain, _ outcome: String) throws {
        guard let doubt = secrecy(domain).doubt else { return }
        throw CommandFailure(
            context.dialect == .classic ? .notFound : .damaged,
            "\(doubt); \(domain.word.onOneLine) may have sensitive values, so \(outcome)")
    }

    /// Throws if a path leads to a file in the folder of a domain that has a sensitive value, which only output of the
    /// domain as a whole masks.
    static func checkMember(_ word: String, _ invocation: Invocation, _ context: CommandContext) throws {
        let kind = try invocation[.store].map { try Self.kind($0, context) } ?? Store.Kind.native
        guard let places = try? StorePlaces(kind, on: context.system) else { return }
        let target = try context.absolutePath(word).followingLinks(in: context.fileSystem)
        try checkMember(at: target, word, of: places, context.system) {
            SchemaCache(kind, in: places, on: context.system)
        }
    }

    static func checkMember(
        at target: FilePath, _ word: String, of places: StorePlaces, _ system: SystemServices,
        _ schemas: () -> SchemaCache
    ) throws {
        guard let (domain, key) = try places.user.ownMember(at: target, in: system.fileSystem) else { return }
        let secrecy = schemas().secrecy(of: domain)
        let isSensitive = key.map { secrecy.hasSecrets(under: $0) } ?? !secrecy.hidesNothing
        guard isSensitive || secrecy.doubt != nil else { return }
        let reason = secrecy.doubt.map { "may be sensitive: \($0)" } ?? "is sensitive"
        throw CommandFailure(
            secrecy.doubt == nil ? .invalidValue : .damaged,
            "\(word.onOneLine): a value of the domain \(domain) that \(reason); name the domain".shown)
    }

    /// Throws if values from a file of the store itself would be shown in another domain although they are sensitive.
    ///
    /// - Parameter argument: The file on the command line.
    func checkNotExposing(
        _ values: PropertyList.Dictionary, from argument: String, in domain: AddressedDomain
    ) throws {
        guard argument != "-", try !context.isStream(argument),
            let source = try? self.domain(argument.contains("/") ? argument : "./" + argument), source.file.isOfDomain,
            source.file.path != domain.file.path
        else { return }
        try checkSecrecy(of: source, "no value is copied")
        let (masking, other) = (Masking(secrecy(source)), Masking(declaredBy: secrecy(domain)))
        for entry in values {
            let path: EntryPath = [EntryPath.Component(entry.key)]
            guard masking.exposes(entry.value, at: path, movedTo: path, other) else { continue }
            let key = try KeyArgument(path)
            throw exposed(key, in: source, by: key, of: domain)
        }
    }

    /// Remembers the settings that the schema of a domain declares as sensitive, before values are written by it.
    func remember(_ schema: Schema, of domain: AddressedDomain) {
        // Without the memory, the values remain masked as long as the schema is installed.
        guard schema.hasSecrets, let name = name(of: domain) else { return }
        try? schemas.remembered(of: name)?.add(schema)
    }

    /// Returns an edit that is subject to the schema of the domain.
    ///
    /// - Parameter isForced: Whether values that break the schema are written too.
    func edit(
        _ domain: AddressedDomain, isForced: Bool, _ body: @escaping @Sendable (inout DomainDraft) throws -> Void
    ) throws -> DomainEdit {
        guard let rules = try rules(for: domain) else { return DomainEdit(domain.file, change: body) }
        remember(rules.schema, of: domain)
        // The administrator's layers store no version, and a program knows nothing of one.
        let hasVersion = domain.layer.isOfUser && !domain.file.isAdopted
        let word = domain.word.onOneLine
        return DomainEdit(domain.file) { draft in
            try rules.change(&draft, of: word, hasVersion: hasVersion, isForced: isForced, body)
        }
    }

    /// Returns the key, or the current key of a renamed setting, which is reported.
    func currentKey(for key: KeyArgument, in domain: AddressedDomain) throws -> KeyArgument {
        guard let present = schemaInForce(domain)?.presentKeys[Name(key.key)]?.text else { return key }
        context.note("\(key.key) was renamed to \(present)".onOneLine)
        return try KeyArgument(EntryPath([EntryPath.Component(present)] + key.rest.components))
    }

    /// Returns values from a format without types, converted to their declared types where possible.
    func adapted(_ values: PropertyList.Dictionary, in domain: AddressedDomain) -> PropertyList.Dictionary {
        guard let schema = installedSchema(domain)?.schema else { return values }
        return PropertyList.Dictionary(
            values.map { ($0.key, schema.anyDeclaration(of: $0.key)?.rule.adapted($0.value) ?? $0.value) })
    }

    /// Returns the values of a file to be imported into a domain, without the store's own keys.
    func importableValues(
        _ values: PropertyList.Dictionary, from input: InputFile, into domain: AddressedDomain
    ) throws -> PropertyList.Dictionary {
        for key in values.keys where key.isHidden {
            context.note("\(key): omitted, since this key is reserved for prefs")
        }
        let visible = try underPresentKeys(values.withoutHidden, in: domain)
        return try input.isUntyped() ? adapted(visible, in: domain) : visible
    }

    /// Returns the values with former keys replaced by current ones. If both are present, the value of the current key
    /// is used.
    private func underPresentKeys(
        _ values: PropertyList.Dictionary, in domain: AddressedDomain
    ) throws -> PropertyList.Dictionary {
        guard let former = schemaInForce(domain)?.presentKeys, !former.isEmpty else { return values }
        var result = values
        for entry in values {
            guard former[Name(entry.key)] != nil else { continue }
            let key = try currentKey(for: KeyArgument(EntryPath([EntryPath.Component(entry.key)])), in: domain).key
            result[entry.key] = nil
            if values[key] == nil { result[key] = entry.value }
        }
        return result
    }

    /// Returns the values that may be written to an output, and whether they are sensitive. Secrets are left out on a
    /// standard stream, and rejected for a file that others can read.
    func publishable(
        _ values: PropertyList.Dictionary, of domain: AddressedDomain, to argument: String
    ) throws -> (values: PropertyList.Dictionary, isSensitive: Bool) {
        let masking = Masking(secrecy(domain))
        let secrets = values.filter { masking.touches($0.value, at: [EntryPath.Component($0.key)]) }.map(\.key)
        guard !secrets.isEmpty else { return (values, false) }
        if CommandContext.outputStream(argument) == nil {
            let status = try system.fileSystem.status(of: context.path(argument))
            guard status?.isExposed(to: system.environment.user) ?? false else { return (values, true) }
            throw CommandFailure(
                .invalidValue,
                "\(argument.onOneLine): others can read it, and \(secrets[0].onOneLine) is sensitive; nothing was written"
            )
        }
        try checkSecrecy(of: domain, "they are written to files only")
        var shown = values
        for key in secrets { shown[key] = nil }
        let names = secrets.map(\.onOneLine).joined(separator: ", ")
        context.note("\(domain.word.onOneLine): omitted, since it is sensitive: \(names)")
        return (shown, false)
    }
}

extension InstalledSchema {
    /// A line for each error, with the file and the location in it if there is one.
    fileprivate var lines: [String] {
        faults.map { "\(place):\($0.first?.isNumber ?? false ? "" : " ")\($0)".shown }
    }
}

extension Schema {
    /// Returns the schema with every setting sensitive that the domain's installed or an earlier schema declares so.
    func concealing(_ secrecy: Secrecy) -> Schema {
        var result = self
        for index in result.settings.indices {
            let setting = result.settings[index]
            if !setting.hasSecrets, secrecy.hasSecrets(under: setting.key) { result.settings[index].isSensitive = true }
        }
        return result
    }
}

/// The stored settings of a domain with a schema.
struct StoredSettings {
    let schema: Schema
    let domain: AddressedDomain
    let access: StoreAccess

    /// Saves values by their stored keys, and removes others from all layers of the user, in one transaction. Values
    /// under former keys are moved. Returns the layers that were written.
    ///
    /// - Parameter others: The keys that the values exclude, whose values are removed too.
    @discardableResult
    func save(_ changes: Form.Changes, removing others: [String] = []) throws -> [Layer] {
        var parts: [Layer: Form.Changes] = [:]
        let values = schema.anchored(changes.values, in: access.system.workingFolder?.word)
        for entry in values where entry.value.holdsRaw && !(changes.values[entry.key]?.holdsRaw ?? false) {
            throw CommandFailure(
                .invalidValue,
                "\(entry.key.onOneLine): the path of the current folder is not valid UTF-8; nothing was saved")
        }
        let stored = domain.name == nil ? [] : try access.storedLayers(domain).filter(\.layer.isOfUser)
        let layers = { (key: String) in
            let paths = schema.storedPaths(of: key)
            return stored.filter { source in paths.contains { source.values.value(at: $0) != nil } }.map(\.layer)
        }
        let hostValues = stored.first { $0.layer == .userHost }?.values ?? [:]
        for entry in values {
            let isByHost = domain.name != nil && schema.savesByHost(entry.key, over: hostValues)
            parts[isByHost ? .userHost : domain.layer, default: .init()].values[entry.key] = entry.value
        }
        for key in changes.resets + others {
            for layer in domain.name == nil ? [domain.layer] : layers(key) {
                parts[layer, default: .init()].resets.append(key)
            }
        }
        let keys = changes.values.keys.map(\.self) + changes.resets
        try access.checkNotForced(keys, in: domain, by: schema)
        try checkSecrets(changes.values)
        let sorted = parts.sorted { $0.key.name < $1.key.name }
        try access.commit(sorted.map { layer, changes in try edit(layer, changes) }, .write)
        return sorted.map(\.key)
    }

    /// Throws if a value is a secret that other commands would not recognize as one.
    private func checkSecrets(_ values: PropertyList.Dictionary) throws {
        // The schema may have been installed since the form was opened.
        access.schemas.reload()
        guard domain.name != nil,
            let key = schema.keyOfSecret(in: values, shownBy: access.installedSchema(domain)?.readable)
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
        let (schema, rules, name) = (schema, SchemaRules(schema), domain.word)
        access.remember(schema, of: domain)
        var edit = DomainEdit(file) { draft in
            try rules.change(&draft, of: name) { draft in
                try schema.put(changes.values, removing: changes.resets, in: &draft.values)
            }
        }
        edit.scriptFormat = schema.newFormat
        return edit
    }
}
