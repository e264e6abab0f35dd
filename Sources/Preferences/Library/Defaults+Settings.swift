internal import Platform
package import PropertyLists
package import SettingsSchema
internal import Synchronization

extension Defaults {
    /// The value of a setting. A value of a layer that the setting cannot have is ignored and reported once as an
    /// issue.
    ///
    /// Setting a value stores it as the user's own. A value that is refused is reported as an issue; `set(_:for:)`
    /// throws the reason.
    public subscript<Value>(setting: Setting<Value>) -> Value {
        get {
            let value = present(setting)
            if reads.isActive { report(reading: setting, value, from: origin(of: setting)) }
            return value
        }
        set {
            do {
                try set(newValue, for: setting)
            } catch {
                post(refusal: error, of: setting.key)
            }
        }
    }

    private func present<Value>(_ setting: Setting<Value>) -> Value {
        guard let stored = found(setting.key) else {
            guard setting.hasFormerKeys else { return setting.defaultValue }
            return resolution(of: setting).value ?? setting.defaultValue
        }
        return decoded(stored, for: setting) ?? resolution(of: setting).value ?? setting.defaultValue
    }

    /// Reports a value that could not be set.
    package func post(refusal error: any Error, of key: String) {
        if let failure = error as? StoreFailure { return report(failure, of: [key]) }
        post(.refused(key: key, reason: "\(error)"))
    }

    /// Returns the value of a setting, or its default if no layer has a value. Throws if the layers have only values
    /// that the setting cannot have.
    public func value<Value>(of setting: Setting<Value>) throws -> Value {
        let value = try validValue(of: setting)
        if reads.isActive { report(reading: setting, value, from: origin(of: setting)) }
        return value
    }

    private func validValue<Value>(of setting: Setting<Value>) throws -> Value {
        if let value = found(setting.key).flatMap({ decoded($0, for: setting) }) { return value }
        let (value, resolution) = resolution(of: setting)
        if let value { return value }
        guard let answer = resolution.answers.first else { return setting.defaultValue }
        throw StoreFailure(
            .invalid(key: setting.key, origin: answer.origin, reason: answer.fault ?? "must be a \(Value.self)"),
            name.text)
    }

    /// Whether the rules for a setting's value were applied when the layers were resolved.
    private func isResolved<Value>(_ setting: Setting<Value>) -> Bool {
        setting.ownDeclaration == nil || schema?.declarations[Name(setting.key)] != nil
    }

    /// Returns the value in force as the type of a setting, or nil if the layers must be resolved by its declaration.
    private func decoded<Value>(_ stored: PropertyList, for setting: Setting<Value>) -> Value? {
        isResolved(setting) ? try? stored.decodedStrictly(as: Value.self) : nil
    }

    /// Resolves the layers by the declaration of a setting, and reports the values that are skipped.
    private func resolution<Value>(of setting: Setting<Value>) -> (value: Value?, resolution: Resolution) {
        let (value, resolution) = refreshed(\.stack).resolution(of: setting)
        report(
            Set(
                resolution.skipped.map { answer in
                    ResolvedTable.SkippedValue(
                        domain: name, key: path.name(of: setting.key), origin: answer.origin,
                        reason: answer.fault ?? "")
                }))
        return (value, resolution)
    }

    /// The value of a setting in layers with pending changes, or its default if none has one that it can have.
    func value<Value>(of setting: Setting<Value>, in stack: LayerStack) -> Value {
        if stack.applies(setting), let stored = stack[setting.key].winner?.value,
            let value = try? stored.decodedStrictly(as: Value.self)
        {
            return value
        }
        return stack.resolution(of: setting).value ?? setting.defaultValue
    }

    /// Returns the layers of some keys as they are once changes of the user's own values are written, and a layer with
    /// the changes.
    func layers(
        with changes: [Name: PropertyList?], over own: PropertyList.Dictionary, for keys: [String]
    ) -> LayerStack {
        var (written, changed) = (PropertyList.Dictionary(), PropertyList.Dictionary())
        let schema = schema
        for key in keys {
            let change = changes[Name(key)]
            if let scope = schema?.declarations[Name(key)]?.storedAt?.components.first?.text {
                if written[scope] == nil { written[scope] = own[scope] }
                if let change { try? schema.put(change, key, in: &written) }
            } else {
                written[key] = change ?? own[key]
            }
            changed[key] = change ?? nil
        }
        return refreshed(\.stack).replacing(target, with: written, changed)
    }

    /// Stores a value as the user's own. It is visible to the whole process at once and is written to the disk shortly
    /// after. Throws if it violates the declaration of the setting or the schema of the domain, or cannot be stored.
    public func set<Value>(_ value: Value, for setting: Setting<Value>) throws {
        let encoded = try PropertyList.encoded(value)
        try setting.check(encoded, name.text)
        try setChecked([(setting.key, encoded)])
    }

    /// Removes the user's value, so that the value of the next layer is used.
    public func reset<Value>(_ setting: Setting<Value>) { removeObject(forKey: setting.key) }

    /// Removes the user's values of several settings in one step.
    public func reset<each Value>(_ settings: repeat Setting<each Value>) {
        var keys: [String] = []
        for setting in repeat each settings { keys.append(setting.key) }
        set(keys.map { ($0, nil) })
    }

    /// Removes all values that the user has set in this domain.
    public func removeAll() {
        set(ownValues.keys.filter { !$0.isHidden }.map { ($0, nil) })
    }

    /// Whether no layer provides a value for the setting, so that its default is in force.
    public func isDefault<Value>(_ setting: Setting<Value>) -> Bool {
        origin(of: setting).map { $0.layer == .default } ?? true
    }

    /// Returns the origin of a setting's value, or nil for the setting's own default.
    public func origin<Value>(of setting: Setting<Value>) -> Origin? {
        let stored = found(setting.key)
        guard stored != nil || setting.hasFormerKeys else { return nil }
        if let stored, decoded(stored, for: setting) != nil { return origin(forKey: setting.key) }
        return resolution(of: setting).resolution.winner?.origin
    }

    /// Replaces the user's value if it is the expected one, and returns when the new value is on the disk.
    ///
    /// No other process can change the value in between. If the user has no value, the default of the setting is
    /// compared. Returns false, and changes nothing, if the value is not the expected one.
    public func replace<Value: Equatable>(
        _ setting: Setting<Value>, expecting expected: Value, with value: Value
    ) throws -> Bool {
        try checkReentrancy(of: target, name)
        let encoded = try PropertyList.encoded(value)
        try setting.check(encoded, name.text)
        let schema = schema
        return try target.change(.write) { [path] values in
            try path.change(&values) { values in
                let current = schema.value(of: setting.key, in: values).flatMap(setting.value)
                guard current ?? setting.defaultValue == expected else { return false }
                try schema.put(encoded, setting.key, in: &values)
                return true
            }
        }
    }
}

extension LayerStack {
    /// Whether a look-up by key applies the rules for a setting's value.
    func applies<Value>(_ setting: Setting<Value>) -> Bool {
        setting.ownDeclaration == nil || declaration(of: setting.key) != nil
    }

    /// Resolves a setting by the declaration of the schema, or else by its own. The value is of the setting's type.
    func resolution<Value>(of setting: Setting<Value>) -> (value: Value?, resolution: Resolution) {
        var declaration = declaration(of: setting.key) ?? setting.declaration
        if setting.hasFormerKeys { declaration.renamedFrom = setting.declaration.renamedFrom }
        let resolution = resolution(of: setting.key, declaration) { setting.fault(of: $0) }
        return (resolution.winner?.value.flatMap { setting.value($0) }, resolution)
    }
}

extension Setting {
    /// Returns a stored value as the setting's type, or nil if it is not valid for the setting.
    func value(_ stored: PropertyList) -> Value? {
        if ownDeclaration == nil, let value = try? stored.decodedStrictly(as: Value.self) { return value }
        guard case .usable(let usable) = declaration.verdict(on: stored) else { return nil }
        return try? usable.decodedStrictly(as: Value.self)
    }

    /// Returns the reason a value is not valid for the setting, or nil if it is.
    fileprivate func fault(of stored: PropertyList) -> String? {
        if value(stored) != nil { return nil }
        if case .skipped(let reason) = declaration.verdict(on: stored) { return reason }
        return "must be a \(Value.self)"
    }

    var hasFormerKeys: Bool { !(ownDeclaration?.renamedFrom.isEmpty ?? true) }

    /// Throws if a value violates the setting's own declaration.
    func check(_ value: PropertyList?, _ domain: String) throws(StoreFailure) {
        guard let value, let declaration = ownDeclaration else { return }
        if Schema.checksDeclarations {
            // The keys that it refers to are those of other settings.
            let mistake = Schema("") { self }.mistakes.first { mistake in
                if case .unknownKey = mistake.reason { false } else { true }
            }
            if let mistake { throw StoreFailure(.notAllowed("the declaration is invalid: \(mistake)"), domain) }
        }
        let problems = declaration.rule.problems(
            with: value, at: [EntryPath.Component(key)], isSecret: declaration.isSensitive)
        guard problems.isEmpty else { throw StoreFailure(.refused(problems), domain) }
    }
}

// MARK: Values

extension PropertyList {
    /// Decodes a value of exactly this type, without conversion.
    func decodedStrictly<Value: Decodable>(as type: Value.Type) throws -> Value {
        // A fast path for the types of most settings.
        switch self {
        case .boolean(let flag): if let value = flag as? Value { return value }
        case .string(let text): if let value = text as? Value { return value }
        case .real(let number): if let value = number as? Value { return value }
        case .integer(let number):
            if type == Int.self, let value = Int(exactly: number) as? Value { return value }
        default: break
        }
        return try decoded(as: type)
    }

    /// Encodes a value. Returns nil for a value that represents none.
    static func encoded<Value: Encodable>(_ value: Value) throws -> PropertyList? {
        switch value {
        case let flag as Bool: .boolean(flag)
        case let text as String: .string(text)
        case let number as Int: .integer(Integer(number))
        case let number as Double: .real(number)
        case let optional as any AnyOptional where optional.isNothing: nil
        default: try PropertyList(encoding: value)
        }
    }
}

extension Defaults {
    /// Stores values of a command line as the user's settings, and removes those of other keys, all or none. The keys
    /// are stored keys.
    func save(_ values: PropertyList.Dictionary, removing others: [String], by schema: Schema) throws {
        try checkReentrancy(of: target, name)
        let host = try store.shared.hostTarget(of: name)
        var parts: [(domain: OpenDomain, values: PropertyList.Dictionary)] = [(target, [:])]
        if let host { parts.append((host, [:])) }
        let hostValues = host?.snapshot().values ?? [:]
        for entry in values {
            let isByHost = host != nil && schema.savesByHost(entry.key, over: hostValues)
            parts[isByHost ? 1 : 0].values[entry.key] = entry.value
        }
        parts.removeAll { part in
            let stored = part.domain.snapshot().values
            return part.values.isEmpty && !schema.paths(of: others).contains { stored.value(at: $0) != nil }
        }
        let files = parts.compactMap(\.domain.file)
        guard files.count == parts.count else {
            return try saveInMemory(parts, removing: others, by: schema)
        }
        for part in parts { try part.domain.flush() }
        let system = store.shared.system
        let policy = store.shared.context.policy
        let writer = DomainWriter(system, WriteAuthor(.write, by: system), by: policy)
        let (rules, name) = (SchemaRules(schema), name.text)
        // Another program may remove the schema by which other programs know the secrets.
        try? store.shared.schemas.remembered(of: self.name)?.add(schema)
        try writer.commit(
            zip(files, parts).map { file, part in
                let values = part.values
                return DomainEdit(file) { draft in
                    try rules.change(&draft, of: name) { draft in
                        try schema.put(values, removing: others, in: &draft.values)
                    }
                }.made(in: policy.format(by: schema))
            })
        for part in parts { part.domain.checkFile(isExact: true) }
    }

    /// Stores values in memory, where no step can fail.
    private func saveInMemory(
        _ parts: [(domain: OpenDomain, values: PropertyList.Dictionary)], removing others: [String],
        by schema: Schema
    ) throws {
        for (domain, values) in parts {
            domain.state.withLock { $0.rules = SchemaRules(schema) }
            try domain.change(.write) { stored in try schema.put(values, removing: others, in: &stored) }
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
    /// Stores values by their stored keys, and removes those of other keys. Throws if a value cannot be stored in the
    /// dictionary of its command.
    package func put(
        _ values: PropertyList.Dictionary, removing others: [String], in stored: inout PropertyList.Dictionary
    ) throws(EntryPath.Failure) {
        for path in paths(of: others) { stored.remove(at: path) }
        for entry in values {
            for path in storedPaths(of: entry.key).prefix(1) { try stored.put(entry.value, at: path) }
        }
    }

    /// The paths of the values of stored keys, among them those of former keys.
    fileprivate func paths(of keys: [String]) -> [EntryPath] { keys.flatMap(storedPaths) }

    /// Whether a new value of a key takes effect only in the layer of this host: because of its declaration, or because
    /// that layer has a value.
    package func savesByHost(_ key: String, over hostValues: PropertyList.Dictionary) -> Bool {
        declaration(storedAs: key)?.isByHost ?? false
            || storedPaths(of: key).contains { hostValues.value(at: $0) != nil }
    }

    /// Returns a stored key with a secret that would be shown according to another schema of the domain.
    package func keyOfSecret(in values: PropertyList.Dictionary, shownBy other: @autoclosure () -> Schema?) -> String? {
        let secrets = values.filter { declaration(storedAs: $0.key)?.containsSecret($0.value) ?? false }
        guard !secrets.isEmpty else { return nil }
        let other = other()
        return secrets.first { entry in
            let shown = other?.declaration(storedAs: entry.key)?.masked(entry.value) ?? entry.value
            return declaration(storedAs: entry.key)?.containsSecret(shown) ?? false
        }?.key
    }
}
