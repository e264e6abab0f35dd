/// The state as the files say it, with what they cannot say: the outbox, and writers whose folders are out of view.
struct Rebuilding: Sendable {
    private(set) var atoms: AtomStore

    /// Begins with what no file in view has to say.
    init(_ local: LocalState, inView writers: Set<WriterID>) {
        atoms = AtomStore(rules: local.rules)
        let inView = writers.union([local.writer])
        local.atoms.visit { if !inView.contains($0.dot.writer) { atoms.join($0) } }
        for transaction in local.outbox { for atom in transaction.atoms { atoms.join(atom) } }
    }

    mutating func add(_ pack: Pack) {
        switch pack.content {
        case .log(let log):
            for transaction in log.transactionsWithDots { for atom in transaction.atoms { atoms.join(atom) } }
        case .base(let base): for atom in base.atoms { atoms.join(atom) }
        case .note: break
        }
    }
}

extension LocalState {
    mutating func rebuild(from packs: [Pack]) {
        var rebuilding = Rebuilding(self, inView: Set(packs.map(\.address.writer)))
        for pack in packs { rebuilding.add(pack) }
        replaceAtoms(by: rebuilding.atoms)
    }
}
