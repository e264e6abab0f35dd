internal import Platform
internal import Preferences

/// Where a layer of the store has the files of domains.
struct LayerPlace: Sendable {
    let layer: Layer
    private let folder: StoreFolder
    /// The host whose files these are; nil for those of all hosts.
    private let host: String?

    init(_ layer: Layer, _ folder: StoreFolder, host: String? = nil) {
        self.layer = layer
        self.folder = folder
        self.host = host
    }

    /// The file of a domain in the layer.
    func file(of name: DomainName) -> DomainFile {
        host.map { folder.file(of: name, on: $0) } ?? folder.file(of: name)
    }

    /// The domains that have a file in the layer, sorted.
    func domains(in files: any FileSystem) throws(SystemFailure) -> [DomainName] {
        guard let host else { return try folder.domains(in: files) }
        return try folder.domains(on: host, in: files)
    }

    /// The folder that the files lie in.
    var path: FilePath { host == nil ? folder.folder : folder.folder.appending(StoreFolder.hostFolder) }
}

extension Layer {
    /// The layers that a command can name, and write given the rights.
    static let writable: [Layer] = [.user, .userHost, .site, .forced]

    /// The same, the most important first.
    static let writableByRank: [Layer] = [.forced, .userHost, .user, .site]

    /// Whether the user writes it, and no administrator.
    var isOfUser: Bool { self == .user || self == .userHost }
}

extension StorePlaces {
    /// The folder in which a layer has the files of domains; nil for a layer that this store does not have.
    func folder(of layer: Layer) -> StoreFolder? {
        switch layer {
        case .user: user
        case .userHost: user.arrangement == .own ? user : nil
        case .site: site.first
        case .forced: forced
        default: nil
        }
    }

    /// The place of a layer that can be written; nil for one that this store does not have.
    ///
    /// - Parameter host: The host of the layer `user-host`; nil for this one.
    func place(of layer: Layer, on host: String? = nil) throws(StoreFailure) -> LayerPlace? {
        guard let folder = folder(of: layer) else { return nil }
        guard layer == .userHost else { return LayerPlace(layer, folder) }
        let name = if let host { host } else { try self.host() }
        return LayerPlace(layer, folder, host: name)
    }

    /// The places of all layers that can be written, the most important first.
    func writablePlaces() throws(StoreFailure) -> [LayerPlace] {
        var found: [LayerPlace] = []
        for layer in Layer.writableByRank { if let place = try place(of: layer) { found.append(place) } }
        return found
    }

    /// The places of all files that a look-up may ask, whatever the domain.
    func allPlaces() throws(StoreFailure) -> [LayerPlace] {
        try writablePlaces() + site.dropFirst().map { LayerPlace(.site, $0) }
    }
}
