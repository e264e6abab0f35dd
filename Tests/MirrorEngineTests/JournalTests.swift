import MirrorEngine
import PropertyLists
import TestSupport
import Testing

@Suite struct `The journal` {
    /// Returns a state with an element of every kind, and the records that produced it.
    private func sample() throws -> (begin: LocalState, records: [LocalRecord]) {
        let begin = LocalState(mirror: PackSamples.mirror, writer: PackSamples.writer)
        let moment = Moment(now: 1_750_000_000_000, random: 42)
        var engine = engine(begin)
        let identity = { FileIdentity(device: 1, inode: $0, size: 3, modified: -4, changed: 5) }
        let seen = { (values: PropertyList.Dictionary, inode: UInt64) in
            Observation(
                domain: "com.example.app", identity: identity(inode), hash: ContentHash(of: [1]),
                content: .values(values),
                modified: moment.now, mark: .write)
        }
        var events: [Event] = [
            .command(.add(domain: "com.example.app")), .observed([seen(["a": 1, "b": "two"], 1)]),
            .directory(.marked([PackSamples.mirror])), .publish,
        ]
        for pack in [PackSamples.log.encoded(), PackSamples.base(writes: 3).encoded()] {
            var foreign = try Pack(decoding: pack.bytes)
            if case .log(var log) = foreign.content {
                log.writer = PackSamples.other
                log.previous = nil
                log.first = 1
                log.knowledge = []
                log.transactions = log.transactions.map { entry in
                    var entry = entry
                    entry.stamp = Stamp(clamping: moment.now + 1000)
                    entry.writes = entry.writes.map {
                        Transaction.StampedWrite(
                            path: $0.path, stamp: entry.stamp, value: $0.value, id: $0.id, seen: $0.seen)
                    }
                    return entry
                }
                foreign = try Pack(decoding: log.encoded().bytes)
            }
            guard foreign.address.writer != PackSamples.writer else { continue }
            events.append(.fetched([foreign.address: .pack(foreign)]))
        }
        events += [.command(.retire(PackSamples.other)), .command(.remove(domain: "com.example.app"))]
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
        return (begin, records)
    }

    private func engine(_ state: LocalState) -> Engine {
        Engine(state, profile: Engine.Profile(label: "l", platform: "p", software: "s"), seed: .local)
    }

    @Test func `restores the state byte for byte`() throws {
        let (begin, records) = try sample()
        #expect(records.count >= 11)
        #expect(records.contains { if case .applied = $0 { true } else { false } })
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
        // Every later version reads the files of this one, so these bytes never change.
        let hashes = [bytes, checkpoint, Journal.encoded(summary)].map { "\(ContentHash(of: $0))" }
        #expect(
            hashes == [
                "4449643178e20338abc87c2c0375fff96563a2158d2e50ee3e83ee7a9069ba8d",
                "f60b84ae8faef4b19a07693cf02108f3acc2a8551cd559dc0db79fc92aa21f38",
                "c4382ddaec1446c4a123a144653227e9342a6271448960eb8b3cbbb155bad072",
            ])
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
}
