package import Platform
package import SettingsSchema

/// A schema that is installed for a domain.
package final class InstalledSchema: Sendable {
    /// The file of the schema, or nil for that of the store's own settings.
    package let file: FilePath?
    /// The readable part of the schema, even if it is invalid. It determines at least which settings are secret.
    package let readable: Schema?
    /// The errors in the schema. An invalid schema is otherwise ignored.
    package let faults: [String]

    /// The name of the schema in messages.
    package var place: String { file?.description ?? "prefs itself" }

    /// The schema for look-ups, if it is valid.
    package let schemaInForce: EffectiveSchema?

    /// The schema, or nil if it is invalid.
    package var schema: Schema? { faults.isEmpty ? readable : nil }

    init(file: FilePath?, readable: Schema?, faults: [String]) {
        (self.file, self.readable, self.faults) = (file, readable, faults)
        schemaInForce = faults.isEmpty ? readable.map { EffectiveSchema($0, file: file?.description) } : nil
    }

    package convenience init(
        _ bytes: [UInt8], at file: FilePath, of domain: DomainName, checks: Bool,
        extending findSchema: (String) -> Schema?
    ) {
        let (schema, mistakes) = Schema.read(bytes, checks: checks, extending: findSchema)
        let isOther = schema.map { !$0.domain.isEmpty && (try? DomainName($0.domain)) != domain } ?? false
        let other = isOther ? ["is the schema of another domain, \(schema?.domain.shown ?? "")"] : []
        self.init(file: file, readable: schema, faults: mistakes.map(\.description) + other)
    }
}
