import MirrorEngine
import PropertyLists

/// What programs wrote and hosts took up: what must not be lost.
struct Chronicle {
    /// What programs wrote, as long as no program wrote over it that could see it.
    private(set) var standing: Set<String> = []
    /// What hosts took up, with all that its authors had seen.
    private(set) var captured: [Dot: Transaction] = [:]
    /// What all of that comes to.
    private(set) var survivors = AtomStore()

    /// A program replaced what it saw by something new.
    mutating func note(_ new: PropertyList?, over old: PropertyList?) {
        standing.subtract(old?.texts ?? [])
        standing.formUnion(new?.texts ?? [])
    }

    mutating func note(_ transaction: Transaction) {
        captured[transaction.dot] = transaction
        for atom in transaction.atoms { survivors.join(atom) }
    }

    /// A host took another name, and with it what it had not said yet.
    mutating func rename(_ former: some Collection<Transaction>, to new: some Collection<Transaction>) {
        for transaction in former { captured[transaction.dot] = nil }
        for transaction in new { note(transaction) }
    }

    /// The values that are neither in force nor in a journal, nor were overwritten by whoever knew of them.
    func lost(by hosts: [SimulatedHost]) -> [String] {
        var kept: Set<String> = []
        for host in hosts {
            for atom in host.engine.local.atoms.atoms { kept.formUnion(atom.value.value?.propertyList.texts ?? []) }
            for conflict in host.engine.local.conflicts.conflicts {
                for value in conflict.values.values { kept.formUnion(value.value?.propertyList.texts ?? []) }
            }
        }
        return standing.subtracting(kept).filter { !isKnowinglyOverwritten($0) }.sorted()
    }

    private func isKnowinglyOverwritten(_ text: String) -> Bool {
        captured.values.contains { loser in
            loser.writes.contains { write in
                guard write.value.value?.propertyList.texts.contains(text) ?? false else { return false }
                return captured.values.contains { winner in
                    winner.dot != loser.dot && winner.context.covers(loser.dot)
                        && winner.writes.contains { $0.path.isPrefix(of: write.path) && $0.stamp >= write.stamp }
                }
            }
        }
    }
}

extension PropertyList {
    /// All texts in the value.
    var texts: [String] {
        switch self {
        case .string(let text): [text]
        case .dictionary(let entries): entries.flatMap(\.value.texts)
        default: []
        }
    }
}
