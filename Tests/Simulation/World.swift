import MirrorEngine
import PropertyLists
import TestSupport

/// The shared directory, the time, and what is under way between hosts. Everything follows from one seed.
final class World {
    var generator: SeededGenerator
    let scenario: Scenario
    /// In the steps of the simulation, each a second.
    private(set) var time: Int64 = 1000
    var hosts: [SimulatedHost] = []
    /// What was ever created, whoever sees it.
    private(set) var files: [PackAddress: Pack] = [:]
    private var removed: Set<PackAddress> = []
    /// The long values of all files, and which file needs which.
    var blobs = BlobsOfWorld()
    private var deliveries: [Delivery] = []
    private var deliveryCount = 0
    /// How often each kind of fault happened.
    private(set) var faults: [Fault: Int] = [:]
    var canCrash: Bool
    /// Whether all faults have ended.
    var isCalm = false
    /// Whether each host's state is also kept as bytes, and read back after a crash.
    let keepsJournals: Bool
    private(set) var complaints: [String] = []
    var nextGeneration: UInt64 = 0
    private var valueCount = 0
    private var names: [PackAddress: String] = [:]
    /// What programs wrote, as long as no program wrote over it that could see it.
    private(set) var standing: Set<String> = []
    /// What hosts took up, with all that its authors had seen.
    private(set) var captured: [Dot: Transaction] = [:]
    /// What all of that comes to.
    private(set) var survivors = AtomStore()

    enum Fault: CaseIterable, Hashable {
        case late, partial, duplicate, returned, crash, clone, rollback, skew, joiner, foreignSave, reincarnation
    }

    init(seed: Seed, round: Int, scenario: Scenario) {
        generator = SeededGenerator(seed: seed, stream: scenario.name, round: round)
        self.scenario = scenario
        canCrash = scenario.crashes
        keepsJournals = round % 10 == 0
    }

    /// A number that no value had before.
    func nextValue() -> Int {
        valueCount += 1
        return valueCount
    }

    func complain(_ complaint: String) { complaints.append(complaint) }

    func count(_ fault: Fault) { faults[fault, default: 0] += 1 }

    func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &generator) < probability }

    func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &generator)]
    }
}

extension World {
    /// The name of a file in its writer's folder.
    func name(of address: PackAddress) -> String {
        if let name = names[address] { return name }
        let name = address.name.description
        names[address] = name
        return name
    }
}

// MARK: What must not be lost

extension World {
    /// A program replaced what it saw by something new.
    func note(_ new: PropertyList?, over old: PropertyList?) {
        standing.subtract(old?.texts ?? [])
        standing.formUnion(new?.texts ?? [])
    }

    func note(_ transaction: Transaction) {
        captured[transaction.dot] = transaction
        for atom in transaction.atoms { survivors.join(atom) }
    }

    /// The values that are neither in force nor in a journal, nor were overwritten by whoever knew of them.
    var lost: [String] {
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

// MARK: Time

extension World {
    /// Lets time pass, and arrive what arrives until then.
    func pass(_ seconds: Int64) {
        let end = time + seconds
        while let next = deliveries.indices.min(by: { deliveries[$0].sortKey < deliveries[$1].sortKey }),
            deliveries[next].time <= end
        {
            let delivery = deliveries.remove(at: next)
            time = max(time, delivery.time)
            delivery.carryOut()
        }
        time = end
    }

    func schedule(in seconds: Int64, _ carryOut: @escaping () -> Void) {
        deliveryCount += 1
        deliveries.append(Delivery(time: time + seconds, number: deliveryCount, carryOut: carryOut))
    }

    func delay() -> Int64 {
        guard !scenario.hasOneView else { return 0 }
        let delay: Int64 = pick([0, 1, 3, 10, 40, 120])
        if delay > 0 { count(.late) }
        return delay
    }
}

/// Something that is under way.
private struct Delivery {
    let time: Int64
    let number: Int
    let carryOut: () -> Void

    var sortKey: (Int64, Int) { (time, number) }
}

// MARK: The directory

extension World {
    /// A host creates a file, which the others see sooner or later, perhaps in part at first, perhaps twice.
    func create(_ address: PackAddress, _ pack: EncodedPack, by creator: SimulatedHost) {
        if files[address] == nil {
            files[address] = try? Pack(
                decoding: pack.bytes, at: address, of: SimulatedHost.mirror, blobs: blobs.all)
            blobs.note(pack, at: address)
        }
        removed.remove(address)
        creator.view[address] = .whole
        for host in hosts where host !== creator { deliver(address, to: host) }
    }

    func remove(_ address: PackAddress, by remover: SimulatedHost) {
        removed.insert(address)
        remover.view[address] = nil
        for host in hosts where host !== remover {
            schedule(in: delay()) { host.view[address] = nil }
            // Whatever came back is gone for good by then.
            schedule(in: 500) { host.view[address] = nil }
        }
    }

    func deliver(_ address: PackAddress, to host: SimulatedHost) {
        var wait = delay()
        if !scenario.hasOneView, chance(0.3) {
            schedule(in: wait) { [self] in
                guard host.view[address] == nil, !removed.contains(address) else { return }
                host.view[address] = .partial
                count(.partial)
            }
            wait += delay()
        }
        schedule(in: wait) { [self] in arrive(address, at: host) }
        guard chance(0.2) else { return }
        count(.duplicate)
        schedule(in: wait + delay()) { [self] in arrive(address, at: host) }
    }

    private func arrive(_ address: PackAddress, at host: SimulatedHost) {
        if removed.contains(address) {
            // Now and then a file comes back after it was removed.
            guard chance(0.1) else { return }
            count(.returned)
        }
        host.view[address] = .whole
    }

    /// A writer's folder is gone, for everybody.
    func forget(_ writer: WriterID) {
        for address in files.keys where address.writer == writer { removed.insert(address) }
        blobs.forget(writer)
    }

    /// Brings a host everything that is there, as to one that is new.
    func deliverAll(to host: SimulatedHost) {
        for address in files.keys.sorted() where !removed.contains(address) { deliver(address, to: host) }
        for (writer, name) in blobs.standing { deliver(name, of: writer, to: host) }
    }

    /// What was written, by whoever's files.
    var transactions: [Transaction] {
        files.sorted { $0.key < $1.key }.flatMap { _, pack in
            if case .log(let log) = pack.content { log.transactions(knowing: VersionVector()) } else { [Transaction]() }
        }
    }
}
