internal import Platform
internal import PropertyLists
package import SettingsSchema

/// The migration of a domain's stored settings to the version of its schema.
package struct DomainMigration: Sendable {
    private let schema: Schema
    private let name: DomainName

    package init(_ schema: Schema, _ name: DomainName) { (self.schema, self.name) = (schema, name) }

    /// Returns the edits of the files, to be committed together. A migration that was made is not repeated.
    ///
    /// - Parameter report: Called with the migration steps of each file, possibly several times.
    package func edits(
        of files: [DomainFile], report: @escaping @Sendable (DomainFile, [Schema.MigrationStep]) -> Void = { _, _ in }
    ) -> [DomainEdit] {
        let (schema, domain) = (schema, name.text)
        return files.map { file in
            DomainEdit(file) { draft in
                guard draft.exists else { return }
                let migrated = try Self.migrated(draft.values, by: schema, domain)
                report(file, migrated.steps)
                draft.values = migrated.values
            }
        }
    }

    private static func migrated(
        _ values: PropertyList.Dictionary, by schema: Schema, _ domain: String
    ) throws(StoreFailure) -> Schema.Migrated {
        do throws(Schema.NewerVersion) {
            return try schema.migrated(values)
        } catch {
            throw StoreFailure(.otherVersion(stored: error.stored, known: error.known, isNewer: true), domain)
        }
    }

    /// Migrates the settings in a store if necessary. Settings of a newer version are not changed.
    func run(in store: Store) throws {
        let process = store.process
        let targets = [process.target(of: name), try process.hostTarget(of: name)].compactMap(\.self)
        let found = targets.map { (domain: $0, contents: $0.snapshot()) }
        // An unreadable file is reported when it is used. The other file must not be migrated alone.
        guard found.allSatisfy({ $0.contents.failure == nil }) else { return }
        guard found.contains(where: { schema.needsMigration($0.contents.values) }) else { return }
        for domain in targets { try domain.flush() }
        // All files, not only those that exist: they are checked again under their locks.
        let files = targets.compactMap(\.file)
        guard files.count == targets.count else {
            let schema = schema
            for domain in targets {
                try domain.change(.migrate, checks: false) { $0 = try schema.migrated($0).values }
            }
            return
        }
        let system = process.system
        let writer = DomainWriter(system, WriteAuthor(.migrate, by: system), by: process.signals.policy.value)
        try writer.commit(edits(of: files))
        for domain in targets { domain.look(isExact: true) }
    }
}

extension WriteReason {
    package static let migrate = WriteReason(rawValue: "migrate")
}

extension SharedStore {
    /// Returns the user's own values of a domain for this host, or nil if the store has none of that kind.
    func hostTarget(of name: DomainName) throws -> OpenDomain? {
        guard let places = try places.get(), places.user.arrangement == .own else { return nil }
        return domain(of: places.user.file(of: name, on: try places.host()))
    }
}
