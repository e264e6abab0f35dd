// Another name for ourselves.
extension LocalState {
    /// The last of our transactions of which others can know from us.
    package var published: UInt64 { max(outbox.first.map { $0.dot.sequence - 1 } ?? sequence, intent?.last ?? 0) }

    /// Takes another name, and with it all that was not published under the old one.
    mutating func reincarnate(as new: WriterID, intentIsInView: Bool) {
        if let intent, intentIsInView { clearOutbox(of: intent) }
        intent = nil
        let former = writer
        let published = published
        knowledge[former] = published
        // That came from the files, or it was seen in them.
        for domain in Array(shadows.keys) { shadows[domain]?.seen.raise(former, to: published) }
        let shown = shownValues(of: Set(outbox.flatMap(\.writes).map { $0.path.prefix(components: 2) }))
        takeBackOutbox()
        let renamed = zip(UInt64(1)..., outbox).map { sequence, transaction in
            transaction.renamed(Dot(writer: new, sequence: sequence), atMost: (former, knowledge[former]))
        }
        for transaction in renamed { for atom in transaction.atoms { atoms.join(atom) } }
        // Among equal stamps the new name may win where the former did not.
        for (key, value) in shown { updateException(key, before: value, after: atoms.value(at: key)) }
        renameBeats(to: renamed)
        outbox = renamed
        formerWriters.insert(former)
        // Whoever else had our name may remove long values that our files refer to, as needed by none of its own; and
        // nobody else may know of what we had to say again.
        if !folder.blobs.isEmpty || folder.owesBase { carried.insert(former) }
        writer = new
        sequence = UInt64(renamed.count)
        knowledge[new] = sequence
        folder = OwnFolder()
        folder.owesBase = true
        // What we published as our former self is read like any other's.
        peers[former] = Peer()
    }

    /// What the state says of keys whose domains have files here.
    private func shownValues(of keys: Set<Path>) -> [(Path, CanonicalValue?)] {
        keys.filter { shadows[$0.prefix(components: 1)]?.isCaptured ?? false }.sorted()
            .map { ($0, atoms.value(at: $0)) }
    }

    private mutating func takeBackOutbox() {
        for transaction in outbox {
            for atom in transaction.atoms where atoms.atom(at: atom.path) == atom { atoms.remove(at: atom.path) }
        }
    }

    private mutating func renameBeats(to renamed: [Transaction]) {
        let new = Dictionary(zip(outbox.map(\.dot), renamed.map(\.dot))) { $1 }
        beats = beats.mapValues { $0.map { Beat(beaten: $0.beaten, by: new[$0.by] ?? $0.by) } }
    }
}
