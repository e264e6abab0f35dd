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
    /// The schema that is installed for a domain: the first that is found, good or not. Where there is none, this costs
    /// an open that fails for each place.
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
            if let bytes = try? machine.fileSystem.contents(of: path, limit: Self.mostBytes) {
                return Schema.declared(in: bytes)
            }
        }
        return nil
    }

    /// The domains for which a schema is installed in any of the places, sorted.
    package func domains(on machine: Machine) -> [DomainName] {
        let names = folders.flatMap { (try? machine.fileSystem.names(in: $0)) ?? [] }
        return Set(names.compactMap(\.stemOfPropertyList).compactMap { stem in try? DomainName(stem) }).sorted()
    }
}
