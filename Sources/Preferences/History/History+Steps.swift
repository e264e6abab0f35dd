internal import PropertyLists

/// A version cannot be read.
package struct DamagedVersion: Error, Hashable, Sendable {
    package let sequence: Int
}

extension History {
    /// The versions that led to the present one, oldest first, without those that were undone.
    ///
    /// An undo returns to an earlier version, and a second undo continues from there. Of the versions
    ///
    ///     1 write · 2 write · 3 write · 4 undo to 2 · 5 write
    ///
    /// this returns 1, 2 and 5. Restoring a version is a step forward.
    package var way: [KeptVersion] {
        versions.reduce(into: []) { way, version in
            guard let target = version.note.reason.undoTarget else { return way.append(version) }
            way.removeAll { $0.sequence > target }
            // If the target is no longer kept, the version that the undo wrote takes its place.
            if way.last?.sequence != target { way.append(version) }
        }
    }

    /// Returns the state some steps back from the present one, and the number of its version, or 0 for the state before
    /// the first. Returns nil if not enough versions are kept.
    ///
    /// A step is a change; versions that changed nothing are skipped. A change by another program that is not kept yet
    /// is a step too. Unreadable versions are never crossed, except the newest, whose contents are the present ones.
    package func back(
        _ steps: Int, from present: DomainState
    ) throws(DamagedVersion) -> (state: DomainState, sequence: Int)? {
        // A version that a crash has truncated is treated as missing.
        let way = way.filter { !isLost($0) }
        var (state, sequence, left) = (present, 0, steps)
        for version in way.reversed() where left > 0 {
            guard let former = self.state(of: version) else {
                guard version == way.last else { throw DamagedVersion(sequence: version.sequence) }
                continue
            }
            guard former != state else { continue }
            (state, sequence, left) = (former, version.sequence, left - 1)
        }
        if left == 0 { return (state, sequence) }
        guard left == 1, way.first?.sequence == 1, state != .absent else { return nil }
        return (.absent, 0)
    }
}
