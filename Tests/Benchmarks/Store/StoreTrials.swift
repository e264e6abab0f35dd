import FoundationEssentials
import Glibc

/// The scenarios, each with a store in a folder of its own.
struct StoreTrials {
    let peer: StorePeer
    let sizes: StoreSizes
    private let kills = Remembered<(damaged: StoreFigure, longest: StoreFigure)>()

    init(peer: StorePeer, sizes: StoreSizes) {
        self.peer = peer
        self.sizes = sizes
    }

    /// The stores that are there, and of each other one what is missing.
    static func contenders(_ sizes: StoreSizes) throws -> (present: [StoreTrials], absent: [String]) {
        var (present, absent) = ([StoreTrials](), [String]())
        for peer in StorePeer.all {
            Console.note("preparing \(peer.name)")
            if try peer.preparation.allSatisfy(Subprocess.run) {
                present.append(StoreTrials(peer: peer, sizes: sizes))
            } else {
                absent.append("\(peer.name): not measured (\(peer.hint))")
            }
        }
        return (present, absent)
    }

    /// The same as `figure(_:)`, but what goes wrong is one problem more.
    func figure(_ fact: StoreFact, noting problems: inout [String]) -> StoreFigure? {
        Console.note("measuring \(peer.name): \(fact.title)")
        do {
            return try figure(fact)
        } catch {
            problems.append("\(peer.name): \(fact.title): \(error)")
            return nil
        }
    }

    /// What the peer shows; nil where the question does not arise.
    func figure(_ fact: StoreFact) throws -> StoreFigure? {
        switch fact {
        case .lostUpdates: try peer.driver.map(updatesLostByProcesses) ?? updatesLostByCommands()
        case .killed: peer.file == nil ? nil : try kills.value(killed).damaged
        case .nextWrite: peer.file == nil ? nil : try kills.value(killed).longest
        case .fullDisk: peer.file == nil ? nil : try fullDisk()
        case .damagedFile: peer.file == nil ? nil : try damagedFile()
        case .start: try peer.start.map { words in try commands { store, _ in store.command(words) } }
        case .read: peer.isCommand ? try commands { store, _ in store.read("key7") } : nil
        case .write: peer.isCommand ? try commands { store, round in store.write("key7", "round\(round)") } : nil
        case .memory: try memory()
        case .persist: try peer.driver.map { try inProcess($0, "persist", 100) }
        case .get: try peer.driver.map { try inProcess($0, "get", 100) }
        case .setAndGet: try peer.driver.map { try inProcess($0, "set-get", 1000) }
        case .seenElsewhere: try peer.driver.map(seenElsewhere)
        case .seenLate: peer.name == StorePeer.ownName ? try peer.driver.map(seenLate) : nil
        case .coldKey: peer.name == StorePeer.ownName ? try coldKey() : nil
        }
    }

    static let count = 100

    func filled(in folder: String? = nil) throws -> StoreInFolder {
        let store = try StoreInFolder(peer, in: folder)
        try store.fill("key", Self.count)
        return store
    }
}

/// What takes long to find out, and is asked for more than once.
private final class Remembered<Value> {
    private var result: Result<Value, any Error>?

    func value(_ find: () throws -> Value) throws -> Value {
        let result = result ?? Result(catching: find)
        self.result = result
        return try result.get()
    }
}
