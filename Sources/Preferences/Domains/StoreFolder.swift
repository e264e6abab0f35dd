internal import Digests
package import Platform
package import PropertyLists

/// The folders of a store.
package struct StoreFolder: Hashable, Sendable {
    /// The folder of the domains' files.
    package let folder: FilePath
    package let arrangement: Arrangement
    /// The folder of the kept versions.
    package let history: FilePath
    /// The folder with the folders of locks and of transactions.
    private let coordination: FilePath
    /// The users who may access the files.
    let audience: Audience
    /// The folder of the records of transactions over several files.
    package var transactions: FilePath { coordination.appending(".transactions") }

    package enum Arrangement: Hashable, Sendable {
        /// Our own layout, with locks, by-host files and transaction records beside the domains.
        case own
        /// The layout of another program, with nothing but the domains' files.
        case foreign(newFormat: PropertyList.Format, isReadOnly: Bool)
    }

    package init(
        _ folder: FilePath, _ arrangement: Arrangement, history: FilePath, coordination: FilePath,
        audience: Audience = .owner
    ) {
        self.audience = audience
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
                name: name, path: path, lock: .file(place(coordination.appending(".locks"), subfolder, ".lock")),
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
    /// - Parameter place: The path without symbolic links. It makes the file have one history however it is addressed.
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
        DomainFile(
            name: "the record of applied files", path: history.parent.appending(".applied.plist"),
            lock: .file(coordination.appending(".locks").appending(".applied.lock")),
            history: history.appending(".applied"), transactions: transactions)
    }

    /// Returns the domain file at a path, or nil for any other file. However it is addressed, it has one lock.
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

    /// Returns the domain of a file, or nil for a file that is addressed by its own path.
    package func domain(ofOwn file: DomainFile) -> DomainName? {
        guard arrangement == .own, file.lock != .byPath,
            let stem = file.path.lastComponent.flatMap({ $0.propertyListStem })
        else {
            return nil
        }
        // The host follows the last dot.
        let isByHost = file.path.parent == folder.appending(Self.hostFolder)
        return try? DomainName(isByHost ? String(stem.prefix(upTo: stem.lastIndex(of: ".") ?? stem.endIndex)) : stem)
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

    /// Returns the domains that have a file for a host, sorted.
    package func domains(on host: String, in fileSystem: some FileSystem) throws(SystemFailure) -> [DomainName] {
        guard arrangement == .own else { return [] }
        let stems = try stems(in: folder.appending(Self.hostFolder), fileSystem)
        return Set(
            stems.filter { $0.hasSuffix("." + host) }
                .compactMap { stem in try? DomainName(String(stem.dropLast(host.count + 1))) }
        ).sorted()
    }
}
