// The keys at which preference files differ from the view.
extension LocalState {
    /// The view of a key before the state changed.
    struct KeyView {
        let key: Path
        let value: CanonicalValue?
        /// The writes that produced the value; empty if an exception records them already.
        let writes: [VersionedWrite]
    }

    func view(of key: Path) -> KeyView {
        // An exception already records what the file shows.
        let isKnown = trackedFiles[key.prefix(components: 1)]?.exceptions[key] != nil
        return KeyView(key: key, value: mergeState.value(at: key), writes: isKnown ? [] : mergeState.overlapping(key))
    }

    /// Records that the view of a key has changed while its file has not.
    mutating func updateException(since view: KeyView) {
        updateException(view.key, before: view.value, after: mergeState.value(at: view.key), shown: view.writes)
    }

    /// - Parameter shown: The writes that produced the previous view.
    mutating func updateException(_ key: Path, before: CanonicalValue?, after: CanonicalValue?, shown: [VersionedWrite])
    {
        let domain = key.prefix(components: 1)
        let exception = trackedFiles[domain]?.exceptions[key]
        guard before != after, exception?.reason != .limit else { return }
        // The file is unchanged: it holds the value of the exception, or else the previous view.
        let inFile = exception.map(\.value) ?? before
        if inFile == after {
            trackedFiles[domain]?.exceptions[key] = nil
        } else {
            let isLeft = after == nil && mergeState.write(at: key)?.value == .left
            // After an interrupted write, it is unknown which of two values the file shows.
            let isUnknown = trackedFiles[domain]?.interrupted[key] != nil
            trackedFiles[domain]?.exceptions[key] = TrackedFile.Exception(
                value: inFile, reason: isLeft ? .local : .pending,
                shown: exception?.shown ?? (isUnknown ? [] : [VisibleWrite](shown)))
        }
    }

    /// Returns the writes that the preference file shows at, below and above a key, or none if that is unknown.
    package func shownWrites(at key: Path) -> [VisibleWrite] {
        guard let trackedFile = trackedFiles[key.prefix(components: 1)], trackedFile.isCaptured else { return [] }
        if Rule.followsFile.isKept, let exception = trackedFile.exceptions[key] { return exception.shown }
        return [VisibleWrite](mergeState.overlapping(key))
    }
}

extension LocalState {
    /// Replaces the writes, and records the changes that preference files need.
    mutating func replaceMergeState(by rebuilt: MergeState) {
        let before = mergeState
        mergeState = rebuilt
        for (domain, trackedFile) in trackedFiles where trackedFile.isCaptured {
            let keys = before.keys(under: domain) + rebuilt.keys(under: domain)
            for key in Set(keys.map(\.path)) {
                updateException(
                    key, before: before.value(at: key), after: rebuilt.value(at: key), shown: before.overlapping(key))
            }
        }
    }
}
