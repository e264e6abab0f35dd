internal import Platform
internal import PropertyLists

/// The folders of a store's layers.
package struct StorePlaces: Sendable {
    package let user: StoreFolder
    /// The administrator's defaults, highest priority first.
    package let site: [StoreFolder]
    /// The administrator's forced values.
    package let forced: StoreFolder?
    private let system: SystemServices

    /// Determines the folders of a kind of store, or nil for a store without files.
    package init?(_ kind: Store.Kind, on system: SystemServices) throws(StoreFailure) {
        self.system = system
        (site, forced) = kind == .native ? Self.ofAdministrator(system) : ([], nil)
        switch kind {
        case .memory: return nil
        case .native:
            user = try StoreFolder(
                own: system.storeFolder(.configuration).appending("prefs"),
                history: system.storeFolder(.state).resolving("prefs/history"))
        case .folder(let path): user = StoreFolder(own: path, history: path.appending(".history"))
        case .foundation:
            user = try Self.foreign(system.storeFolder(.configuration), .xml, isReadOnly: false, system)
        case .gnustep:
            user = try Self.foreign(
                system.storeHome().resolving("GNUstep/Defaults"), .openstep, isReadOnly: true, system)
        }
    }

    private static func ofAdministrator(_ system: SystemServices) -> (site: [StoreFolder], forced: StoreFolder?) {
        let site = system.environment.systemFolders(.configuration).map {
            StoreFolder(own: $0.appending("prefs"), history: $0.resolving("prefs/.history"), audience: .everyone)
        }
        let forced = system.forcedFolder
        return (site, StoreFolder(own: forced, history: forced.appending(".history"), audience: .everyone))
    }

    /// Returns the folder of another program, whose versions and locks are kept in ours.
    private static func foreign(
        _ folder: FilePath, _ format: PropertyList.Format, isReadOnly: Bool, _ system: SystemServices
    ) throws(StoreFailure) -> StoreFolder {
        StoreFolder(
            folder, .foreign(newFormat: format, isReadOnly: isReadOnly),
            history: try system.storeFolder(.state).resolving("prefs/history"),
            coordination: try system.storeFolder(.configuration).appending("prefs"))
    }
}

extension StoreFolder {
    fileprivate init(own folder: FilePath, history: FilePath, audience: Audience = .owner) {
        self.init(folder, .own, history: history, coordination: folder, audience: audience)
    }
}

extension SystemServices {
    fileprivate func storeFolder(_ kind: Environment.BaseFolder) throws(StoreFailure) -> FilePath {
        try underHome { try environment.folder(kind, in: fileSystem) }
    }

    fileprivate func storeHome() throws(StoreFailure) -> FilePath {
        try underHome { try environment.home(in: fileSystem) }
    }

    private func underHome(_ body: () throws -> FilePath) throws(StoreFailure) -> FilePath {
        do {
            return try body()
        } catch let failure as SystemFailure {
            throw StoreFailure(failure, "the user's home")
        } catch {
            throw StoreFailure(.noHomeFolder, "the user's home")
        }
    }
}

extension StorePlaces {
    /// Returns the identifier of this host in file names.
    package func host() throws(StoreFailure) -> String {
        do throws(SystemFailure) {
            return try system.environment.hostIdentity(in: system.fileSystem).description
        } catch {
            throw StoreFailure(error, "the host")
        }
    }

    /// Returns the folders of a place, highest priority first. There are none if this store does not have the place.
    private func folders(of place: Layer.Place) -> [StoreFolder] {
        switch place {
        case .user: [user]
        case .userHost: user.arrangement == .own ? [user] : []
        case .site: site
        case .forced: forced.map { [$0] } ?? []
        }
    }

    /// Returns the folder of a layer that a command can name, or nil if this store does not have the layer.
    package func folder(of layer: Layer) -> StoreFolder? {
        if case .file(let place, .domain) = layer.provider { folders(of: place).first } else { nil }
    }

    /// Returns the files to search for a domain, in order.
    ///
    /// - Parameter suites: Other domains to search after the user's own, highest priority first.
    package func searchList(
        _ domain: DomainName, suites: [DomainName] = []
    ) throws(StoreFailure) -> [(layer: Layer, file: DomainFile)] {
        let host = user.arrangement == .own ? try host() : nil
        var list: [(layer: Layer, file: DomainFile)] = []
        for (place, layers) in Layer.placesInOrder {
            for folder in folders(of: place) {
                for layer in layers {
                    for name in layer.domains(for: domain, suites) {
                        let file =
                            place == .userHost ? host.map { folder.file(of: name, on: $0) } : folder.file(of: name)
                        if let file { list.append((layer, file)) }
                    }
                }
            }
        }
        return list
    }
}

extension Layer {
    /// The places of files in the order of a look-up. Each folder of a place is searched for all layers of its row.
    fileprivate static let placesInOrder = allCases.reduce(into: [(place: Place, layers: [Layer])]()) { rows, layer in
        guard case .file(let place, _) = layer.provider else { return }
        if rows.last?.place == place {
            rows[rows.count - 1].layers.append(layer)
        } else {
            rows.append((place, [layer]))
        }
    }

    /// Returns the domains that the layer has for a look-up in a domain.
    func domains(for name: DomainName, _ suites: [DomainName]) -> [DomainName] {
        guard case .file(let place, let subject) = provider else { return [] }
        switch subject {
        // The global domain has layers of its own. Only forced values have no other layer for it.
        case .domain: return name.isGlobal && place != .forced ? [] : [name]
        case .suites: return suites
        case .globalDomain: return [.global]
        }
    }
}

extension DomainFile {
    /// Whether the file exists and only the administrator can have written it, so that it may force values.
    ///
    /// Throws if the file cannot be examined, because that does not mean that it is absent.
    package func isTrusted(on system: SystemServices) throws(StoreFailure) -> Bool {
        for path in [path, path.parent] {
            let status = try reporting { () throws(SystemFailure) in
                do throws(SystemFailure) {
                    return try path == self.path ? self.status(on: system) : system.fileSystem.status(of: path)
                } catch {
                    throw SystemFailure(error.code, .read, self.path)
                }
            }
            guard let status, status.owner == system.administrator, !status.isWritableByAny else { return false }
        }
        return true
    }
}
