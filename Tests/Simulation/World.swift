import MirrorEngine
import PropertyLists
import TestSupport

/// The shared directory, the time, and what is under way between hosts. Everything follows from one seed.
package final class World {
    var generator: SeededGenerator
    private let seed: Seed
    private let round: Int
    let scenario: Scenario
    package let medium: Medium
    /// In the steps of the simulation, each a second.
    private(set) var time: Int64 = 1000
    var hosts: [SimulatedHost] = []
    /// Who has the directory where only one can have it.
    weak var holder: SimulatedHost?
    /// What bases were the first to say.
    private var publishedByBases: [Transaction] = []
    /// What was ever created, whoever sees it, and in which order.
    private(set) var files: [PackAddress: Pack] = [:]
    private(set) var creations: [PackAddress] = []
    private(set) var removed: Set<PackAddress> = []
    /// The long values of all files, and which file needs which.
    var blobs = SimulatedBlobs()
    /// Files that an old version does not understand.
    var newFormat: Set<PackAddress> = []
    private var deliveries: [Delivery] = []
    private var deliveryCount = 0
    /// How often each kind of fault happened.
    package private(set) var faults: [Fault: Int] = [:]
    var canCrash: Bool
    /// Whether all faults have ended.
    var isCalm = false
    /// Whether each host's state is also kept as bytes, and read back after a crash.
    let keepsJournals: Bool
    private(set) var complaints: [String] = []
    /// Conflicts that a host listed although the user whose write is in force had seen what lost.
    package private(set) var needless: [String] = []
    var nextGeneration: UInt64 = 0
    private var valueCount = 0
    private var names: [PackAddress: String] = [:]
    var record = WriteLedger()
    /// Who is told what happens.
    package var teller: ((String) -> Void)?

    init(seed: Seed, round: Int, scenario: Scenario) {
        generator = SeededGenerator(seed: seed, stream: scenario.name, round: round)
        self.seed = seed
        self.round = round
        self.scenario = scenario
        medium = scenario.media.randomElement(using: &generator) ?? .posix
        canCrash = scenario.crashes
        keepsJournals = round % 4 == 0
    }

    /// Draws from here on as this step of the run does, whichever others there were before it.
    func begin(_ step: Int) {
        generator = SeededGenerator(seed: seed, stream: "\(scenario.name) \(step)", round: round)
    }

    /// Lets go of all that holds on to this world.
    package func end() { (hosts, deliveries) = ([], []) }

    /// A number that no value had before.
    func nextValue() -> Int {
        valueCount += 1
        return valueCount
    }

    /// Says what happens, where somebody asked to be told.
    func tell(_ text: @autoclosure () -> String) { teller?("\(time) \(text())") }

    func complain(_ complaint: String) { complaints.append(complaint) }

    func noteNeedless(_ conflict: String) {
        needless.append(conflict)
        tell("needless: \(conflict)")
    }

    func count(_ fault: Fault) { faults[fault, default: 0] += 1 }

    func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &generator) < probability }

    /// Whether something goes wrong now that does so seldom, and never in a script.
    func misfortune(_ probability: Double) -> Bool { scenario.hasMisfortunes && !isCalm && chance(probability) }

    func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &generator)]
    }

    /// The name of a file in its writer's folder.
    func name(of address: PackAddress) -> String {
        if let name = names[address] { return name }
        let name = address.name.description
        names[address] = name
        return name
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
        let delay = pick(medium.delays)
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
            if address.name.kind == .base { noteFirstPublished(address, of: creator) }
            creations.append(address)
            if scenario.mixesVersions, !creator.isOld, chance(0.3) { makeNew(address) }
        }
        tell("\(creator.label) creates \(address)")
        removed.remove(address)
        creator.view[address] = .whole
        for host in hosts where host !== creator { deliver(address, to: host) }
    }

    /// What no log says for want of room, a base says.
    private func noteFirstPublished(_ base: PackAddress, of creator: SimulatedHost) {
        let transactions = creator.engine.local.outbox.filter { $0.dot.sequence <= base.name.number }
        guard !transactions.isEmpty else { return }
        count(.fullFolder)
        publishedByBases += transactions
    }

    /// Says in a file something that only new versions understand.
    func makeNew(_ address: PackAddress) {
        count(.newVersion)
        newFormat.insert(address)
    }

    func remove(_ address: PackAddress, by remover: SimulatedHost) {
        tell("\(remover.label) removes \(address)")
        removed.insert(address)
        remover.view[address] = nil
        for host in hosts where host !== remover {
            if medium == .nfs, host.view[address] != nil { host.view[address] = .stale }
            schedule(in: delay()) { [self] in
                if medium == .cloud, host.view[address] == nil { count(.deletedFirst) }
                host.view[address] = nil
            }
            // Whatever came back is gone for good by then.
            schedule(in: 500) { host.view[address] = nil }
        }
        bringBack(address, to: remover)
    }

    /// Now and then a service brings back what its own user has removed.
    private func bringBack(_ address: PackAddress, to remover: SimulatedHost) {
        // Who takes another name says no more of what he lost under the old one.
        guard medium == .cloud, !scenario.losesFiles, misfortune(0.02) else { return }
        schedule(in: delay()) { [self] in
            guard removed.contains(address) else { return }
            count(.returned)
            remover.view[address] = .whole
        }
        schedule(in: 500) { [self] in if removed.contains(address) { remover.view[address] = nil } }
    }

    func deliver(_ address: PackAddress, to host: SimulatedHost) {
        var wait = delay()
        if let firstSight = medium.firstSight, chance(0.3) {
            schedule(in: wait) { [self] in
                guard host.view[address] == nil, !removed.contains(address) else { return }
                host.view[address] = firstSight
                count(firstSight == .partial ? .partial : .staleListing)
            }
            wait += delay()
            if firstSight == .partial, misfortune(0.02) {
                count(.slow)
                wait += 1200
            }
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
        guard medium == .cloud, misfortune(0.01) else { return }
        count(.spoilt)
        host.view[address] = .spoilt
        schedule(in: pick([10, 100, 900])) { if host.view[address] == .spoilt { host.view[address] = .whole } }
    }

    /// Files that stood there are gone, for everybody; whoever wrote them may write them again.
    func lose(_ addresses: [PackAddress]) {
        tell("lost: \(addresses)")
        for address in addresses {
            removed.insert(address)
            for host in hosts { host.view[address] = nil }
        }
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
        let publishedByLogs = files.sorted { $0.key < $1.key }.flatMap { _, pack in
            if case .log(let log) = pack.content { log.transactionsWithDots } else { [Transaction]() }
        }
        return publishedByLogs + publishedByBases
    }
}
