import MirrorEngine
import PropertyLists
import TestSupport

/// Hosts whose steps a script controls. Files arrive immediately unless the script delays them.
final class Bench {
    let world: World

    init(round: Int = 0, _ change: (inout Scenario) -> Void = { _ in }) {
        var scenario = Scenario(name: "script", media: [.posix], hasForeignSaves: false, hasMisfortunes: false)
        change(&scenario)
        world = World(seed: Seed(number: 1), round: round, scenario: scenario)
    }

    func host(_ label: String) -> SimulatedHost {
        let host = SimulatedHost(world, label)
        world.hosts.append(host)
        world.deliverAll(to: host)
        settle()
        return host
    }

    /// Returns two hosts, and two logs of the second that the first has not read. Each sets a key, `a` or `b`, to its
    /// name.
    func hostsWithTwoLogs() -> (near: SimulatedHost, far: SimulatedHost, logs: [PackAddress]) {
        let (near, far) = (host("near"), host("far"))
        comeToRest()
        for key in ["a", "b"] {
            far.set(key, to: .string(key))
            far.publishNow()
        }
        settle()
        return (near, far, near.files(of: far.durable.writer).filter { $0.name.kind == .log })
    }

    /// The address of a log of an unknown writer.
    static let addressOfStranger = PackAddress(
        writer: WriterID(number: 5), name: PackName(kind: .log, number: 1, hash: ContentHash(of: [1])))

    func clone(_ host: SimulatedHost, _ label: String) -> SimulatedHost {
        let clone = host.clone(label)
        clone.view = host.view
        world.hosts.append(clone)
        return clone
    }

    /// Makes one host compact its files, and the other read only the base.
    func readBase(of writer: SimulatedHost, on reader: SimulatedHost) {
        writer.attempt { try writer.compact() }
        writer.publishNow()
        settle()
        reader.view = reader.view.filter { $0.key.writer != writer.durable.writer || $0.key.name.kind == .base }
        reader.pullNow()
    }

    /// Lets a second pass, so that all files arrive.
    func settle() { world.pass(1) }

    /// Syncs all hosts until nothing remains to be exchanged.
    func comeToRest() {
        for _ in 0..<4 {
            settle()
            for host in world.hosts { host.sync() }
        }
    }

    private var areListsAlike: Bool { Set(world.hosts.map(\.listed)).count < 2 }

    /// Whether all hosts have the same values in the state and in their files, and nothing was lost.
    var isSound: Bool {
        let views = world.hosts.map { host in
            world.scenario.domains.map { PropertyList.Dictionary(host.values($0)) }
        }
        let areAlike = views.allSatisfy { $0 == views[0] }
        let areInFiles = zip(world.hosts, views).allSatisfy { host, view in
            zip(world.scenario.domains, view).allSatisfy { host.files[$0]?.values ?? [:] == $1 }
        }
        return areAlike && areInFiles && world.unreported.isEmpty && world.complaints.isEmpty && world.needless.isEmpty
            && areListsAlike
    }
}

extension SimulatedHost {
    /// The names of the open conflicts.
    var listed: [String] { engine.status.mergeState.conflicts.map { $0.name(in: Self.mirror) } }

    /// Returns the view of a domain.
    func values(_ domain: String) -> [(String, PropertyList)] {
        engine.status.mergeState.keys(of: domain).map { ($0.key, $0.value.propertyList) }
    }

    /// Returns the values in the file of a domain, without those that are left to each host.
    func mirroredValues(_ domain: String) -> [(String, PropertyList)] {
        (files[domain]?.values ?? [:]).compactMap { entry in
            isLeft(Path(domain: domain, key: entry.key)) ? nil : (entry.key, entry.value)
        }
    }

    /// Whether a key has no value in the mirror, because it is left to each host.
    func isLeft(_ key: Path) -> Bool { engine.status.mergeState.isLeft(key) }

    func value(_ key: String, in domain: String = "s") -> PropertyList? {
        engine.status.mergeState.value(at: Path(domain: domain, key: key))?.propertyList
    }

    /// Sets a key like a program, and captures the change.
    func set(_ key: String, to value: PropertyList?, in domain: String = "s") {
        edit(key, to: value, in: domain)
        attempt { try capture() }
    }

    func edit(_ key: String, to value: PropertyList?, in domain: String = "s", mark: LibraryWrite? = .write) {
        save(domain, mark: mark) { values in
            world.record.note(value, over: values[key], by: label)
            values[key] = value
        }
    }

    func publishNow() { attempt { try publish() } }
    func pullNow() { attempt { try pull() } }

    /// Whether a value is listed as a conflict.
    func lists(_ value: PropertyList?) -> Bool {
        engine.status.mergeState.conflicts.contains { $0.value.value?.propertyList == value }
    }

    /// Accepts all open conflicts.
    func acceptAll() { command(.accept(engine.status.mergeState.conflicts)) }

    func files(of writer: WriterID) -> [PackAddress] { view.keys.filter { $0.writer == writer }.sorted() }
}
