package import MirrorEngine
package import Platform

/// A mirror's directory as this host sees it: a folder that is kept identical on all hosts by any means.
package struct SharedDirectory: Sendable {
    package let path: FilePath
    let files: any FileSystem

    package init(_ path: FilePath, in files: any FileSystem) {
        self.path = path
        self.files = files
    }

    var writers: FilePath { path.appending("w") }

    func folder(of writer: WriterID) -> FilePath { writers.resolving(FilePath(writer.description) ?? ".") }

    func place(of address: PackAddress) -> FilePath { path.resolving(FilePath(address.description) ?? ".") }

    // MARK: Markers

    /// Returns the state of the directory. An error of the system means that it is unavailable.
    func look(for mirror: MirrorID, isChosen: Bool) -> Directory {
        switch obstacle(to: mirror, isChosen: isChosen) {
        case nil: .marked([mirror])
        case .noDirectory, .noMarker, .noWriters, .linkedWriters: .unavailable
        case .otherMirror(let other): .marked([other])
        case .severalMirrors(let mirrors): .marked(mirrors)
        }
    }

    /// The reason the directory cannot be used for a mirror.
    package enum Obstacle: Hashable, Sendable {
        /// The directory does not exist, or cannot be read.
        case noDirectory
        case noMarker
        /// The marker exists, and the folder of all writers is missing.
        case noWriters
        /// The folder of all writers is a symbolic link. It is not followed, because another user may have made it.
        case linkedWriters
        /// The directory has the marker of another mirror instead.
        case otherMirror(MirrorID)
        case severalMirrors([MirrorID])
    }

    /// Returns the reason the directory cannot be used for a mirror, or nil if it can.
    ///
    /// - Parameter isChosen: Whether the mirror was selected by its number, so that other markers are ignored.
    package func obstacle(to mirror: MirrorID, isChosen: Bool) -> Obstacle? {
        guard let mirrors = try? markers(), ((try? files.status(of: path)) ?? nil)?.kind == .folder else {
            return .noDirectory
        }
        let isMarked = mirrors.contains(mirror)
        if mirrors.count > 1, !isMarked || !isChosen { return .severalMirrors(mirrors) }
        guard let first = mirrors.first else { return .noMarker }
        guard isMarked else { return .otherMirror(first) }
        switch ((try? files.status(of: writers, followingLink: false)) ?? nil)?.kind {
        case .folder: return nil
        case .symbolicLink: return .linkedWriters
        case .file, .other, nil: return .noWriters
        }
    }

    /// Returns the mirrors whose markers are in the directory, in order. Incomplete markers are ignored.
    package func markers() throws(SystemFailure) -> [MirrorID] {
        var found: Set<MirrorID> = []
        for name in try files.names(in: path) ?? [] {
            let text = name.description
            guard text.hasPrefix("mirror-"), text.hasSuffix(".id") else { continue }
            let place = path.appending(name)
            guard let status = try files.status(of: place, followingLink: false), status.kind == .file,
                status.size <= Self.mostBytesOfMarker,
                let bytes = try contents(of: place, limit: Self.mostBytesOfMarker),
                let marker = try? Marker(decoding: bytes), marker.mirror.markerName == text
            else { continue }
            found.insert(marker.mirror)
        }
        return found.sorted { $0.description < $1.description }
    }

    private static let mostBytesOfMarker = 4096

    /// Makes the directory a mirror, or restores what is missing of one.
    package func begin(_ mirror: MirrorID) throws(SystemFailure) {
        try files.makeFolders(path)
        if try !makeFolder(writers), try !isFolder(writers) { throw SystemFailure(.notAFolder, .makeFolder, writers) }
        guard let name = FileName(mirror.markerName), try !markers().contains(mirror) else { return }
        // Remove a damaged marker.
        _ = try files.remove(path.appending(name))
        try write(Marker(mirror: mirror).encoded(), to: path.appending(name), in: path)
    }

    /// Whether any writer has a folder.
    func hasWriters() throws(SystemFailure) -> Bool {
        try (files.names(in: writers) ?? []).contains { WriterID($0.description) != nil }
    }

    // MARK: Listing

    /// Returns the files in all writers' folders by name, with the sizes of our own files and of those that were faulty
    /// when they were last read. The folder of another writer that cannot be listed is closed.
    ///
    /// - Parameter chosen: The mirror that was selected among several, so that the writers of others are left out.
    func listing(
        own: WriterID, chosen: MirrorID?, faulty: some Collection<PackAddress> = EmptyCollection()
    ) throws(SystemFailure) -> Listing {
        var listing = Listing(folders: [:])
        for name in try files.names(in: writers) ?? [] {
            guard let writer = WriterID(name.description), writer.description == name.description else { continue }
            do throws(SystemFailure) {
                let names = try names(of: writer, withSizes: writer == own)
                if let chosen, let names, writer != own, isOfAnotherMirror(names.keys, writer, than: chosen) {
                    continue
                }
                listing.folders[writer] = names
            } catch {
                guard writer != own, error.code == .accessDenied || error.code == .inputOutput else { throw error }
                listing.folders[writer] = [:]
                listing.closed.insert(writer)
            }
        }
        for address in faulty where listing.folders[address.writer]?[address.name.description] != nil {
            let status = try files.status(of: place(of: address), followingLink: false)
            listing.folders[address.writer]?[address.name.description] = status?.size ?? 0
        }
        return listing
    }

    /// Whether the files of a writer belong to another mirror. A writer has one mirror, so its smallest kind of file,
    /// a note, tells.
    private func isOfAnotherMirror(
        _ names: some Collection<String>, _ writer: WriterID, than mirror: MirrorID
    ) -> Bool {
        let packs = names.compactMap { PackName($0) }
        guard let name = packs.first(where: { $0.kind == .note }) ?? packs.min(),
            case .faulty(.contradiction("mirror")) = fetch(PackAddress(writer: writer, name: name), of: mirror)
        else { return false }
        return true
    }

    /// Returns paths outside of the writers' folders that do not belong to a mirror, but resemble or are among those
    /// that do.
    func strays() throws(SystemFailure) -> Set<String> {
        let top = (try files.names(in: path) ?? []).map(\.description)
        let marked = Set(try markers().map(\.markerName))
        let resembling = top.filter { name in
            let isLikeWriters =
                name.hasPrefix("w") && name.dropFirst().first.map { !$0.isLetter && !$0.isNumber } ?? false
            return !marked.contains(name) && (isLikeWriters || name.hasPrefix("mirror-"))
        }
        let among = (try files.names(in: writers) ?? []).map(\.description).filter { name in
            !name.hasPrefix(".") && WriterID(name)?.description != name
        }
        return Set(resembling + among.map { "w/\($0)" })
    }

    /// Returns the names in a writer's folder, or nil if there is no such folder.
    private func names(of writer: WriterID, withSizes: Bool) throws(SystemFailure) -> [String: Int]? {
        let folder = folder(of: writer)
        return try isFolder(folder) ? try names(in: folder, withSizes: withSizes) : nil
    }

    private func names(in folder: FilePath, withSizes: Bool) throws(SystemFailure) -> [String: Int] {
        var sizes: [String: Int] = [:]
        for (subfolder, prefix) in [(folder, ""), (folder.appending("l"), "l/"), (folder.appending("b"), "b/")] {
            if prefix != "", try !isFolder(subfolder) { continue }
            for name in try files.names(in: subfolder) ?? [] {
                let text = prefix + name.description
                guard prefix != "" || !["l", "b", "x"].contains(text) else { continue }
                // The size of a file that does not belong to the mirror is not needed.
                sizes[text] = withSizes && PackName(text) != nil ? try size(of: subfolder.appending(name)) : 0
            }
        }
        if withSizes { sizes.merge(try blobSizes(in: folder)) { $1 } }
        return sizes
    }

    /// Returns the size of a file, 0 for anything that is not a file, and nil if it was removed meanwhile.
    func size(of place: FilePath) throws(SystemFailure) -> Int? {
        guard let status = try files.status(of: place, followingLink: false) else { return nil }
        return status.kind == .file ? status.size : 0
    }

    /// Whether there is a folder at a path. A link is not followed, because it could lead anywhere.
    func isFolder(_ place: FilePath) throws(SystemFailure) -> Bool {
        try files.status(of: place, followingLink: false)?.kind == .folder
    }

    /// Whether a writer's folder is evidently not writable. This creates no file: it checks the access to the folders,
    /// and tries to open an existing file for writing, which fails on a read-only file system.
    func isReadOnly(for writer: WriterID, with own: PackName?) -> Bool {
        let folder = folder(of: writer)
        let places = [folder, folder.appending("l")].filter { (try? isFolder($0)) ?? false }
        if !(places.isEmpty ? [writers] : places).allSatisfy(files.mayWrite) { return true }
        guard let own else { return false }
        do throws(SystemFailure) {
            _ = try files.open(place(of: PackAddress(writer: writer, name: own)), .writing)
            return false
        } catch {
            return error.code == .readOnly
        }
    }

    /// Returns the time of the last change in a writer's folder.
    package func lastChange(of writer: WriterID) -> Timestamp? {
        let folder = folder(of: writer)
        return [folder, folder.appending("l"), folder.appending("b")].compactMap { folder in
            ((try? files.status(of: folder)) ?? nil)?.modified
        }.max()
    }
}
