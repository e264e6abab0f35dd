package import MirrorEngine
package import Platform
internal import Preferences

extension MirrorPlaces {
    /// The options with which a host joins.
    package struct JoinOptions: Sendable {
        /// The number of the mirror, or its first digits.
        package var id: String?
        package var label: String?
        package var seed = Seeding.merge
        /// Whether this host takes over a store that another host mirrors.
        package var takesOver = false

        package init() {}

        /// Whether the label fits into a note.
        package var isLabelFit: Bool { (label?.utf8.count ?? 0) <= WriterNote.longestText }

        fileprivate func check() throws(MirrorFailure) {
            guard !isLabelFit else { return }
            throw MirrorFailure(.refused("the label of a host can have at most \(WriterNote.longestText) bytes"))
        }
    }

    /// Creates a mirror in a directory, and joins it.
    package func initialise(_ directory: FilePath, _ admission: JoinOptions) throws(MirrorFailure) -> Joined {
        try admission.check()
        let shared = SharedDirectory(directory, in: machine.fileSystem)
        if !admission.takesOver { try checkServingHost() }
        let id = MirrorID(high: machine.fileSystem.unpredictableNumber(), low: machine.fileSystem.unpredictableNumber())
        do {
            let mirrors = try shared.markers()
            if let former = joined.first(where: { $0.configuration.directory == directory && mirrors.contains($0.id) })
            {
                throw MirrorFailure(.alreadyJoined(directory: former.configuration.directory.description))
            }
            guard mirrors.isEmpty else { throw MirrorFailure(.alreadyMirror(directory: directory.description)) }
            guard try !shared.hasWriters() else { throw MirrorFailure(.noMarker(directory: directory.description)) }
            try shared.begin(id)
        } catch {
            throw MirrorFailure(error)
        }
        return try take(id, directory, admission, isChosen: false)
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
        let shared = SharedDirectory(directory, in: machine.fileSystem)
        do {
            if let other = try shared.markers().first(where: { $0 != mirror.id }) {
                let (own, other) = (mirror.id.abbreviation, other.abbreviation)
                throw MirrorFailure(
                    .refused("\(directory): contains the mirror \(other), so \(own) cannot be recreated there"))
            }
            guard shared.obstacle(to: mirror.id, isChosen: false) != nil else {
                throw MirrorFailure(.refused("\(directory): nothing is missing; the marker and the folder w exist"))
            }
            try shared.begin(mirror.id)
        } catch {
            throw MirrorFailure(error)
        }
        return mirror
    }

    /// Joins the mirror in a directory.
    package func join(_ directory: FilePath, _ admission: JoinOptions) throws(MirrorFailure) -> Joined {
        try admission.check()
        let shared = SharedDirectory(directory, in: machine.fileSystem)
        if !admission.takesOver { try checkServingHost() }
        let markers: [MirrorID]
        do throws(SystemFailure) {
            markers = try shared.markers()
        } catch {
            throw MirrorFailure(error)
        }
        let wanted = markers.filter { $0.description.hasPrefix(admission.id ?? "") }
        guard let id = wanted.first else { throw MirrorFailure(.noMirror(directory: directory.description)) }
        guard wanted.count == 1 else {
            throw MirrorFailure(
                .severalMirrors(directory: directory.description, ids: wanted.map(\.abbreviation)))
        }
        return try take(id, directory, admission, isChosen: markers.count > 1)
    }

    /// Creates the configuration, or updates that of a mirror whose directory has moved or was selected.
    private func take(
        _ id: MirrorID, _ directory: FilePath, _ admission: JoinOptions, isChosen: Bool
    ) throws(MirrorFailure) -> Joined {
        try recordServingHost()
        let former = joined.first { $0.id == id }
        let name = admission.label ?? machine.environment.hostName
        var configuration = former?.configuration ?? MirrorConfiguration(directory: directory, label: name)
        if let former, former.configuration.directory == directory, !isChosen, !admission.takesOver,
            admission.label ?? former.configuration.label == former.configuration.label
        {
            throw MirrorFailure(.alreadyJoined(directory: directory.description))
        }
        configuration.directory = directory
        configuration.isChosen = isChosen
        if let label = admission.label { configuration.label = label }
        if former == nil { configuration.seed = admission.seed }
        do throws(SystemFailure) {
            try machine.fileSystem.makeFolders(folder(of: id))
        } catch {
            throw MirrorFailure(error)
        }
        try configuration.write(in: folder(of: id), machine.fileSystem)
        return Joined(id: id, configuration: configuration)
    }

    /// Forgets a mirror without announcing it. Preference files are not changed.
    package func forget(_ mirror: MirrorID) throws(MirrorFailure) {
        let folder = folder(of: mirror)
        do throws(SystemFailure) {
            // Remove the configuration first, so that a partly removed folder is not a mirror.
            try machine.fileSystem.remove(folder.appending(MirrorConfiguration.fileName))
            try removeAll(folder)
        } catch {
            throw MirrorFailure(error)
        }
    }

    private func removeAll(_ folder: FilePath) throws(SystemFailure) {
        for name in try machine.fileSystem.names(in: folder) ?? [] {
            let path = folder.appending(name)
            if try machine.fileSystem.status(of: path, followingLink: false)?.kind == .folder {
                try removeAll(path)
            } else {
                try machine.fileSystem.remove(path)
            }
        }
        try machine.fileSystem.remove(folder)
    }
}
