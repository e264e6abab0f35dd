package import Platform
package import SettingsSchema

/// A schema as it was found for a domain.
package final class InstalledSchema: Sendable {
    /// The file that it stands in; nil for that of the store's own settings.
    package let file: FilePath?
    /// What of it could be read, be it all or not: that much at least says what is secret.
    package let readable: Schema?
    /// What is wrong with it. One with mistakes counts for nothing else.
    package let faults: [String]

    /// What messages call it.
    package var place: String { file?.description ?? "prefs itself" }

    /// The schema, where it is good.
    package var schema: Schema? { faults.isEmpty ? readable : nil }

    init(file: FilePath?, readable: Schema?, faults: [String]) {
        (self.file, self.readable, self.faults) = (file, readable, faults)
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
