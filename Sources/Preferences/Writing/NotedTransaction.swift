package import Platform
internal import PropertyLists

/// The note of a transaction that still lies in its store.
package struct NotedTransaction: Hashable, Sendable {
    package let path: FilePath
    /// What the domains are called that it changes; nil for a note that nobody can read.
    package let domains: [String]?
    /// The files that are to take the domains' places.
    package let temporaries: [FilePath]
    /// Whether its writer, or somebody else, is at one of the domains right now.
    package let isBusy: Bool
    /// Whether another user has left it, or the store is another user's.
    package var isOfOthers = false
}

extension StoreFolder {
    /// The notes of transactions that lie here. Opening a domain carries out what can be.
    package func notedTransactions(on machine: Machine) -> [NotedTransaction] {
        guard arrangement == .own else { return [] }
        let folder = transactions
        let other = noteOfOthers(on: machine)
        let names = (try? machine.fileSystem.names(in: folder)) ?? []
        return names.filter { !$0.isTemporary }.map { name in
            let path = folder.appending(name)
            guard let record = PendingTransactions.record(at: path, folder, machine) else {
                return NotedTransaction(
                    path: path, domains: nil, temporaries: [], isBusy: false, isOfOthers: path == other)
            }
            let files = record.steps.map { ResolvedFile(decided: $0.file, target: $0.target) }
            let locks = try? DomainLocks(of: files, on: machine, patience: .zero)
            locks?.release()
            return NotedTransaction(
                path: path, domains: record.steps.map(\.file.name), temporaries: record.steps.map(\.change.temporary),
                isBusy: locks == nil)
        }
    }
}
