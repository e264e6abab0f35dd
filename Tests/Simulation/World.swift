import MirrorEngine
import PropertyLists
import TestSupport

/// The shared directory, the time, and the files in transit between hosts. Everything is determined by a seed.
package final class World {
    var generator: SeededGenerator
    private let seed: Seed
    private let round: Int
    let scenario: Scenario
    package let medium: Medium
    /// The time in steps of the simulation, which take a second each.
    private(set) var time: Int64 = 1000
    var hosts: [SimulatedHost] = []
    /// The writers whose hosts will not be seen again.
    var vanished: [WriterID] = []
    /// The host that has the directory, if only one can have it.
    weak var holder: SimulatedHost?
    /// All files that were ever created, in order.
    private(set) var files: [PackAddress: Pack] = [:]
    private(set) var creations: [PackAddress] = []
    private(set) var removed: Set<PackAddress> = []
    /// The long values of all files, and the files that refer to them.
    var blobs = SimulatedBlobs()
    /// Files that an old version does not understand.
    var newFormat: Set<PackAddress> = []
    private var deliveries: [Delivery] = []
    private var deliveryCount = 0
    /// The number of faults of each kind.
    package private(set) var faults: [Fault: Int] = [:]
    var canCrash: Bool
    /// Whether all faults have ended.
    var isCalm = false
    /// Whether each host's state is also kept as bytes, and read back after a crash.
    let keepsJournals: Bool
    private(set) var complaints: [String] = []
    var nextGeneration: UInt64 = 0
    private var valueCount = 0
    private var names: [PackAddress: String] = [:]
    var record = WriteLedger()
    /// The preference files when the one person of a scenario last stopped working.
    var lastWork: [String: PropertyList.Dictionary] = [:]
    /// The number of conflicts that the person has found.
    package var writtenBack = 0
    /// Receives a description of each event.
    package var logger: ((String) -> Void)?

    init(seed: Seed, round: Int, scenario: Scenario) {
        generator = SeededGenerator(seed: seed, stream: scenario.name, round: round)
        self.seed = seed
        self.round = round
        self.scenario = scenario
        medium = scenario.media.randomElement(using: &generator) ?? .posix
        canCrash = scenario.crashes
        keepsJournals = round % 4 == 0
    }

    /// Seeds the generator for this step of the run, regardless of the previous steps.
    func begin(_ step: Int) {
        generator = SeededGenerator(seed: seed, stream: "\(scenario.name) \(step)", round: round)
    }

    /// Breaks the reference cycles with this world.
    package func end() { (hosts, deliveries) = ([], []) }

    /// Returns a number that no value had before.
    func nextValue() -> Int {
        valueCount += 1
        return valueCount
    }

    /// Reports an event, if the run is traced.
    func log(_ text: @autoclosure () -> String) { logger?("\(time) \(text())") }

    func complain(_ complaint: String) {
        complaints.append(complaint)
        log(complaint)
    }

    func count(_ fault: Fault) { faults[fault, default: 0] += 1 }

    func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &generator) < probability }

    /// Whether a rare fault occurs now. Never true in a script.
    func misfortune(_ probability: Double) -> Bool { scenario.hasMisfortunes && !isCalm && chance(probability) }

    func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &generator)]
    }

    /// Returns the name of a file in its writer's folder.
    func name(of address: PackAddress) -> String {
        if let name = names[address] { return name }
        let name = address.name.description
        names[address] = name
        return name
    }
}

// MARK: Time

extension World {
    /// Lets time pass, and delivers the files that arrive until then.
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
        let delay = pick(isCalm ? medium.delays : scenario.delays ?? medium.delays)
        if delay > 0 { count(.late) }
        return delay
    }
}

/// A file in transit.
private struct Delivery {
    let time: Int64
    let number: Int
    let carryOut: () -> Void

    var sortKey: (Int64, Int) { (time, number) }
}

// MARK: The directory

extension World {
    /// A host creates a file, which the others see after a delay, possibly incomplete at first, possibly twice.
    func create(_ address: PackAddress, _ pack: EncodedPack, by creator: SimulatedHost) {
        if files[address] == nil {
            files[address] = try? Pack(
                decoding: pack.bytes, at: address, of: SimulatedHost.mirror, blobs: blobs.all)
            blobs.note(pack, at: address)
            creations.append(address)
            if scenario.mixesVersions, !creator.isOld, chance(0.3) { makeNew(address) }
        }
        log("\(creator.label) creates \(address)")
        removed.remove(address)
        creator.view[address] = .whole
        for host in hosts where host !== creator { deliver(address, to: host) }
    }

    /// Adds to a file a field that only new versions understand.
    func makeNew(_ address: PackAddress) {
        count(.newVersion)
        newFormat.insert(address)
    }

    func remove(_ address: PackAddress, by remover: SimulatedHost) {
        log("\(remover.label) removes \(address)")
        removed.insert(address)
        remover.view[address] = nil
        for host in hosts where host !== remover {
            if medium == .nfs, host.view[address] != nil { host.view[address] = .stale }
            schedule(in: delay()) { [self] in
                if medium == .cloud, host.view[address] == nil { count(.deletedFirst) }
                host.view[address] = nil
            }
            // By then, files that reappeared have been removed permanently.
            schedule(in: 500) { host.view[address] = nil }
        }
        bringBack(address, to: remover)
    }

    /// Sometimes a service restores a file that its own user has removed.
    private func bringBack(_ address: PackAddress, to remover: SimulatedHost) {
        // A host with a new name does not publish the lost files of the old one again.
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
            // Sometimes a file reappears after it was removed.
            guard chance(0.1) else { return }
            count(.returned)
        }
        host.view[address] = .whole
        guard medium == .cloud, misfortune(0.01) else { return }
        count(.damaged)
        host.view[address] = .damaged
        schedule(in: pick([10, 100, 900])) { if host.view[address] == .damaged { host.view[address] = .whole } }
    }

    /// Removes existing files for all hosts. Their writers may write them again.
    func lose(_ addresses: [PackAddress]) {
        log("lost: \(addresses)")
        for address in addresses {
            removed.insert(address)
            for host in hosts { host.view[address] = nil }
        }
    }

    /// Removes a writer's folder for all hosts.
    func forget(_ writer: WriterID) {
        for address in files.keys where address.writer == writer { removed.insert(address) }
        blobs.forget(writer)
    }

    /// Delivers all existing files to a host, as to a new one.
    func deliverAll(to host: SimulatedHost) {
        for address in files.keys.sorted() where !removed.contains(address) { deliver(address, to: host) }
        for (writer, name) in blobs.standing { deliver(name, of: writer, to: host) }
    }

    /// The texts in the files of all hosts.
    var publishedTexts: Set<String> {
        files.values.reduce(into: []) { texts, pack in
            switch pack.content {
            case .log(let log):
                for change in log.transactions.flatMap(\.changes) {
                    texts.formUnion(change.value?.value?.propertyList.texts ?? [])
                }
            case .base(let base):
                base.state.live.visit { texts.formUnion($0.value.value?.propertyList.texts ?? []) }
            case .note: break
            }
        }
    }
}
