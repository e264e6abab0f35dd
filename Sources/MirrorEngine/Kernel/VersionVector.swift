/// For each writer, the last of its transactions up to which all are known, and the file that contained it.
package struct VersionVector: Hashable, Sendable {
    private var entries: [WriterID: Entry] = [:]

    /// A transaction, and the beginning of the hash of the file that published it. Two copies of a store that publish
    /// under one number have different files.
    package struct Entry: Hashable, Sendable {
        package let sequence: UInt64
        package let tag: FileTag

        package init(sequence: UInt64, tag: FileTag) { (self.sequence, self.tag) = (sequence, tag) }
    }

    package init() {}

    package init(_ entries: some Sequence<(WriterID, Entry)>) {
        for (writer, entry) in entries { self.entries[writer] = entry }
    }

    /// The last known transaction of `writer`, or 0 if none is known.
    package subscript(writer: WriterID) -> UInt64 { entries[writer]?.sequence ?? 0 }

    package func entry(of writer: WriterID) -> Entry? { entries[writer] }

    package func includes(_ dot: TransactionID) -> Bool { dot.sequence <= self[dot.writer] }

    /// Whether all transactions of another vector are known, whatever files contain them.
    func includes(_ other: VersionVector) -> Bool {
        other.entries.allSatisfy { writer, entry in entry.sequence <= self[writer] }
    }

    package mutating func raise(_ writer: WriterID, to entry: Entry) {
        if entry.sequence > self[writer] { entries[writer] = entry }
    }

    mutating func forget(_ writer: WriterID) { entries[writer] = nil }

    package mutating func merge(_ other: VersionVector) {
        for (writer, entry) in other.entries { raise(writer, to: entry) }
    }

    /// The writers and their last transactions, sorted by writer.
    package var sorted: [(writer: WriterID, entry: Entry)] {
        entries.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    package var writers: Set<WriterID> { Set(entries.keys) }
    package var count: Int { entries.count }

    /// The writers whose last transaction is the same in both vectors, but in different files.
    func contradictions(to other: VersionVector) -> [WriterID] {
        entries.filter { writer, entry in
            other.entries[writer].map { $0.sequence == entry.sequence && $0.tag != entry.tag } ?? false
        }.keys.sorted()
    }
}

extension VersionVector {
    /// Returns the entries that are later than those of `former`.
    package func differences(from former: VersionVector) -> VersionVector {
        VersionVector(sorted.filter { former.entries[$0.writer] != $0.entry }.map { ($0.writer, $0.entry) })
    }
}

extension VersionVector: CustomStringConvertible {
    package var description: String {
        "{\(sorted.map { "\(TransactionID(writer: $0.writer, sequence: $0.entry.sequence))" }.joined(separator: " "))}"
    }
}

/// The first four bytes of the hash of a file that contains transactions.
package struct FileTag: Hashable, Sendable {
    package let number: UInt32

    package init(number: UInt32) { self.number = number }

    package init(_ hash: ContentHash) { number = hash.bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }
}

/// The logs of one writer: which transactions each contains, and its tag. It can have gaps.
package struct FileTags: Hashable, Sendable {
    package private(set) var spans: [Span] = []

    package struct Span: Hashable, Sendable {
        package let first: UInt64
        package let last: UInt64
        package let tag: FileTag

        package init(first: UInt64, last: UInt64, tag: FileTag) {
            (self.first, self.last, self.tag) = (first, last, tag)
        }
    }

    package init() {}

    package init(_ spans: some Sequence<Span>) { for span in spans { insert(span) } }

    /// Takes logs that are in order and do not overlap.
    init(sorted spans: [Span]) { self.spans = spans }

    package func tag(of sequence: UInt64) -> FileTag? {
        spans.last { $0.first <= sequence }.flatMap { $0.last >= sequence ? $0.tag : nil }
    }

    /// Adds a log where none is known. Parts of the same log are joined.
    package mutating func insert(_ span: Span) {
        let overlapping = spans.filter { $0.first <= span.last && span.first <= $0.last }
        guard overlapping.allSatisfy({ $0.tag == span.tag }) else { return }
        let all = overlapping + [span]
        guard let first = all.map(\.first).min(), let last = all.map(\.last).max() else { return }
        if overlapping == [Span(first: first, last: last, tag: span.tag)] { return }
        spans.removeAll(where: overlapping.contains)
        let index = spans.lastIndex { $0.first < first }.map { $0 + 1 } ?? 0
        spans.insert(Span(first: first, last: last, tag: span.tag), at: index)
    }

    package mutating func merge(_ other: FileTags) { for span in other.spans { insert(span) } }

    /// Returns the first transaction for which both know a log, and not the same, or nil.
    func firstContradiction(to other: FileTags) -> UInt64? {
        var (left, right) = (spans[...], other.spans[...])
        while let ours = left.first, let theirs = right.first {
            if ours.first <= theirs.last, theirs.first <= ours.last, ours.tag != theirs.tag {
                return max(ours.first, theirs.first)
            }
            if ours.last <= theirs.last { left.removeFirst() }
            if theirs.last <= ours.last { right.removeFirst() }
        }
        return nil
    }
}
