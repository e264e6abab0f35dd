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
}

// MARK: Lost updates

extension StoreTrials {
    private static let writers = ["a", "b"]

    private func updatesLostByProcesses(_ driver: [String]) throws -> StoreFigure {
        let store = try StoreInFolder(peer)
        let children = try Self.writers.map {
            try Child(store.command(driver + ["update", $0, "\(sizes.updates)"]))
        }
        let refused = children.reduce(0) { $0 + (Int($1.line() ?? "") ?? 0) }
        for child in children { _ = child.wait() }
        return try lost(in: store, each: sizes.updates, refused: refused)
    }

    /// Two rows of commands, in each of which one follows the other.
    private func updatesLostByCommands() throws -> StoreFigure {
        let store = try StoreInFolder(peer)
        var (running, refused) = ([pid_t: (writer: String, next: Int, child: Child)](), 0)
        func start(_ writer: String, _ number: Int) throws {
            let child = try Child(store.write("\(writer)\(number)", "value\(number)"))
            running[child.process] = (writer, number + 1, child)
        }
        for writer in Self.writers { try start(writer, 0) }
        while !running.isEmpty {
            var information = siginfo_t()
            guard waitid(P_ALL, 0, &information, WEXITED | WNOWAIT) == 0 else { throw Failure.system("waitid") }
            guard let ended = running.removeValue(forKey: information._sifields._sigchld.si_pid) else {
                throw Failure("a process ended that nobody waited for")
            }
            if ended.child.wait() != 0 { refused += 1 }
            if ended.next < sizes.commandUpdates { try start(ended.writer, ended.next) }
        }
        return try lost(in: store, each: sizes.commandUpdates, refused: refused)
    }

    private func lost(in store: StoreInFolder, each count: Int, refused: Int) throws -> StoreFigure {
        let left = try Self.writers.reduce(0) { try $0 + store.left(of: $1, count) }
        let whole = count * Self.writers.count
        return .share(whole - left, of: whole, note: left == whole ? "" : "\(refused) of them reported")
    }
}

// MARK: Mishaps

extension StoreTrials {
    private static let count = 100

    private func filled(in folder: String? = nil) throws -> StoreInFolder {
        let store = try StoreInFolder(peer, in: folder)
        try store.fill("key", Self.count)
        return store
    }

    /// Kills a writer at a moment drawn by chance, then looks whether the values are there, and writes.
    private func killed() throws -> (damaged: StoreFigure, longest: StoreFigure) {
        var chance = SmallRandom(state: 20_260_101)
        var (damaged, refused, longest) = (0, 0, Int64(0))
        var (store, rounds) = (try filled(), 0)
        while rounds < (peer.driver == nil ? sizes.commandKills : sizes.kills) {
            rounds += 1
            try interruptWriter(of: store, &chance)
            let isDamaged = try store.left(of: "key", Self.count) < Self.count
            let next = try store.write("next", "value").run()
            longest = max(longest, next.nanoseconds)
            if isDamaged { damaged += 1 }
            if next.status != 0 { refused += 1 }
            // Two such waits would take the time of all else.
            if longest > 5_000_000_000 { break }
            if isDamaged || next.status != 0 { store = try filled() }
        }
        let note = refused == 0 ? "" : "next write refused \(refused) times"
        return (.share(damaged, of: rounds, note: note), .time(Double(longest)))
    }

    private func interruptWriter(of store: StoreInFolder, _ chance: inout SmallRandom) throws {
        if let driver = peer.driver {
            let child = try Child(store.command(driver + ["forever", "other"]))
            _ = child.line()
            pause(microseconds: chance.next(below: 20_000))
            child.kill()
            _ = child.wait()
            return
        }
        let usual = try store.write("other", "value").run().nanoseconds / 1000
        let child = try Child(store.write("other", "changed"))
        pause(microseconds: chance.next(below: Int(usual)))
        child.kill()
        _ = child.wait()
    }

    /// Writes over the middle of the file what no format allows, then a value into the store.
    private func damagedFile() throws -> StoreFigure {
        let store = try filled()
        let path = store.folder + "/" + (peer.file ?? "")
        var damaged = Data(try contents(of: path))
        let middle = damaged.count / 2
        damaged.replaceSubrange(middle..<middle + 32, with: repeatElement(0xFF, count: 32))
        try damaged.write(to: URL(filePath: path))
        let status = try store.write("next", "value").run().status
        if status != 0, try Data(contents(of: path)) == damaged {
            return .share(0, of: Self.count, note: "write refused")
        }
        return try gone(from: store, status: status)
    }

    /// On a small disk in memory that has no byte left.
    private func fullDisk() throws -> StoreFigure {
        let disk = try SmallDisk()
        let store = try filled(in: disk.folder)
        try disk.fill()
        let status = try store.write("next", String(repeating: "v", count: 65_536)).run().status
        return try gone(from: store, status: status)
    }

    private func gone(from store: StoreInFolder, status: Int32) throws -> StoreFigure {
        let left = try store.left(of: "key", Self.count)
        return .share(Self.count - left, of: Self.count, note: status == 0 ? "nothing reported" : "reported")
    }
}

// MARK: Times

extension StoreTrials {
    private func commands(_ command: (StoreInFolder, Int) -> Command) throws -> StoreFigure {
        let store = try filled()
        let times = try (0..<sizes.commands).map { round in
            let outcome = try command(store, round).run()
            guard outcome.status == 0 else { throw Failure("\(peer.name) fails") }
            return outcome.nanoseconds
        }
        return .time(Double(times.sorted()[times.count / 2]))
    }

    /// As time(1) counts it: what this process itself has taken would count for a child that it starts.
    private func memory() throws -> StoreFigure? {
        let meter = "/usr/bin/time"
        guard access(meter, X_OK) == 0 else { return nil }
        let store = try filled()
        let path = store.folder + "/kilobytes"
        guard try store.command([meter, "-f", "%M", "-o", path] + store.read("key7").words).run().status == 0 else {
            throw Failure("\(peer.name) fails")
        }
        let text = String(decoding: try contents(of: path), as: UTF8.self)
        guard let count = Int(text.prefix { $0.isNumber }) else { throw Failure("\(meter) says: \(text)") }
        return .kilobytes(count)
    }

    /// What a driver measures in its own process.
    private func inProcess(_ driver: [String], _ mode: String, _ count: Int) throws -> StoreFigure {
        let store = try StoreInFolder(peer)
        let outcome = try store.command(driver + [mode, "\(count)"]).run()
        guard let time = outcome.output.split(separator: "\n").last.flatMap({ Double($0) }) else {
            throw Failure("its driver says: \(outcome.output)")
        }
        return .time(time)
    }

    private func seenElsewhere(_ driver: [String]) throws -> StoreFigure {
        if let lazy = try delay(driver, "lazy") { return .time(lazy) }
        guard let exact = try delay(driver, "exact") else { return .never(note: "not even after synchronize()") }
        let moment = exact == 0 ? "before the writer ends" : duration(exact)
        return .never(note: "\(moment) with synchronize()")
    }

    /// From the end of a write to the moment at which another process has seen it; nil if it has not in two seconds.
    private func delay(_ driver: [String], _ kind: String) throws -> Double? {
        let store = try filled()
        let child = try Child(store.command(driver + ["await", "key7", "changed", "2", kind]))
        guard child.line() == "ready" else { throw Failure("its driver does not start") }
        _ = try store.write("key7", "changed").run()
        let written = now()
        guard let answer = child.line(), let seen = Int64(answer) else { return nil }
        return Double(max(0, seen - written))
    }

    /// Of many, that which one in a hundred is later than.
    private func seenLate(_ driver: [String]) throws -> StoreFigure {
        let delays = try (0..<sizes.sightings).compactMap { _ in try delay(driver, "lazy") }
        guard delays.count == sizes.sightings else { return .never() }
        return .time(delays.sorted()[delays.count * 99 / 100])
    }

    /// One key of a large domain against one of a small one, whole processes, in turns.
    private func coldKey() throws -> StoreFigure {
        let (large, small) = (try StoreInFolder(peer), try StoreInFolder(peer))
        try large.fill("key", 100_000)
        try small.fill("key", 10)
        var times: (large: [Int64], small: [Int64]) = ([], [])
        for _ in 0..<sizes.commands {
            times.large.append(try large.read("key7").run().nanoseconds)
            times.small.append(try small.read("key7").run().nanoseconds)
        }
        let middle = sizes.commands / 2
        return .ratio(Double(times.large.sorted()[middle]) / Double(times.small.sorted()[middle]))
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
