package import MirrorEngine
package import Platform
package import Preferences
internal import PropertyLists

/// The folders in which a store keeps the state of its mirrors.
package struct MirrorPlaces: Sendable {
    package let system: SystemServices
    package let store: StorePlaces
    /// The folder of this host's mirrors, in which each has a folder named by its number.
    package let folder: FilePath
    private let host: String

    package init(_ store: StorePlaces, on system: SystemServices) throws(StoreFailure) {
        self.system = system
        self.store = store
        host = try store.host()
        let history = store.user.history
        let isHidden = history.lastComponent?.bytes.first == UInt8(ascii: ".")
        let mirrors: FileName = isHidden ? ".mirror" : "mirror"
        folder = history.parent.appending(mirrors).resolving(FilePath(host) ?? ".")
    }

    package func folder(of mirror: MirrorID) -> FilePath { folder.resolving(FilePath(mirror.description) ?? ".") }

    /// A mirror that this store has joined.
    package struct Joined: Hashable, Sendable {
        package let id: MirrorID
        package let configuration: MirrorConfiguration
    }

    /// The mirrors that this store has joined, in the order of their numbers.
    package var joined: [Joined] { listing.joined }

    /// The mirrors that this store has joined, and the reasons why the configurations of others cannot be used.
    package var listing: (joined: [Joined], failures: [MirrorFailure]) {
        var (joined, failures) = ([Joined](), [MirrorFailure]())
        do throws(SystemFailure) {
            for name in try system.fileSystem.names(in: folder) ?? [] {
                guard let id = MirrorID(name.description) else { continue }
                do throws(MirrorFailure) {
                    let place = folder.appending(name)
                    if let found = try MirrorConfiguration.read(in: place, system.fileSystem) {
                        joined.append(Joined(id: id, configuration: found))
                    } else if StateJournal(in: place, system.fileSystem).exists {
                        let file = place.appending(MirrorConfiguration.fileName)
                        throw MirrorFailure(.missing(file: file.description))
                    }
                } catch {
                    failures.append(error)
                }
            }
        } catch {
            failures.append(MirrorFailure(error))
        }
        return (joined, failures)
    }
}

extension MirrorPlaces {
    /// Returns the held domains of a mirror, as far as its state can be read without its lock.
    package func held(in mirror: MirrorID) -> [(domain: String, reason: HoldReason)] {
        peek(mirror)?.heldDomains ?? []
    }

    /// An open conflict, its full name, and the host that wrote the lost value.
    package struct OpenConflict: Hashable, Sendable {
        package let conflict: Conflict
        package let name: String
        package let host: String
    }

    /// Returns the open conflicts of the mirrored domains in a mirror, if its state can be read without its lock.
    package func conflicts(in mirror: Joined) -> [OpenConflict] {
        guard let state = peek(mirror.id) else { return [] }
        return state.shared.live.conflicts.compactMap { conflict in
            guard state.trackedFiles[conflict.place.prefix(components: 1)]?.isMirrored ?? false else { return nil }
            let host = otherHost(of: conflict.loser, in: state) ?? mirror.configuration.label
            return OpenConflict(conflict: conflict, name: conflict.name(in: mirror.id), host: host)
        }
    }

    /// Returns the label of the host that wrote a value, or nil for this host.
    private func otherHost(of atom: Atom, in state: LocalState) -> String? {
        guard let author = atom.name.dot?.writer, author != state.writer, !state.formerWriters.contains(author) else {
            return nil
        }
        return state.peers[author]?.label ?? author.description
    }

    /// Whether the state of a mirror is of an earlier format, which is not read.
    package func isOfEarlierFormat(_ mirror: MirrorID) -> Bool {
        StateJournal(in: folder(of: mirror), system.fileSystem).isOfEarlierFormat
    }

    private func peek(_ mirror: MirrorID) -> LocalState? {
        StateJournal(in: folder(of: mirror), system.fileSystem).peek()
    }
}

// MARK: The host that mirrors a store

extension MirrorPlaces {
    /// The file with the name of the host that mirrors the store, or nil if the store has no lock folder.
    private var servingHostFile: FilePath? {
        guard case .file(let lock) = store.user.file(of: StorePolicy.domain).lock else { return nil }
        return lock.parent.appending("mirror")
    }

    /// Returns the file beside the preference files that contains this host's mark of a mirror.
    func mark(of mirror: MirrorID) -> FilePath? {
        servingHostFile.map { $0.parent.resolving(FilePath("mirror-\(mirror)") ?? ".") }
    }

    /// Throws if another host mirrors this store, which is then on a file server, or if the store has links that lead
    /// elsewhere.
    package func checkServingHost() throws(MirrorFailure) {
        let bytes = try MirrorFailure.wrapping {
            try store.user.file(of: StorePolicy.domain).checkLinks(on: system)
            return try servingHostFile.flatMap { try system.fileSystem.contents(of: $0, limit: 4096) }
        }
        guard let bytes else { return }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        guard let other = lines.first, other != host else { return }
        throw MirrorFailure(.servedElsewhere(host: lines.last ?? other))
    }

    /// Records that this host mirrors the store.
    package func recordServingHost() throws(MirrorFailure) {
        guard let servingHostFile else { return }
        try MirrorFailure.wrapping {
            try system.fileSystem.makeFolders(servingHostFile.parent)
            let text = "\(host)\n\(system.environment.hostName.shown)\n"
            if try system.fileSystem.contents(of: servingHostFile, limit: 4096) == Array(text.utf8) { return }
            try system.fileSystem.replace(servingHostFile, with: Array(text.utf8))
        }
    }
}

extension MirrorID {
    /// Decodes a number that `description` wrote.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count == 32, text.utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) }),
            let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.suffix(16), radix: 16)
        else {
            return nil
        }
        self.init(high: high, low: low)
    }
}

extension MirrorPlaces {
    /// The options with which a host joins.
    package struct JoinOptions: Sendable {
        /// The number of the mirror, or its first digits.
        package var id: String?
        package var label: String?
        package var seed = Seeding.merge
        /// Whether this host takes over a store that another host mirrors.
        package var takesOver = false
        /// The key with which this host signs its files; nil for a mirror without signatures.
        package var signing: SigningKey?

        package init() {}

        /// Whether the label fits into a note.
        package var isLabelFit: Bool { (label?.utf8.count ?? 0) <= WriterNote.longestText }

        fileprivate func check() throws(MirrorFailure) {
            guard !isLabelFit else { return }
            throw MirrorFailure(.refused("the label of a host can have at most \(WriterNote.longestText) bytes"))
        }
    }

    /// Creates a mirror in a directory, and joins it.
    package func initialise(_ directory: FilePath, _ options: JoinOptions) throws(MirrorFailure) -> Joined {
        try options.check()
        let shared = SharedDirectory(directory, in: system.fileSystem)
        if !options.takesOver { try checkServingHost() }
        let id = MirrorID(high: system.fileSystem.unpredictableNumber(), low: system.fileSystem.unpredictableNumber())
        try MirrorFailure.wrapping {
            let mirrors = try shared.markers()
            if let former = joined.first(where: { $0.configuration.directory == directory && mirrors.contains($0.id) })
            {
                throw MirrorFailure(.alreadyJoined(directory: former.configuration.directory.description))
            }
            guard try !shared.hasEarlierFormat() else {
                throw MirrorFailure(.earlierFormat(directory: directory.description))
            }
            guard mirrors.isEmpty else { throw MirrorFailure(.alreadyMirror(directory: directory.description)) }
            guard try !shared.hasWriters() else { throw MirrorFailure(.noMarker(directory: directory.description)) }
            try shared.begin(id, signers: firstSigner(options))
        }
        return try writeConfiguration(id, directory, options, isChosen: false)
    }

    /// Creates the missing parts of the directory of a mirror that the store has joined.
    ///
    /// The mirror keeps its number, so that every host that has joined it publishes its values again.
    package func initialiseAgain(_ directory: FilePath, id: String?) throws(MirrorFailure) -> Joined {
        let (joined, failures) = listing
        let candidates = joined.filter {
            $0.configuration.directory == directory && $0.id.description.hasPrefix(id ?? "")
        }
        guard let mirror = candidates.first else {
            throw failures.first ?? MirrorFailure(.unknown("\(directory): this store has not joined a mirror there"))
        }
        guard candidates.count == 1 else {
            throw MirrorFailure(
                .severalMirrors(directory: directory.description, ids: candidates.map(\.id.abbreviation)))
        }
        try checkServingHost()
        let shared = SharedDirectory(directory, in: system.fileSystem)
        try MirrorFailure.wrapping {
            if let other = try shared.markers().first(where: { $0 != mirror.id }) {
                let (own, other) = (mirror.id.abbreviation, other.abbreviation)
                throw MirrorFailure(
                    .refused("\(directory): contains the mirror \(other), so \(own) cannot be recreated there"))
            }
            guard shared.obstacle(to: mirror.id, isChosen: false) != nil else {
                throw MirrorFailure(.refused("\(directory): nothing is missing; the marker and the folder w exist"))
            }
            var options = JoinOptions()
            options.signing = mirror.configuration.signing
            try shared.begin(mirror.id, signers: firstSigner(options))
        }
        return mirror
    }

    /// The first host of a signed mirror, which its marker names.
    private func firstSigner(_ options: JoinOptions) -> Signers? {
        guard let signing = options.signing else { return nil }
        var signers = Signers()
        let isOwn = signing.trusted == signing.key
        signers.admit(signing.trusted, as: isOwn ? options.label ?? system.environment.hostName : "")
        return signers
    }

    /// Joins the mirror in a directory.
    package func join(_ directory: FilePath, _ options: JoinOptions) throws(MirrorFailure) -> Joined {
        try options.check()
        if !options.takesOver { try checkServingHost() }
        let (id, isChosen) = try mirror(in: directory, options)
        if !joined.contains(where: { $0.id == id }) {
            let isSigned = try signers(in: directory, options) != nil
            if isSigned, options.signing == nil { throw MirrorFailure(.signed(directory: directory.description)) }
            if !isSigned, options.signing != nil {
                throw MirrorFailure(
                    .refused("\(directory): the files of this mirror are not signed, or its marker was replaced"))
            }
        } else if options.signing != nil {
            throw MirrorFailure(
                .refused("\(directory): this store has joined the mirror; to change its key, leave and join again"))
        }
        return try writeConfiguration(id, directory, options, isChosen: isChosen)
    }

    /// Returns the first host of the signed mirror in a directory, as its marker claims; nil without signatures.
    package func signers(in directory: FilePath, _ options: JoinOptions) throws(MirrorFailure) -> Signers? {
        let (id, _) = try mirror(in: directory, options)
        return try MirrorFailure.wrapping {
            try SharedDirectory(directory, in: system.fileSystem).signers(of: id)
        }
    }

    /// Returns the key with a fingerprint, if the marker or a note in a directory names it.
    package func key(
        of fingerprint: String, in directory: FilePath, _ options: JoinOptions
    ) throws(MirrorFailure) -> SignerKey? {
        if let first = try signers(in: directory, options)?.admitted.keys.first, first.fingerprint == fingerprint {
            return first
        }
        let (id, _) = try mirror(in: directory, options)
        return try MirrorFailure.wrapping {
            let shared = SharedDirectory(directory, in: system.fileSystem)
            return try shared.listing(own: WriterID(number: 0), chosen: nil).packs.lazy
                .compactMap { shared.unverifiedNote($0, of: id)?.end.signature.key }
                .first { $0.fingerprint == fingerprint }
        }
    }

    /// Returns the mirror in a directory that the options select, and whether there are several.
    private func mirror(
        in directory: FilePath, _ options: JoinOptions
    ) throws(MirrorFailure) -> (id: MirrorID, isChosen: Bool) {
        let shared = SharedDirectory(directory, in: system.fileSystem)
        let markers = try MirrorFailure.wrapping { try shared.markers() }
        if markers.isEmpty, try MirrorFailure.wrapping({ try shared.hasEarlierFormat() }) {
            throw MirrorFailure(.earlierFormat(directory: directory.description))
        }
        let wanted = markers.filter { $0.description.hasPrefix(options.id ?? "") }
        guard let id = wanted.first else {
            guard let wanted = options.id, !markers.isEmpty else {
                throw MirrorFailure(.noMirror(directory: directory.description))
            }
            throw MirrorFailure(.unknown("\(directory): no mirror here has the ID \(wanted)"))
        }
        guard wanted.count == 1 else {
            throw MirrorFailure(
                .severalMirrors(directory: directory.description, ids: wanted.map(\.abbreviation)))
        }
        return (id, markers.count > 1)
    }

    /// Creates the configuration, or updates that of a mirror whose directory has moved or was selected.
    private func writeConfiguration(
        _ id: MirrorID, _ directory: FilePath, _ options: JoinOptions, isChosen: Bool
    ) throws(MirrorFailure) -> Joined {
        try recordServingHost()
        let former = joined.first { $0.id == id }
        let name = options.label ?? system.environment.hostName
        var configuration = former?.configuration ?? MirrorConfiguration(directory: directory, label: name)
        if let former, former.configuration.directory == directory, !isChosen, !options.takesOver,
            options.label?.hasSameBytes(as: former.configuration.label) ?? true
        {
            throw MirrorFailure(.alreadyJoined(directory: directory.description))
        }
        configuration.directory = directory
        configuration.isChosen = isChosen
        if let label = options.label { configuration.label = label }
        if former == nil { (configuration.seed, configuration.signing) = (options.seed, options.signing) }
        try MirrorFailure.wrapping { try system.fileSystem.makeFolders(folder(of: id)) }
        try configuration.write(in: folder(of: id), system.fileSystem)
        return Joined(id: id, configuration: configuration)
    }

    /// Removes the state of a mirror. Requires its lock.
    func forget(_ mirror: MirrorID) throws(MirrorFailure) {
        let folder = folder(of: mirror)
        try MirrorFailure.wrapping {
            // Remove the configuration first, so that a partly removed folder is not a mirror.
            try system.fileSystem.remove(folder.appending(MirrorConfiguration.fileName))
            try system.fileSystem.removeTree(folder)
        }
    }
}

extension FileSystem {
    /// Removes a file, or a folder and its contents. Links are removed and not followed.
    func removeTree(_ path: FilePath, depth: Int = 4) throws(SystemFailure) {
        if depth >= 0, try status(of: path, followingLink: false)?.kind == .folder {
            for name in try names(in: path) ?? [] { try removeTree(path.appending(name), depth: depth - 1) }
        }
        try remove(path)
    }
}
