/// The state computed from the files in view, the outbox, and the atoms of writers whose files are not in view.
struct RebuiltState: Sendable {
    private(set) var atoms: AtomStore

    /// Starts with the outbox and the atoms of all writers except these.
    init(_ local: LocalState, inView writers: Set<WriterID>) {
        atoms = AtomStore()
        local.atoms.visit { if !writers.contains($0.dot.writer) { atoms.join($0) } }
        for transaction in local.outbox { for atom in transaction.atoms { atoms.join(atom) } }
    }

    mutating func add(_ pack: Pack) { for atom in pack.atoms { atoms.join(atom) } }
}

extension Pack {
    /// The atoms in the file.
    var atoms: [Atom] {
        switch content {
        case .log(let log): log.transactionsWithDots.flatMap(\.atoms)
        case .base(let base): base.atoms
        case .note: []
        }
    }
}

extension LocalState {
    /// Rebuilds the state from files. Keeps the atoms of every writer of whom a file is missing, because that file may
    /// hold them.
    mutating func rebuild(from packs: [Pack]) {
        var chains: [WriterID: Chain] = [:]
        for pack in packs { chains[pack.address.writer, default: Chain()].add(pack) }
        let complete = chains.filter { $1.isComplete(upTo: $0 == writer ? published : knowledge[$0]) }
        var rebuilding = RebuiltState(self, inView: Set(complete.keys))
        for pack in packs { rebuilding.add(pack) }
        replaceAtoms(by: rebuilding.atoms)
    }
}
