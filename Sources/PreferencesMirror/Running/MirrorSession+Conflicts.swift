package import MirrorEngine
package import Platform
internal import Preferences

// Conflicts, which all hosts of the mirror have in common.
extension MirrorSession {
    /// Whether the domain of a path is mirrored on this host.
    package func isMirrored(_ path: Path) -> Bool {
        engine.status.trackedFile(of: path.prefix(components: 1))?.isMirrored ?? false
    }

    /// The open conflicts of the domains that this host mirrors.
    package var openConflicts: [Conflict] { mergeState.conflicts.filter { isMirrored($0.place) } }

    /// Whether a domain that this host mirrors has an open conflict.
    var hasOpenConflicts: Bool { !openConflicts.isEmpty }

    /// Conflicts that were resolved, oldest first, and values that a user decided to replace.
    package var resolvedConflicts: [ResolvedConflict] { engine.status.resolved }

    /// Returns the label of the host that wrote a value.
    package func host(of atom: Atom) -> String { host(atom.name.dot?.writer ?? writer) }

    /// Returns the reason that a domain is held, or nil if it is not.
    package func holdReason(of domain: Path) -> HoldReason? { engine.status.trackedFile(of: domain)?.held }

    /// Whether the file of this host may show another value of a key than the one that is in force in the mirror.
    package func fileLags(at key: Path) -> Bool {
        guard let trackedFile = engine.status.trackedFile(of: key.prefix(components: 1)) else { return true }
        let exception = trackedFile.exceptions[key]
        return !trackedFile.isCaptured || trackedFile.interrupted[key] != nil || exception?.isPending ?? false
            || exception?.reason == .format
    }

    /// Watches the state of the mirror, which every program changes that exchanges.
    package func watchState(_ notify: @escaping @Sendable () -> Void) -> any FolderWatch {
        system.watcher.watch(folder) { _ in notify() }
    }

    /// Whether another host has read everything that this one published, and nothing waits to be published.
    package var isAcknowledged: Bool { engine.status.isAcknowledged }

    /// Keeps lines of text in a file next to the folder of the mirror's state, which is about to be removed.
    package func keep(_ lines: [String]) throws(MirrorFailure) -> FilePath {
        let time = system.clock.wall.milliseconds
        let name = FilePath("conflicts-\(id.abbreviation)-\(time).json") ?? "conflicts.json"
        let path = places.folder.resolving(name)
        try MirrorFailure.wrapping {
            try files.replace(path, with: Array(lines.map { $0 + "\n" }.joined().utf8))
        }
        return path
    }
}

extension Conflict {
    /// Whether a program wrote back what it had read before the mirror brought the lost value.
    package var isReversion: Bool { winner?.reason == .reverted }
}
