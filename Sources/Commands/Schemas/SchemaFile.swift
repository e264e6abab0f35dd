internal import Platform
internal import Preferences
internal import PropertyLists
internal import SettingsSchema

/// A schema in a file that a command was given, and all that is wrong with it.
///
///     backup.schema.plist:3:15: :Settings:0:Minimum: is above Maximum
struct SchemaFile {
    /// What it is called in messages.
    let name: String
    let bytes: [UInt8]
    let mistakes: [Schema.Mistake]
    private let readable: Schema?

    /// Schemas that it extends are looked for beside it, then where schemas are installed.
    ///
    /// - Parameter isInstalled: Whether it is to be installed itself: what lies beside it does not help it there.
    init(_ argument: String, _ surroundings: Surroundings, isInstalled: Bool = false) throws {
        name = argument == "-" ? "standard input" : argument.onOneLine
        bytes = try surroundings.contents(argument, limit: SchemaPlaces.mostBytes)
        let installed = SchemaPlaces(on: surroundings.machine)
        let folder = argument == "-" || isInstalled ? nil : try surroundings.path(argument).parent
        (readable, mistakes) = Schema.read(bytes) { domain in
            Self.declared(by: domain, beside: folder, surroundings)
                ?? installed.declared(by: domain, on: surroundings.machine)
        }
    }

    private static func declared(by domain: String, beside folder: FilePath?, _ surroundings: Surroundings) -> Schema? {
        guard let folder, let name = try? DomainName(domain) else { return nil }
        let path = SchemaPlaces.file(of: name, in: folder)
        let bytes = try? surroundings.fileSystem.contents(of: path, limit: SchemaPlaces.mostBytes)
        return (bytes ?? nil).flatMap { Schema.declared(in: $0) }
    }

    /// The schema, if nothing is wrong with it.
    func schema() throws(Mistaken) -> Schema {
        guard let readable, mistakes.isEmpty else { throw Mistaken(lines: lines) }
        return readable
    }

    /// A line for each mistake, in the order of their places.
    var lines: [String] { mistakes.map { "\(name):\($0.location == nil ? " " : "")\($0)".onOneLine } }

    /// A schema with mistakes where a good one is needed.
    struct Mistaken: Reportable {
        let lines: [String]
        var status: ExitStatus { .damaged }
    }
}
