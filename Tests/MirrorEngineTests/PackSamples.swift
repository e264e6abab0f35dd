import PropertyLists
import TestSupport

@testable import MirrorEngine

enum PackSamples {
    static let mirror = MirrorID(high: 0x4F0C_2B00_0000_0001, low: 2)
    static let writer = WriterID(number: 0x9C6E_9B8A_E864_CB3D)
    static let other = WriterID(number: 77)

    static var known: VersionVector {
        VersionVector([(other, VersionVector.Entry(sequence: 9, tag: FileTag(number: 0x0102_0304)))])
    }

    static var log: LogPack {
        let transactions = [41, 42].map { (sequence: UInt64) in
            let change = { (key: String, value: WrittenValue?, bump: UInt64, reason: Atom.Reason) in
                let path = Path(domain: "com.example.app", key: key)
                let names = [(writer, 3), (other, 3), (other, 4)].map { author, sequence in
                    AtomName(WriteID(number: sequence), TransactionID(writer: author, sequence: sequence))
                }
                let regions = [
                    Region(path), Region(path, except: [path.appending("x")]), Region(path.appending("y")),
                ]
                return Change(
                    WriteID(number: sequence << 40 + bump), at: path, value, stamp: Stamp(number: 1000 + bump),
                    reason: reason, covers: bump > 0 ? zip(names, regions).map { Cover($0, $1) } : [])
            }
            return Transaction([
                change("a", .of(["x": 1, "y": [true]]), 0, .written), change("b", .deleted, 5, .reverted),
                change("c", .left, 0, .found), change("c", nil, 6, .written),
            ])
        }
        return LogPack(
            mirror: mirror, writer: writer, first: 41, previous: ContentHash(of: [1]), knowledge: known,
            transactions: transactions)
    }

    static func base(values count: Int) -> BasePack {
        var state = SharedState()
        for number in 0..<count { state.live.insert(atom(number)) }
        state.vector = known
        state.gone = [
            AtomName(WriteID(number: 5), TransactionID(writer: other, sequence: 12)): Region(edges: "k k.a m")
        ]
        state.forks = [WriterID(number: 3): 2, other: 7]
        let tags = FileTags([
            FileTags.Span(first: 1, last: 30, tag: FileTag(number: 1)),
            FileTags.Span(first: 31, last: 39, tag: FileTag(number: 2)),
        ])
        return BasePack(
            mirror: mirror, writer: writer, last: 40, state: state, tags: tags,
            labels: [other: "Büro", WriterID(number: 3): ""],
            beyond: [other: FileTags([FileTags.Span(first: 11, last: 12, tag: FileTag(number: 3))])])
    }

    private static func atom(_ number: Int) -> Atom {
        let dot = TransactionID(writer: number % 3 == 0 ? other : writer, sequence: UInt64(number % 40 + 1))
        let path = Path(domain: "d", key: String(1000 + number))
        let value: WrittenValue = number % 5 == 0 ? .deleted : .text("\(number)")
        let reasons: [Atom.Reason] = [.written, .reverted, .found, .older]
        return Atom(
            AtomName(WriteID(number: UInt64(number)), dot), at: path, value, stamp: Stamp(number: 7),
            reason: reasons[number % 4], in: number % 4 == 0 ? Region(path, except: [path.appending("x")]) : nil)
    }

    static var note: WriterNote {
        WriterNote(
            mirror: mirror, writer: writer, number: 1, label: "Büro", platform: "linux", software: "1.0", hasLeft: true,
            knowledge: known)
    }

    static var all: [EncodedPack] {
        [log.encoded(), base(values: 5).encoded(), base(values: 0).encoded(), note.encoded()]
    }
}

/// A generator of files with all that a file may contain.
struct PackGenerator {
    var generator: SeededGenerator
    private let writers: [WriterID]

    init(_ stream: String, round: Int) {
        generator = SeededGenerator(stream: stream, round: round)
        var numbers = generator
        writers = [WriterID(number: 1)] + (0..<3).map { _ in WriterID(number: numbers.next()) }
        generator = numbers
    }

    private mutating func number(_ range: ClosedRange<UInt64>) -> UInt64 { .random(in: range, using: &generator) }

    private mutating func flag() -> Bool { .random(using: &generator) }

    private mutating func vector() -> VersionVector {
        VersionVector(
            writers.dropFirst().filter { _ in flag() }.map { writer in
                let tag = FileTag(number: UInt32(truncatingIfNeeded: generator.next()))
                return (writer, VersionVector.Entry(sequence: number(1...PackName.greatestNumber), tag: tag))
            })
    }

    private mutating func name(last: UInt64) -> AtomName {
        let writer = writers.randomElement(using: &generator)!
        let sequence = number(1...(writer == writers[0] ? max(1, last) : PackName.greatestNumber))
        return AtomName(WriteID(number: generator.next()), TransactionID(writer: writer, sequence: sequence))
    }

    private mutating func path() -> Path {
        let depth = Int.random(in: 2...5, using: &generator)
        return Path(
            (0..<depth).map { _ in
                ["a", "b", "ab", "", "日本", String(repeating: "k", count: 300)].randomElement(using: &generator)!
            })
    }

    /// Returns a path, or sometimes that of a part of a value.
    private mutating func pathOrPart() -> Path {
        let path = path()
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: return Self.element.value.map { path.appending(MergedPart(element: $0)) } ?? path
        case 1: return path.appending(MergedPart(.addend, number: generator.next()))
        case 2: return path.appending(MergedPart(flag() ? .candidateForMaximum : .candidateForMinimum, number: 1))
        default: return path
        }
    }

    private static let element = WrittenValue.text("element")

    /// Returns a value that is permitted at a path.
    private mutating func value(at path: Path) -> WrittenValue {
        switch path.merged?.part.kind {
        case nil: value()
        case .element: Self.element
        default: .of(.integer(PropertyList.Integer(Int64(bitPattern: generator.next()))))
        }
    }

    private mutating func region(under path: Path) -> Region {
        if path.merged != nil { return Region(path) }
        var region = Region(path)
        for _ in 0..<Int.random(in: 0...3, using: &generator) {
            let place = ["a", "b", "ab"].prefix(Int.random(in: 0...3, using: &generator)).reduce(path) {
                flag() ? $0.appending($1) : $0
            }
            region = flag() ? region.subtracting(Region(place)) : region.union(Region(place))
        }
        return region.isEmpty ? Region(path) : region
    }

    private mutating func value() -> WrittenValue {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: return .deleted
        case 1: return .left
        case 2:
            return .text(String(repeating: "v", count: Blob.longestInPack + Int.random(in: -4...1, using: &generator)))
        default:
            var values = ValueGenerator(generator)
            let value = values.value(depth: 2)
            generator = values.generator
            return .of(value)
        }
    }

    private mutating func stamp() -> Stamp {
        Stamp(number: flag() ? number(0...9) : number(0...10_413_792_000_000 << 16 - 1))
    }

    private mutating func reason() -> Atom.Reason { Atom.Reason(rawValue: UInt8(number(0...3)))! }

    private mutating func change(_ path: Path) -> Change {
        var covers: [AtomName: Region] = [:]
        for _ in 0..<Int.random(in: 0...3, using: &generator) { covers[name(last: 1000)] = region(under: path.whole) }
        return Change(
            WriteID(number: generator.next()), at: path, flag() ? value(at: path) : nil, stamp: stamp(),
            reason: reason(),
            covers: covers.map { Cover($0.key, $0.value) })
    }

    mutating func log() -> LogPack {
        let transactions = (0...Int.random(in: 0...3, using: &generator)).map { _ in
            let paths = (0...Int.random(in: 0...3, using: &generator)).map { _ in pathOrPart() }
            return Transaction(paths.sorted().map { change($0) })
        }
        return LogPack(
            mirror: PackSamples.mirror, writer: writers[0], first: number(1...(flag() ? 9 : 1 << 36)),
            previous: flag() ? ContentHash(of: [1]) : nil, knowledge: vector(), transactions: transactions)
    }

    mutating func base() -> BasePack {
        let last = flag() ? number(0...50) : number(0...PackName.greatestNumber)
        var state = SharedState()
        for _ in 0..<Int.random(in: 0...12, using: &generator) {
            let path = pathOrPart()
            var name = name(last: last)
            if last == 0 { name = AtomName(name.id, TransactionID(writer: writers[1], sequence: 1)) }
            state.live.insert(
                Atom(name, at: path, value(at: path), stamp: stamp(), reason: reason(), in: region(under: path)))
        }
        for _ in 0..<Int.random(in: 0...3, using: &generator) {
            let path = path()
            state.gone[name(last: last)] = region(under: path).union(Region(self.path()))
        }
        for writer in writers where flag() { state.forks[writer] = number(1...PackName.greatestNumber) }
        state.vector = vector()
        var (tags, reached) = (FileTags(), UInt64(0))
        while reached < min(last, 40), flag() || reached == 0 {
            let end = min(last, reached + number(1...9))
            tags.insert(FileTags.Span(first: reached + 1, last: end, tag: FileTag(number: UInt32(reached))))
            reached = end
        }
        var labels: [WriterID: String] = [:]
        for writer in writers where flag() { labels[writer] = String(repeating: "ü", count: Int(number(0...128))) }
        return BasePack(
            mirror: PackSamples.mirror, writer: writers[0], last: last, state: state, tags: tags, labels: labels,
            beyond: beyond(state.vector))
    }

    private mutating func beyond(_ vector: VersionVector) -> [WriterID: FileTags]? {
        if flag() { return nil }
        var beyond: [WriterID: FileTags] = [:]
        for writer in writers.dropFirst() where flag() && vector[writer] < PackName.greatestNumber - 9 {
            let first = vector[writer] + number(2...5)
            beyond[writer] = FileTags([
                FileTags.Span(first: first, last: first + number(0...4), tag: FileTag(number: 7))
            ])
        }
        return beyond
    }

    mutating func note() -> WriterNote {
        WriterNote(
            mirror: PackSamples.mirror, writer: writers[0], number: number(0...9999),
            label: String(repeating: "ü", count: Int(number(0...128))), platform: "", software: "1", hasLeft: flag(),
            knowledge: vector())
    }
}
