internal import Platform
internal import Preferences
internal import PropertyLists

/// What all examinations look at: the store, and each domain that it has in any layer.
struct Checkup: Sendable {
    let access: StoreAccess
    /// The words that lead a command to the same store.
    let storeWords: [String]
    let domains: [ExaminedDomain]

    var machine: Machine { access.machine }
    var files: any FileSystem { access.machine.fileSystem }
    var user: StoreFolder { access.places.user }

    init(_ invocation: Invocation, _ surroundings: Surroundings) throws {
        access = try StoreAccess(invocation, surroundings)
        storeWords = invocation[.store].map { [Option.store.name, $0] } ?? []
        domains = try Self.domains(access.places, surroundings.fileSystem)
    }

    private static func domains(_ places: StorePlaces, _ files: any FileSystem) throws -> [ExaminedDomain] {
        var domains: [ExaminedDomain] = []
        func add(_ folder: StoreFolder, _ layer: Layer) {
            // A folder that may not be listed is a finding of its own.
            for name in (try? folder.domains(in: files)) ?? [] {
                domains.append(ExaminedDomain(name: name, layer: layer, file: folder.file(of: name)))
            }
        }
        if let forced = places.forced { add(forced, .forced) }
        if places.user.arrangement == .own {
            let host = try places.host()
            for name in (try? places.user.domains(on: host, in: files)) ?? [] {
                let file = places.user.file(of: name, on: host)
                domains.append(ExaminedDomain(name: name, layer: .userHost, file: file))
            }
        }
        add(places.user, .user)
        if let site = places.site.first { add(site, .site) }
        return domains
    }

    /// A command on a domain in its layer.
    func command(
        _ verb: String, _ domain: ExaminedDomain, _ operands: [String] = [], options: [String] = []
    ) -> Finding.Remedy {
        let host = domain.layer == .userHost ? [Option.currentHost.name] : []
        let layer = [.site, .forced].contains(domain.layer) ? [Option.layer.name, domain.layer.name] : []
        let words = ShellWord.command(storeWords + host, verb, layer + options, domain.name.text, operands)
        let needsRights = !layer.isEmpty && machine.environment.user != machine.administrator
        return .command(needsRights ? ["sudo"] + words : words)
    }

    /// What lies in a folder; nothing where it may not be listed.
    func names(in folder: FilePath) -> [FileName] { ((try? files.names(in: folder)) ?? nil) ?? [] }

    /// The folders of the user's store in which files of settings are written, as far as they exist.
    var writtenFolders: [FilePath] {
        [user.folder, user.folder.appending(StoreFolder.hostFolder), user.transactions]
    }
}

/// A domain in one of the layers that have files.
struct ExaminedDomain: Sendable {
    let name: DomainName
    let layer: Layer
    let file: DomainFile
}
