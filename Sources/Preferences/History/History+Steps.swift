internal import PropertyLists

/// That a version cannot be read.
package struct DamagedVersion: Error, Hashable, Sendable {
    package let sequence: Int
}

extension History {
    /// The versions that led to the present one, oldest first, without those that were undone.
    ///
    /// An undo leads nowhere new, it goes back to a version; so a second one goes on from there. Of the versions
    ///
    ///     1 write · 2 write · 3 write · 4 undo to 2 · 5 write
    ///
    /// 1, 2 and 5 are the way. A version that was restored is a step ahead like any other.
    package var way: [KeptVersion] {
        versions.reduce(into: []) { way, version in
            guard let target = version.note.reason.undoTarget else { return way.append(version) }
            way.removeAll { $0.sequence > target }
            // One that is not kept any more is stood for by what it was made again.
            if way.last?.sequence != target { way.append(version) }
        }
    }

    /// What so many steps back from the present state lead to, and the number of that version: 0 where there was none
    /// yet. Nil where so many are not kept.
    ///
    /// A step is a change: what did not change anything is passed over. What another program wrote, and nobody kept
    /// yet, is a change too. What a version held that cannot be read, nobody knows, so no step leads over it; but the
    /// newest one is what stands there now.
    package func back(
        _ steps: Int, from present: DomainState
    ) throws(DamagedVersion) -> (state: DomainState, sequence: Int)? {
        // Of a version that a crash has taken there is nothing to go back to, as of one that is gone.
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
