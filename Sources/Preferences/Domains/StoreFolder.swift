internal import Digests
package import Platform
package import PropertyLists

/// Where a store keeps its domains.
package struct StoreFolder: Hashable, Sendable {
    /// The folder of the domains' files.
    package let folder: FilePath
    /// How the files are arranged.
    package let arrangement: Arrangement
    /// The folder of the kept versions.
    package let history: FilePath
    /// The folder of locks and notes that path addresses share with this store.
    private let notes: FilePath
    /// Who is to use the files.
    let audience: Audience
    /// The folder in which transactions over several files are noted.
    package var transactions: FilePath { notes.appending(".transactions") }

    package enum Arrangement: Hashable, Sendable {
        /// Our own: locks, by-host files and notes of transactions beside the domains.
        case own
        /// Somebody else's: nothing but the domains' files.
        case foreign(newFormat: PropertyList.Format, isReadOnly: Bool)
    }

    package init(
        _ folder: FilePath, _ arrangement: Arrangement, history: FilePath, notes: FilePath,
        audience: Audience = .owner
    ) {
        self.audience = audience
        self.folder = folder
        self.arrangement = arrangement
        self.history = history
        self.notes = notes
    }

    /// The file of a domain.
    package func file(of domain: DomainName) -> DomainFile {
        file(stem: domain.fileStem, name: domain.text, among: nil)
    }

    /// The file of a domain that holds on one host only.
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
                name: name, path: path, lock: .file(place(notes.appending(".locks"), subfolder, ".lock")),
                history: place(history, subfolder.map { _ in ".ByHost" }, ""),
                transactions: transactions)
            file.audience = audience
            return file
        case .foreign(let format, let isReadOnly):
            return DomainFile(
                name: name, path: path, lock: .itself, history: historyFolder(ofPath: path),
                transactions: transactions, newFormat: format, isReadOnly: isReadOnly)
        }
    }

    /// The file at a path, whatever it is called.
    ///
    /// - Parameter place: Where the path leads without symbolic links: by whatever way a file is addressed, it has one
    ///   history.
    package func file(
        at path: FilePath, place: FilePath? = nil, name: String, newFormat: PropertyList.Format
    ) -> DomainFile {
        DomainFile(
            name: name, path: path, lock: .itself, history: historyFolder(ofPath: place ?? path),
            transactions: transactions, newFormat: newFormat
        ).addressedByPath
    }

    /// The file that remembers what was applied from files of declarations. No domain has a name with a dot before it.
    package var recordOfApplied: DomainFile {
        DomainFile(
            name: "the record of what was applied", path: history.parent.appending(".applied.plist"),
            lock: .file(notes.appending(".locks").appending(".applied.lock")),
            history: history.appending(".applied"), transactions: transactions)
    }

    /// The domain's file that a path leads to; nil for any other. By whatever way it is addressed, it has one lock.
    package func ownFile(
        at path: FilePath, name: String, in fileSystem: some FileSystem
    ) throws(SystemFailure) -> DomainFile? {
        guard arrangement == .own, let stem = path.lastComponent.flatMap({ $0.stemOfPropertyList }), !stem.isEmpty,
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

    /// The domain whose file it is; nil for a file that is named by a path of its own.
    package func domain(ofOwn file: DomainFile) -> DomainName? {
        guard arrangement == .own, file.lock != .itself,
            let stem = file.path.lastComponent.flatMap({ $0.stemOfPropertyList })
        else {
            return nil
        }
        // Behind the last dot stands the host.
        let isByHost = file.path.parent == folder.appending(Self.hostFolder)
        return try? DomainName(isByHost ? String(stem.prefix(upTo: stem.lastIndex(of: ".") ?? stem.endIndex)) : stem)
    }

    /// A path can be longer than a name and have any characters: its hash stands for it.
    private func historyFolder(ofPath path: FilePath) -> FilePath {
        let hash = Hexadecimal.text(of: Array(SHA256.hash(path.bytes).prefix(16)))
        return history.appending(".paths").resolving(FilePath(hash) ?? ".")
    }

    package static let hostFolder: FileName = "ByHost"
}

extension StoreFolder {
    /// The domains that have a file here, sorted.
    package func domains(in fileSystem: some FileSystem) throws(SystemFailure) -> [DomainName] {
        let names = try fileSystem.names(in: folder) ?? []
        return names.compactMap(\.stemOfPropertyList).compactMap { stem in try? DomainName(stem) }.sorted()
    }

    /// The domains that have a file for the host, sorted.
    package func domains(on host: String, in fileSystem: some FileSystem) throws(SystemFailure) -> [DomainName] {
        guard arrangement == .own else { return [] }
        let names = try fileSystem.names(in: folder.appending(Self.hostFolder)) ?? []
        return names.compactMap(\.stemOfPropertyList).filter { $0.hasSuffix("." + host) }
            .compactMap { stem in try? DomainName(String(stem.dropLast(host.count + 1))) }.sorted()
    }
}
