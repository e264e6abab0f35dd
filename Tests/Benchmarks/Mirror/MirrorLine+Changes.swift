import Platform
import Preferences
import PreferencesMirror
import PropertyLists

// What a change costs its author.
extension MirrorLine {
    private static let domain: DomainName = "com.example.domain"

    static let localSet = MirrorLine(title: "local set: nothing beyond Preferences' own write; capture is O(domain)") {
        sizes in
        let alone = try callsOfSet(takesPart: false)
        let mirrored = try callsOfSet(takesPart: true)
        let small = try capture(keys: sizes.domainKeys / 10, others: 0)
        let large = try capture(keys: sizes.domainKeys, others: 0)
        let amongMany = try capture(keys: sizes.domainKeys / 10, others: sizes.keys)
        return [
            MirrorFigure("calls of the file system by a set, mirrored", count: mirrored, exactly: alone),
            MirrorFigure("capture among ten times the keys of the domain", ratio: large / small, atMost: 20),
            MirrorFigure("capture among \(sizes.keys) keys of others", ratio: amongMany / small, atMost: 1.5),
            MirrorFigure(
                "capture among \(sizes.unsaid) unpublished changes",
                ratio: capture(unsaid: sizes.unsaid) / capture(unsaid: 1), atMost: 1.5),
        ]
    }

    private static func callsOfSet(takesPart: Bool) throws -> Int {
        let folder = try MirrorFolder()
        let host = try MirrorHost("a", in: folder)
        try host.fill(domain, keys: 1000)
        if takesPart {
            try host.enter(folder.directory, isFirst: true)
            try host.sync()
        }
        try host.set(["set": 1], in: domain)
        host.files.reset()
        try host.set(["set": 2], in: domain)
        return host.files.counts().calls
    }

    /// The processor time of taking up one change while others wait to be published, the shortest of some.
    private static func capture(unsaid: Int) -> Double {
        var day = MirrorDay()
        for _ in 0..<unsaid { day.set() }
        return (0..<100).map { _ in
            let start = Measurement.processorTime()
            day.set()
            return Double(Measurement.processorTime() - start)
        }.min() ?? 0
    }

    /// The processor time of taking up one change, the shortest of some.
    private static func capture(keys: Int, others: Int) throws -> Double {
        let folder = try MirrorFolder()
        let host = try folder.hosts("a")[0]
        try host.fill(domain, keys: keys)
        for number in 0..<others / 10_000 { try host.fill(try DomainName("com.example.other\(number)"), keys: 10_000) }
        var session = try host.session()
        try session.begin()
        defer { session.end() }
        try session.exchange()
        return try (0..<15).map { round in
            try host.set(["set": .integer(PropertyList.Integer(round))], in: domain)
            let start = Measurement.processorTime()
            try session.exchange(.pull)
            return Double(Measurement.processorTime() - start)
        }.min() ?? 0
    }

    static let publishing = MirrorLine(title: "publish of c changes: one file, O(c) bytes, two fsyncs") { _ in
        let folder = try MirrorFolder()
        let host = try folder.hosts("a")[0]
        try host.fill(domain, keys: 10_000)
        try host.sync()
        let counts = try [1, 10, 100, 1000].map { count in (count, try publish(count, by: host, folder)) }
        let bytes = counts.map(\.1.bytesWritten)
        let perChange = Double(bytes[3] - bytes[0]) / 999
        return [
            MirrorFigure(
                "files, of 1, 10, 100 and 1 000 changes", count: counts.map(\.1.created).max() ?? 0, exactly: 1),
            MirrorFigure(
                "fsyncs in the directory, of each of them", count: counts.map(\.1.synchronized).max() ?? 0, exactly: 2),
            MirrorFigure("bytes of one change", bytes: bytes[0], atMost: 512),
            MirrorFigure("bytes of each more, of 26 in key and value", bytes: Int(perChange.rounded(.up)), atMost: 64),
        ]
    }

    /// What is asked of the directory by an exchange in which so many values are said.
    private static func publish(_ count: Int, by host: MirrorHost, _ folder: MirrorFolder) throws -> FileCounts {
        let values = (0..<count).map { (MirrorHost.key($0), PropertyList.string("changed \(count) \($0)")) }
        try host.set(Swift.Dictionary(uniqueKeysWithValues: values), in: domain)
        host.files.reset()
        try host.sync()
        return host.files.counts(in: folder.directory)
    }

    static let catchingUp = MirrorLine(title: "catching up 1 000 packs: each domain written once") { sizes in
        let folder = try MirrorFolder()
        let host = try folder.hosts("a")[0]
        try host.sync()
        let domains = try (0..<5).map { try DomainName("com.example.caught\($0)") }
        var writer = try ForeignWriter(0, in: try host.session().id, at: folder.directory)
        for number in 0..<sizes.packs {
            let values = ["key\(number / 5 % 50)": PropertyList.integer(PropertyList.Integer(number))]
            try writer.write(values, in: domains[number % 5], at: ForeignWriter.start + Int64(number))
        }
        host.files.reset()
        let start = now()
        try host.sync()
        let took = Double(now() - start)
        let named = domains.map { host.files.counts(in: host.file($0).path).named }
        return [
            MirrorFigure("writes of a domain, the most", count: named.max() ?? 0, exactly: 1),
            MirrorFigure("writes of a domain, the fewest", count: named.min() ?? 0, exactly: 1),
            MirrorFigure("all of it, \(sizes.packs) packs", nanoseconds: took, atMost: 2e6 * Double(sizes.packs)),
        ]
    }
}
