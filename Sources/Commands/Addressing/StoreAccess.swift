internal import Platform
internal import Preferences
internal import PropertyLists

/// The settings as the options of a command name them: the store, the layer and the host.
struct StoreAccess {
    let surroundings: Surroundings
    let machine: Machine
    let places: StorePlaces
    let schemas: KnownSchemas
    /// What the user has set of the store itself. Only writers ask.
    var policy: StorePolicy { StorePolicy(in: places, on: machine) }
    /// What the classic verbs see, and what is written.
    let layer: Layer
    /// The host of the layer `user-host`.
    private let host: String?

    init(_ invocation: Invocation, _ surroundings: Surroundings) throws {
        self.surroundings = surroundings
        machine = surroundings.machine
        let kind = try invocation[.store].map { try Self.kind($0, surroundings) } ?? .native
        guard let places = try StorePlaces(kind, on: machine) else {
            throw CommandFailure(.usage, "this store has no files")
        }
        self.places = places
        schemas = KnownSchemas(kind, machine)
        let named = invocation[.host]
        if let named { try Self.check(host: named) }
        let isByHost = invocation.has(.currentHost) || named != nil
        layer = try Self.layer(invocation[.layer] ?? (isByHost ? "user-host" : "user"), places)
        host = layer == .userHost ? try named ?? places.host() : nil
        if isByHost, layer != .userHost {
            throw CommandFailure(.usage, "the layer \(layer) does not depend on the host")
        }
        if let note = places.user.noteOfOthers(on: machine) {
            try surroundings.note(
                "\(note): another user has decided on a change of several files in this store, and only that user can carry it out"
            )
        }
    }

    private static func kind(_ word: String, _ surroundings: Surroundings) throws -> Store.Kind {
        if let kind = Option.store(named: word) { return kind }
        let path = try surroundings.absolutePath(word)
        // A name that is not spelled well must not become a folder.
        guard try word.contains("/") || surroundings.fileSystem.status(of: path) != nil else {
            let hint = Spelling.hint(word, among: Option.stores.map(\.name))
            throw CommandFailure(
                .usage,
                "there is no store \(ShellWord.quoted(word.onOneLine))\(hint.isEmpty ? "; a folder is written with a slash, as in ./\(word.onOneLine)" : hint)"
            )
        }
        return .folder(path)
    }

    /// The file of a domain is named `domain.host`, of which the last dot must be ours: else it would be another
    /// domain's for another host. What a machine is called without being asked has none.
    private static func check(host: String) throws {
        let isName = (try? DomainName(host)) != nil
        guard !isName || host.utf8.contains(UInt8(ascii: ".")) else { return }
        let reason = isName ? ": it has a dot in it" : ""
        throw CommandFailure(.usage, "\(ShellWord.quoted(host.onOneLine)) is no name of a host\(reason)")
    }

    private static func layer(_ word: String, _ places: StorePlaces) throws -> Layer {
        guard let layer = Layer.writable.first(where: { $0.name == word }) else {
            throw CommandFailure(.usage, "there is no layer \(word) here")
        }
        try check(layer, places)
        return layer
    }

    /// Refuses a layer that the store does not have.
    func check(_ layer: Layer) throws { try Self.check(layer, places) }

    private static func check(_ layer: Layer, _ places: StorePlaces) throws {
        guard places.folder(of: layer) != nil else {
            throw CommandFailure(.usage, "this store has no layer \(layer)")
        }
    }
}

// MARK: Domains

extension StoreAccess {
    /// The domain or file that a word names.
    func domain(_ word: String) throws -> AddressedDomain {
        if DomainWord.isPath(word) {
            let file = try self.file(at: word)
            return AddressedDomain(word: word, name: nil, file: file, layer: .user)
        }
        return try domain(DomainName(word: word))
    }

    func domain(_ name: DomainName) throws -> AddressedDomain { try domain(name, in: layer) }

    /// A domain in one of the layers that can be written.
    func domain(_ name: DomainName, in layer: Layer) throws -> AddressedDomain {
        AddressedDomain(word: name.text, name: name, file: try file(of: name, in: layer), layer: layer)
    }

    /// A domain in both of the layers that are the user's, or in the only one.
    func domainsOfUser(_ name: DomainName) throws -> [AddressedDomain] {
        try [Layer.user, .userHost].filter { places.folder(of: $0) != nil }.map { try domain(name, in: $0) }
    }

    /// The file of a domain in one of the layers that can be written.
    func file(of name: DomainName, in layer: Layer) throws(StoreFailure) -> DomainFile {
        (try places.place(of: layer, on: host) ?? LayerPlace(.user, places.user)).file(of: name)
    }

    /// A file by its path; `.plist` may be left off.
    private func file(at word: String) throws -> DomainFile {
        guard !word.hasSuffix("/") else {
            throw CommandFailure(.usage, "\(word.onOneLine): names a folder, not a file")
        }
        var path = try surroundings.absolutePath(word)
        if try machine.fileSystem.status(of: path) == nil, !word.hasSuffix(".plist"),
            let longer = FilePath(path.bytes + Array(".plist".utf8))
        {
            path = longer
        }
        let target = try path.followingLinks(in: machine.fileSystem)
        if let file = try places.user.ownFile(at: target, name: word, in: machine.fileSystem) { return file }
        let place = (try? path.resolvingLinks(in: machine.fileSystem)) ?? target
        return places.user.file(
            at: path, place: place, name: word,
            newFormat: PropertyList.Format(fileName: word) == .json ? .json : .xml)
    }

    /// The names of all domains that have a file in the layer.
    func names() throws -> [DomainName] { try names(in: layer) }

    func names(in layer: Layer) throws -> [DomainName] {
        try places.place(of: layer, on: host).map(names) ?? []
    }

    func names(in place: LayerPlace) throws -> [DomainName] {
        // A domain that a transaction has made need not have its file yet.
        place.file(of: .global).finishTransactions(on: machine)
        return try place.domains(in: machine.fileSystem)
    }
}

/// A domain or a file that the command line named.
struct AddressedDomain: Sendable {
    /// What it is called in messages.
    let word: String
    /// Nil for a file that was named by its path.
    let name: DomainName?
    var file: DomainFile
    /// The layer of the file.
    let layer: Layer

    /// How `read` heads it.
    var heading: String { name?.isGlobal == true ? "Apple Global Domain" : word }

    /// What it is called where it is named together with a key.
    var application: String { name?.isGlobal == true ? "kCFPreferencesAnyApplication" : word }
}
