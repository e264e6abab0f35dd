internal import Platform
internal import Preferences
internal import SettingsSchema

/// The schemas that are installed on the machine, by their domains.
struct InstalledSchemas {
    private let surroundings: Surroundings

    init(_ surroundings: Surroundings) { self.surroundings = surroundings }

    /// Where the schema of a domain may be, the most important place first.
    func places(of domain: DomainName) -> [FilePath] {
        SchemaPlaces(on: surroundings.machine).folders.map { SchemaPlaces.file(of: domain, in: $0) }
    }

    /// The text of the schema of a domain; nil where none is installed.
    func text(of domain: DomainName) throws -> SchemaText? {
        for place in places(of: domain) where try surroundings.fileSystem.status(of: place) != nil {
            return try SchemaText(place, surroundings)
        }
        return nil
    }

    /// What the schema that another one extends declares itself, as far as it can be read.
    func schema(of domain: String) -> Schema? {
        SchemaPlaces(on: surroundings.machine).declared(by: domain, on: surroundings.machine)
    }
}
