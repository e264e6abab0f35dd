internal import Platform
internal import PropertyLists
package import SettingsSchema

/// Brings the stored settings of a domain to the version of its schema.
package struct DomainMigration: Sendable {
    private let schema: Schema
    private let name: DomainName

    package init(_ schema: Schema, _ name: DomainName) { (self.schema, self.name) = (schema, name) }

    /// The changes of the files, which are to be made in one step. What was done once is not done again.
    ///
    /// - Parameter note: Is told what is done in each file; perhaps more than once.
    package func edits(
        of files: [DomainFile], note: @escaping @Sendable (DomainFile, [Schema.MigrationNote]) -> Void = { _, _ in }
    ) -> [DomainEdit] {
        let (schema, domain) = (schema, name.text)
        return files.map { file in
            DomainEdit(file) { draft in
                guard draft.exists else { return }
                let migrated = try Self.migrated(draft.values, by: schema, domain)
                note(file, migrated.notes)
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

    /// Migrates what a store keeps, if it is due. Newer settings than the schema knows are left alone: they are only
    /// read.
    func run(in store: Store) throws {
        let process = store.process
        let targets = [process.target(of: name), try process.hostTarget(of: name)].compactMap(\.self)
        let found = targets.map { (domain: $0, contents: $0.snapshot()) }
        // What cannot be read is told of by whoever looks into it; the other half alone is not to be changed.
        guard found.allSatisfy({ $0.contents.failure == nil }) else { return }
        guard found.contains(where: { schema.needsMigration($0.contents.values) }) else { return }
        for domain in targets { try domain.flush() }
        // All of them, under their locks: a look that failed takes what is there for absent.
        let files = targets.compactMap(\.file)
        guard files.count == targets.count else {
            let schema = schema
            for domain in targets {
                try domain.change(.migrate, checks: false) { $0 = try schema.migrated($0).values }
            }
            return
        }
        let machine = process.machine
        let writer = DomainWriter(machine, WriteNote(.migrate, by: machine), by: process.signals.policy.value)
        try writer.commit(edits(of: files))
        for domain in targets { domain.look(isExact: true) }
    }
}

extension WriteReason {
    package static let migrate = WriteReason(rawValue: "migrate")
}

extension StoreOfProcess {
    /// The user's own values of a domain for this host; nil for a store that has none of that kind.
    func hostTarget(of name: DomainName) throws -> OpenDomain? {
        guard let places = try places.get(), places.user.arrangement == .own else { return nil }
        return domain(of: places.user.file(of: name, on: try places.host()))
    }
}
