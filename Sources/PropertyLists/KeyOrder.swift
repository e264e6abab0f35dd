extension ContiguousArray<PropertyList.Dictionary.Entry> {
    /// The entries by the UTF-16 code units of their keys, in which Apple sorts.
    package var sortedByKey: Self { inOrder(sortOrder.lazy.map(\.position)) }

    /// The entries at `positions`, in that order.
    func inOrder(_ positions: some Sequence<Int>) -> Self {
        var sorted = Self()
        sorted.reserveCapacity(count)
        for position in positions { sorted.append(self[position]) }
        return sorted
    }

    /// Where the entries stand, by their keys.
    ///
    /// Keys of one dictionary often begin alike. So what all have in common is passed over, and the next eight bytes
    /// are compared as one number. Those that are equal even then are a dictionary of their own.
    var sortOrder: ContiguousArray<RankedPosition> {
        var order = ContiguousArray<RankedPosition>()
        order.reserveCapacity(count)
        for position in indices { order.append(RankedPosition(rank: 0, position: position)) }
        var spare = ContiguousArray<RankedPosition>()
        var unsorted = [(range: order.startIndex..<order.endIndex, length: 0)]
        // A list, for runs may lie within runs as often as a key is long.
        while let (range, length) = unsorted.popLast() {
            order.withUnsafeMutableBufferPointer { order in
                let run = UnsafeMutableBufferPointer(rebasing: order[range])
                if run.count > 2 {
                    let common = rank(run, from: length)
                    sortByRank(run, &spare)
                    collectRuns(of: run, at: range.lowerBound, from: common + 8, into: &unsorted)
                } else if run.count == 2, isBefore(run[1], run[0]) {
                    run.swapAt(0, 1)
                }
            }
        }
        return order
    }

    private func isBefore(_ a: RankedPosition, _ b: RankedPosition) -> Bool {
        self[a.position].key.isBefore(self[b.position].key)
    }

    /// Ranks keys by the eight bytes behind what they have in common, which is at least `length` bytes, and returns
    /// how many those are.
    private func rank(_ run: UnsafeMutableBufferPointer<RankedPosition>, from length: Int) -> Int {
        let common = self[run[0].position].key.withBytes { first in
            run.reduce(first.count) { common, place in
                self[place.position].key.withBytes { commonPrefix($0, first, from: length, to: common) }
            }
        }
        for at in run.indices { run[at].rank = self[run[at].position].key.withBytes { keyRank($0, from: common) } }
        return common
    }

    /// Finds the runs of equal rank in a sorted run.
    private func collectRuns(
        of run: UnsafeMutableBufferPointer<RankedPosition>, at offset: Int, from length: Int,
        into unsorted: inout [(range: Range<Int>, length: Int)]
    ) {
        var start = 0
        while start < run.count {
            var end = start + 1
            while end < run.count, run[end].rank == run[start].rank { end += 1 }
            if end - start > 1 {
                if run[start].rank == 0 {
                    // Some have ended here, and a NUL counts like the end.
                    var equal = UnsafeMutableBufferPointer(rebasing: run[start..<end])
                    equal.sort(by: isBefore)
                } else {
                    unsorted.append((offset + start..<offset + end, length))
                }
            }
            start = end
        }
    }
}

/// Where a key stands, and some of its bytes as a number that grows as keys do.
struct RankedPosition {
    var rank: UInt64
    var position: Int
}

/// Sorts by rank: a byte after the other from the last one on, but for those that are the same in all.
private func sortByRank(
    _ run: UnsafeMutableBufferPointer<RankedPosition>, _ spare: inout ContiguousArray<RankedPosition>
) {
    guard run.count >= 256 else { return sortFew(run) }
    while spare.count < run.count { spare.append(RankedPosition(rank: 0, position: 0)) }
    let differing = run.reduce(0) { $0 | $1.rank ^ run[0].rank }
    spare.withUnsafeMutableBufferPointer { spare in
        var (source, target) = (run.baseAddress!, spare.baseAddress!)
        for shift in stride(from: UInt64(0), to: 64, by: 8) where differing >> shift & 0xFF != 0 {
            distribute(source, run.count, by: shift, to: target)
            swap(&source, &target)
        }
        if source != run.baseAddress! { run.baseAddress!.update(from: source, count: run.count) }
    }
}

private func sortFew(_ run: UnsafeMutableBufferPointer<RankedPosition>) {
    guard run.count <= 64 else {
        var run = run
        return run.sort { $0.rank < $1.rank }
    }
    for next in 1..<run.count {
        let place = run[next]
        var at = next
        while at > 0, place.rank < run[at - 1].rank {
            run[at] = run[at - 1]
            at -= 1
        }
        run[at] = place
    }
}

/// Copies elements by one byte of their rank, and those with the same byte in the order in which they stand.
private func distribute(
    _ source: UnsafePointer<RankedPosition>, _ count: Int, by shift: UInt64,
    to target: UnsafeMutablePointer<RankedPosition>
) {
    withUnsafeTemporaryAllocation(of: Int.self, capacity: 256) { places in
        places.initialize(repeating: 0)
        for at in 0..<count { places[Int(source[at].rank >> shift & 0xFF)] += 1 }
        var place = 0
        for byte in 0..<256 { (places[byte], place) = (place, place + places[byte]) }
        for at in 0..<count {
            let byte = Int(source[at].rank >> shift & 0xFF)
            target[places[byte]] = source[at]
            places[byte] += 1
        }
    }
}

/// How many bytes two keys begin with in common, of which `known` are known, up to `limit`.
@inline(__always)
private func commonPrefix(
    _ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>, from known: Int, to limit: Int
) -> Int {
    let limit = min(limit, a.count)
    var same = min(known, limit)
    if let a = UnsafeRawPointer(a.baseAddress), let b = UnsafeRawPointer(b.baseAddress) {
        while same + 8 <= limit, a.word(same) == b.word(same) { same += 8 }
    }
    while same < limit, a[same] == b[same] { same += 1 }
    return same
}

/// Eight bytes of a key as a number that grows as the keys do.
@inline(__always)
private func keyRank(_ key: UnsafeBufferPointer<UInt8>, from start: Int) -> UInt64 {
    if start + 8 <= key.count, let base = key.baseAddress {
        let word = UInt64(bigEndian: UnsafeRawPointer(base).word(start))
        if word & ByteScan.highBits == 0 { return word }
    }
    var rank: UInt64 = 0
    for at in start..<start + 8 {
        rank = rank << 8 | UInt64(at < key.count ? orderedByte(key[at]) : 0)
    }
    return rank
}

/// The place of a byte of UTF-8 in the order of UTF-16: characters beyond U+FFFF stand before U+E000–U+FFFF.
@inline(__always)
private func orderedByte(_ byte: UInt8) -> UInt8 { byte == 0xEE || byte == 0xEF ? byte + 0x10 : byte }
