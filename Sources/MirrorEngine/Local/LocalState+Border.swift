// Where the view and what preference files hold are not the same.
extension LocalState {
    /// How a key looked before the state changed.
    struct KeyView {
        let key: Path
        let value: CanonicalValue?
        /// The writes that made it so; nil where they are known from elsewhere.
        let atoms: [Atom]
    }

    func view(of key: Path) -> KeyView {
        // Where the file lags behind, what it shows is known already.
        let isKnown = shadows[key.prefix(components: 1)]?.exceptions[key] != nil
        return KeyView(key: key, value: atoms.value(at: key), atoms: isKnown ? [] : atoms.overlapping(key))
    }

    /// Notes that the view of a key is another one now, while its file is what it was.
    mutating func updateException(since view: KeyView) {
        updateException(view.key, before: view.value, after: atoms.value(at: view.key), shown: view.atoms)
    }

    /// - Parameter shown: The writes that made the view before.
    mutating func updateException(_ key: Path, before: CanonicalValue?, after: CanonicalValue?, shown: [Atom]) {
        let domain = key.prefix(components: 1)
        let exception = shadows[domain]?.exceptions[key]
        guard before != after, exception?.reason != .limit else { return }
        // What the file holds is what it held: the exception's value, else the view as it was.
        let inFile = exception.map(\.value) ?? before
        if inFile == after {
            shadows[domain]?.exceptions[key] = nil
        } else {
            let isLeft = after == nil && atoms.atom(at: key)?.value == .left
            shadows[domain]?.exceptions[key] = Shadow.Exception(
                value: inFile, reason: isLeft ? .home : .pending,
                shown: exception?.shown ?? [ShownWrite](shown))
        }
    }

    /// The writes that the preference file shows at a key, inside it and above it; none where that is unknown.
    package func shownWrites(at key: Path) -> [ShownWrite] {
        guard let shadow = shadows[key.prefix(components: 1)], shadow.isCaptured else { return [] }
        if rules.followsFile, let exception = shadow.exceptions[key] { return exception.shown }
        return [ShownWrite](atoms.overlapping(key))
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
                updateException(
                    key, before: before.value(at: key), after: rebuilt.value(at: key), shown: before.overlapping(key))
            }
        }
    }
}
