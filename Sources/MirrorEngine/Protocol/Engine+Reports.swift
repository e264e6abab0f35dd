// Reports about preference files.
extension Engine {
    /// Reports the keys that received values of the mirror, once each, by the writers of the values in force.
    mutating func reportChanges(_ applied: AppliedDomain, _ change: DomainChange) {
        var keys: [WriterID: [String]] = [:]
        for key in change.changes.keys.sorted().prefix(Self.mostReportedKeys) where applied.exceptions[key] == nil {
            let latest = local.atoms.overlapping(key).max { $1.isAfter($0) }
            guard let name = key.key, let writer = latest?.dot.writer, writer != local.writer else { continue }
            keys[writer, default: []].append(name)
        }
        let isSeeding = seeding.remove(applied.domain) != nil
        for (writer, names) in keys.sorted(by: { $0.key < $1.key }) {
            let domain = applied.domain.domain
            report(
                isSeeding
                    ? .seeded(domain: domain, keys: names, by: writer)
                    : .changed(domain: domain, keys: names, by: writer))
        }
    }

    /// The limit of reported keys for one write.
    private static let mostReportedKeys = 10_000

    /// Reports the keys of a file whose values in the mirror its format cannot hold.
    mutating func reportUnheld(_ applied: AppliedDomain, _ change: DomainChange) {
        let keys = applied.exceptions.filter { $0.value.reason == .format && change.changes[$0.key] != nil }.keys
        guard !keys.isEmpty else { return }
        report(.unheld(domain: applied.domain.domain, keys: keys.compactMap(\.key).sorted()))
    }
}
