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

/// Writes that take effect together.
package struct Transaction: Hashable, Sendable {
    package let dot: Dot
    /// The earliest stamp of its writes.
    package let stamp: Stamp
    package let writes: [StampedWrite]

    package struct StampedWrite: Hashable, Sendable {
        package let path: Path
        package let stamp: Stamp
        package let value: AtomValue
        package let id: WriteID
        /// The writes that this one visibly replaced, directly or step by step, in order.
        package let seen: [SeenWrite]

        package init(path: Path, stamp: Stamp, value: AtomValue, id: WriteID, seen: [SeenWrite] = []) {
            self.path = path
            self.stamp = stamp
            self.value = value
            self.id = id
            self.seen = seen
        }

        /// What it leaves in the state, as a write of the transaction of this dot.
        func atom(of dot: Dot) -> Atom {
            Atom(path: path, stamp: stamp, dot: dot, value: value, id: id, seen: seen)
        }
    }

    package init(dot: Dot, stamp: Stamp, writes: [StampedWrite]) {
        self.dot = dot
        self.stamp = stamp
        self.writes = writes
    }

    package var atoms: [Atom] {
        writes.map { $0.atom(of: dot) }
    }

    /// The same writes, under another number of their author.
    package func renamed(_ dot: Dot) -> Transaction { Transaction(dot: dot, stamp: stamp, writes: writes) }
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
