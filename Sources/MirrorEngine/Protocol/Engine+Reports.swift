// What people and programs are told of preference files.
extension Engine {
    /// Says which keys of which files are going to change.
    mutating func reportChanges(_ pack: Pack) {
        // Of a base there is mostly nothing new, and all of it to be looked through.
        guard local.shadows.values.contains(where: \.isPending) else { return }
        let changed = pack.content.paths.lazy.filter { [local] path in
            local.shadows[path.prefix(components: 1)]?.exceptions[path.prefix(components: 2)]?.reason == .pending
        }
        var keys: [Path: Set<String>] = [:]
        for path in changed.prefix(Self.mostReportedKeys) {
            guard let name = path.prefix(components: 2).key else { continue }
            keys[path.prefix(components: 1), default: []].insert(name)
        }
        for (domain, names) in keys.sorted(by: { $0.key < $1.key }) {
            report(.changed(domain: domain.domain, keys: names.sorted(), by: pack.address.writer))
        }
    }

    /// The most keys of one file that are named.
    private static let mostReportedKeys = 10_000

    /// Says which keys of a file are going to be what the mirror has, now that its domain takes part.
    mutating func reportSeeded(_ domain: Path) {
        guard let exceptions = local.shadows[domain]?.exceptions, !exceptions.isEmpty else { return }
        var keys: [WriterID: Set<String>] = [:]
        for atom in local.atoms.under(domain).prefix(Self.mostReportedKeys) {
            let key = atom.path.prefix(components: 2)
            guard exceptions[key]?.reason == .pending, let name = key.key else { continue }
            keys[atom.dot.writer, default: []].insert(name)
        }
        for (writer, names) in keys.sorted(by: { $0.key < $1.key }) {
            report(.seeded(domain: domain.domain, keys: names.sorted(), by: writer))
        }
    }

    /// Says which keys of a file are not what the mirror has, because its format cannot hold that.
    mutating func reportUnheld(_ applied: AppliedDomain, _ change: DomainChange) {
        let keys = applied.exceptions.filter { $0.value.reason == .format && change.changes[$0.key] != nil }.keys
        guard !keys.isEmpty else { return }
        report(.unheld(domain: applied.domain.domain, keys: keys.compactMap(\.key).sorted()))
    }
}

extension Pack.Content {
    /// The paths that the file writes to.
    fileprivate var paths: [Path] {
        switch self {
        case .log(let log): log.transactions.flatMap { $0.writes.map(\.path) }
        case .base(let base): base.atoms.map(\.path)
        case .note: []
        }
    }
}
