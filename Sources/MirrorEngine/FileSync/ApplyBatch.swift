extension LocalState {
    /// Returns the first of the domains, and further ones up to a number of changes. Domains that share a transaction
    /// are kept together, because they change together or not at all.
    ///
    /// A host that joins writes all keys, and each takes memory several times until it is in its file.
    func portion(of domains: [Path], most limit: Int) -> [Path] {
        let changes = domains.map { domain in
            trackedFiles[domain]?.exceptions.values.count { $0.reason == .pending } ?? 0
        }
        guard changes.reduce(0, +) > limit else { return domains }
        let groups = sharing(domains)
        var (portion, count) = ([Int](), 0)
        for group in groups where count == 0 || count < limit {
            portion += group
            for index in group { count += changes[index] }
        }
        return portion.sorted().map { domains[$0] }
    }

    /// Returns the domains that must change together with these, including these.
    func domainsAppliedWith(of some: Set<Path>, among domains: [Path]) -> [Path] {
        guard domains.contains(where: some.contains) else { return [] }
        let groups = sharing(domains).filter { $0.contains { some.contains(domains[$0]) } }
        return groups.joined().sorted().map { domains[$0] }
    }

    /// Returns the indices of the domains, grouped by transactions that they share directly or through other domains.
    private func sharing(_ domains: [Path]) -> [[Int]] {
        var (groups, groupOf) = (domains.indices.map { [$0] }, Array(domains.indices))
        var firstWith: [TransactionID: Int] = [:]
        for index in domains.indices {
            var last: TransactionID?
            // Adjacent writes are often from the same transaction.
            for write in mergeState.under(domains[index]) where write.transactionID != last {
                last = write.transactionID
                let other = firstWith[write.transactionID, default: index]
                firstWith[write.transactionID] = other
                var (from, to) = (groupOf[index], groupOf[other])
                guard from != to else { continue }
                if groups[from].count > groups[to].count { swap(&from, &to) }
                for member in groups[from] { groupOf[member] = to }
                groups[to] += groups[from]
                groups[from] = []
            }
        }
        return groups.filter { !$0.isEmpty }
    }
}
