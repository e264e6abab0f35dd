import Platform
import Preferences
import PreferencesMirror
import PropertyLists

// Mirrors of a million keys.
extension MirrorLine {
    private static let keysOfDomain = 10_000

    private static func domain(_ number: Int) throws -> DomainName { try DomainName("com.example.of\(number)") }

    /// Two hosts of which one has published so many keys and the other has none.
    private static func large(_ keys: Int) throws -> (MirrorFolder, MirrorHost, MirrorHost) {
        let folder = try MirrorFolder()
        let (first, second) = (try MirrorHost("a", in: folder), try MirrorHost("b", in: folder))
        for number in 0..<keys / keysOfDomain { try first.fill(try domain(number), keys: keysOfDomain) }
        try first.run(first.command("mirror", "init", folder.directory.description))
        try first.run(first.command("mirror", "add", MirrorHost.pattern))
        return (folder, first, second)
    }

    static let join = MirrorLine(title: "join of 1 000 000 keys: `prefs mirror join` and `add`") { sizes in
        let (folder, _, host) = try large(sizes.keys)
        let join = try host.run(host.command("mirror", "join", folder.directory.description))
        let add = try host.run(host.command("mirror", "add", MirrorHost.pattern))
        let last = try host.file(try domain(sizes.keys / keysOfDomain - 1)).contents(on: host.machine).values
        guard last.count == keysOfDomain else { throw Failure("the last domain has \(last.count) keys") }
        let (time, processor) = (join.nanoseconds + add.nanoseconds, join.processorTime + add.processorTime)
        let most = 10e9 * Double(sizes.keys) / 1e6
        let memory = max(join.mostMemory, add.mostMemory)
        return [
            MirrorFigure("\(sizes.keys) keys in the domains' files", nanoseconds: Double(time), atMost: most),
            MirrorFigure("the same, processor time", nanoseconds: Double(processor), atMost: most),
            MirrorFigure("memory for a key, at most", bytes: memory / sizes.keys, atMost: 400),
        ]
    }

    static let fewOfMany = MirrorLine(title: "100 keys changed of 1 000 000") { sizes in
        let (folder, first, second) = try large(sizes.keys)
        try second.run(second.command("mirror", "join", folder.directory.description))
        try second.run(second.command("mirror", "add", MirrorHost.pattern))
        for number in 0..<10 {
            let values = (0..<10).map { (MirrorHost.key($0 * 997), PropertyList.string("changed \($0)")) }
            try first.set(Swift.Dictionary(uniqueKeysWithValues: values), in: try domain(number))
        }
        try first.sync()
        try second.sync()
        let (written, read) = (
            first.files.counts(in: folder.directory).bytesWritten, second.files.counts(in: folder.directory).bytesRead
        )
        let came = try second.file(try domain(9)).contents(on: second.machine).values[MirrorHost.key(9 * 997)]
        guard came == "changed 9" else { throw Failure("the changes did not come") }
        return [
            MirrorFigure("written", bytes: written, atMost: 20_000),
            MirrorFigure("read by each peer", bytes: read, atMost: 20_000),
        ]
    }
}
