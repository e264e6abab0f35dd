internal import Platform
package import PropertyLists
package import SettingsSchema

/// What the schema of a domain demands of whoever writes it.
///
/// Only what a write changes is held against the schema: a value that was there before, and breaks it, is no reason to
/// refuse another.
package struct SchemaRules: Sendable {
    package let schema: Schema

    package init(_ schema: Schema) { self.schema = schema }

    /// Changes a draft of one of the user's files, or leaves it as it is and throws all that is wrong.
    ///
    /// - Parameters:
    ///   - domain: What messages call the domain.
    ///   - hasVersion: Whether the file says of which version its settings are. The administrator's do not.
    ///   - isForced: Whether what breaks the schema is written all the same.
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
            // What was moved alone is no reason to write.
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

    /// Puts values under the keys that they have now.
    func moveRenamed(_ values: inout PropertyList.Dictionary) { values = underPresentKeys(values) }

    /// The values of a file, under the keys that they have now.
    func underPresentKeys(_ values: PropertyList.Dictionary) -> PropertyList.Dictionary {
        guard schema.storedVersion(of: values) == schema.version else { return values }
        return (try? schema.migrated(values).values) ?? values
    }

    /// Notes in a new domain of which version its settings are.
    func note(_ values: inout PropertyList.Dictionary, isNew: Bool) {
        guard isNew, schema.version > 1, !values.isEmpty, values[Schema.versionKey] == nil else { return }
        values[Schema.versionKey] = .integer(PropertyList.Integer(schema.version))
    }
}

// MARK: Checks

extension SchemaRules {
    /// Refuses to write settings of another version than the schema's.
    package func checkVersion(of values: PropertyList.Dictionary, _ domain: String) throws(StoreFailure) {
        let stored = schema.storedVersion(of: values)
        guard stored != schema.version else { return }
        let isNewer = stored > schema.version
        throw StoreFailure(.otherVersion(stored: stored, known: schema.version, isNewer: isNewer), domain)
    }

    /// What the first settings of a domain are stored with: their version, where it is not the first.
    var beginning: [(key: String, value: PropertyList?)] {
        schema.version > 1 ? [(Schema.versionKey, .integer(PropertyList.Integer(schema.version)))] : []
    }

    /// Refuses to set values over those that are there, or to remove some.
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

    /// Refuses what makes of one state of a domain another that breaks the rules.
    package func check(
        from former: PropertyList.Dictionary, to new: PropertyList.Dictionary, _ domain: String
    ) throws(StoreFailure) {
        try check(from: { former[$0] }, to: { new[$0] }, new.keys.map(\.self), domain)
    }

    /// Refuses values that break their rules, all of them at once.
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

    /// Settings that may not stand together. What is missing yet may still come.
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

    /// Refuses to put a secret, or anything beside one, into a file that others can read.
    private func checkPrivacy(of values: PropertyList.Dictionary, _ domain: String) throws(StoreFailure) {
        let secret = values.first { schema.tellsSecret($0.value, under: $0.key) }
        if let secret { throw StoreFailure(.exposed(key: secret.key), domain) }
    }
}
