internal import Platform
internal import Preferences
internal import SettingsSchema

/// The schemas that are installed on the machine, by their domains.
struct InstalledSchemas {
    private let surroundings: Surroundings

    init(_ surroundings: Surroundings) { self.surroundings = surroundings }

    /// Where the schema of a domain may be, the most important place first.
    func places(of domain: DomainName) -> [FilePath] {
        let own = try? surroundings.environment.folder(.data, in: surroundings.fileSystem)
        let folders = [own].compactMap(\.self) + surroundings.environment.systemFolders(.data)
        let file = FilePath("prefs/schemas/\(domain.fileStem).plist")
        return file.map { file in folders.map { $0.resolving(file) } } ?? []
    }

    /// The text of the schema of a domain; nil where none is installed.
    func text(of domain: DomainName) throws -> SchemaText? {
        for place in places(of: domain) where try surroundings.fileSystem.status(of: place) != nil {
            return try SchemaText(place, surroundings)
        }
        return nil
    }

    /// The schema that another one extends, as far as it can be read.
    func schema(of domain: String, on way: [String] = []) -> Schema? {
        guard !way.contains(domain), way.count < 16, let name = try? DomainName(domain),
            let text = (try? text(of: name)) ?? nil
        else {
            return nil
        }
        return Schema.read(text.bytes, checks: false) { schema(of: $0, on: way + [domain]) }.schema
    }
}
