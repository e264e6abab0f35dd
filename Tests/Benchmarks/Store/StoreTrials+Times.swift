// How long it takes, and in how much memory.
import Glibc

extension StoreTrials {
    func commands(_ command: (StoreInFolder, Int) -> Command) throws -> StoreFigure {
        let store = try filled()
        let times = try (0..<sizes.commands).map { round in
            let outcome = try command(store, round).run()
            guard outcome.status == 0 else { throw Failure("\(peer.name) fails") }
            return outcome.nanoseconds
        }
        return .time(Double(times.sorted()[times.count / 2]))
    }

    /// As time(1) counts it: what this process itself has taken would count for a child that it starts.
    func memory() throws -> StoreFigure? {
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
    func inProcess(_ driver: [String], _ mode: String, _ count: Int) throws -> StoreFigure {
        let store = try StoreInFolder(peer)
        let outcome = try store.command(driver + [mode, "\(count)"]).run()
        guard let time = outcome.output.split(separator: "\n").last.flatMap({ Double($0) }) else {
            throw Failure("its driver says: \(outcome.output)")
        }
        return .time(time)
    }

    func seenElsewhere(_ driver: [String]) throws -> StoreFigure {
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
    func seenLate(_ driver: [String]) throws -> StoreFigure {
        let delays = try (0..<sizes.sightings).compactMap { _ in try delay(driver, "lazy") }
        guard delays.count == sizes.sightings else { return .never() }
        return .time(delays.sorted()[delays.count * 99 / 100])
    }

    /// One key of a large domain against one of a small one, whole processes, in turns.
    func coldKey() throws -> StoreFigure {
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
