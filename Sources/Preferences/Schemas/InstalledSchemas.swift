package import Platform
internal import PropertyLists
package import SettingsSchema
internal import Synchronization

/// The folders of installed schemas: the user's own, followed by those of the system.
package struct SchemaPlaces: Hashable, Sendable {
    /// The folders, highest priority first.
    package let folders: [FilePath]
    /// The folders of the catalogue: schemas that have no effect until the file of their program is adopted.
    private let programs: [FilePath]
    /// The user's own folder, or nil if there is none.
    private let own: FilePath?

    /// No folders, for stores that do not use installed schemas.
    package static let none = SchemaPlaces(folders: [], programs: [], own: nil)

    private init(folders: [FilePath], programs: [FilePath], own: FilePath?) {
        (self.folders, self.programs, self.own) = (folders, programs, own)
    }

    package init(on system: SystemServices) {
        let own = try? system.environment.folder(.data, in: system.fileSystem)
        let all = [own].compactMap(\.self) + system.environment.systemFolders(.data)
        let folders = all.map { $0.resolving("prefs/schemas") }
        // The command may be installed in a folder of its own.
        let beside = system.environment.executable.map { $0.parent.parent.resolving("share") }
        let shared = all + [beside].compactMap(\.self).filter { !all.contains($0) }
        self.init(
            folders: folders, programs: shared.map { $0.resolving("prefs/programs") },
            own: own == nil ? nil : folders.first)
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
        return folders.lazy.compactMap { schema(of: domain, in: $0, on: system, checks: checks) }.first
    }

    /// Returns the schema of a domain in one of the folders, valid or not, or nil if there is none.
    private func schema(
        of domain: DomainName, in folder: FilePath, on system: SystemServices, checks: Bool = false
    ) -> InstalledSchema? {
        let path = Self.file(of: domain, in: folder)
        do throws(SecrecyDoubt) {
            guard let bytes = try contents(of: path, in: folder, on: system) else { return nil }
            let isOfProgram = programs.contains(folder)
            return InstalledSchema(bytes, at: path, of: domain, checks: checks) {
                try declared(by: $0, on: system, isOfProgram: isOfProgram)
            }
        } catch {
            return InstalledSchema(file: path, readable: nil, faults: [error.reason], doubt: error)
        }
    }

    /// Returns the first schema that names a program's file. A schema of another file, or of a domain of the store,
    /// does not apply.
    func schema(of adopted: AdoptedFile, on system: SystemServices) -> InstalledSchema? {
        (folders + programs).lazy.compactMap { schema(of: adopted.program, in: $0, on: system) }
            .first {
                $0.doubt != nil || $0.programFiles(on: system).contains { adopted.path.isSameFile(as: $0, on: system) }
            }?
            .ofProgramFile
    }

    /// Returns the schema of a program that the catalogue knows by its name, with the files that it can have, or nil if
    /// there is none.
    package func program(_ name: DomainName, on system: SystemServices) -> (schema: Schema, files: [FilePath])? {
        (folders + programs).lazy.compactMap { schema(of: name, in: $0, on: system) }.compactMap { found in
            let files = found.programFiles(on: system)
            return files.isEmpty ? nil : found.readable.map { ($0, files) }
        }.first
    }

    /// Returns the names of the schemas that can be of programs' files, sorted.
    package func programs(on system: SystemServices) -> [DomainName] { domains(in: folders + programs, on: system) }

    /// Returns the schema's own declarations, for a schema that extends it, or nil if there is none. Throws if it
    /// cannot be read.
    ///
    /// - Parameter isOfProgram: Whether the schema that extends it is in the catalogue.
    package func declared(
        by domain: String, on system: SystemServices, isOfProgram: Bool = false
    ) throws -> Schema? {
        guard let name = try? DomainName(domain) else { return nil }
        for folder in isOfProgram ? folders + programs : folders {
            let path = Self.file(of: name, in: folder)
            if let bytes = try contents(of: path, in: folder, on: system) { return try Schema.declared(in: bytes) }
        }
        return nil
    }

    /// Returns the contents of a schema file, or nil if there is none. Throws if one exists or may exist, and cannot be
    /// read.
    private func contents(
        of path: FilePath, in folder: FilePath, on system: SystemServices
    ) throws(SecrecyDoubt) -> [UInt8]? {
        let files = system.fileSystem
        do throws(SystemFailure) {
            return try files.contentsOfExisting(path, limit: Self.mostBytes)
        } catch {
            let reason = error.description
            do throws(SystemFailure) {
                guard try files.status(of: path, followingLink: false) != nil else { return nil }
            } catch {
                guard isTrusted(folder, on: system) else { return nil }
                throw SecrecyDoubt(file: path, reason: reason, isOfFolder: true)
            }
            throw SecrecyDoubt(file: path, reason: reason)
        }
    }

    /// Returns whether schemas in a folder that cannot be searched may concern the user: the folder is the user's own,
    /// or it, or the folder that hides it, belongs to the user or the administrator. Another user must not be able to
    /// hide all values by closing a folder.
    private func isTrusted(_ folder: FilePath, on system: SystemServices) -> Bool {
        if folder == own { return true }
        var place = folder
        while true {
            if let status = try? system.fileSystem.status(of: place) {
                return [0, system.administrator, system.environment.user].contains(status.owner)
            }
            guard place.parent != place else { return true }
            place = place.parent
        }
    }

    /// Returns the folders that exist and cannot be listed, each with the reason.
    package func closedFolders(on system: SystemServices) -> [(folder: FilePath, failure: SystemFailure)] {
        folders.compactMap { folder in
            do throws(SystemFailure) {
                if try system.fileSystem.names(in: folder) != nil { return nil }
                guard try system.fileSystem.status(of: folder, followingLink: false) != nil else { return nil }
                return (folder, SystemFailure(.noSuchFile, .list, folder))
            } catch {
                return (folder, error)
            }
        }
    }

    /// Returns the files of a domain's schema that exist, highest priority first. Only the first is used.
    package func files(of domain: DomainName, on system: SystemServices) -> [FilePath] {
        folders.map { Self.file(of: domain, in: $0) }
            .filter { (try? system.fileSystem.status(of: $0, followingLink: false)) != nil }
    }

    /// The time of the last change of a schema, or of the set of schemas.
    package func lastChange(on system: SystemServices) -> Timestamp? {
        let files = system.fileSystem
        return (folders + programs).flatMap { folder in
            let names = (try? files.names(in: folder)) ?? []
            return ([folder] + names.map(folder.appending)).compactMap { (try? files.status(of: $0))?.changed }
        }.max()
    }

    /// Returns the domains with an installed schema, sorted.
    package func domains(on system: SystemServices) -> [DomainName] { domains(in: folders, on: system) }

    private func domains(in folders: [FilePath], on system: SystemServices) -> [DomainName] {
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
    /// The reason its readable part may lack sensitive settings, or nil if it has all.
    package let doubt: SecrecyDoubt?

    /// The name of the schema in messages.
    package var place: String { file?.description ?? "prefs itself" }

    /// The schema for look-ups, if it is valid.
    package let schemaInForce: EffectiveSchema?

    /// The schema, or nil if it is invalid.
    package var schema: Schema? { faults.isEmpty ? readable : nil }

    init(file: FilePath?, readable: Schema?, faults: [String], doubt: SecrecyDoubt? = nil) {
        (self.file, self.readable, self.faults, self.doubt) = (file, readable, faults, doubt)
        schemaInForce = faults.isEmpty ? readable.map { EffectiveSchema($0, file: file?.description) } : nil
    }

    /// The schema as it applies to the file of a program.
    fileprivate var ofProgramFile: InstalledSchema {
        InstalledSchema(file: file, readable: readable?.ofProgramFile, faults: faults, doubt: doubt)
    }

    /// The files of the program that the schema names, without those whose variables are not set.
    fileprivate func programFiles(on system: SystemServices) -> [FilePath] {
        (readable?.programFiles ?? []).compactMap { system.environment.path(expanding: $0, in: system.fileSystem) }
    }

    package convenience init(
        _ bytes: [UInt8], at file: FilePath, of domain: DomainName, checks: Bool,
        extending findSchema: (String) throws -> Schema?
    ) {
        let (schema, mistakes) = Schema.read(bytes, checks: checks, extending: findSchema)
        let isOther = schema.map { !$0.domain.isEmpty && (try? DomainName($0.domain)) != domain } ?? false
        let other = isOther ? ["is the schema of another domain, \(schema?.domain.shown ?? "")"] : []
        let doubt = mistakes.concealing.map { SecrecyDoubt(file: file, reason: $0.description) }
        self.init(file: file, readable: schema, faults: mistakes.map(\.description) + other, doubt: doubt)
    }
}

/// The schemas of domains, each loaded once: those that are installed, and those that the program declares.
package final class SchemaCache: Sendable {
    package let places: SchemaPlaces
    /// The store that remembers sensitive settings and has the links to programs' files, or nil for one without files.
    private let store: StorePlaces?
    private let system: SystemServices
    /// Called with an installed schema that has errors, when it is loaded.
    private let reportFault: @Sendable (_ schema: InstalledSchema, _ domain: DomainName) -> Void
    private let state = Mutex(State())
    private let count = Atomic<Int>(0)

    private struct State: Sendable {
        var installed = Found<InstalledSchema?>()
        var secrecy = Found<Secrecy>()
        var declared: [DomainName: EffectiveSchema] = [:]
        /// The files and folders whose unreadability was reported.
        var reported: Set<FilePath> = []
    }

    /// What was found for each domain.
    private struct Found<Value: Sendable>: Sendable {
        /// The first domain that was looked up. A command looks up no other, and a dictionary would take a fifth of the
        /// time of a read.
        private var first: (domain: DomainName, value: Value)?
        private var others: [DomainName: Value] = [:]

        subscript(domain: DomainName) -> Value? {
            if let first, first.domain == domain { return first.value }
            return others.isEmpty ? nil : others[domain]
        }

        /// Records what was found for a domain. Returns false if that is known already.
        mutating func record(_ value: Value, of domain: DomainName) -> Bool {
            guard let first else {
                self.first = (domain, value)
                return true
            }
            return first.domain != domain && others.updateValue(value, forKey: domain) == nil
        }
    }

    package init(
        _ kind: Store.Kind = .native, in store: StorePlaces?, on system: SystemServices,
        reportFault: @escaping @Sendable (_ schema: InstalledSchema, _ domain: DomainName) -> Void = { _, _ in }
    ) {
        places = SchemaPlaces(kind, on: system)
        self.store = store
        self.system = system
        self.reportFault = reportFault
    }

    /// The schema that is installed for a domain, valid or not.
    package subscript(domain: DomainName) -> InstalledSchema? {
        if let known = state.withLock({ $0.installed[domain] }) { return known }
        let schema =
            adopted(domain).map { places.schema(of: $0, on: system) } ?? places.schema(of: domain, on: system)
        let isNew = state.withLock { $0.installed.record(schema, of: domain) }
        if isNew, let schema, !schema.faults.isEmpty { reportFault(schema, domain) }
        return schema
    }

    /// Returns the program's file that a domain is, or nil if the domain is the store's own.
    private func adopted(_ domain: DomainName) -> AdoptedFile? {
        guard !places.folders.isEmpty, let store, let file = (try? store.adoptedFile(of: domain)) ?? nil else {
            return nil
        }
        return AdoptedFile(path: file.path, program: store.user.program(ofAdopted: domain, on: system))
    }

    /// The schema that look-ups in a domain use: the declared one, else the installed one if it is valid. A program
    /// declares no schema for the file of another one.
    func schemaInForce(of domain: DomainName, isAdopted: Bool) -> EffectiveSchema? {
        (isAdopted ? nil : state.withLock { $0.declared[domain] }) ?? self[domain]?.schemaInForce
    }

    /// Replaces the installed schema of a domain for look-ups that begin from now on.
    func declare(_ schema: EffectiveSchema, for domain: DomainName) {
        state.withLock { $0.declared[domain] = schema }
        count.add(1, ordering: .releasing)
    }

    /// The number of schemas that were declared.
    var declarations: Int { count.load(ordering: .acquiring) }

    /// Forgets the installed schemas, so that they are loaded again.
    package func reload() { state.withLock { ($0.installed, $0.secrecy) = (.init(), .init()) } }
}

// MARK: Sensitive values

extension SchemaCache {
    /// Returns which values of a domain are sensitive.
    package func secrecy(of domain: DomainName) -> Secrecy {
        if let known = state.withLock({ $0.secrecy[domain] }) { return known }
        let installed = self[domain]
        var schemas = [installed?.readable].compactMap(\.self)
        var doubt = installed?.doubt
        do throws(SecrecyDoubt) {
            if let known = try remembered(of: domain)?.read() { schemas.append(known) }
        } catch {
            doubt = doubt ?? error
        }
        let secrecy = Secrecy(schemas, doubt: doubt, isOfProgram: adopted(domain) != nil)
        _ = state.withLock { $0.secrecy.record(secrecy, of: domain) }
        return secrecy
    }

    /// Returns the place that remembers the sensitive settings of a domain, or nil if this store has none.
    package func remembered(of domain: DomainName) -> RememberedSecrets? {
        store.flatMap { RememberedSecrets(of: domain, in: $0.user, on: system) }
    }

    /// Returns whether this is the first report of an unreadable file or folder.
    package func isNew(_ doubt: SecrecyDoubt) -> Bool {
        let place = doubt.isOfFolder ? doubt.file.parent : doubt.file
        return state.withLock { $0.reported.insert(place).inserted }
    }
}
