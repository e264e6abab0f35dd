package import MirrorEngine
package import Platform

/// A mirror's directory as this host sees it: a folder that is kept identical on all hosts by any means.
package struct SharedDirectory: Sendable {
    package let path: FilePath
    let files: any FileSystem
    /// Where the long values in files of other hosts are kept, or nil to keep them in memory.
    private let longValues: LongValueFiles?
    /// The signatures of the files, or nil if the mirror has none.
    let signatures: FileSignatures?

    package init(_ path: FilePath, in files: any FileSystem) { self.init(path, in: files, longValues: nil) }

    init(
        _ path: FilePath, in files: any FileSystem, longValues: LongValueFiles?, signatures: FileSignatures? = nil
    ) {
        self.path = path
        self.files = files
        self.longValues = longValues
        self.signatures = signatures
    }

    var writers: FilePath { path.appending("w") }

    func folder(of writer: WriterID) -> FilePath { writers.resolving(FilePath(writer.description) ?? ".") }

    func place(of address: PackAddress) -> FilePath { path.resolving(FilePath(address.description) ?? ".") }

    // MARK: Markers

    /// Returns the state of the directory. An error of the system means that it is unavailable.
    func look(for mirror: MirrorID, isChosen: Bool) -> Directory {
        switch obstacle(to: mirror, isChosen: isChosen) {
        case nil: .marked([mirror])
        case .noDirectory, .unreadable, .noMarker, .noWriters, .linkedWriters, .earlierFormat: .unavailable
        case .otherMirror(let other): .marked([other])
        case .severalMirrors(let mirrors): .marked(mirrors)
        }
    }

    /// The reason the directory cannot be used for a mirror.
    package enum Obstacle: Hashable, Sendable {
        case noDirectory
        /// The directory cannot be read.
        case unreadable(ErrorCode)
        case noMarker
        /// The marker exists, and the folder of all writers is missing.
        case noWriters
        /// The folder of all writers is a symbolic link. It is not followed, because another user may have made it.
        case linkedWriters
        /// The directory has the marker of another mirror instead.
        case otherMirror(MirrorID)
        case severalMirrors([MirrorID])
        /// The directory has a mirror of an earlier format, which is not read.
        case earlierFormat
    }

    /// Returns the reason the directory cannot be used for a mirror, or nil if it can.
    ///
    /// - Parameter isChosen: Whether the mirror was selected by its number, so that other markers are ignored.
    package func obstacle(to mirror: MirrorID, isChosen: Bool) -> Obstacle? {
        let mirrors: [MirrorID]
        do throws(SystemFailure) {
            guard try files.status(of: path)?.kind == .folder else { return .noDirectory }
            mirrors = try markers()
        } catch {
            return .unreadable(error.code)
        }
        let isMarked = mirrors.contains(mirror)
        if mirrors.count > 1, !isMarked || !isChosen { return .severalMirrors(mirrors) }
        guard let first = mirrors.first else { return (try? hasEarlierFormat()) ?? false ? .earlierFormat : .noMarker }
        guard isMarked else { return .otherMirror(first) }
        switch (try? files.status(of: writers, followingLink: false))?.kind {
        case .folder: return nil
        case .symbolicLink: return .linkedWriters
        case .file, .pipe, .other, nil: return .noWriters
        }
    }

    /// Returns the mirrors whose markers are in the directory, in order. Incomplete markers are ignored.
    package func markers() throws(SystemFailure) -> [MirrorID] {
        Set(try validMarkers().map(\.mirror)).sorted { $0.description < $1.description }
    }

    private func validMarkers() throws(SystemFailure) -> [Marker] {
        try markerFiles().compactMap { name, bytes in
            (try? Marker(decoding: bytes)).flatMap { $0.mirror.markerName == name ? $0 : nil }
        }
    }

    /// Returns the first host that may write, according to the marker of a mirror; nil if its files are not signed.
    package func signers(of mirror: MirrorID) throws(SystemFailure) -> Signers? {
        try validMarkers().first { $0.mirror == mirror && $0.signers != nil }?.signers
    }

    /// Whether the directory has the marker of a mirror of an earlier format.
    package func hasEarlierFormat() throws(SystemFailure) -> Bool {
        try markerFiles().contains { _, bytes in
            do throws(PackFault) {
                _ = try Marker(decoding: bytes)
                return false
            } catch {
                return error == .olderVersion
            }
        }
    }

    /// Returns the names and the contents of files that can be markers.
    private func markerFiles() throws(SystemFailure) -> [(name: String, bytes: [UInt8])] {
        var found: [(name: String, bytes: [UInt8])] = []
        for name in try files.names(in: path) ?? [] {
            let text = name.description
            guard text.hasPrefix("mirror-"), text.hasSuffix(".id") else { continue }
            let place = path.appending(name)
            guard let status = try files.status(of: place, followingLink: false), status.kind == .file,
                status.size <= Self.mostBytesOfMarker,
                let bytes = try contents(of: place, limit: Self.mostBytesOfMarker)
            else { continue }
            found.append((text, bytes))
        }
        return found
    }

    private static let mostBytesOfMarker = 4096

    /// Makes the directory a mirror, or restores its missing parts.
    ///
    /// - Parameter signers: The first host that may write, if the files are signed.
    package func begin(_ mirror: MirrorID, signers: Signers? = nil) throws(SystemFailure) {
        try files.makeFolders(path)
        if try !makeFolder(writers), try !isFolder(writers) { throw SystemFailure(.notAFolder, .makeFolder, writers) }
        guard let name = FileName(mirror.markerName), try !markers().contains(mirror) else { return }
        // Remove a damaged marker.
        _ = try files.remove(path.appending(name))
        try write(Marker(mirror: mirror, signers: signers).encoded(), to: path.appending(name), in: path)
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
        // A folder that has disappeared since the marker was checked is not an empty mirror.
        guard let folders = try files.names(in: writers) else { throw SystemFailure(.noSuchFile, .list, writers) }
        var listing = Listing(folders: [:])
        for name in folders {
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
            let status = try? files.status(of: place(of: address), followingLink: false)
            let size = (status?.size ?? 0) - (address.writer == own ? signatures?.size ?? 0 : 0)
            listing.folders[address.writer]?[address.name.description] = max(0, size)
        }
        return listing
    }

    /// Whether the files of a writer belong to another mirror. A writer has one mirror, so its smallest kind of file,
    /// a note, shows which.
    private func isOfAnotherMirror(
        _ names: some Collection<String>, _ writer: WriterID, than mirror: MirrorID
    ) -> Bool {
        let packs = names.compactMap { PackName($0) }
        guard let name = packs.first(where: { $0.kind == .note }) ?? packs.min(),
            let (bytes, _) = unverifiedContents(PackAddress(writer: writer, name: name)),
            let other = Pack.mirror(of: bytes)
        else { return false }
        return other != mirror
    }

    /// Returns the paths that do not belong to a mirror and resemble a marker or the folder of all writers, or are in
    /// that folder.
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
                // The size of our own file, without its signature.
                let isSized = withSizes && PackName(text) != nil
                sizes[text] = isSized ? try size(of: subfolder.appending(name)).map { $0 - (signatures?.size ?? 0) } : 0
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
            (try? files.status(of: folder))?.modified
        }.max()
    }
}

// Access to single files.
extension SharedDirectory {
    /// The size limit of a file of a mirror.
    static let mostBytes = EngineLimits().bytesOfFile + SignedEnd.mostBytes

    /// Returns the contents of a file, or nil if there is none. A link is not followed, even if it was created just
    /// now.
    func contents(of place: FilePath, limit: Int) throws(SystemFailure) -> [UInt8]? {
        try files.open(place, .readingNoFollow)?.contents(limit: limit)
    }

    /// Reads and verifies a file. A link is not followed, because it could lead anywhere.
    ///
    /// - Parameter usesKept: Whether blobs whose values this host keeps are not read.
    func fetch(
        _ address: PackAddress, of mirror: MirrorID, usesKept: Bool = false,
        unless hasAll: (BasePack, ContentHash) -> Bool = { _, _ in false }
    ) -> Fetch {
        let place = place(of: address)
        do {
            guard try files.status(of: place, followingLink: false)?.kind == .file,
                var bytes = try contents(of: place, limit: Self.mostBytes)
            else {
                return .unreadable
            }
            if let signatures {
                guard let end = SignedEnd(of: bytes) else { return .faulty(.unsigned) }
                switch signatures.validity(of: end, at: address) {
                case .valid: bytes.removeLast(end.size)
                case .invalid: return .faulty(.unsigned)
                case .unknown: return .unreadable
                }
            }
            return .pack(try pack(bytes, at: address, of: mirror, usesKept: usesKept, unless: hasAll))
        } catch let fault as PackFault {
            return .faulty(fault)
        } catch {
            return .unreadable
        }
    }

    /// Whether a file has a valid signature of its contents, or the mirror has no signatures. The first valid note of a
    /// writer determines the writer's key.
    func isSigned(_ address: PackAddress, of mirror: MirrorID) -> Bool {
        guard let signatures else { return true }
        let place = place(of: address)
        // The end of a large file costs little to read.
        guard let status = try? files.status(of: place, followingLink: false), status.kind == .file,
            let tail = try? files.open(place, .readingNoFollow)?.end(limit: SignedEnd.mostBytes),
            let end = SignedEnd(of: tail), end.claimedSize == UInt64(max(0, status.size - end.size)),
            signatures.validity(of: end, at: address) == .valid,
            let (bytes, whole) = unverifiedContents(address), whole == end,
            Pack.isFile(bytes, at: address, of: mirror)
        else { return false }
        signatures.bind(address.writer, to: end.signature.key)
        return true
    }

    /// Whether a file names the key of a host that may not write.
    func isOfStranger(_ address: PackAddress) -> Bool {
        guard let signatures,
            let tail = try? files.open(place(of: address), .readingNoFollow)?
                .end(limit: SignedEnd.mostBytes), let end = SignedEnd(of: tail)
        else { return false }
        return !signatures.signers.admits(end.signature.key)
    }

    /// Reads a file without its signature, and the signature, which is not checked.
    private func unverifiedContents(_ address: PackAddress) -> (bytes: [UInt8], end: SignedEnd?)? {
        let place = place(of: address)
        guard (try? files.status(of: place, followingLink: false))?.kind == .file,
            var bytes = try? contents(of: place, limit: Self.mostBytes)
        else { return nil }
        let end = SignedEnd(of: bytes)
        bytes.removeLast(end?.size ?? 0)
        return (bytes, end)
    }

    /// Reads a note and its signature, which is not checked.
    func unverifiedNote(_ address: PackAddress, of mirror: MirrorID) -> (note: WriterNote, end: SignedEnd)? {
        guard address.name.kind == .note, let (bytes, end) = unverifiedContents(address), let end,
            let pack = try? Pack(decoding: bytes, at: address, of: mirror), case .note(let note) = pack.content
        else { return nil }
        return (note, end)
    }

    /// Creates a file of our own after its blobs. An existing file with the same bytes is accepted.
    ///
    /// - Parameter end: The signature of the file.
    func create(_ address: PackAddress, _ pack: EncodedPack, signedBy end: [UInt8] = []) throws(SystemFailure) {
        for blob in pack.blobs {
            let (place, bytes) = (place(of: blob.name, of: address.writer), blob.value.bytes)
            guard blob.reference.describes(bytes) else { throw SystemFailure(.inputOutput, .read, place) }
            try create(place, bytes, of: address.writer)
        }
        try create(place(of: address), pack.bytes + end, of: address.writer)
    }

    private func create(_ place: FilePath, _ content: [UInt8], of writer: WriterID) throws(SystemFailure) {
        // Another user may have put a link to a folder of ours in its place.
        guard try isFolder(writers) else { throw SystemFailure(.notAFolder, .open, writers) }
        let folder = folder(of: writer)
        try makeOwnFolder(folder)
        if place.parent.parent != folder, place.parent != folder { try makeOwnFolder(place.parent.parent) }
        if place.parent != folder { try makeOwnFolder(place.parent) }
        if let kind = try files.status(of: place, followingLink: false)?.kind {
            if kind == .file, try contents(of: place, limit: Self.mostBytes) == content {
                return try files.synchronizeFolder(place.parent)
            }
            // Only we may write here, so this is a remnant of our own file.
            try files.remove(place)
        }
        try write(content, to: place, in: folder)
    }

    func remove(_ address: PackAddress) throws(SystemFailure) { try files.remove(place(of: address)) }

    func remove(_ blob: BlobName, of writer: WriterID) throws(SystemFailure) {
        try files.remove(place(of: blob, of: writer))
    }

    /// Removes a writer's folder and its contents, unless a file has arrived since its files were joined. Returns
    /// whether it was removed.
    func removeFolder(of writer: WriterID, joined: Set<UInt64>) throws(SystemFailure) -> Bool {
        let names = try names(of: writer, withSizes: false) ?? [:]
        guard names.keys.compactMap({ PackName($0) }).allSatisfy({ joined.contains($0.hash) }) else { return false }
        try files.removeTree(folder(of: writer))
        return true
    }

    // MARK: Writing

    /// Writes a temporary file, syncs it, and renames it to its name.
    func write(_ bytes: [UInt8], to place: FilePath, in folder: FilePath) throws(SystemFailure) {
        let permissions = permissions
        guard let name = FileName("~\(files.unpredictableName()).tmp") else { return }
        let temporary = folder.appending(name)
        do throws(SystemFailure) {
            guard let file = try files.open(temporary, .creatingNew(permissions.ofFiles)) else {
                throw SystemFailure(.noSuchFile, .open, temporary)
            }
            try setAccess(file, at: temporary, permissions.ofFiles)
            try file.write(bytes, at: 0)
            try file.synchronize()
            try giveName(temporary, place)
        } catch {
            _ = try? files.remove(temporary)
            // Report the final name. The temporary name means nothing to a user, and would make each failure look new.
            throw SystemFailure(error.code, error.operation, place)
        }
        try files.synchronizeFolder(place.parent)
    }

    /// Renames without replacing where possible. The name is new, and some file systems do not support the option.
    private func giveName(_ temporary: FilePath, _ place: FilePath) throws(SystemFailure) {
        do throws(SystemFailure) {
            try files.rename(temporary, to: place, .onlyIfAbsent)
        } catch  where error.code == .unsupported {
            try files.rename(temporary, to: place)
        }
    }

    /// Makes a folder of our own. Anything else in its place is removed: only we may write there, and a link would make
    /// us write elsewhere.
    private func makeOwnFolder(_ folder: FilePath) throws(SystemFailure) {
        let kind = try files.status(of: folder, followingLink: false)?.kind
        if kind == .folder { return }
        if kind != nil { try files.remove(folder) }
        try makeFolder(folder)
    }

    @discardableResult
    func makeFolder(_ folder: FilePath) throws(SystemFailure) -> Bool {
        let permissions = permissions.ofFolders
        guard try files.status(of: folder, followingLink: false) == nil, try files.makeFolder(folder, permissions)
        else { return false }
        if let made = try files.open(folder, .readingNoFollow) { try setAccess(made, at: folder, permissions) }
        try files.synchronizeFolder(folder.parent)
        return true
    }

    /// Sets the permissions that the umask removed, so that the users of a group can share a directory, and gives what
    /// root creates in another user's directory to that user.
    private func setAccess(
        _ file: any OpenFile, at path: FilePath, _ permissions: FilePermissions
    ) throws(SystemFailure) {
        try files.giveToOwnerOfFolder(file, at: path)
        let present = try file.status().permissions
        let wanted = permissions.union(present.intersection(.inheritsGroup))
        if present != wanted { try file.setPermissionsIfSupported(wanted) }
    }

    /// The permissions of new files and folders. They are as private as the directory.
    ///
    /// In a sticky directory everyone may add files, but only their owners may change them.
    private var permissions: (ofFolders: FilePermissions, ofFiles: FilePermissions) {
        let ofDirectory = (try? files.status(of: path))?.permissions ?? .privateFolder
        let ofFolders = ofDirectory.subtracting(.inheritsGroup).union(.privateFolder)
        let ofFiles = ofFolders.intersection(.anyFile)
        return (ofFolders, ofDirectory.contains(.sticky) ? ofFiles.subtracting(.writableByAny) : ofFiles)
    }

    // MARK: Remnants of crashes

    /// Removes our own temporary files that are older than an hour, and files that were removed while they were open.
    func sweep(_ writer: WriterID, at now: Timestamp) {
        let folder = folder(of: writer)
        guard (try? isFolder(folder)) ?? false else { return }
        for name in (try? files.names(in: folder)) ?? [] {
            guard FolderCheck.isPassing(name.description) else { continue }
            let path = folder.appending(name)
            guard let status = try? files.status(of: path, followingLink: false),
                status.modified.advanced(by: .seconds(3600)) < now
            else { continue }
            _ = try? files.remove(path)
        }
    }
}

extension Report.Waiting {
    /// The reason that a file cannot be created.
    init(_ failure: SystemFailure) {
        switch failure.code {
        case .noSpace, .overQuota: self = .space
        case .accessDenied, .readOnly, .notPermitted: self = .permission
        default: self = .later
        }
    }
}

// Values that are too long for a log or a base.
extension SharedDirectory {
    func place(of blob: BlobName, of writer: WriterID) -> FilePath {
        folder(of: writer).resolving(FilePath(blob.description) ?? ".")
    }

    /// Decodes a file of the mirror, with the blobs to which it refers.
    private func pack(
        _ bytes: [UInt8], at address: PackAddress, of mirror: MirrorID, usesKept: Bool,
        unless hasAll: (BasePack, ContentHash) -> Bool
    ) throws(PackFault) -> Pack {
        do throws(PackFault) {
            return try Pack(decoding: bytes, at: address, of: mirror, unless: hasAll)
        } catch {
            guard case .missingBlobs(let references) = error else { throw error }
            let blobs = blobs(references, nextTo: address.writer, usesKept: usesKept)
            return try Pack(decoding: bytes, at: address, of: mirror, blobs: blobs)
        }
    }

    /// Returns the blobs that exist and are valid, in their writer's folder or in another's.
    private func blobs(
        _ references: [BlobReference], nextTo writer: WriterID, usesKept: Bool
    ) -> [BlobName: Blob] {
        var found: [BlobName: Blob] = [:]
        for reference in references {
            let kept = usesKept ? longValues?.value(reference) : nil
            found[reference.name] = kept.map { Blob($0) } ?? blob(reference, in: writer)
        }
        let missing = references.filter { found[$0.name] == nil }
        guard !missing.isEmpty else { return found }
        let others = ((try? files.names(in: writers)) ?? []).compactMap { WriterID($0.description) }
        for reference in missing {
            found[reference.name] = others.lazy.compactMap { blob(reference, in: $0) }.first
        }
        return found
    }

    private func blob(_ reference: BlobReference, in writer: WriterID) -> Blob? {
        let place = place(of: reference.name, of: writer)
        guard (try? files.status(of: place, followingLink: false))?.kind == .file,
            let bytes = try? contents(of: place, limit: reference.size)
        else { return nil }
        guard let blob = try? Blob(decoding: bytes, as: reference) else { return nil }
        if let longValues { blob.value.long?.store(in: longValues) }
        return blob
    }

    /// Returns the sizes of the blobs in a folder, by their names inside that folder.
    func blobSizes(in folder: FilePath) throws(SystemFailure) -> [String: Int] {
        var sizes: [String: Int] = [:]
        let root = folder.appending("x")
        guard try isFolder(root) else { return [:] }
        for part in try files.names(in: root) ?? [] where part.description.utf8.count == 2 {
            let subfolder = root.appending(part)
            guard try isFolder(subfolder) else { continue }
            for name in try files.names(in: subfolder) ?? [] {
                let text = "x/\(part)/\(name)"
                sizes[text] = BlobName(text) == nil ? 0 : try size(of: subfolder.appending(name))
            }
        }
        return sizes
    }
}
