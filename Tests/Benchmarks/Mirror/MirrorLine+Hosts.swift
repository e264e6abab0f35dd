import Platform
import Preferences
import PreferencesMirror
import PropertyLists

// Mirrors of many hosts.
extension MirrorLine {
    private static let domain: DomainName = "com.example.crowd"

    /// A host among so many others, of whose first words it knows.
    private static func crowd(_ count: Int) throws -> (MirrorFolder, MirrorHost, [ForeignWriter]) {
        let folder = try MirrorFolder()
        let host = try folder.hosts("a")[0]
        try host.fill("com.example.domain", keys: 10_000)
        try host.sync()
        let id = try host.session().id
        let writers = try ForeignWriter.crowd(count, of: id, at: folder.directory, in: domain)
        try host.sync()
        try host.sync()
        return (folder, host, writers)
    }

    static let nothingNew = MirrorLine(title: "`sync` with nothing new") { sizes in
        try [(10, 10e6), (sizes.hosts, 60e6)].flatMap { count, most in
            let (folder, host, _) = try crowd(count)
            let traces = try folder.traces()
            let times = try (0..<sizes.commands).map { _ in
                Double(try host.run(host.command("mirror", "sync")).nanoseconds)
            }
            host.files.reset()
            guard try host.session().isAtRest else { throw Failure("something is to be done among \(count) writers") }
            let counts = host.files.counts()
            let isSame = try folder.traces() == traces && counts.bytesWritten == 0
            let isLoaded =
                host.files.counts(in: host.places.folder(of: try host.session().id).appending("journal"))
                .bytesRead > 0
            return [
                MirrorFigure(
                    "the command, with \(count) writers", nanoseconds: times.sorted()[times.count / 2], atMost: most),
                MirrorFigure("files written, changed or removed", count: isSame ? 0 : 1, exactly: 0),
                MirrorFigure("times the atoms were loaded", count: isLoaded ? 1 : 0, exactly: 0),
            ]
        }
    }

    static let manyHosts = MirrorLine(title: "1 000 hosts: at most linear in the hosts that changed") { sizes in
        var (folder, host, writers) = try crowd(sizes.hosts)
        var session = try host.session()
        try session.begin()
        defer { session.end() }
        try session.exchange()
        let idle = try exchange(&session, host, folder)
        let figures = try [sizes.hosts / 10, sizes.hosts].enumerated().map { round, count in
            for number in 0..<count {
                let time = ForeignWriter.start + 1_000_000 + Int64(number)
                try writers[number].write(["of host \(number)": .string("round \(round)")], in: domain, at: time)
            }
            let cost = try exchange(&session, host, folder)
            return (time: (cost.time - idle.time) / Double(count), bytes: (cost.bytes - idle.bytes) / count)
        }
        let (few, all) = (figures[0], figures[1])
        return [
            MirrorFigure("time a host, all changed / a tenth", ratio: all.time / few.time, atMost: 1.5),
            MirrorFigure(
                "bytes a host, all changed / a tenth", ratio: Double(all.bytes) / Double(few.bytes), atMost: 1.1),
            MirrorFigure("time of one host that changed", nanoseconds: all.time, atMost: 1e6),
        ]
    }

    private static func exchange(
        _ session: inout MirrorSession, _ host: MirrorHost, _ folder: MirrorFolder
    ) throws -> (time: Double, bytes: Int) {
        host.files.reset()
        let start = Measurement.processorTime()
        try session.exchange()
        let time = Double(Measurement.processorTime() - start)
        return (time, host.files.counts(in: folder.directory).bytesRead)
    }
}
