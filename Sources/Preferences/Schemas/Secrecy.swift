package import Platform
package import PropertyLists
package import SettingsSchema

/// The sensitive values of a domain: those that its installed schema declares as sensitive, and those that an earlier
/// schema declared so.
///
/// Everything that shows, copies or mirrors values asks this type which of them are sensitive.
package struct Secrecy: Sendable {
    /// The schemas that keep values on this host, and of all schemas the sensitive settings alone.
    private let (schemas, secrets): ([Schema], [Schema])
    /// All schemas of a program's file, or nil for a domain of the store. Such a schema does not declare all keys, so
    /// an undeclared key with the name of a secret is sensitive too.
    private let schemasOfProgram: [Schema]?
    /// The reason it is not known which values are sensitive, or nil if it is known. Without this knowledge, all are.
    package let doubt: SecrecyDoubt?

    /// Nothing is sensitive.
    package static let none = Secrecy([])

    init(_ schemas: [Schema], doubt: SecrecyDoubt? = nil, isOfProgram: Bool = false) {
        schemasOfProgram = isOfProgram ? schemas : nil
        self.schemas = schemas.filter(\.keepsValues)
        secrets = schemas.filter(\.hasSecrets).map(\.secretsOnly)
        self.doubt = doubt
    }

    /// Whether a setting is declared as sensitive or not mirrored.
    package var keepsValues: Bool { !schemas.isEmpty || schemasOfProgram != nil }

    /// Whether no value is sensitive.
    package var hidesNothing: Bool {
        doubt == nil && schemasOfProgram == nil && secrets.isEmpty
    }

    /// Returns whether the entry at a path that starts with a key is not to be shown.
    ///
    /// - Parameter value: The entry's value, if known.
    package func hides(_ path: EntryPath, holding value: PropertyList? = nil) -> Bool {
        doubt != nil && !path.components.isEmpty || declares(path, holding: value) || suspects(path)
    }

    /// Returns whether the entry at a path is declared as sensitive by a schema that could be read.
    package func declares(_ path: EntryPath, holding value: PropertyList? = nil) -> Bool {
        secrets.contains { $0.isSensitive(path, holding: value) }
    }

    /// Returns whether the value of a key is declared as sensitive, or contains an entry that is.
    package func hasSecrets(under key: String) -> Bool {
        secrets.contains { !$0.settings(named: key).isEmpty }
            || suspects([EntryPath.Component(key)])
    }

    /// Returns the value of a key with everything masked that is not to be shown.
    package func masked(_ value: PropertyList, under key: String) -> PropertyList {
        doubt != nil
            ? .string(mask)
            : masksSuspected(in: secrets.reduce(value) { $1.masked($0, under: key) }, at: [EntryPath.Component(key)])
    }

    /// Returns whether the entry at a path has the name of a secret and no declaration.
    private func suspects(_ path: EntryPath) -> Bool {
        guard let schemas = schemasOfProgram, let name = path.components.last, name.index == nil else { return false }
        return name.text.namesSecret && !schemas.contains { $0.declares(path) }
    }

    private func masksSuspected(in value: PropertyList, at path: EntryPath) -> PropertyList {
        guard schemasOfProgram != nil else { return value }
        if suspects(path) { return .string(mask) }
        switch value {
        case .array(let elements):
            return .array(
                elements.enumerated().map { masksSuspected(in: $1, at: EntryPath(path.components + [.init($0)])) })
        case .dictionary(let entries):
            return .dictionary(
                PropertyList.Dictionary(
                    entries.map {
                        ($0.key, masksSuspected(in: $0.value, at: EntryPath(path.components + [.init($0.key)])))
                    }))
        default: return value
        }
    }

    /// Returns whether the value of a key of a program's file contains an undeclared entry with the name of a secret or
    /// of a program.
    package func suspects(in value: PropertyList, under key: String) -> Bool {
        firstSuspect(in: value, under: key) != nil
    }

    /// Returns the first undeclared entry with the name of a secret or of a program in the value of a key.
    package func firstSuspect(in value: PropertyList, under key: String) -> EntryPath? {
        func find(in value: PropertyList, at path: EntryPath) -> EntryPath? {
            switch value {
            case .array(let elements):
                return elements.indices.lazy.compactMap {
                    find(in: elements[$0], at: EntryPath(path.components + [.init($0)]))
                }.first
            case .dictionary(let entries):
                return entries.lazy.compactMap { entry in
                    let inner = EntryPath(path.components + [.init(entry.key)])
                    return suspects(inner) || mayRun(inner) ? inner : find(in: entry.value, at: inner)
                }.first
            default: return nil
            }
        }
        return find(in: value, at: [EntryPath.Component(key)])
    }

    /// Returns whether the entry at a path has the name of a program or a server and no declaration. Another user with
    /// access to the mirror must not choose which program runs.
    private func mayRun(_ path: EntryPath) -> Bool {
        guard let schemas = schemasOfProgram, let name = path.components.last, name.index == nil else { return false }
        return name.text.namesProgram && !schemas.contains { $0.declares(path) }
    }

    /// Returns values with everything masked that is not to be shown.
    package func masked(_ values: PropertyList.Dictionary) -> PropertyList.Dictionary {
        PropertyList.Dictionary(values.map { ($0.key, masked($0.value, under: $0.key)) })
    }

    /// Returns whether the value of a key is not mirrored.
    package func staysLocal(_ key: String) -> Bool {
        let path: EntryPath = [EntryPath.Component(key)]
        return schemas.contains { $0.staysLocal(key) } || suspects(path) || mayRun(path)
    }
}

/// The reason it is not known which values of a domain are sensitive: a file that can declare them exists, or may
/// exist, and cannot be read.
package struct SecrecyDoubt: Error, Hashable, Sendable, CustomStringConvertible {
    package let file: FilePath
    package let reason: String
    /// Whether the folder of the file cannot be searched. This concerns other domains, too.
    package var isOfFolder = false

    package var description: String { "\(file): \(reason)".shown }
}

// MARK: Remembered settings

/// The settings of a domain that its schemas have declared as sensitive, in a file of the store.
///
/// The file is a schema of these settings alone. Because of it, the values remain masked after the schema was
/// uninstalled.
package struct RememberedSecrets: Sendable {
    private let file: DomainFile
    private let domain: DomainName
    private let system: SystemServices

    /// Returns nil for a store that cannot have such files.
    package init?(of domain: DomainName, in folder: StoreFolder, on system: SystemServices) {
        guard let file = folder.fileOfSecrets(of: domain) else { return nil }
        (self.file, self.domain, self.system) = (file, domain, system)
    }

    package var path: FilePath { file.path }

    /// Returns the remembered settings, or nil if there are none.
    package func read() throws(SecrecyDoubt) -> Schema? {
        let bytes: [UInt8]?
        do throws(SystemFailure) {
            bytes = try system.fileSystem.contentsOfExisting(file.path, limit: SchemaPlaces.mostBytes)
        } catch {
            throw SecrecyDoubt(file: file.path, reason: error.description)
        }
        return try bytes.map { bytes throws(SecrecyDoubt) in try checked(Schema.read(bytes, checks: false)) }
    }

    private func checked(_ read: (schema: Schema?, mistakes: [Schema.Mistake])) throws(SecrecyDoubt) -> Schema {
        guard let schema = read.schema, read.mistakes.isEmpty else {
            throw SecrecyDoubt(file: file.path, reason: read.mistakes.first?.description ?? "is not a dictionary")
        }
        return schema
    }

    /// Remembers the settings that a schema declares as sensitive, in addition to the known ones. Costs one failed or
    /// successful open unless there are new ones.
    package func add(_ schema: Schema) throws {
        let new = schema.secretsOnly.settings
        guard !new.isEmpty else { return }
        guard try !new.without(read()?.settings ?? []).isEmpty else { return }
        try write { former in former + new.without(former) }
    }

    /// Remembers the settings that a newly installed schema declares as sensitive. Settings that it declares as not
    /// sensitive are forgotten.
    package func replace(by schema: Schema) throws {
        let new = schema.secretsOnly.settings
        guard try read() != nil || !new.isEmpty else { return }
        try write { former in
            former.filter { setting in setting.allKeys.allSatisfy { schema.settings(named: $0).isEmpty } } + new
        }
    }

    /// Forgets all settings.
    package func forget() throws { if try read() != nil { try write { _ in [] } } }

    private func write(_ change: @escaping @Sendable ([SettingDeclaration]) -> [SettingDeclaration]) throws {
        let edit = DomainEdit(file) { draft in
            let former =
                draft.exists ? try checked(Schema.read(.dictionary(draft.values), checks: false)).settings : []
            var schema = Schema(domain: domain.text)
            schema.settings = change(former)
            draft.values = schema.settings.isEmpty ? [:] : schema.propertyList.dictionaryValue ?? [:]
            draft.removesFile = draft.values.isEmpty
        }
        try DomainWriter(system, WriteAuthor(.remember, by: system)).commit([edit])
    }
}

extension [SettingDeclaration] {
    /// Returns the declarations that are not among others.
    fileprivate func without(_ others: [SettingDeclaration]) -> [SettingDeclaration] {
        let texts = Set(others.map(\.text))
        return filter { !texts.contains($0.text) }
    }
}

extension SettingDeclaration {
    /// The bytes of the declaration. Two declarations can be equal although their keys have different bytes.
    fileprivate var text: [UInt8] {
        var schema = Schema(domain: "")
        schema.settings = [self]
        return (try? schema.openStepText()).map { Array($0.utf8) } ?? []
    }
}

extension WriteReason {
    fileprivate static let remember = WriteReason(rawValue: "remember")
}

extension StoreFolder {
    /// The folder with the files of remembered sensitive settings, or nil for the folder of another program.
    package var folderOfSecrets: FilePath? {
        arrangement == .own ? transactions.parent.appending(".secrets") : nil
    }

    /// Returns the file with the remembered sensitive settings of a domain, or nil for the folder of another program.
    fileprivate func fileOfSecrets(of domain: DomainName) -> DomainFile? {
        guard let folder = folderOfSecrets else { return nil }
        return DomainFile(
            name: "the sensitive settings of \(domain)",
            path: folder.resolving(FilePath(domain.fileStem + ".plist") ?? "."),
            lock: .file(transactions.parent.appending(".locks").appending(".secrets.lock")),
            transactions: transactions, newFormat: .xml)
    }
}

extension FileSystem {
    /// Returns the contents of a file, or nil if nothing exists at the path. A symbolic link to a missing file is an
    /// error.
    func contentsOfExisting(_ path: FilePath, limit: Int) throws(SystemFailure) -> [UInt8]? {
        do throws(SystemFailure) {
            return try open(path, .readingNoFollow)?.contents(limit: limit)
        } catch  where error.code == .tooManySymbolicLinks {
            guard let file = try open(path, .reading) else { throw SystemFailure(.noSuchFile, .open, path) }
            return try file.contents(limit: limit)
        }
    }
}
