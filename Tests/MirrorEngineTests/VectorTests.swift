import TestSupport
import Testing

@testable import MirrorEngine

@Suite struct `A version vector` {
    private static func entry(_ sequence: UInt64, _ tag: UInt32 = 0) -> VersionVector.Entry {
        VersionVector.Entry(sequence: sequence, tag: FileTag(number: tag))
    }

    private static func vector(_ entries: (UInt64, UInt64, UInt32)...) -> VersionVector {
        VersionVector(entries.map { (WriterID(number: $0.0), entry($0.1, $0.2)) })
    }

    @Test func `includes the transactions up to the last one of each writer`() {
        let vector = Self.vector((1, 5, 0), (2, 1, 0))
        let rows: [(UInt64, UInt64, Bool)] = [
            (1, 1, true), (1, 5, true), (1, 6, false), (2, 1, true), (2, 2, false), (3, 1, false),
        ]
        for (writer, sequence, isIncluded) in rows {
            let dot = TransactionID(writer: WriterID(number: writer), sequence: sequence)
            #expect(vector.includes(dot) == isIncluded, "\(dot)")
        }
        #expect(vector[WriterID(number: 3)] == 0 && vector.count == 2)
    }

    @Test func `is raised, and never lowered`() {
        var vector = Self.vector((1, 5, 7))
        vector.raise(WriterID(number: 1), to: Self.entry(4, 8))
        vector.raise(WriterID(number: 1), to: Self.entry(5, 9))
        #expect(vector == Self.vector((1, 5, 7)))
        vector.raise(WriterID(number: 1), to: Self.entry(6, 8))
        #expect(vector == Self.vector((1, 6, 8)))
    }

    @Test func `differs from a former one by what is new`() {
        let (former, now) = (Self.vector((1, 5, 1), (2, 3, 1)), Self.vector((1, 6, 2), (2, 3, 1), (3, 1, 9)))
        #expect(now.differences(from: former) == Self.vector((1, 6, 2), (3, 1, 9)))
        #expect(now.differences(from: now) == VersionVector() && now.differences(from: VersionVector()) == now)
    }

    @Test func `contradicts another with a different file at the same transaction`() {
        let (one, other) = (
            Self.vector((1, 5, 1), (2, 3, 1), (3, 1, 1), (4, 2, 1)),
            Self.vector((1, 5, 2), (2, 3, 1), (3, 2, 2), (5, 2, 2))
        )
        #expect(one.contradictions(to: other) == [WriterID(number: 1)])
        #expect(other.contradictions(to: one) == [WriterID(number: 1)])
    }

    @Test func `is merged to the greater transaction of each writer`() {
        for round in 0..<1000 {
            var generator = SeededGenerator(stream: "vectors", round: round)
            var models = [[UInt64: UInt64]](repeating: [:], count: 3)
            for index in models.indices {
                for writer in 1...4 as ClosedRange<UInt64> where Bool.random(using: &generator) {
                    models[index][writer] = .random(in: 1...4, using: &generator)
                }
            }
            // Every transaction is in one file, so that its tag depends on it.
            let vectors = models.map { model in
                VersionVector(
                    model.map { (WriterID(number: $0.key), Self.entry($0.value, UInt32($0.key * 10 + $0.value))) })
            }
            func merged(_ order: [Int]) -> VersionVector {
                order.reduce(into: VersionVector()) { $0.merge(vectors[$1]) }
            }
            let expected = models.reduce(into: [UInt64: UInt64]()) { $0.merge($1) { max($0, $1) } }
            for order in [[0, 1, 2], [2, 1, 0], [1, 0, 1, 2, 2]] {
                let vector = merged(order)
                #expect(vector == merged([0, 1, 2]), "\(Seed.ofThisRun)")
                let entries = vector.sorted.map { ($0.writer.number, $0.entry.sequence) }
                #expect(
                    Dictionary(uniqueKeysWithValues: entries) == expected, "\(Seed.ofThisRun) round \(round)")
            }
            #expect(vectors[0].contradictions(to: vectors[1]) == [], "\(Seed.ofThisRun)")
        }
    }
}

@Suite struct `The tags of a writer's logs` {
    private static func span(_ first: UInt64, _ last: UInt64, _ tag: UInt32) -> FileTags.Span {
        FileTags.Span(first: first, last: last, tag: FileTag(number: tag))
    }

    /// Logs in the order of their arrival, and what is known.
    static let rows: [([(UInt64, UInt64, UInt32)], [(UInt64, UInt64, UInt32)])] = [
        ([], []), ([(1, 3, 7)], [(1, 3, 7)]), ([(1, 3, 7), (1, 3, 7)], [(1, 3, 7)]),
        ([(4, 5, 8), (1, 3, 7)], [(1, 3, 7), (4, 5, 8)]), ([(9, 9, 1), (1, 3, 7)], [(1, 3, 7), (9, 9, 1)]),
        // The last transaction of a log, from the header of the next one, and then the log.
        ([(3, 3, 7), (1, 3, 7)], [(1, 3, 7)]), ([(1, 3, 7), (3, 3, 7)], [(1, 3, 7)]),
        ([(1, 2, 7), (2, 4, 7)], [(1, 4, 7)]), ([(1, 1, 7), (4, 4, 7), (1, 4, 7)], [(1, 4, 7)]),
        // The first of two contradictory logs remains.
        ([(1, 3, 7), (1, 3, 8)], [(1, 3, 7)]), ([(1, 3, 7), (3, 5, 8)], [(1, 3, 7)]),
        ([(2, 2, 7), (1, 4, 8)], [(2, 2, 7)]), ([(1, 1, 7), (4, 4, 8), (1, 4, 7)], [(1, 1, 7), (4, 4, 8)]),
        // Neighbours with one tag are not one log.
        ([(1, 2, 7), (3, 4, 7)], [(1, 2, 7), (3, 4, 7)]),
    ]

    @Test(arguments: rows.indices) func `are kept in order, with parts of one log joined`(_ index: Int) {
        let (arrived, known) = Self.rows[index]
        let tags = FileTags(arrived.map { Self.span($0.0, $0.1, $0.2) })
        #expect(tags.spans == known.map { Self.span($0.0, $0.1, $0.2) })
    }

    @Test func `are found for a transaction`() {
        let tags = FileTags([Self.span(1, 3, 7), Self.span(5, 5, 8)])
        let found = (0...6).map { tags.tag(of: $0)?.number }
        #expect(found == [nil, 7, 7, 7, nil, 8, nil])
        #expect(FileTag(ContentHash(of: [])).number == 0xE3B0_C442)
    }

    static let contradictions: [([(UInt64, UInt64, UInt32)], [(UInt64, UInt64, UInt32)], UInt64?)] = [
        ([], [(1, 3, 7)], nil), ([(1, 3, 7)], [(1, 3, 7)], nil), ([(1, 3, 7)], [(4, 5, 8)], nil),
        ([(1, 3, 7)], [(1, 3, 8)], 1), ([(1, 3, 7), (4, 9, 1)], [(1, 3, 7), (4, 6, 2)], 4),
        ([(1, 3, 7), (4, 9, 1)], [(6, 6, 2)], 6), ([(2, 2, 7)], [(2, 2, 7), (3, 3, 1)], nil),
        ([(3, 3, 1), (9, 9, 2)], [(1, 3, 1), (4, 8, 3), (9, 9, 4)], 9),
    ]

    @Test(arguments: contradictions.indices) func `contradict others at a transaction`(_ index: Int) {
        let (left, right, sequence) = Self.contradictions[index]
        let (one, other) = (
            FileTags(left.map { Self.span($0.0, $0.1, $0.2) }), FileTags(right.map { Self.span($0.0, $0.1, $0.2) })
        )
        #expect(one.firstContradiction(to: other) == sequence && other.firstContradiction(to: one) == sequence)
    }

    /// The model has a tag for each transaction.
    @Test func `agree with a table of transactions`() throws {
        for round in 0..<1000 {
            var generator = SeededGenerator(stream: "tags", round: round)
            // Two branches of a writer with a common beginning.
            let branches = (0..<2).map { branch in
                var (spans, next) = ([FileTags.Span](), UInt64(1))
                while next < 20 {
                    let last = min(20, next + .random(in: 0...3, using: &generator))
                    spans.append(Self.span(next, last, UInt32(next < 8 ? 0 : branch) * 100 + UInt32(last)))
                    next = last + 1
                }
                return spans
            }
            var (tags, model) = ([FileTags](), [[UInt64: UInt32]]())
            for branch in 0..<2 {
                let shared = branches[0].filter { $0.last < 8 } + branches[branch].filter { $0.first >= 8 }
                let spans = shared.filter { _ in Bool.random(using: &generator) }.shuffled(using: &generator)
                tags.append(FileTags(spans))
                model.append(
                    spans.reduce(into: [:]) { table, span in
                        for sequence in span.first...span.last { table[sequence] = span.tag.number }
                    })
            }
            let comment: Comment = "\(Seed.ofThisRun) round \(round)"
            for (tags, model) in zip(tags, model) {
                for sequence in 0...21 as ClosedRange<UInt64> {
                    #expect(tags.tag(of: sequence)?.number == model[sequence], comment)
                }
                var bytes: [UInt8] = []
                bytes.append(tags)
                var reader = ByteReader(bytes)
                let decoded = try reader.fileTags()
                #expect(decoded == tags && reader.isAtEnd, comment)
            }
            let first = (0...21 as ClosedRange<UInt64>).first {
                guard let one = model[0][$0], let other = model[1][$0] else { return false }
                return one != other
            }
            #expect(tags[0].firstContradiction(to: tags[1]) == first, comment)
            if first == nil {
                var merged = tags[0]
                merged.merge(tags[1])
                let union = model[0].merging(model[1]) { $1 }
                for sequence in 0...21 as ClosedRange<UInt64> {
                    #expect(merged.tag(of: sequence)?.number == union[sequence], comment)
                }
            }
        }
    }
}
