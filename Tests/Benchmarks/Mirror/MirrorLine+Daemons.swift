import FoundationEssentials
import Glibc
import Platform
import Preferences
import PropertyLists

// Mirrors that daemons keep up to date.
extension MirrorLine {
    private static let domain: DomainName = "com.example.watched"

    static let latency = MirrorLine(title: "set on host A → in the domain file of host B, local directory") { sizes in
        let folder = try MirrorFolder()
        let hosts = try folder.hosts("a", "b")
        try hosts[0].fill(domain, keys: 100)
        for host in hosts + hosts { try host.sync() }
        let daemons = try hosts.map { try Child($0.command("mirror", "watch")) }
        defer { for daemon in daemons { daemon.kill() } }
        // With the first one the daemons are at it.
        _ = try delay(of: 0, from: hosts[0], to: hosts[1])
        var random = SmallRandom(state: 7)
        let apart = try (1...sizes.rounds).map { round in
            pause(microseconds: 1000 * random.next(below: 2000))
            return try delay(of: round, from: hosts[0], to: hosts[1])
        }
        let inRow = try (1...sizes.rounds).map { round in
            try delay(of: sizes.rounds + round, from: hosts[0], to: hosts[1])
        }
        return figures("sets up to 2 s apart", apart) + figures("one set behind the other", inRow)
    }

    private static func figures(_ name: String, _ times: [Double]) -> [MirrorFigure] {
        let sorted = times.sorted()
        let late = sorted[max(0, sorted.count * 99 / 100 - 1)]
        return [
            MirrorFigure("\(name), p50", nanoseconds: sorted[sorted.count / 2], atMost: 80e6),
            MirrorFigure("\(name), p99", nanoseconds: late, atMost: 400e6),
        ]
    }

    /// From before a set until another host has its file.
    private static func delay(of round: Int, from: MirrorHost, to: MirrorHost) throws -> Double {
        let path = to.file(domain).path.description
        let before = generation(path)
        let start = now()
        try from.set(["round": .integer(PropertyList.Integer(round))], in: domain)
        while generation(path) == before {
            guard now() - start < 30_000_000_000 else { throw Failure("a set does not arrive within 30 s") }
            pause(microseconds: 200)
        }
        let took = Double(now() - start)
        let value = try to.file(domain).contents(on: to.machine).values["round"]
        guard value == .integer(PropertyList.Integer(round)) else { throw Failure("another set arrived") }
        return took
    }

    private static func generation(_ path: String) -> [Int] {
        var status = stat()
        guard stat(path, &status) == 0 else { return [] }
        return [Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
    }

    static let idle = MirrorLine(title: "idle daemon, 10 000 keys") { sizes in
        let folder = try MirrorFolder()
        let hosts = try folder.hosts("a", "b")
        for number in 0..<10 { try hosts[0].fill(try DomainName("com.example.idle\(number)"), keys: 1000) }
        for host in hosts + hosts { try host.sync() }
        let daemon = try Child(hosts[1].command("mirror", "watch"))
        defer { daemon.kill() }
        pause(microseconds: 10_000_000)
        let before = try processorTime(of: daemon)
        pause(microseconds: sizes.idleSeconds * 1_000_000)
        let share = Double(try processorTime(of: daemon) - before) / Double(sizes.idleSeconds) / 1e9
        let memory = try residentBytes(of: daemon)
        return [
            MirrorFigure(
                name: "processor time, of \(sizes.idleSeconds) s", value: decimal(share * 100, digits: 3) + " %",
                target: "≤ 0.1 %", isMet: share <= 0.001),
            MirrorFigure("resident memory", bytes: memory, atMost: 20 << 20),
        ]
    }

    /// Of all threads of a process, in nanoseconds.
    private static func processorTime(of child: Child) throws -> Int {
        let folder = "/proc/\(child.process)/task"
        return try FileManager.default.contentsOfDirectory(atPath: folder).reduce(0) { sum, thread in
            let text = String(decoding: try bytes(of: "\(folder)/\(thread)/schedstat"), as: UTF8.self)
            return sum + (text.split(separator: " ").first.flatMap { Int($0) } ?? 0)
        }
    }

    private static func residentBytes(of child: Child) throws -> Int {
        let text = String(decoding: try bytes(of: "/proc/\(child.process)/statm"), as: UTF8.self)
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// What a file of the kernel's says, which knows no size of its own.
    private static func bytes(of path: String) throws -> [UInt8] {
        guard let path = FilePath(path), let bytes = try SystemFileSystem().contents(of: path) else {
            throw Failure("\(path) is not there")
        }
        return bytes
    }
}
