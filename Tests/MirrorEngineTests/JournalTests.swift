import PropertyLists
import TestSupport
import Testing

@testable import MirrorEngine

@Suite struct `The journal` {
    private static let domain = "com.example.app"
    private static let key = Path(domain: domain, key: "a")

    /// Returns a state with an element of every kind, and the records that produced it.
    private func sample() throws -> (begin: LocalState, records: [LocalRecord]) {
        let begin = LocalState(mirror: PackSamples.mirror, writer: PackSamples.writer)
        let moment = Moment(now: 1_750_000_000_000, random: 42)
        var engine = engine(begin)
        let identity = { FileIdentity(device: 1, inode: $0, size: 3, modified: -4, changed: 5) }
        let seen = { (values: PropertyList.Dictionary, inode: UInt64) in
            Observation(
                domain: Self.domain, identity: identity(inode), hash: ContentHash(of: [1]), content: .values(values),
                modified: moment.now, mark: .write)
        }
        let log = LogPack(
            mirror: PackSamples.mirror, writer: PackSamples.other, first: 1, previous: nil, knowledge: VersionVector(),
            transactions: [
                Transaction([
                    Change(
                        WriteID(number: 7), at: Self.key, .of(["x": 1, "y": [true]]),
                        stamp: Stamp(clamping: moment.now + 1000))
                ])
            ])
        let foreign = try Pack(decoding: log.encoded().bytes)
        let base = try Pack(
            decoding: {
                var base = PackSamples.base(values: 3)
                (base.writer, base.last, base.tags) = (WriterID(number: 8), 50, FileTags())
                return base.encoded().bytes
            }())
        var events: [Event] = [
            .command(.add(domain: Self.domain)), .observed([seen(["a": 1, "b": "two"], 1)]),
            .directory(.marked([PackSamples.mirror])), .publish,
            .fetched([foreign.address: .pack(foreign)]), .fetched([base.address: .pack(base)]),
            .command(.retire(PackSamples.other)), .command(.remove(domain: Self.domain)),
        ]
        var records: [LocalRecord] = []
        while !events.isEmpty {
            for action in engine.handle(events.removeFirst(), at: moment) {
                switch action {
                case .append(let record): records.append(record)
                case .create(_, let pack): events.insert(.created(pack.name), at: 0)
                case .lock: events.insert(.locked([seen(["a": 1, "b": "two"], 1)]), at: 0)
                case .write:
                    events.insert(.written(.done([seen(["a": ["x": 1, "y": [true]], "b": "two"], 2)])), at: 0)
                default: break
                }
            }
        }
        var state = begin
        for record in records { state.apply(record) }
        let atom = try #require(state.shared.live.atoms.first)
        let accepted = Change(
            WriteID(number: 99), at: atom.path, nil, stamp: Stamp(number: 1), covers: [Cover(atom.name, atom.region)])
        records.append(
            .decided(Decision(transaction: Transaction([accepted]), clock: Stamp(number: 2), when: moment.now)))
        return (begin, records)
    }

    private func engine(_ state: LocalState) -> Engine {
        Engine(state, profile: Engine.Profile(label: "l", platform: "p", software: "s"), seed: .local)
    }

    @Test func `restores the state byte for byte`() throws {
        let (begin, records) = try sample()
        #expect(records.count >= 11)
        #expect(records.contains { if case .applied = $0 { true } else { false } })
        #expect(records.contains { if case .decided = $0 { true } else { false } })
        var state = begin
        var bytes = Journal.beginning(with: begin)
        for record in records {
            state.apply(record)
            bytes += Journal.entry(record)
        }
        let reading = try Journal.replay(bytes)
        #expect(reading.state == state && reading.records == records.count && reading.length == bytes.count)
        let checkpoint = Journal.beginning(with: state)
        #expect(try Journal.replay(checkpoint).state == state)
        #expect(try Journal.beginning(with: Journal.replay(checkpoint).state) == checkpoint)
        let summary = engine(state).summary(journalLength: bytes.count)
        #expect(try Journal.summary(Journal.encoded(summary)) == summary)
    }

    @Test func `truncated anywhere restores the state at the last complete record`() throws {
        let (begin, records) = try sample()
        var states = [begin]
        var bytes = Journal.beginning(with: begin)
        var ends = [bytes.count]
        for record in records {
            states.append(states[states.count - 1])
            states[states.count - 1].apply(record)
            bytes += Journal.entry(record)
            ends.append(bytes.count)
        }
        for count in bytes.indices {
            let cut = Array(bytes.prefix(count))
            guard let last = ends.lastIndex(where: { $0 <= count }) else {
                #expect(throws: PackFault.self) { try Journal.replay(cut) }
                continue
            }
            let reading = try Journal.replay(cut)
            #expect(reading.length == ends[last] && reading.records == last && reading.damage == nil)
            #expect(reading.state == states[last])
        }
    }

    @Test func `damaged in the middle is reported, and read up to the damage`() throws {
        let (begin, records) = try sample()
        var bytes = Journal.beginning(with: begin)
        let start = bytes.count
        for record in records { bytes += Journal.entry(record) }
        let whole = try Journal.replay(bytes).records
        var found = 0
        for bit in stride(from: start * 8, to: bytes.count * 8, by: 3) {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            let reading = try Journal.replay(flipped)
            #expect(reading.records < whole)
            if reading.damage != nil { found += 1 }
        }
        #expect(found > 0)
    }

    @Test func `with a damaged state is not read`() throws {
        let (begin, records) = try sample()
        var state = begin
        for record in records { state.apply(record) }
        let bytes = Journal.beginning(with: state)
        for bit in 0..<bytes.count * 8 where bit % 5 == 0 {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: PackFault.self) { try Journal.replay(flipped) }
        }
    }

    @Test func `of an earlier version is recognized`() {
        let bytes = Journal.beginning(with: LocalState(mirror: PackSamples.mirror, writer: PackSamples.writer))
        for version in [1, 2] as [UInt8] {
            var former = bytes
            former[4] = version
            #expect(throws: PackFault.olderVersion) { try Journal.replay(former) }
        }
        #expect(throws: PackFault.notThisFormat) { try Journal.replay(Array("prfx".utf8)) }
        #expect(throws: PackFault.notThisFormat) { try Journal.replay([]) }
    }
}

/// The parts of a state that can be decoded only in one form.
@Suite struct `A part of a journal` {
    private func decode<Value: JournalCodable>(_ type: Value.Type, _ bytes: [UInt8]) throws {
        var reader = ByteReader(bytes)
        _ = try reader.read(type)
    }

    @Test func `with any contents is decoded as it was encoded`() throws {
        for round in 0..<200 {
            var history = History("journals", round: round, hasFork: round % 2 == 1)
            history.run(steps: 25)
            for state in history.hosts.map(\.state) {
                var reader = ByteReader(state.recorded)
                let decoded = try reader.read(SharedState.self)
                #expect(decoded == state && reader.isAtEnd, "\(Seed.ofThisRun) round \(round)")
                #expect(decoded.recorded == state.recorded, "\(Seed.ofThisRun) round \(round)")
            }
            for log in history.logs {
                var reader = ByteReader(log.transactions.recorded)
                let decoded = try reader.read([Transaction].self)
                #expect(decoded == log.transactions && reader.isAtEnd, "\(Seed.ofThisRun) round \(round)")
            }
        }
    }

    @Test func `is in order`() throws {
        let (one, two) = (Path(keys: "k"), Path(keys: "m"))
        let atoms = [one, two].map { Atom(AtomName(1, 1), at: $0, .deleted, stamp: .zero) }
        let sorted = [2] + atoms[0].recorded + atoms[1].recorded
        #expect(throws: Never.self) { try decode(MergeState.self, sorted) }
        #expect(throws: PackFault.notCanonical) {
            try decode(MergeState.self, [2] + atoms[1].recorded + atoms[0].recorded)
        }
        #expect(throws: PackFault.notCanonical) {
            try decode(MergeState.self, [2] + atoms[0].recorded + atoms[0].recorded)
        }
        #expect(throws: PackFault.notCanonical) { try decode(Region.self, [two, one].recorded) }
        #expect(throws: PackFault.notCanonical) { try decode(Region.self, [one, one].recorded) }
        let changes = [one, two].map { Change(WriteID(number: 1), at: $0, nil, stamp: .zero) }
        #expect(throws: Never.self) { try decode(Transaction.self, changes.recorded) }
        #expect(throws: PackFault.contradiction("changes of a transaction")) {
            try decode(Transaction.self, Array(changes.reversed()).recorded)
        }
        #expect(throws: PackFault.contradiction("changes of a transaction")) {
            try decode(Transaction.self, [Change]().recorded)
        }
    }

    @Test func `has sequence numbers and spans within the limits`() throws {
        let most = PackName.greatestNumber
        func span(_ first: UInt64, _ last: UInt64) -> [UInt8] {
            FileTags.Span(first: first, last: last, tag: FileTag(number: 1)).recorded
        }
        #expect(throws: Never.self) { try decode(FileTags.Span.self, span(1, most)) }
        #expect(throws: PackFault.beyondLimit("sequence number")) { try decode(FileTags.Span.self, span(1, most + 1)) }
        #expect(throws: PackFault.contradiction("range")) { try decode(FileTags.Span.self, span(0, 1)) }
        #expect(throws: PackFault.contradiction("range")) { try decode(FileTags.Span.self, span(3, 2)) }
        let state = { (sequence: UInt64) in
            var state = LocalState(mirror: PackSamples.mirror, writer: PackSamples.writer)
            state.sequence = sequence
            return state.recorded
        }
        #expect(throws: Never.self) { try decode(LocalState.self, state(most)) }
        #expect(throws: PackFault.beyondLimit("sequence number")) { try decode(LocalState.self, state(most + 1)) }
    }
}
