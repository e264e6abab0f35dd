extension LocalState {
    /// The first of the domains and more of them, until they have so many changes; but with each all those that share a
    /// transaction with it, which are seen changed at once or not at all.
    ///
    /// A host that joins has all keys to write. What it writes stands in memory several times until it is in the files.
    func portion(of domains: [Path], most limit: Int) -> [Path] {
        let changes = domains.map { domain in
            shadows[domain]?.exceptions.values.count { $0.reason == .pending } ?? 0
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

    /// The domains that are changed at once with one of these or not at all, themselves among them.
    func companions(of some: Set<Path>, among domains: [Path]) -> [Path] {
        guard domains.contains(where: some.contains) else { return [] }
        let groups = sharing(domains).filter { $0.contains { some.contains(domains[$0]) } }
        return groups.joined().sorted().map { domains[$0] }
    }

    /// The domains' indices, together where domains share a transaction, by way of others too.
    private func sharing(_ domains: [Path]) -> [[Int]] {
        var (groups, groupOf) = (domains.indices.map { [$0] }, Array(domains.indices))
        var firstWith: [Dot: Int] = [:]
        for index in domains.indices {
            var last: Dot?
            // Most of what stands in a row was written in a row.
            for atom in atoms.under(domains[index]) where atom.dot != last {
                last = atom.dot
                let other = firstWith[atom.dot, default: index]
                firstWith[atom.dot] = other
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
