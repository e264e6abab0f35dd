internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PreferencesMirror

extension Examination {
    /// Mirrors whose directory is away, or another one. Their state is left alone: who loads it may have to mend it.
    static let mirrors = Examination(subject: "directories of mirrors") { checkup in
        guard checkup.user.arrangement == .own,
            let places = try? MirrorPlaces(checkup.access.places, on: checkup.machine)
        else { return [] }
        return places.joined.compactMap { joined in
            let directory = SharedDirectory(joined.configuration.directory, in: checkup.files)
            let mirrors = (try? directory.markers()) ?? []
            let isAmongThem = mirrors.contains(joined.id)
            guard !isAmongThem || mirrors.count > 1 && !joined.configuration.isChosen else { return nil }
            let problem =
                mirrors.isEmpty
                ? "no mirror is there: \(MirrorLine.mounting)"
                : isAmongThem ? "several mirrors are there" : "another mirror is there"
            return Ailment(directory.path.description, problem, checkup.command(["mirror", "status"]))
        }
    }
}
