internal import PropertyLists

/// One write of a transaction.
package struct Write: Hashable, Sendable {
    package let path: Path
    package var value: AtomValue

    package init(path: Path, value: AtomValue) {
        self.path = path
        self.value = value
    }
}

/// Writes that take effect together, with what their author knew of others when he made them.
package struct Transaction: Hashable, Sendable {
    package let dot: Dot
    /// What all hosts sort it by, and its writes but those that overwrite something from the future.
    package let stamp: Stamp
    package let context: VersionVector
    package let writes: [StampedWrite]

    package struct StampedWrite: Hashable, Sendable {
        package let path: Path
        package let stamp: Stamp
        package let value: AtomValue
        /// The write that this one replaced in its author's view.
        package let replaced: Dot?

        package init(path: Path, stamp: Stamp, value: AtomValue, replaced: Dot? = nil) {
            self.path = path
            self.stamp = stamp
            self.value = value
            self.replaced = replaced
        }

        /// What it leaves in the state, as a write of the transaction of this dot.
        func atom(of dot: Dot) -> Atom { Atom(path: path, stamp: stamp, dot: dot, value: value) }
    }

    package init(dot: Dot, stamp: Stamp, context: VersionVector, writes: [StampedWrite]) {
        self.dot = dot
        self.stamp = stamp
        self.context = context
        self.writes = writes
    }

    package var atoms: [Atom] {
        writes.map { $0.atom(of: dot) }
    }

    /// The same writes by another incarnation of their author, who had seen no more of the former one than it
    /// published.
    package func renamed(_ dot: Dot, atMost former: (writer: WriterID, published: UInt64)) -> Transaction {
        var context = context
        context[former.writer] = min(context[former.writer], former.published)
        return Transaction(dot: dot, stamp: stamp, context: context, writes: writes)
    }
}

extension [Write] {
    /// The same in effect, with at most one write at a path and none above another, in the order of paths.
    package var normalised: [Write] {
        let sorted = sorted { $0.path < $1.path }
        // A capture's writes never meet; only then is it worth a comparison of each with each.
        if zip(sorted, sorted.dropFirst()).allSatisfy({ !$0.path.isPrefix(of: $1.path) }) { return sorted }
        return meeting
    }

    /// First what later writes erase, then what is left below another: as the state would hold them.
    private var meeting: [Write] {
        var last: [Path: AtomValue] = [:]
        for write in self {
            last = last.filter { !write.path.isPrefix(of: $0.key) }
            last[write.path] = write.value
        }
        var kept: [Write] = []
        for (path, value) in last.sorted(by: { $0.key < $1.key }) {
            let write = Write(path: path, value: value)
            if let above = kept.last, above.path.isPrefix(of: path) {
                kept[kept.count - 1].value = above.value.patched(by: write, under: above.path)
            } else {
                kept.append(write)
            }
        }
        return kept
    }
}

extension [Write] {
    /// The most bytes of values and paths in one transaction, so that its record stays within its limit.
    package static var mostBytes: Int { 32 << 20 }

    /// The same writes in as few lists as can be of which each fits into one transaction.
    package var parts: [[Write]] {
        var (parts, size) = ([[Write]](), Self.mostBytes)
        for write in self {
            let cost = write.path.bytes.count + write.value.bytes.count + 24
            if size + cost > Self.mostBytes {
                parts.append([])
                size = 0
            }
            parts[parts.count - 1].append(write)
            size += cost
        }
        return parts
    }
}

extension AtomValue {
    /// This value with a write below it carried out.
    fileprivate func patched(by write: Write, under path: Path) -> AtomValue {
        var value = self.value?.propertyList
        let rest = write.path.components.dropFirst(path.components.count).map(\.text)
        value.write(write.value.value?.propertyList, at: rest[...])
        guard let value else { return self }
        return (try? CanonicalValue(value)).map(AtomValue.value) ?? self
    }
}
