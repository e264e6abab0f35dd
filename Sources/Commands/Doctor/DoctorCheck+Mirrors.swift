internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PreferencesMirror

extension DoctorCheck {
    /// Mirrors whose settings are damaged, or whose directory is missing or belongs to another mirror. The mirror's
    /// state is not loaded, since loading may repair and change it.
    static let mirrors = DoctorCheck(subject: "directories of mirrors") { checkup in
        guard checkup.user.arrangement == .own,
            let places = try? MirrorPlaces(checkup.access.places, on: checkup.machine)
        else { return [] }
        let (joined, failures) = places.listing
        let damaged = failures.compactMap { failure -> DoctorFinding? in
            // Missing read permission is reported by the permissions check.
            guard case .damaged(let file) = failure.problem else { return nil }
            return DoctorFinding(
                file, "damaged, so the store is not mirrored",
                .advice("prefs mirror join DIR writes it again, and prefs mirror add selects the domains"))
        }
        return damaged
            + joined.compactMap { joined in
                let directory = SharedDirectory(joined.configuration.directory, in: checkup.files)
                guard let obstacle = directory.obstacle(to: joined.id, isChosen: joined.configuration.isChosen) else {
                    return nil
                }
                let problem =
                    switch obstacle {
                    case .noDirectory, .noMarker, .noWriters: "contains no mirror: mount it, or wait until it is synced"
                    case .linkedWriters: "its folder w is a symbolic link, which is not followed"
                    case .otherMirror: "contains another mirror"
                    case .severalMirrors: "contains several mirrors"
                    }
                return DoctorFinding(directory.path.description, problem, checkup.command(["mirror", "status"]))
            }
    }
}
