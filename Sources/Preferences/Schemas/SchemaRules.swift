internal import Platform
package import PropertyLists
package import SettingsSchema

/// The rules of a domain's schema for writers.
///
/// Only changed values are checked. A value that was invalid before does not prevent other changes.
package struct SchemaRules: Sendable {
    package let schema: Schema

    package init(_ schema: Schema) { self.schema = schema }

    /// Applies a change to a draft of one of the user's files. Throws all violations.
    ///
    /// - Parameters:
    ///   - domain: The name of the domain in messages.
    ///   - hasVersion: Whether the file records the version of its settings. The administrator's files do not.
    ///   - isForced: Whether to permit violations.
    package func change<Result>(
        _ draft: inout DomainDraft, of domain: String, hasVersion: Bool = true, isForced: Bool = false,
        _ body: (inout DomainDraft) throws -> Result
    ) throws -> Result {
        let stored = draft.values
        if hasVersion, !isForced { try checkVersion(of: stored, domain) }
        if hasVersion { moveRenamed(&draft.values) }
        let former = draft.values
        let result = try body(&draft)
        draft.values[Schema.versionKey] = former[Schema.versionKey]
        guard draft.values != former else {
            // Moving renamed keys alone does not justify a write.
            draft.values = stored
            return result
        }
        if !isForced {
            try check(from: former, to: draft.values, domain)
            if draft.isExposed { try checkPrivacy(of: draft.values, domain) }
        }
        if hasVersion, !draft.removesFile { note(&draft.values, isNew: stored.isEmpty) }
        return result
    }

    /// Moves values from former to present keys.
    func moveRenamed(_ values: inout PropertyList.Dictionary) { values = underPresentKeys(values) }

    /// Returns the values of a file under their present keys.
    func underPresentKeys(_ values: PropertyList.Dictionary) -> PropertyList.Dictionary {
        guard schema.storedVersion(of: values) == schema.version else { return values }
        return (try? schema.migrated(values).values) ?? values
    }

    /// Records the version of the settings in a new domain.
    func note(_ values: inout PropertyList.Dictionary, isNew: Bool) {
        guard isNew, schema.version > 1, !values.isEmpty, values[Schema.versionKey] == nil else { return }
        values[Schema.versionKey] = .integer(PropertyList.Integer(schema.version))
    }
}

// MARK: Checks

extension SchemaRules {
    /// Throws if the settings have another version than the schema.
    package func checkVersion(of values: PropertyList.Dictionary, _ domain: String) throws(StoreFailure) {
        let stored = schema.storedVersion(of: values)
        guard stored != schema.version else { return }
        let isNewer = stored > schema.version
        throw StoreFailure(.otherVersion(stored: stored, known: schema.version, isNewer: isNewer), domain)
    }

    /// The first values of a domain: the version of its settings, unless that is 1.
    var beginning: [(key: String, value: PropertyList?)] {
        schema.version > 1 ? [(Schema.versionKey, .integer(PropertyList.Integer(schema.version)))] : []
    }

    /// Throws if the changes violate a rule.
    func check(
        _ changes: [(key: String, value: PropertyList?)], over stored: PropertyList.Dictionary, isExposed: Bool,
        _ domain: String
    ) throws(StoreFailure) {
        try checkVersion(of: stored, domain)
        let new = Dictionary(changes.map { (ExactKey($0.key), $0.value) }) { _, last in last }
        try check(from: { stored[$0] }, to: { new[ExactKey($0)] ?? stored[$0] }, new.keys.map(\.text), domain)
        guard isExposed else { return }
        try checkPrivacy(
            of: PropertyList.Dictionary(new.compactMap { entry in entry.value.map { (entry.key.text, $0) } }), domain)
    }

    /// Throws if the change from one state of a domain to another violates a rule.
    package func check(
        from former: PropertyList.Dictionary, to new: PropertyList.Dictionary, _ domain: String
    ) throws(StoreFailure) {
        try check(from: { former[$0] }, to: { new[$0] }, new.keys.map(\.self), domain)
    }

    /// Throws all values that violate their rules.
    func check(
        from former: (String) -> PropertyList?, to new: (String) -> PropertyList?, _ keys: [String], _ domain: String
    ) throws(StoreFailure) {
        var problems: [Schema.Problem] = []
        for key in keys.sorted(by: { $0.isBefore($1) }) {
            guard let value = new(key), former(key) != value else { continue }
            problems += schema.problems(with: value, forKey: key)
        }
        problems += relations(new).subtracting(relations(former)).sorted { $0.description < $1.description }
        guard problems.isEmpty else { throw StoreFailure(.refused(problems), domain) }
    }

    /// Returns the settings that exclude each other. Missing settings are not an error, because they may still be set.
    private func relations(_ value: (String) -> PropertyList?) -> Set<Schema.Problem> {
        let hasRelations = schema.settings.contains { !$0.conflicts.isEmpty || !$0.exactlyOneOf.isEmpty }
        guard hasRelations else { return [] }
        func has(_ key: String) -> Bool { value(key) != nil }
        return Set(
            schema.settings.relationProblems(given: has, present: has).filter { problem in
                switch problem.reason {
                case .conflict: true
                case .exactlyOne(let keys): keys.count(where: has) > 1
                default: false
                }
            })
    }

    /// Throws if a file that others can read would contain a secret.
    private func checkPrivacy(of values: PropertyList.Dictionary, _ domain: String) throws(StoreFailure) {
        let secret = values.first { schema.containsSecret($0.value, under: $0.key) }
        if let secret { throw StoreFailure(.exposed(key: secret.key), domain) }
    }
}
