package import Platform
internal import PropertyLists

/// The record of a transaction that is still in its store.
package struct NotedTransaction: Hashable, Sendable {
    package let path: FilePath
    /// The names of the domains that it changes, or nil if the record cannot be read.
    package let domains: [String]?
    /// The new files of the domains.
    package let temporaries: [FilePath]
    /// Whether a process holds the lock of one of the domains.
    package let isBusy: Bool
    /// Whether the record or the store belongs to another user.
    package var isOfOthers = false
}

extension StoreFolder {
    /// Returns the records of transactions in this store. Opening a domain completes those that can be completed.
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
            let locks = try? DomainLocks(of: record.files, on: machine, patience: .zero)
            locks?.release()
            return NotedTransaction(
                path: path, domains: record.files.map(\.file.name),
                temporaries: record.steps.map(\.change.temporary),
                isBusy: locks == nil)
        }
    }
}
