package import Platform
internal import PropertyLists
package import SettingsSchema
internal import Synchronization

/// The folders of installed schemas: the user's own, followed by those of the system.
package struct SchemaPlaces: Hashable, Sendable {
    /// The folders, highest priority first.
    package let folders: [FilePath]

    /// No folders, for stores that do not use installed schemas.
    package static let none = SchemaPlaces(folders: [])

    private init(folders: [FilePath]) { self.folders = folders }

    package init(on system: SystemServices) {
        let own = try? system.environment.folder(.data, in: system.fileSystem)
        let places = [own].compactMap(\.self) + system.environment.systemFolders(.data)
        folders = places.map { $0.resolving("prefs/schemas") }
    }

    /// The folders for a kind of store.
    package init(_ kind: Store.Kind, on system: SystemServices) {
        self = kind == .native ? SchemaPlaces(on: system) : .none
    }

    /// The size limit of a schema. Ten thousand settings with a paragraph each are smaller.
    package static let mostBytes = 16 << 20

    /// Returns the file of a domain's schema in a folder.
    package static func file(of domain: DomainName, in folder: FilePath) -> FilePath {
        folder.resolving(FilePath(domain.text + ".plist") ?? ".")
    }
}

extension SchemaPlaces {
    /// Returns the schema that is installed for a domain: the first one found, valid or not. If there is none, the cost
    /// is one failed open for each folder.
    ///
    /// - Parameter checks: Whether to check the consistency of its declarations, as during the installation.
    package func schema(of domain: DomainName, on system: SystemServices, checks: Bool = false) -> InstalledSchema? {
        if domain == StorePolicy.domain { return InstalledSchema(file: nil, readable: StorePolicy.schema, faults: []) }
        for folder in folders {
            let path = Self.file(of: domain, in: folder)
            do throws(SystemFailure) {
                guard let bytes = try system.fileSystem.contents(of: path, limit: Self.mostBytes) else { continue }
                return InstalledSchema(bytes, at: path, of: domain, checks: checks) { declared(by: $0, on: system) }
            } catch {
                return InstalledSchema(file: path, readable: nil, faults: [error.description])
            }
        }
        return nil
    }

    /// Returns the schema's own declarations, for a schema that extends it.
    package func declared(by domain: String, on system: SystemServices) -> Schema? {
        guard let name = try? DomainName(domain) else { return nil }
        for folder in folders {
            let path = Self.file(of: name, in: folder)
            // An unreadable schema is treated as missing, which is reported for the schema that extends it.
            if let bytes = try? system.fileSystem.contents(of: path, limit: Self.mostBytes) {
                return Schema.declared(in: bytes)
            }
        }
        return nil
    }

    /// Returns the files of a domain's schema that exist, highest priority first. Only the first is used.
    package func files(of domain: DomainName, on system: SystemServices) -> [FilePath] {
        folders.map { Self.file(of: domain, in: $0) }
            .filter { ((try? system.fileSystem.status(of: $0)) ?? nil) != nil }
    }

    /// The time of the last change of a schema, or of the set of schemas.
    package func lastChange(on system: SystemServices) -> Timestamp? {
        let files = system.fileSystem
        return folders.flatMap { folder in
            let names = ((try? files.names(in: folder)) ?? nil) ?? []
            return ([folder] + names.map(folder.appending)).compactMap { ((try? files.status(of: $0)) ?? nil)?.changed }
        }.max()
    }

    /// Returns the domains with an installed schema, sorted.
    package func domains(on system: SystemServices) -> [DomainName] {
        let names = folders.flatMap { (try? system.fileSystem.names(in: $0)) ?? [] }
        return Set(names.compactMap(\.propertyListStem).compactMap { stem in try? DomainName(stem) }).sorted()
    }
}

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

/// The schemas of domains, each loaded once: those that are installed, and those that the program declares.
package final class SchemaCache: Sendable {
    package let places: SchemaPlaces
    private let system: SystemServices
    /// Called with an installed schema that has errors, when it is loaded.
    private let reportFault: @Sendable (_ schema: InstalledSchema, _ domain: DomainName) -> Void
    private let state = Mutex(State())
    private let count = Atomic<Int>(0)

    private struct State: Sendable {
        /// The first domain that was looked up. A command looks up no other, and a dictionary would take a fifth of the
        /// time of a read.
        var first: (domain: DomainName, installed: InstalledSchema?)?
        var installed: [DomainName: InstalledSchema?] = [:]
        var declared: [DomainName: EffectiveSchema] = [:]

        func known(of domain: DomainName) -> InstalledSchema?? {
            if let first, first.domain == domain { return .some(first.installed) }
            return installed.isEmpty ? nil : installed[domain]
        }

        /// Records what is installed for a domain. Returns false if that is known already.
        mutating func record(_ schema: InstalledSchema?, of domain: DomainName) -> Bool {
            guard let first else {
                self.first = (domain, schema)
                return true
            }
            return first.domain != domain && installed.updateValue(schema, forKey: domain) == nil
        }
    }

    package init(
        _ kind: Store.Kind = .native, on system: SystemServices,
        reportFault: @escaping @Sendable (_ schema: InstalledSchema, _ domain: DomainName) -> Void = { _, _ in }
    ) {
        places = SchemaPlaces(kind, on: system)
        self.system = system
        self.reportFault = reportFault
    }

    /// The schema that is installed for a domain, valid or not.
    package subscript(domain: DomainName) -> InstalledSchema? {
        if let known = state.withLock({ $0.known(of: domain) }) { return known }
        let schema = places.schema(of: domain, on: system)
        let isNew = state.withLock { $0.record(schema, of: domain) }
        if isNew, let schema, !schema.faults.isEmpty { reportFault(schema, domain) }
        return schema
    }

    /// The schema that look-ups in a domain use: the declared one, else the installed one if it is valid.
    func schemaInForce(of domain: DomainName) -> EffectiveSchema? {
        state.withLock { $0.declared[domain] } ?? self[domain]?.schemaInForce
    }

    /// Replaces the installed schema of a domain for look-ups that begin from now on.
    func declare(_ schema: EffectiveSchema, for domain: DomainName) {
        state.withLock { $0.declared[domain] = schema }
        count.add(1, ordering: .releasing)
    }

    /// The number of schemas that were declared.
    var declarations: Int { count.load(ordering: .acquiring) }

    /// Forgets the installed schemas, so that they are loaded again.
    package func reload() { state.withLock { ($0.first, $0.installed) = (nil, [:]) } }
}
