internal import Platform
internal import Preferences
internal import PropertyLists

/// The data that all checks use: the store and its domains in all layers.
struct Checkup: Sendable {
    let access: StoreAccess
    /// The store named on the command line.
    private let store: String?
    let domains: [ExaminedDomain]

    var machine: Machine { access.machine }
    var files: any FileSystem { access.machine.fileSystem }
    var user: StoreFolder { access.places.user }

    init(_ invocation: Invocation, _ surroundings: Surroundings) throws {
        access = try StoreAccess(invocation, surroundings)
        store = invocation[.store]
        domains = try access.places.writablePlaces().flatMap { place in
            // A folder that cannot be listed is reported by another check.
            ((try? place.domains(in: surroundings.fileSystem)) ?? []).map { name in
                ExaminedDomain(name: name, layer: place.layer, file: place.file(of: name))
            }
        }
    }

    /// Returns a command on a domain in its layer.
    func command(
        _ verb: String, _ domain: ExaminedDomain, _ operands: [String] = [], options: [String] = []
    ) -> Ailment.Remedy {
        let words = spelling(of: domain.name.text, in: domain.layer).words([verb], options: options, operands)
        let needsRights = !domain.layer.isOfUser && machine.environment.user != machine.administrator
        return .command(needsRights ? ["sudo"] + words : words)
    }

    /// Returns a command for the same store that takes no domain.
    func command(_ verb: [String]) -> Ailment.Remedy {
        .command([Prefs.name] + Option.words(naming: store) + verb)
    }

    /// Returns the spelling of commands on a domain in the same store.
    func spelling(of domain: String, in layer: Layer = .user) -> CommandSpelling {
        CommandSpelling(domain, in: layer, store: store)
    }

    /// Returns the command that removes a key from a domain in its layer.
    func removal(of key: String, in domain: ExaminedDomain, options: [String] = []) -> Ailment.Remedy {
        let argument = (try? KeyArgument(EntryPath([EntryPath.Component(key)])))?.argument
        return argument.map { command("delete", domain, [$0], options: options) }
            ?? .advice("no command line can name this key: prefs edit")
    }

    /// Returns the names in a folder, or none if it cannot be listed.
    func names(in folder: FilePath) -> [FileName] { ((try? files.names(in: folder)) ?? nil) ?? [] }

    /// The folders of the user's store in which settings are written.
    var writtenFolders: [FilePath] {
        [user.folder, user.folder.appending(StoreFolder.hostFolder), user.transactions]
    }
}

/// A domain in a layer with files.
struct ExaminedDomain: Sendable {
    let name: DomainName
    let layer: Layer
    let file: DomainFile
}
