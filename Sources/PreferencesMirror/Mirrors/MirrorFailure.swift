internal import MirrorEngine
internal import Platform
internal import Preferences

/// The reason a mirror could not be created, joined or exchanged with.
public struct MirrorFailure: Error, Hashable, Sendable {
    /// The kind of failure.
    public let problem: Problem

    /// The kinds of failures.
    @nonexhaustive
    public enum Problem: Hashable, Sendable {
        /// The directory has no marker: it is not a mirror, or is not mounted or synced.
        case noMirror(directory: String)
        /// The directory is a mirror already.
        case alreadyMirror(directory: String)
        /// The directory has files of a mirror, but no marker.
        case noMarker(directory: String)
        /// The directory has markers of several mirrors, with these identifiers.
        case severalMirrors(directory: String, ids: [String])
        /// The mirror is of an earlier format, which is not read.
        case earlierFormat(directory: String)
        /// The files of the mirror are signed, and this host has no key for them.
        case signed(directory: String)
        /// The store has not joined a mirror.
        case notJoined
        /// The store has joined the mirror of that directory already.
        case alreadyJoined(directory: String)
        /// The file with the settings of the mirror on this host is damaged.
        case damaged(file: String)
        /// The file with the settings of the mirror on this host is missing, and the state of the mirror is there.
        case missing(file: String)
        /// Another program held the lock of the mirror's state for too long.
        case busy
        /// Another host mirrors this store, which is on a file server.
        case servedElsewhere(host: String)
        /// A host, conflict or domain that does not exist.
        case unknown(String)
        /// A request that cannot be carried out in the present state.
        case refused(String)
        /// An error of the store or the system.
        case system(String)
    }

    package init(_ problem: Problem) { self.problem = problem }

    package init(_ error: any Error) { self = error as? MirrorFailure ?? MirrorFailure(.system("\(error)")) }

    /// Returns the result of `body`, and converts the error that it throws.
    static func wrapping<Result>(_ body: () throws -> Result) throws(MirrorFailure) -> Result {
        do {
            return try body()
        } catch {
            throw MirrorFailure(error)
        }
    }
}

extension MirrorFailure {
    /// Whether joining writes the missing file again.
    var isOfMissingFile: Bool { if case .missing = problem { true } else { false } }
}

extension MirrorFailure: CustomStringConvertible {
    public var description: String {
        switch problem {
        case .noMirror(let directory): "\(directory): no mirror found; the directory may not be mounted or synced yet"
        case .alreadyMirror(let directory): "\(directory): already a mirror; join it with `prefs mirror join`"
        case .noMarker(let directory):
            "\(directory): the marker of the mirror is missing; wait until it is synced, "
                + "or run `prefs mirror init --again DIR` on a host that is part of the mirror"
        case .severalMirrors(let directory, let ids):
            "\(directory): several mirrors found; choose one with --id: \(ids.joined(separator: ", "))"
        case .earlierFormat(let directory): Self.moving(from: directory)
        case .signed(let directory):
            "\(directory): the files of this mirror are signed; join it with `prefs mirror join DIR --signed KEY`"
        case .notJoined:
            "this store is not mirrored; create a mirror with `prefs mirror init DIR` or join one with `prefs mirror join DIR`"
        case .alreadyJoined(let directory): "\(directory): this store has already joined this mirror"
        case .damaged(let file):
            "\(file): damaged; `prefs mirror join DIR` writes it again, and `prefs mirror add` selects the domains"
        case .missing(let file):
            "\(file): missing; `prefs mirror join DIR` writes it again, and `prefs mirror add` selects the domains"
        case .busy: "another program has locked the mirror for too long"
        case .servedElsewhere(let host):
            "the host \(host) mirrors this store; to mirror it from this host instead, use `prefs mirror join --take-over`"
        case .unknown(let what): what
        case .refused(let reason): reason
        case .system(let description): description
        }
    }
}

extension MirrorFailure {
    /// Whether the mirror is of an earlier format, which is not read.
    package var isOfEarlierFormat: Bool { if case .earlierFormat = problem { true } else { false } }

    /// The commands that move a mirror of an earlier format to a new directory.
    private static func moving(from directory: String) -> String {
        "\(directory): the mirror is of an earlier format, which is not read; to move its domains to a new directory, "
            + "run `prefs mirror detach` on each host, then `prefs mirror init DIR` on one and `prefs mirror join DIR` "
            + "on the others, and `prefs mirror add GLOB` on each; values that are equal are no conflict"
    }
}
