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
                guard run.count > Self.fewKeys else { return run.sort(step: 1, by: isBefore) }
                let common = rank(run, from: length)
                sortByRank(run, &spare)
                sortRuns(of: run, at: range.lowerBound, from: common + 8, into: &unsorted)
            }
        }
        return order
    }

    /// The most keys that are compared as they are.
    private static var fewKeys: Int { 8 }

    private func isBefore(_ a: RankedPosition, _ b: RankedPosition) -> Bool {
        self[a.position].key.isBefore(self[b.position].key)
    }

    /// Ranks keys by the eight bytes behind what they have in common, which is at least `length` bytes, and returns
    /// how many those are.
    ///
    /// What some of the keys have in common mostly is what all have, so that of many each is looked at once.
    private func rank(_ run: UnsafeMutableBufferPointer<RankedPosition>, from length: Int) -> Int {
        withUnsafeBufferPointer { entries in
            entries[run[0].position].key.withBytes { first in
                var guess = first.count
                for at in stride(from: 0, to: run.count, by: 1 + run.count / 16) {
                    guess = entries[run[at].position].key.withBytes {
                        commonPrefix($0, first, from: length, to: guess)
                    }
                }
                while true {
                    var common = guess
                    for at in run.indices {
                        entries[run[at].position].key.withBytes { key in
                            common = commonPrefix(key, first, from: length, to: common)
                            run[at].rank = keyRank(key, from: common)
                        }
                    }
                    if common == guess { return common }
                    guess = common
                }
            }
        }
    }

    /// Sorts the runs of equal rank in a run that is sorted by rank, or adds them to those that are yet to be sorted.
    private func sortRuns(
        of run: UnsafeMutableBufferPointer<RankedPosition>, at offset: Int, from length: Int,
        into unsorted: inout [(range: Range<Int>, length: Int)]
    ) {
        var start = 0
        while start < run.count {
            var end = start + 1
            while end < run.count, run[end].rank == run[start].rank { end += 1 }
            var alike = UnsafeMutableBufferPointer(rebasing: run[start..<end])
            if alike.count <= Self.fewKeys {
                alike.sort(step: 1, by: isBefore)
            } else if alike[0].rank == 0 {
                // Some have ended here, and a NUL counts like the end.
                alike.sort(by: isBefore)
            } else {
                unsorted.append((offset + start..<offset + end, length))
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
    guard run.count >= 256 else {
        // Shell's sort: what stands far from its place gets near it in larger steps.
        for step in stride(from: 31, through: 1, by: -10) { run.sort(step: step) { $0.rank < $1.rank } }
        return
    }
    while spare.count < run.count { spare.append(RankedPosition(rank: 0, position: 0)) }
    let differing = run.reduce(0) { $0 | ($1.rank ^ run[0].rank) }
    spare.withUnsafeMutableBufferPointer { spare in
        var (source, target) = (run.baseAddress!, spare.baseAddress!)
        for shift in stride(from: UInt64(0), to: 64, by: 8) where differing >> shift & 0xFF != 0 {
            distribute(source, run.count, by: shift, to: target)
            swap(&source, &target)
        }
        if source != run.baseAddress! { run.baseAddress!.update(from: source, count: run.count) }
    }
}

extension UnsafeMutableBufferPointer<RankedPosition> {
    /// Sorts the elements that are so far from one another, by moving each behind the last one before it.
    @inline(__always)
    fileprivate func sort(step: Int, by isBefore: (Element, Element) -> Bool) {
        guard step < count else { return }
        for next in step..<count {
            let place = self[next]
            var at = next
            while at >= step, isBefore(place, self[at - step]) {
                self[at] = self[at - step]
                at -= step
            }
            self[at] = place
        }
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
    if let base = UnsafeRawPointer(key.baseAddress), key.count >= 8, start < key.count {
        let missing = max(0, start + 8 - key.count)
        let word = UInt64(bigEndian: base.word(start - missing)) << UInt64(8 * missing)
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
