import FoundationEssentials
import MirrorEngine
import Platform
import Preferences
import PropertyLists

/// A writer of a mirror that stands for a host which is not there, and lays down its files.
struct ForeignWriter {
    let mirror: MirrorID
    let id: WriterID
    private let folder: String
    private var sequence: UInt64 = 0
    private var previous: Fingerprint?
    private var known = VersionVector()
    private var said = VersionVector()

    init(_ number: Int, in mirror: MirrorID, at directory: FilePath) throws {
        self.mirror = mirror
        id = WriterID(number: UInt64(number + 1) << 32)
        folder = "\(directory)/w/\(id)"
        for part in ["", "/l"] {
            try FileManager.default.createDirectory(atPath: folder + part, withIntermediateDirectories: true)
        }
        let note = WriterNote(
            mirror: mirror, writer: id, number: 1, label: "host\(number)", platform: "linux", software: "prefs 1")
        try lay(note.encoded())
    }

    /// Knows from now on what others have said.
    mutating func know(_ others: VersionVector) { known.merge(others) }

    /// Writes values, in one log.
    mutating func write(_ values: [String: PropertyList], in domain: DomainName, at milliseconds: Int64) throws {
        sequence += 1
        let stamp = Stamp(clamping: milliseconds)
        let dot = Dot(writer: id, sequence: sequence)
        let writes = try values.map { key, value in
            let path = Path(domain: domain.text, key: key)
            return Transaction.StampedWrite(
                path: path, stamp: stamp, value: .value(try CanonicalValue(value)), id: WriteID(derivedFrom: dot, path))
        }
        let transaction = Transaction(dot: dot, stamp: stamp, writes: writes.sorted { $0.path < $1.path })
        let log = LogPack(
            mirror: mirror, writer: id, previous: previous, knowledge: known, formerKnowledge: said,
            transactions: [transaction])
        let pack = log.encoded()
        (previous, said) = (pack.hash, known)
        try lay(pack)
    }

    private func lay(_ pack: EncodedPack) throws {
        try Data(pack.bytes).write(to: URL(filePath: "\(folder)/\(pack.name)"))
    }
}

extension ForeignWriter {
    /// So many writers, each of which has written once and knows what those before it wrote.
    static func crowd(_ count: Int, of mirror: MirrorID, at directory: FilePath, in domain: DomainName) throws
        -> [ForeignWriter]
    {
        var (writers, known) = ([ForeignWriter](), VersionVector())
        for number in 0..<count {
            var writer = try ForeignWriter(number, in: mirror, at: directory)
            writer.know(known)
            try writer.write(["of host \(number)": "first"], in: domain, at: start + Int64(number))
            known[writer.id] = 1
            writers.append(writer)
        }
        return writers
    }

    /// When what was written before a measurement was written.
    static let start: Int64 = 1_750_000_000_000
}
