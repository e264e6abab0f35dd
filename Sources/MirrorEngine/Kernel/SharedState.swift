/// What the hosts of a mirror agree on: the written values that were not replaced, and which transactions are known.
///
/// A value is named by the transaction that published it. A state that knows that transaction and does not have the
/// value proves that the value was replaced, so replaced values need not be kept. There are two exceptions:
/// - A value can be replaced before it arrives. `gone` keeps its name until it does.
/// - Two copies of a store can publish different transactions under one number. From the first such transaction on,
///   known transactions prove nothing, and `gone` keeps the names.
package struct SharedState: Hashable, Sendable {
    package var live = MergeState()
    /// The transactions that are known.
    package var vector = VersionVector()
    /// The places from which values were removed that no known transaction proves to be replaced.
    package var gone: [AtomName: Region] = [:]
    /// For each writer that two copies publish as, the first transaction that is in doubt.
    package var forks: [WriterID: UInt64] = [:]

    package init() {}

    package init(live: MergeState, vector: VersionVector, gone: [AtomName: Region], forks: [WriterID: UInt64]) {
        (self.live, self.vector, self.gone, self.forks) = (live, vector, gone, forks)
    }

    /// Whether the known transactions prove that the state has known a value.
    func proves(_ name: AtomName) -> Bool {
        guard let dot = name.dot, vector.includes(dot) else { return false }
        return isBeforeFork(dot)
    }

    private func isBeforeFork(_ dot: TransactionID) -> Bool {
        guard Rule.doubtsForks.isKept else { return true }
        return forks[dot.writer].map { dot.sequence < $0 } ?? true
    }

    /// What two copies of a store published under one number, and what was replaced of it.
    var inDoubt: SharedState {
        if forks.isEmpty { return SharedState() }
        func isInDoubt(_ name: AtomName) -> Bool { name.dot.map { !isBeforeFork($0) } ?? false }
        return SharedState(
            live: MergeState(sorted: live.atoms.filter { isInDoubt($0.name) }), vector: VersionVector(),
            gone: gone.filter { isInDoubt($0.key) }, forks: forks)
    }

    /// Records that a writer has published different transactions from this one on.
    mutating func fork(_ writer: WriterID, at sequence: UInt64) {
        guard Rule.recordsForks.isKept else { return }
        forks[writer] = min(forks[writer] ?? .max, max(sequence, 1))
    }
}

// MARK: Joining logs

extension SharedState {
    /// Applies the changes of a transaction, or of one that waits to be published.
    package mutating func apply(_ changes: [Change], _ dot: TransactionID?) {
        for change in changes {
            for cover in change.covers {
                live.cover(cover.name, cover.region)
                if cover.name.dot != nil, !proves(cover.name) {
                    gone[cover.name] = gone[cover.name]?.union(cover.region) ?? cover.region
                }
            }
            guard var atom = change.atom(dot) else { continue }
            if let gone = gone[atom.name], Rule.keepsGone.isKept { atom.region = atom.region.subtracting(gone) }
            // A value that was replaced in some places before it was published.
            for cover in change.covers where cover.name == atom.name {
                atom.region = atom.region.subtracting(cover.region)
            }
            if !atom.region.isEmpty { live.insert(atom) }
        }
    }

    /// Joins the transactions of a log. A known one has no effect, unless it is after a fork.
    ///
    /// - Parameter isContiguous: Whether there is no gap before the log. After a gap, the transactions are joined by
    ///   name only and do not become known.
    mutating func join(
        _ transactions: [Transaction], from first: UInt64, of writer: WriterID, tag: FileTag, isContiguous: Bool = true
    ) {
        for (sequence, transaction) in zip(first..., transactions) {
            let dot = TransactionID(writer: writer, sequence: sequence)
            guard !vector.includes(dot) || !isBeforeFork(dot) else { continue }
            if isContiguous { vector.raise(writer, to: VersionVector.Entry(sequence: sequence, tag: tag)) }
            apply(transaction.changes, dot)
        }
        forgetProven()
    }

    /// Forgets the names of replaced values whose transactions are known.
    mutating func forgetProven() {
        guard !gone.isEmpty else { return }
        gone = Rule.keepsGone.isKept ? gone.filter { !proves($0.key) } : [:]
    }
}

// MARK: Joining bases

extension SharedState {
    /// Joins the state of another host.
    mutating func join(_ other: SharedState) { join(other, changing: changes(by: other)) }

    /// Joins the state of another host, whose values are only those that change.
    mutating func join(_ other: SharedState, changing atoms: [Atom]) {
        forks = forks(joinedWith: other)
        for atom in atoms { live.insert(atom) }
        vector.merge(other.vector)
        gone.merge(other.gone) { $0.union($1) }
        // Before the new vector proves that some of these names are known, and they are forgotten.
        if Rule.removesGoneFirst.isKept {
            removeGone()
            forgetProven()
        } else {
            forgetProven()
            removeGone()
        }
    }

    private func forks(joinedWith other: SharedState) -> [WriterID: UInt64] {
        var forks = forks.merging(other.forks) { min($0, $1) }
        if Rule.recordsForks.isKept, Rule.comparesTags.isKept {
            for writer in vector.contradictions(to: other.vector) { forks[writer] = 1 }
        }
        return forks
    }

    private mutating func removeGone() {
        guard !gone.isEmpty else { return }
        for (name, region) in gone { live.cover(name, region) }
    }

    /// Returns the values that change when the state of another host is joined, with the places where they are live
    /// then, or with none if they are removed.
    ///
    /// Values that are live in both states remain, and so do those that are live in one and unknown to the other.
    func changes(by other: SharedState) -> [Atom] {
        var (ours, theirs) = (self, other)
        ours.forks = forks(joinedWith: other)
        theirs.forks = ours.forks
        var changes: [Atom] = []
        live.visitDifferences(from: other.live) { left, right in
            guard var atom = left else {
                if let right, !ours.proves(right.name) { changes.append(right) }
                return
            }
            guard let right else {
                // A value that waits to be published has no transaction that could prove anything.
                guard theirs.proves(atom.name) else { return }
                atom.region = .none
                return changes.append(atom)
            }
            let region = (atom.region, right.region)
            guard region.0 != region.1 else { return }
            // A place that one side lacks was covered there, unless that side may not have known the value.
            let onlyOurs = theirs.proves(atom.name) ? .none : region.0.subtracting(region.1)
            let onlyTheirs = ours.proves(atom.name) ? .none : region.1.subtracting(region.0)
            atom.region = region.0.intersection(region.1).union(onlyOurs).union(onlyTheirs)
            if atom.region != region.0 { changes.append(atom) }
        }
        return changes
    }
}
