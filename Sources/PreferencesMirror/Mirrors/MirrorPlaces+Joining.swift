package import MirrorEngine
package import Platform
internal import Preferences

extension MirrorPlaces {
    /// What a host says when it joins.
    package struct Admission: Sendable {
        package var id: MirrorID?
        package var label: String?
        package var seed = Seeding.merge
        /// Whether this host is to mirror a store that another one served.
        package var takesOver = false

        package init() {}

        /// Whether others can read what the host is called.
        package var isLabelFit: Bool { (label?.utf8.count ?? 0) <= WriterNote.longestText }

        fileprivate func check() throws(MirrorFailure) {
            guard !isLabelFit else { return }
            throw MirrorFailure(.refused("what a host is called has at most \(WriterNote.longestText) bytes"))
        }
    }

    /// Makes a mirror in a directory, and the store part of it.
    package func initialise(_ directory: FilePath, _ admission: Admission) throws(MirrorFailure) -> Joined {
        try admission.check()
        let shared = SharedDirectory(directory, in: machine.fileSystem)
        if !admission.takesOver { try checkServant() }
        let id = MirrorID(high: machine.fileSystem.unpredictableNumber(), low: machine.fileSystem.unpredictableNumber())
        let isMirror: Bool
        do throws(SystemFailure) {
            isMirror = try !shared.markers().isEmpty
            if !isMirror { try shared.begin(id) }
        } catch {
            throw MirrorFailure(error)
        }
        if isMirror { throw MirrorFailure(.alreadyMirror(directory: directory.description)) }
        return try take(id, directory, admission, isChosen: false)
    }

    /// Makes the store part of the mirror in a directory.
    package func join(_ directory: FilePath, _ admission: Admission) throws(MirrorFailure) -> Joined {
        try admission.check()
        let shared = SharedDirectory(directory, in: machine.fileSystem)
        if !admission.takesOver { try checkServant() }
        let markers: [MirrorID]
        do throws(SystemFailure) {
            markers = try shared.markers()
        } catch {
            throw MirrorFailure(error)
        }
        let wanted = admission.id.map { id in markers.filter { $0 == id } } ?? markers
        guard let id = wanted.first else { throw MirrorFailure(.noMirror(directory: directory.description)) }
        guard wanted.count == 1 else {
            throw MirrorFailure(
                .severalMirrors(directory: directory.description, ids: wanted.map(\.description)))
        }
        return try take(id, directory, admission, isChosen: markers.count > 1)
    }

    /// Begins the local state, unless there is one: then the mirror has only moved, or was chosen.
    private func take(
        _ id: MirrorID, _ directory: FilePath, _ admission: Admission, isChosen: Bool
    ) throws(MirrorFailure) -> Joined {
        try becomeServant()
        let former = joined.first { $0.id == id }
        let name = admission.label ?? machine.environment.hostName
        var configuration = former?.configuration ?? MirrorConfiguration(directory: directory, label: name)
        if let former, former.configuration.directory == directory, !isChosen, !admission.takesOver {
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

    /// Forgets a mirror, without a word to it. Preference files stay as they are.
    package func forget(_ mirror: MirrorID) throws(MirrorFailure) {
        let folder = folder(of: mirror)
        do throws(SystemFailure) {
            // First what makes it a mirror, so that nothing half removed is taken for one.
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
