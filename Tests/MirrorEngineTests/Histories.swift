import PropertyLists
import TestSupport

@testable import MirrorEngine

/// A reference implementation of the shared state: all changes that a host knows, by name. It has no vector, proves
/// nothing, and its regions are sets of the places in `PlaceTree`.
struct PlainState: Hashable {
    /// The changes that are known, with the transactions that published them.
    private(set) var known: [AtomName: Change] = [:]

    mutating func join(_ other: PlainState) { known.merge(other.known) { $1 } }

    mutating func join(_ changes: [Change], _ dot: TransactionID) {
        for change in changes { known[AtomName(change.id, dot)] = change }
    }

    /// For each place, the values that no known change has covered there.
    var live: [Path: Set<AtomName>] {
        var live: [Path: Set<AtomName>] = [:]
        for (name, change) in known where change.value != nil {
            for place in PlaceTree.places where change.path.isPrefix(of: place) {
                live[place, default: []].insert(name)
            }
        }
        for cover in known.values.flatMap(\.covers) {
            for place in PlaceTree.places(of: cover.region) { live[place]?.remove(cover.name) }
        }
        return live.filter { !$0.value.isEmpty }
    }
}

extension PlainState {
    /// The values that are live at a place, the one in force first, in an order that is written out here again.
    func order(at place: Path, _ live: [Path: Set<AtomName>]) -> [(name: AtomName, change: Change)] {
        (live[place] ?? []).compactMap { name in known[name].map { (name, $0) } }.sorted { one, other in
            let (left, right) = (one.1, other.1)
            return (left.stamp.number, left.id.number, one.0.dot!.writer.number, one.0.dot!.sequence)
                > (right.stamp.number, right.id.number, other.0.dot!.writer.number, other.0.dot!.sequence)
        }.map { (name: $0.0, change: $0.1) }
    }

    /// The value of a key, made of what is in force at each place.
    func value(at key: Path) -> PropertyList? {
        let live = live
        var root: PropertyList?
        for place in PlaceTree.places where key.isPrefix(of: place) {
            let rest = place.keys.dropFirst(key.depth)
            Self.put(part(order(at: place, live).first?.change, at: place), at: rest, in: &root)
        }
        return root
    }

    /// Returns a value without an entry, and without the dictionaries that only led to it.
    private static func cut(_ tree: PropertyList?, _ way: ArraySlice<String>) -> PropertyList? {
        guard let first = way.first, var entries = tree?.dictionaryValue, let entry = entries[first] else {
            return tree
        }
        let rest = way.count == 1 ? nil : cut(entry, way.dropFirst())
        let isOnlyWay = rest?.dictionaryValue?.isEmpty == true && entry.dictionaryValue?.isEmpty == false
        entries[first] = isOnlyWay ? nil : rest
        return .dictionary(entries)
    }

    private static func put(_ value: PropertyList?, at way: ArraySlice<String>, in tree: inout PropertyList?) {
        guard let first = way.first else {
            tree = value
            return
        }
        guard value != nil || tree?.dictionaryValue != nil else { return }
        var entries = tree?.dictionaryValue ?? [:]
        var entry = entries[first]
        put(value, at: way.dropFirst(), in: &entry)
        entries[first] = entry
        tree = .dictionary(entries)
    }

    private func part(_ change: Change?, at place: Path) -> PropertyList? {
        guard let change else { return nil }
        return place.keys.dropFirst(change.path.depth).reduce(change.value?.value?.propertyList) {
            $0?.dictionaryValue?[$1]
        }
    }

    /// The first value in force below a place whose own value is not a dictionary.
    private func entry(below place: Path, _ edges: [Path], _ live: [Path: Set<AtomName>]) -> Change? {
        let latest = part(order(at: place, live).first?.change, at: place)
        guard latest != nil, latest?.dictionaryValue == nil else { return nil }
        for inner in edges where inner != place && place.isPrefix(of: inner) {
            let change = order(at: inner, live).first?.change
            if part(change, at: inner) != nil { return entry(below: inner, edges, live) ?? change }
        }
        return nil
    }

    /// The names of the values that are open conflicts somewhere.
    var openConflicts: Set<AtomName> {
        let live = live
        let parent = { (place: Path) in place.depth > 2 ? place.prefix(components: place.depth - 1) : nil }
        // The places at which something begins or ends to be live.
        let edges = PlaceTree.places.filter { place in
            place.depth == 2 || live[place] != parent(place).flatMap { live[$0] }
                || (live[place] ?? []).contains { known[$0]?.path == place }
        }
        var open: Set<AtomName> = []
        for place in edges {
            let below = edges.filter { $0 != place && place.isPrefix(of: $0) }
            func rest(_ change: Change?) -> PropertyList? {
                var value = part(change, at: place)
                for inner in below { value = Self.cut(value, inner.keys.dropFirst(place.depth)) }
                return value
            }
            let order = order(at: place, live)
            // A value below makes a dictionary of the place, so that a value that is none has lost.
            let entry = entry(below: place, edges, live)
            let hasEntries = below.contains { part(self.order(at: $0, live).first?.change, at: $0) != nil }
            let latest = rest(order.first?.change)
            // Then nothing but its entries is there.
            let isBare = entry != nil || hasEntries && (latest == nil || latest == .dictionary([:]))
            let winner = entry ?? order.first?.change
            for (name, change) in entry == nil ? order.dropFirst() : order[...] where change.value != .left {
                // The value has nothing here, and never named the entry that was written here.
                let hasNothing = part(change, at: place) == nil && change.value != .deleted
                let isNewEntry = winner.map { change.path != $0.path && change.path.isPrefix(of: $0.path) } ?? false
                if hasNothing && isNewEntry || entry == nil && rest(change) == latest { continue }
                if isBare && (rest(change) == nil || rest(change) == .dictionary([:])) { continue }
                // All that it had here was replaced entry by entry.
                let replaced = below.filter { !(live[$0] ?? []).contains(name) }
                let left = replaced.reduce(part(change, at: place)) {
                    Self.cut($0, $1.keys.dropFirst(place.depth))
                }
                if left == .dictionary([:]) && part(change, at: place) != left { continue }
                open.insert(name)
            }
        }
        return open
    }
}

/// A log as a host published it.
struct PublishedLog {
    let writer: WriterID
    let first: UInt64
    let tag: FileTag
    let transactions: [Transaction]

    var last: UInt64 { first + UInt64(transactions.count) - 1 }
}

/// A host with both implementations of the state.
struct Host {
    var writer: WriterID
    var state = SharedState()
    var plain = PlainState()
    /// The number of its last transaction.
    var sequence: UInt64 = 0

    mutating func join(_ log: PublishedLog) {
        state.join(
            log.transactions, from: log.first, of: log.writer, tag: log.tag,
            isContiguous: log.first <= state.vector[log.writer] + 1)
        for (sequence, transaction) in zip(log.first..., log.transactions) {
            plain.join(transaction.changes, TransactionID(writer: log.writer, sequence: sequence))
        }
    }

    mutating func join(_ other: Host) {
        state.join(other.state)
        plain.join(other.plain)
    }

    /// Whether both implementations have the same values live at each place.
    var agrees: Bool {
        let live = plain.live
        return PlaceTree.places.allSatisfy { place in
            Set(state.live.overlapping(place).filter { $0.isLive(at: place) }.map(\.name)) == live[place] ?? []
        }
    }
}

/// Hosts that write, accept, and join logs and bases of each other in any order, also with gaps.
struct History {
    var generator: SeededGenerator
    private(set) var hosts: [Host]
    private(set) var logs: [PublishedLog] = []
    /// States as they were published.
    private(set) var bases: [Host] = []
    private var nextID: UInt64 = 1
    private let maySkip: Bool

    /// - Parameters:
    ///   - hasFork: Whether two hosts publish under one number, and all hosts know that.
    ///   - maySkip: Whether logs can be joined before the ones before them.
    init(_ stream: String, round: Int, hasFork: Bool = false, maySkip: Bool = true) {
        generator = SeededGenerator(stream: stream, round: round)
        let numbers: [UInt64] = hasFork ? [1, 2, 2] : [1, 2, 3]
        hosts = numbers.map { Host(writer: WriterID(number: $0)) }
        if hasFork { for index in hosts.indices { hosts[index].state.forks = [WriterID(number: 2): 1] } }
        self.maySkip = maySkip
    }

    mutating func run(steps: Int, check: (Host) -> Void = { _ in }) {
        for _ in 0..<steps {
            let index = hosts.indices.randomElement(using: &generator)!
            switch Int.random(in: 0..<8, using: &generator) {
            case 0...3: publish(index)
            case 4: bases.append(hosts[index])
            case 5, 6:
                guard let log = logs.randomElement(using: &generator) else { continue }
                if maySkip || log.first <= hosts[index].state.vector[log.writer] + 1 { hosts[index].join(log) }
            default: if let base = bases.randomElement(using: &generator) { hosts[index].join(base) }
            }
            check(hosts[index])
        }
    }

    private mutating func publish(_ index: Int) {
        let (writer, first) = (hosts[index].writer, hosts[index].sequence + 1)
        let tag = FileTag(number: UInt32(nextID))
        var transactions: [Transaction] = []
        for sequence in first...first + UInt64.random(in: 0...1, using: &generator) {
            let dot = TransactionID(writer: writer, sequence: sequence)
            let transaction = transaction(hosts[index].state.live, dot)
            transactions.append(transaction)
            // The host sees its first transaction when it makes the second one.
            hosts[index].join(
                PublishedLog(writer: writer, first: sequence, tag: tag, transactions: [transaction]))
        }
        hosts[index].sequence = first + UInt64(transactions.count) - 1
        logs.append(PublishedLog(writer: writer, first: first, tag: tag, transactions: transactions))
    }

    private mutating func transaction(_ live: MergeState, _ dot: TransactionID) -> Transaction {
        let count = Int.random(in: 1...2, using: &generator)
        let changes = (0..<count).map { _ in change(live, dot) }
        return Transaction(changes.sorted { $0.path < $1.path })
    }

    /// Returns a change with any value, or none, that covers any live values at, above and below its path in any
    /// places.
    private mutating func change(_ live: MergeState, _ dot: TransactionID) -> Change {
        let path = PlaceTree.written.randomElement(using: &generator)!
        let id = WriteID(number: nextID << 8 | UInt64.random(in: 0..<256, using: &generator))
        nextID += 1
        var covers: [Cover] = []
        for atom in live.overlapping(path) where Bool.random(using: &generator) {
            let root = path.isPrefix(of: atom.path) ? atom.path : path
            let region =
                Bool.random(using: &generator) ? Region(root) : PlaceTree.region(under: root, &generator)
            if !region.isEmpty { covers.append(Cover(atom.name, region)) }
        }
        let value =
            Int.random(in: 0..<6, using: &generator) == 0 ? nil : PlaceTree.values.randomElement(using: &generator)
        if value != nil, Int.random(in: 0..<8, using: &generator) == 0 {
            // A write that was replaced in some places before it was published.
            let region = PlaceTree.region(under: path, &generator)
            if !region.isEmpty, region != Region(path) { covers.append(Cover(AtomName(id, dot), region)) }
        }
        return Change(
            id, at: path, value, stamp: Stamp(number: .random(in: 0..<6, using: &generator)), covers: covers)
    }

    /// Returns a new host that joins everything in any order, with repetitions.
    mutating func newcomer(forks: [WriterID: UInt64], by joining: Joining) -> Host {
        var host = Host(writer: WriterID(number: 9))
        host.state.forks = forks
        let hosts = hosts
        if joining != .logs { for base in (hosts + hosts).shuffled(using: &generator) { host.join(base) } }
        if joining == .bases { return host }
        // Logs that are joined before the ones before them become known when they are joined again.
        var before: VersionVector
        repeat {
            before = host.state.vector
            for log in logs.shuffled(using: &generator) { host.join(log) }
        } while host.state.vector != before
        return host
    }

    enum Joining: CaseIterable { case logs, bases, both }
}
