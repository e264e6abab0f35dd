internal import Digests
package import Platform
package import PropertyLists
internal import Synchronization

/// What a command or a `Defaults` knows of a store: the folders of its layers, the host, and the store's settings.
package final class StorePlaces: Sendable {
    package let user: StoreFolder
    /// The administrator's defaults, highest priority first.
    package let site: [StoreFolder]
    /// The administrator's forced values.
    package let forced: StoreFolder?
    let system: SystemServices
    private let hostRead = Mutex<String?>(nil)
    private let policyRead = Mutex<StorePolicy?>(nil)

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
            StoreFolder(ofAdministrator: $0.appending("prefs"))
        }
        return (site, StoreFolder(ofAdministrator: system.forcedFolder))
    }

    /// Returns the folder of another program. Its versions, locks and transactions are in our own folders.
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
    fileprivate init(own folder: FilePath, history: FilePath) {
        self.init(folder, .own, history: history, coordination: folder)
    }

    /// Creates a folder of the administrator, whose files everyone can read.
    fileprivate init(ofAdministrator folder: FilePath) {
        guard let state = Self.state(ofAdministrator: folder) else {
            self.init(
                folder, .own, history: folder.appending(".history"), coordination: folder, audience: .everyone)
            return
        }
        self.init(
            folder, .own, history: state.appending("history"), coordination: folder, locks: state.appending("locks"),
            audience: .everyone)
    }

    /// Returns the folder of the locks and versions of an administrator's folder in `/etc`, which is for configuration
    /// only: `/var/lib/prefs/etc/xdg/prefs` for `/etc/xdg/prefs`. Nil for a folder elsewhere, which contains its own.
    static func state(ofAdministrator folder: FilePath) -> FilePath? {
        guard folder.isAbsolute, folder.components.first?.elementsEqual("etc".utf8) == true else { return nil }
        return FilePath(stateOfAdministrator.bytes + folder.bytes)
    }

    static let stateOfAdministrator: FilePath = "/var/lib/prefs"
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
        if let host = hostRead.withLock(\.self) { return host }
        do throws(SystemFailure) {
            let host = try system.environment.hostIdentity(in: system.fileSystem).description
            hostRead.withLock { $0 = host }
            return host
        } catch {
            throw StoreFailure(error, "the host")
        }
    }

    /// The settings of the store, read when they are first needed.
    ///
    /// One reading is enough, also for a writer that waits for a lock: the time to wait, the format of new domains and
    /// the limits of the history do not decide whether a write is safe.
    package var policy: StorePolicy {
        policyRead.withLock { policy in
            let read = policy ?? StorePolicy(in: self, on: system)
            policy = read
            return read
        }
    }

    /// Reads the settings of the store again when they are next needed, because they were changed.
    package func reloadPolicy() { policyRead.withLock { $0 = nil } }

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
                            place == .userHost
                            ? host.map { folder.file(of: name, on: $0) }
                            : layer == .suite ? fileOfUser(name) : folder.file(of: name)
                        if let file { list.append((layer, file)) }
                    }
                }
            }
        }
        return list
    }
}

extension StorePlaces {
    /// Returns the layers whose files exist and take effect, highest priority first. A file of forced values takes
    /// effect only if only the administrator can have written it.
    ///
    /// - Parameters:
    ///   - read: Reads a file.
    ///   - skip: Called for a layer that cannot be read. Throws if it must not be skipped.
    package func layers(
        in files: [(layer: Layer, file: DomainFile)], by read: (DomainFile) throws -> DomainContents,
        orSkip skip: (Layer, any Error) throws -> Void
    ) throws -> [LayerSource] {
        try withoutMissingFolders(files).compactMap { layer, file in
            do {
                guard try layer != .forced || file.isTrusted(on: system) else { return nil }
                let contents = try read(file)
                return contents.exists ? LayerSource(layer, file, contents, on: system) : nil
            } catch {
                try skip(layer, error)
                return nil
            }
        }
    }

    /// Returns the files whose folders exist. Most users have no values that are forced, for one host, or from the
    /// administrator. A folder that is missing has no files of pending transactions either.
    package func withoutMissingFolders(
        _ files: [(layer: Layer, file: DomainFile)]
    ) -> [(layer: Layer, file: DomainFile)] {
        let folders = files.map(\.file.path.parent).reduce(into: [FilePath]()) { folders, folder in
            if !folders.contains(folder) { folders.append(folder) }
        }
        let missing = folders.filter { folder in
            do throws(SystemFailure) { return try system.fileSystem.status(of: folder) == nil } catch { return false }
        }
        return files.filter { !missing.contains($0.file.path.parent) }
    }
}

extension Layer {
    /// The places of files in the order of a look-up, each with its consecutive layers. Each folder of a place is
    /// searched for all of these layers before the next folder.
    fileprivate static let placesInOrder = allCases.reduce(into: [(place: Place, layers: [Layer])]()) { rows, layer in
        guard case .file(let place, _) = layer.provider else { return }
        if rows.last?.place == place {
            rows[rows.count - 1].layers.append(layer)
        } else {
            rows.append((place, [layer]))
        }
    }

    /// Returns the domains whose files the layer reads for a look-up in a domain.
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
        // Most users have no folder of forced values.
        for path in [path.parent, path] {
            let status = try reporting { () throws(SystemFailure) in
                do throws(SystemFailure) {
                    return try path == self.path ? self.status(on: system) : system.fileSystem.status(of: path)
                } catch  where error.operation != .useRecord {
                    throw SystemFailure(error.code, .read, self.path)
                }
            }
            guard let status, status.owner == system.administrator, !status.isWritableByAny else { return false }
        }
        return true
    }
}

/// A folder of domain files, and the folders of their versions, locks and transactions.
package struct StoreFolder: Hashable, Sendable {
    /// The folder of the domains' files.
    package let folder: FilePath
    package let arrangement: Arrangement
    /// The folder of the kept versions.
    package let history: FilePath
    /// The folder with the folder of transactions.
    private let coordination: FilePath
    /// The folder of the lock files.
    private let locks: FilePath
    /// The users who may access the files.
    let audience: Audience
    /// The folder of the records of transactions that change several files.
    package var transactions: FilePath { coordination.appending(".transactions") }

    package enum Arrangement: Hashable, Sendable {
        /// Our own layout, with locks, by-host files and transaction records beside the domains.
        case own
        /// The layout of another program, with nothing but the domains' files.
        case foreign(newFormat: PropertyList.Format, isReadOnly: Bool)
    }

    /// - Parameters:
    ///   - coordination: The folder with the folders of locks and of transactions.
    ///   - locks: The folder of locks, if it is elsewhere.
    package init(
        _ folder: FilePath, _ arrangement: Arrangement, history: FilePath, coordination: FilePath,
        locks: FilePath? = nil, audience: Audience = .owner
    ) {
        self.audience = audience
        self.locks = locks ?? coordination.appending(".locks")
        self.folder = folder
        self.arrangement = arrangement
        self.history = history
        self.coordination = coordination
    }

    /// Returns the file of a domain.
    package func file(of domain: DomainName) -> DomainFile {
        file(stem: domain.fileStem, name: domain.text, among: nil)
    }

    /// Returns the file of a domain for one host.
    package func file(of domain: DomainName, on host: String) -> DomainFile {
        file(stem: "\(domain.fileStem).\(host)", name: domain.text, among: Self.hostFolder)
    }

    private func file(stem: String, name: String, among subfolder: FileName?) -> DomainFile {
        func place(_ base: FilePath, _ subfolder: FileName?, _ ending: String) -> FilePath {
            (subfolder.map(base.appending) ?? base).resolving(FilePath(stem + ending) ?? ".")
        }
        let path = place(folder, subfolder, ".plist")
        switch arrangement {
        case .own:
            var file = DomainFile(
                name: name, path: path, lock: .file(place(locks, subfolder, ".lock")),
                history: place(history, subfolder.map { _ in Self.hostHistory }, ""),
                transactions: transactions)
            file.audience = audience
            file.folder = place(folder, subfolder, ".prefs")
            return file
        case .foreign(let format, let isReadOnly):
            return DomainFile(
                name: name, path: path, lock: .byPath, history: historyFolder(ofPath: path),
                transactions: transactions, newFormat: format, isReadOnly: isReadOnly)
        }
    }

    /// Returns the file at a path.
    ///
    /// - Parameter place: The path without symbolic links. It determines the history, so that all paths of a file have
    ///   the same one.
    package func file(
        at path: FilePath, place: FilePath? = nil, name: String, newFormat: PropertyList.Format
    ) -> DomainFile {
        DomainFile(
            name: name, path: path, lock: .byPath, history: historyFolder(ofPath: place ?? path),
            transactions: transactions, newFormat: newFormat
        ).addressedByPath
    }

    /// The file with the record of values applied from declarations. No domain name begins with a dot.
    package var recordOfApplied: DomainFile {
        var file = DomainFile(
            name: "the record of applied files", path: history.parent.appending(".applied.plist"),
            lock: .file(locks.appending(".applied.lock")),
            history: history.appending(".applied"), transactions: transactions)
        // It may be the first file in the folder, which must be readable for those who may read the domains.
        file.audience = audience
        return file
    }

    /// Returns the domain file at a path, so that it has the same lock as when it is addressed by name, or nil for any
    /// other file.
    package func ownFile(
        at path: FilePath, name: String, in fileSystem: some FileSystem
    ) throws(SystemFailure) -> DomainFile? {
        guard arrangement == .own,
            let stem = path.lastComponent.flatMap({ $0.propertyListStem ?? $0.folderStem }), !stem.isEmpty,
            let place = try fileSystem.status(of: path.parent)?.number
        else {
            return nil
        }
        for subfolder in [nil, Self.hostFolder] {
            if try fileSystem.status(of: subfolder.map(folder.appending) ?? folder)?.number == place {
                return file(stem: stem, name: name, among: subfolder)
            }
        }
        return nil
    }

    /// Returns the domain with a file in its folder, and the key whose value the file has, or nil if the file has the
    /// key too. Returns nil for a path that leads to no folder of a domain.
    package func ownMember(
        at path: FilePath, in fileSystem: some FileSystem
    ) throws(SystemFailure) -> (domain: DomainName, key: String?)? {
        guard let name = path.lastComponent, path.parent.lastComponent?.folderStem != nil,
            let file = try ownFile(at: path.parent, name: "", in: fileSystem), let domain = domain(ofOwn: file)
        else { return nil }
        return (domain, MemberName(name)?.key)
    }

    /// Returns the domain of a file, or nil for a file that is addressed by its own path.
    package func domain(ofOwn file: DomainFile) -> DomainName? {
        guard arrangement == .own, file.lock != .byPath,
            let stem = file.path.lastComponent.flatMap({ $0.propertyListStem })
        else {
            return nil
        }
        // The host follows the last dot.
        let isByHost = file.path.parent == folder.appending(Self.hostFolder)
        let end = isByHost ? stem.unicodeScalars.lastIndex(of: ".") : nil
        return try? DomainName(String(stem[..<(end ?? stem.endIndex)]))
    }

    /// Returns a folder named by the hash of a path, because a path can be too long for a name and have any characters.
    private func historyFolder(ofPath path: FilePath) -> FilePath {
        let hash = Hexadecimal.text(of: Array(SHA256.hash(path.bytes).prefix(16)))
        return history.appending(".paths").resolving(FilePath(hash) ?? ".")
    }

    package static let hostFolder: FileName = "ByHost"
    static let hostHistory: FileName = ".ByHost"
}

extension StoreFolder {
    /// Returns the domains that have a file, sorted.
    package func domains(in fileSystem: some FileSystem) throws(SystemFailure) -> [DomainName] {
        Set(try stems(in: folder, fileSystem).compactMap { stem in try? DomainName(stem) }).sorted()
    }

    /// Returns the names of domain files and folders without their extensions. A folder without values is not a domain.
    private func stems(in folder: FilePath, _ fileSystem: some FileSystem) throws(SystemFailure) -> [String] {
        var stems: [String] = []
        for name in try fileSystem.names(in: folder) ?? [] {
            if let stem = name.propertyListStem {
                stems.append(stem)
            } else if arrangement == .own, let stem = name.folderStem,
                let names = try? fileSystem.names(in: folder.appending(name)),
                names.contains(where: { MemberName($0) != nil })
            {
                stems.append(stem)
            }
        }
        return stems
    }

    /// Returns the hosts for which a domain has a file or a kept version, sorted.
    package func hosts(in fileSystem: some FileSystem) throws(SystemFailure) -> [String] {
        guard arrangement == .own else { return [] }
        let stems =
            try stems(in: folder.appending(Self.hostFolder), fileSystem)
            + (fileSystem.names(in: history.appending(Self.hostHistory)) ?? []).map(\.description)
        let hosts = stems.compactMap { stem in
            stem.unicodeScalars.lastIndex(of: ".").map { String(stem[$0...].dropFirst()) }
        }
        return Set(hosts.map { Name($0) }).sorted().map(\.text)
    }

    /// Returns the domains that have a file for a host, sorted.
    package func domains(on host: String, in fileSystem: some FileSystem) throws(SystemFailure) -> [DomainName] {
        guard arrangement == .own else { return [] }
        let stems = try stems(in: folder.appending(Self.hostFolder), fileSystem)
        let names = stems.compactMap { $0.dropping(ending: "." + host) }
        return Set(names.compactMap { name in try? DomainName(name) }).sorted()
    }
}
