internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PreferencesMirror

extension Examination {
    /// Mirrors in which something waits for a person.
    static let mirrors = Examination(subject: "mirrors") { checkup in
        guard checkup.user.arrangement == .own,
            let places = try? MirrorPlaces(checkup.access.places, on: checkup.machine)
        else { return [] }
        return places.joined.compactMap { joined in
            problem(MirrorSession(joined, places)).map { problem in
                Ailment(joined.configuration.directory.description, problem, checkup.command(["mirror", "status"]))
            }
        }
    }

    private static func problem(_ session: MirrorSession) -> String? {
        var session = session
        let status: MirrorStatus
        do throws(MirrorFailure) {
            status = try session.status()
        } catch {
            return error.description
        }
        return switch status.condition {
        case .inSync, .waiting, .paused, .left: status.troubles.first
        case .conflicts: "changes of this host lost against others"
        case .readOnly: MirrorLine.unwritable
        case .overQuota: "what this host has to say is over a limit"
        case .unavailable: "not available: \(MirrorLine.mounting)"
        case .halted: status.standing == .present ? "a domain is held" : status.standing.phrase
        }
    }
}
