import FoundationEssentials
import Glibc

/// Measures settings stores through their commands and drivers. The contenders are `StorePeer.all`.
enum StoreBenchmark {
    static func run(_ options: Options, _ report: Report) throws {
        Console.show("Wall time of commands and processor time in the process, medians.")
        for row in try rows(StoreFact.allCases, StoreSizes(isQuick: options.isQuick), report) { report.add(row) }
    }

    /// Measures the facts with all stores that are installed.
    static func rows(_ facts: [StoreFact], _ sizes: StoreSizes, _ report: Report) throws -> [Row] {
        let peers = try StorePeer.all.filter { peer in
            Console.note("preparing \(peer.name)")
            let isThere = try peer.preparation.allSatisfy(succeeds)
            if !isThere { report.problem("\(peer.name): not installed (\(peer.hint))") }
            return isThere
        }
        let hasEmptyProgram = try succeeds(
            "mkdir -p .build/peers && echo 'int main(void) { return 0; }' | cc -O2 -static -xc -o \(emptyProgram) -")
        if !hasEmptyProgram { report.problem("no static C program (apt-get install gcc libc6-dev)") }
        return facts.map { fact in
            let trials = peers.map { StoreTrial(peer: $0, sizes: sizes) }
            var cells =
                fact.isTimed
                ? report.measuring(fact.rawValue) {
                    try times(of: fact, trials, withEmptyProgram: fact == .start && hasEmptyProgram)
                } ?? []
                : trials.compactMap { trial in
                    report.measuring("\(trial.peer.name): \(fact.rawValue)") {
                        try trial.figure(fact).map { (trial.peer.name, $0) }
                    }
                }
            if case .within(_, StoreFact.wholeDomain)? = fact.floor, let ours = trials.first(where: \.isOurs) {
                let whole = report.measuring(StoreFact.wholeDomain) { try ours.figure(.get) } ?? nil
                cells += whole.map { [(StoreFact.wholeDomain, $0)] } ?? []
            }
            return Row(title: fact.rawValue, cells: cells, floor: fact.floor)
        }
    }

    /// What no program can fall below: one that is loaded and ends.
    private static let emptyProgram = ".build/peers/empty"

    /// Runs a command of all stores in turn, so that a change in the speed of the machine affects all of them.
    private static func times(
        of fact: StoreFact, _ trials: [StoreTrial], withEmptyProgram: Bool
    ) throws -> [(String, Figure)] {
        var commands = try trials.compactMap { trial in try trial.command(fact).map { (trial.peer.name, $0) } }
        if withEmptyProgram { commands.append((StoreFact.emptyProgram, { _ in Command(words: [emptyProgram]) })) }
        var times = commands.map { _ in [Int64]() }
        for round in 0..<(trials.first?.sizes.commands ?? 0) {
            for (index, (_, command)) in commands.enumerated() {
                times[index].append(try command(round).succeed().nanoseconds)
            }
        }
        return zip(commands, times).map { ($0.0, .time(Double($1.percentile(50)))) }
    }
}

enum StoreFact: String, CaseIterable {
    // First, because the kernel may drop parts of the new copy of the command, and read them back as single pages,
    // which take longer to map.
    case start = "one command, start and end"
    case read = "one command, read"
    case write = "one command, write"
    case lostUpdates = "parallel updates of 2 processes, lost"
    case killed = "kill -9 in mid-write, damaged files"
    case damagedFile = "file damaged in its middle, then a write, values lost"
    case memory = "one command, most memory while it reads"
    case get = "get, 100 keys"
    case setAndGet = "set then get, 1000 keys"
    case scope = "get in a scope, 100 keys"
    case snapshot = "get from a snapshot, 100 keys"

    /// The name of an empty C program, linked statically.
    fileprivate static let emptyProgram = "empty C"

    fileprivate var isTimed: Bool { self == .start || self == .read || self == .write }

    fileprivate var floor: Floor? {
        switch self {
        case .lostUpdates, .killed, .damagedFile: .atMost(.share(0, of: 1))
        case .start: .within(1.7, of: Self.emptyProgram)
        case .read: .within(1, of: "git config")
        case .write: .within(1.4, of: "git config")
        case .memory: .atMost(.bytes(8 << 20))
        case .get: .faster(4, than: "Foundation")
        case .setAndGet: .faster(100, than: "Foundation")
        case .scope, .snapshot: .within(1.2, of: Self.wholeDomain)
        }
    }

    /// The same look-up in the whole domain, which a scope and a snapshot are compared with.
    fileprivate static let wholeDomain = "whole domain"
}

/// The number of repetitions of each measurement.
struct StoreSizes {
    /// Updates by each of two running drivers, and by each of two writers that run one command per update.
    let updates, commandUpdates: Int
    /// Killed drivers and killed commands.
    let kills, commandKills: Int
    /// Measured commands.
    let commands: Int

    init(isQuick: Bool) {
        (updates, commandUpdates, kills, commandKills, commands) =
            isQuick ? (200, 50, 20, 10, 15) : (1000, 300, 200, 60, 51)
    }
}

/// Measures the facts of one store. Each fact uses a new store with 100 keys or none.
private struct StoreTrial {
    let peer: StorePeer
    let sizes: StoreSizes

    /// Whether the store is that of this package.
    var isOurs: Bool { peer.name == Row.ours }

    private static let count = 100
    private static let writers = ["a", "b"]

    /// Returns the figure, or nil if the fact does not apply to the store.
    func figure(_ fact: StoreFact) throws -> Figure? {
        switch fact {
        case .lostUpdates: try peer.driver.map(updatesLostByProcesses) ?? updatesLostByCommands()
        case .killed: peer.file == nil ? nil : try killed()
        case .damagedFile: try peer.file.map(damagedFile)
        case .start, .read, .write: nil
        case .memory: try memory()
        case .get: try peer.driver.map { try inProcess($0, "get", 100) }
        case .setAndGet: try peer.driver.map { try inProcess($0, "set-get", 1000) }
        case .scope: isOurs ? try peer.driver.map { try inProcess($0, "get-scope", 100) } : nil
        case .snapshot: isOurs ? try peer.driver.map { try inProcess($0, "get-snapshot", 100) } : nil
        }
    }

    /// Returns the command to run in each round, or nil if the fact does not apply to the store. The store is in
    /// memory, because a disk would take most of the time.
    func command(_ fact: StoreFact) throws -> ((_ round: Int) -> Command)? {
        guard fact == .start ? peer.start != nil : peer.isCommand else { return nil }
        let store = try filled(inMemory: true)
        return switch fact {
        case .read: { _ in store.read("key7") }
        case .write: { round in store.write("key7", "round\(round)") }
        default: { _ in store.command(peer.start ?? []) }
        }
    }

    private func filled(inMemory: Bool = false) throws -> StoreInFolder {
        let store = try StoreInFolder(peer, inMemory: inMemory)
        try store.fill("key", Self.count)
        return store
    }

    // MARK: Lost updates

    private func updatesLostByProcesses(_ driver: [String]) throws -> Figure {
        let store = try StoreInFolder(peer)
        let children = try Self.writers.map { try Child(store.command(driver + ["update", $0, "\(sizes.updates)"])) }
        let refused = children.reduce(0) { $0 + (Int($1.line() ?? "") ?? 0) }
        for child in children { child.wait() }
        return try lost(in: store, each: sizes.updates, refused: refused)
    }

    /// Two writers run in parallel. Each starts its next command when the previous one ends.
    private func updatesLostByCommands() throws -> Figure {
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
                throw Failure("an unknown process ended")
            }
            if ended.child.wait() != 0 { refused += 1 }
            if ended.next < sizes.commandUpdates { try start(ended.writer, ended.next) }
        }
        return try lost(in: store, each: sizes.commandUpdates, refused: refused)
    }

    private func lost(in store: StoreInFolder, each count: Int, refused: Int) throws -> Figure {
        let left = try Self.writers.reduce(0) { try $0 + store.left(of: $1, count) }
        let whole = count * Self.writers.count
        return .share(whole - left, of: whole, note: left == whole ? "" : "\(refused) of them reported")
    }

    // MARK: Mishaps

    /// Kills a writer at a random moment, checks that all values are left, and writes again.
    private func killed() throws -> Figure {
        var chance = SmallRandom(state: 20_260_101)
        var (damaged, refused) = (0, 0)
        var store = try filled()
        let rounds = peer.driver == nil ? sizes.commandKills : sizes.kills
        for _ in 0..<rounds {
            try interruptWriter(of: store, &chance)
            let isDamaged = try store.left(of: "key", Self.count) < Self.count
            let isRefused = try store.write("next", "value").run().status != 0
            if isDamaged { damaged += 1 }
            if isRefused { refused += 1 }
            if isDamaged || isRefused { store = try filled() }
        }
        return .share(damaged, of: rounds, note: refused == 0 ? "" : "next write refused \(refused) times")
    }

    private func interruptWriter(of store: StoreInFolder, _ chance: inout SmallRandom) throws {
        let (child, most): (Child, Int)
        if let driver = peer.driver {
            (child, most) = (try Child(store.command(driver + ["forever", "other"])), 20_000)
            _ = child.line()
        } else {
            most = Int(try store.write("other", "value").run().nanoseconds / 1000)
            child = try Child(store.write("other", "changed"))
        }
        pause(microseconds: chance.next(below: most))
        child.kill()
        child.wait()
    }

    /// Overwrites the middle of the file with bytes that no format allows, then writes a value to the store.
    private func damagedFile(_ file: String) throws -> Figure {
        let store = try filled()
        let path = store.folder + "/" + file
        var damaged = Data(try contents(of: path))
        let middle = damaged.count / 2
        damaged.replaceSubrange(middle..<middle + 32, with: repeatElement(0xFF, count: 32))
        try damaged.write(to: URL(filePath: path))
        let status = try store.write("next", "value").run().status
        if status != 0, try Data(contents(of: path)) == damaged {
            return .share(0, of: Self.count, note: "write refused")
        }
        let left = try store.left(of: "key", Self.count)
        return .share(Self.count - left, of: Self.count, note: status == 0 ? "nothing reported" : "reported")
    }

    // MARK: Time and memory

    /// Measures with time(1), because a child starts with the memory of the process that forks it.
    private func memory() throws -> Figure? {
        let meter = "/usr/bin/time"
        guard access(meter, X_OK) == 0 else { return nil }
        let store = try filled()
        let path = store.folder + "/kilobytes"
        try store.command([meter, "-f", "%M", "-o", path] + store.read("key7").words).succeed()
        let text = String(decoding: try contents(of: path), as: UTF8.self)
        guard let count = Int(text.prefix { $0.isNumber }) else { throw Failure("\(meter) prints: \(text)") }
        return .bytes(count * 1024)
    }

    private func inProcess(_ driver: [String], _ mode: String, _ count: Int) throws -> Figure {
        let output = try StoreInFolder(peer).command(driver + [mode, "\(count)"]).succeed().output
        guard let time = output.split(separator: "\n").last.flatMap({ Double($0) }) else {
            throw Failure("its driver prints: \(output)")
        }
        return .time(time)
    }
}

/// A store in a new folder, which is removed on release.
private final class StoreInFolder {
    let folder: String
    private let peer: StorePeer
    private var environment: [String: String]
    private var bus: Child?

    init(_ peer: StorePeer, inMemory: Bool = false) throws {
        self.peer = peer
        folder = try newFolder("store", inMemory: inMemory)
        environment = peer.environment(folder)
        try write("GNUSTEP_USER_DEFAULTS_DIR=\(folder)/Defaults\n", to: "GNUstep.conf")
        _ = chmod(folder + "/GNUstep.conf", 0o600)
        if peer.file == nil { try startBus() }
    }

    deinit {
        bus = nil
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Starts the session bus of dconf, which ends with its input.
    private func startBus() throws {
        let variables = environment.map { "\($0.key)='\($0.value)'" }.joined(separator: " ")
        let session = "dbus-run-session -- sh -c 'echo \"$DBUS_SESSION_BUS_ADDRESS\"; read -r end'"
        let bus = try Child(.shell("exec env -i \(variables) \(session) 2> /dev/null"))
        guard let address = bus.line() else { throw Failure("there is no session bus") }
        environment["DBUS_SESSION_BUS_ADDRESS"] = address
        self.bus = bus
    }

    func command(_ words: [String]) -> Command { Command(words: words, environment: environment) }

    func write(_ key: String, _ value: String) -> Command { command(peer.write(folder, key, value)) }

    func read(_ key: String) -> Command { command(peer.read(folder, key)) }

    /// Writes values for the keys `prefix0`, `prefix1` and so on.
    func fill(_ prefix: String, _ count: Int) throws {
        func text(_ header: String, _ line: (String, String) -> String) -> String {
            header + (0..<count).map { line("\(prefix)\($0)", "value\($0)") + "\n" }.joined()
        }
        switch peer.fill {
        case .command(let words): try command(words + [prefix, "\(count)"]).succeed()
        case .input(let words, let header, let line):
            try write(text(header, line), to: "values")
            var command = command(words)
            command.input = folder + "/values"
            try command.succeed()
        case .file(let header, let line): try write(text(header, line), to: peer.file ?? "values")
        }
        guard try left(of: prefix, count) == count else { throw Failure("\(peer.name) lacks values that were written") }
    }

    /// Returns how many of the keys `prefix0`, `prefix1` and so on the store lists.
    func left(of prefix: String, _ count: Int) throws -> Int {
        let words = Set(try command(peer.list(folder)).run().output.split { !$0.isLetter && !$0.isNumber })
        return (0..<count).count { words.contains("\(prefix)\($0)") }
    }

    private func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: folder + "/" + name))
    }
}
