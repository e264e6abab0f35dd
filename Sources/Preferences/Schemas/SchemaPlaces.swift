package import Platform
internal import PropertyLists
package import SettingsSchema

/// Where the schemas of domains are installed: in the user's own folder, then in those of the system.
package struct SchemaPlaces: Hashable, Sendable {
    /// The most important first.
    package let folders: [FilePath]

    /// No place at all: stores of their own have no part in what is installed on the machine.
    package static let none = SchemaPlaces(folders: [])

    private init(folders: [FilePath]) { self.folders = folders }

    package init(on machine: Machine) {
        let own = try? machine.environment.folder(.data, in: machine.fileSystem)
        let places = [own].compactMap(\.self) + machine.environment.systemFolders(.data)
        folders = places.map { $0.resolving("prefs/schemas") }
    }

    /// The places for a kind of store.
    package init(_ kind: Store.Kind, on machine: Machine) {
        self = kind == .native ? SchemaPlaces(on: machine) : .none
    }

    /// The most bytes of a schema. One is written by hand; ten thousand settings with a paragraph each are less.
    package static let mostBytes = 16 << 20

    /// Where a domain's schema lies in one of the folders.
    package static func file(of domain: DomainName, in folder: FilePath) -> FilePath {
        folder.resolving(FilePath(domain.text + ".plist") ?? ".")
    }
}

extension SchemaPlaces {
    /// The schema that is installed for a domain: the first that is found, good or not. Where there is none, this costs an
    /// open that fails for each place.
    ///
    /// - Parameter checks: Whether its declarations are held against one another, as they were when it was installed.
    package func schema(of domain: DomainName, on machine: Machine, checks: Bool = false) -> InstalledSchema? {
        if domain == StorePolicy.domain { return InstalledSchema(file: nil, readable: StorePolicy.schema, faults: []) }
        for folder in folders {
            let path = Self.file(of: domain, in: folder)
            do throws(SystemFailure) {
                guard let bytes = try machine.fileSystem.contents(of: path, limit: Self.mostBytes) else { continue }
                return InstalledSchema(bytes, at: path, of: domain, checks: checks) { declared(by: $0, on: machine) }
            } catch {
                return InstalledSchema(file: path, readable: nil, faults: [error.description])
            }
        }
        return nil
    }

    /// What the schema of a domain declares itself, for one that extends it.
    package func declared(by domain: String, on machine: Machine) -> Schema? {
        guard let name = try? DomainName(domain) else { return nil }
        for folder in folders {
            let path = Self.file(of: name, in: folder)
            // One that cannot be read is as good as none: who extends it is told that it is missing.
            if let bytes = (try? machine.fileSystem.contents(of: path, limit: Self.mostBytes)) ?? nil {
                return Schema.declared(in: bytes)
            }
        }
        return nil
    }

    /// The domains for which a schema is installed in any of the places, sorted.
    package func domains(on machine: Machine) -> [DomainName] {
        let names = folders.flatMap { ((try? machine.fileSystem.names(in: $0)) ?? nil) ?? [] }
        let domains = names.compactMap { name -> DomainName? in
            guard !name.isTemporary, name.description.hasSuffix(".plist") else { return nil }
            return try? DomainName(String(name.description.dropLast(".plist".count)))
        }
        return Set(domains).sorted()
    }
}

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
