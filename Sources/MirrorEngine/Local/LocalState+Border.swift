// Where the view and what preference files hold are not the same.
extension LocalState {
    /// Notes that the view of a key is another one now, while its file is what it was.
    mutating func updateException(_ key: Path, before: CanonicalValue?, after: CanonicalValue?) {
        let domain = key.prefix(components: 1)
        let exception = shadows[domain]?.exceptions[key]
        guard before != after, exception?.reason != .limit else { return }
        // What the file holds is what it held: the exception's value, else the view as it was.
        let inFile = exception.map(\.value) ?? before
        if inFile == after {
            shadows[domain]?.exceptions[key] = nil
        } else {
            freeze(domain)
            let isLeft = after == nil && atoms.atom(at: key)?.value == .left
            let reason: Shadow.Exception.Reason = isLeft ? .home : .pending
            shadows[domain]?.exceptions[key] = Shadow.Exception(value: inFile, reason: reason)
        }
    }

    /// Keeps what was known when the file was last as the view is.
    private mutating func freeze(_ domain: Path) {
        if shadows[domain]?.isPending == false { shadows[domain]?.seen = knowledge }
    }

    /// What the writer of a preference file can have seen in it.
    package func seen(in domain: Path) -> VersionVector {
        guard rules.contextIsSeen, let shadow = shadows[domain], shadow.isPending else { return knowledge }
        return shadow.seen
    }

    /// What somebody who writes into several files at once can have seen at least.
    var seenInAllFiles: VersionVector {
        shadows.keys.reduce(knowledge) { $0.minimum(with: seen(in: $1)) }
    }
}

extension LocalState {
    /// Takes another state, and notes what files have to be changed for it.
    mutating func replaceAtoms(by rebuilt: AtomStore) {
        let before = atoms
        atoms = rebuilt
        for (domain, shadow) in shadows where shadow.isCaptured {
            let keys = before.keys(under: domain) + rebuilt.keys(under: domain)
            for key in Set(keys.map(\.path)) {
                updateException(key, before: before.value(at: key), after: rebuilt.value(at: key))
            }
        }
    }
}
