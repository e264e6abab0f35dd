internal import Platform
internal import Preferences

/// The location of a layer's files.
struct LayerPlace: Sendable {
    let layer: Layer
    private let folder: StoreFolder
    /// The host for which the files are; nil for all hosts.
    private let host: String?

    init(_ layer: Layer, _ folder: StoreFolder, host: String? = nil) {
        self.layer = layer
        self.folder = folder
        self.host = host
    }

    func file(of name: DomainName) -> DomainFile {
        host.map { folder.file(of: name, on: $0) } ?? folder.file(of: name)
    }

    /// Returns the domains that have a file in the layer, sorted.
    func domains(in files: any FileSystem) throws(SystemFailure) -> [DomainName] {
        guard let host else { return try folder.domains(in: files) }
        return try folder.domains(on: host, in: files)
    }

    /// The folder of the files.
    var path: FilePath { host == nil ? folder.folder : folder.folder.appending(StoreFolder.hostFolder) }
}

extension StorePlaces {
    /// Returns the location of a writable layer, or nil if this store does not have it.
    ///
    /// - Parameter host: The host for the layer `user-host`; nil for this one.
    func place(of layer: Layer, on host: String? = nil) throws(StoreFailure) -> LayerPlace? {
        guard let folder = folder(of: layer) else { return nil }
        guard layer == .userHost else { return LayerPlace(layer, folder) }
        let name = if let host { host } else { try self.host() }
        return LayerPlace(layer, folder, host: name)
    }

    /// Returns the locations of all writable layers, highest priority first.
    func writablePlaces() throws(StoreFailure) -> [LayerPlace] {
        var found: [LayerPlace] = []
        for layer in Layer.writableByPriority { if let place = try place(of: layer) { found.append(place) } }
        return found
    }

    /// Returns the locations of all files that a lookup may read, for any domain.
    func allPlaces() throws(StoreFailure) -> [LayerPlace] {
        try writablePlaces() + site.dropFirst().map { LayerPlace(.site, $0) }
    }
}
