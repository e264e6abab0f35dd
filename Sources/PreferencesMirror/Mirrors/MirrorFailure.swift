internal import MirrorEngine
internal import Platform
internal import Preferences

/// Why a mirror could not be made, joined or exchanged with.
public struct MirrorFailure: Error, Hashable, Sendable {
    /// What went wrong.
    public let problem: Problem

    /// What may go wrong.
    @nonexhaustive
    public enum Problem: Hashable, Sendable {
        /// The directory has no marker, so it is none, or not in view.
        case noMirror(directory: String)
        /// The directory is a mirror already.
        case alreadyMirror(directory: String)
        /// The directory has files of a mirror, and its marker is missing.
        case noMarker(directory: String)
        /// Two markers; each is the number of a mirror.
        case severalMirrors(directory: String, ids: [String])
        /// This store takes part in none.
        case notJoined
        /// The store takes part in the mirror of that directory already.
        case alreadyJoined(directory: String)
        /// Another program is at the mirror's state, and was for too long.
        case busy
        /// Another host serves this store, which lies on a file server.
        case servedElsewhere(host: String)
        /// What was asked for is not there: a host, a conflict, a domain.
        case unknown(String)
        /// What was asked for cannot be done as things stand.
        case refused(String)
        /// The store or the system refused.
        case system(String)
    }

    package init(_ problem: Problem) { self.problem = problem }

    package init(_ error: any Error) { self = error as? MirrorFailure ?? MirrorFailure(.system("\(error)")) }
}

extension MirrorFailure: CustomStringConvertible {
    public var description: String {
        switch problem {
        case .noMirror(let directory): "\(directory): no mirror is there; it may not be mounted, or not be synced yet"
        case .alreadyMirror(let directory): "\(directory): is a mirror already; `prefs mirror join` takes part in it"
        case .noMarker(let directory):
            "\(directory): the marker of the mirror there is missing; let it be synced, "
                + "or run `prefs mirror init --again DIR` on a host that is part of the mirror"
        case .severalMirrors(let directory, let ids):
            "\(directory): there are several mirrors; name one with --id: \(ids.joined(separator: ", "))"
        case .notJoined: "this store takes part in no mirror; `prefs mirror init DIR` makes one, `join DIR` joins one"
        case .alreadyJoined(let directory): "\(directory): this store takes part in that mirror already"
        case .busy: "another program has been at the mirror for too long"
        case .servedElsewhere(let host):
            "the host \(host) mirrors this store; `prefs mirror join --take-over` lets this one do so instead"
        case .unknown(let what): what
        case .refused(let reason): reason
        case .system(let description): description
        }
    }
}
