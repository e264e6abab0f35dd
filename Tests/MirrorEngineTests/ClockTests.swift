import MirrorEngine
import Testing

@Suite struct `The clock` {
    private static let now: Int64 = 1_750_000_000_000
    private func stamp(_ milliseconds: Int64, _ counter: UInt64 = 0) -> Stamp {
        Stamp(number: Stamp(clamping: milliseconds).number + counter)
    }

    @Test func `follows the wall clock, and counts where that stands still or runs back`() {
        var clock = HybridClock()
        #expect(clock.stamp(at: Self.now, now: Self.now, over: [nil]).common == stamp(Self.now))
        #expect(clock.stamp(at: Self.now, now: Self.now, over: [nil]).common == stamp(Self.now, 1))
        #expect(clock.stamp(at: Self.now - 9, now: Self.now - 9, over: [nil]).common == stamp(Self.now, 2))
        #expect(clock.stamp(at: Self.now + 1, now: Self.now + 1, over: [nil]).common == stamp(Self.now + 1))
    }

    @Test func `stamps above what it overwrites, and no later than that asks for`() {
        var clock = HybridClock()
        let near = stamp(Self.now + 5000, 7)
        #expect(clock.stamp(at: Self.now, now: Self.now, over: [nil, near]).writes == [near.next, near.next])
    }

    @Test func `lets one write of the future neither spread nor stay in the way`() {
        var clock = HybridClock()
        let far = stamp(Self.now + 400_000_000_000)
        let stamps = clock.stamp(at: Self.now, now: Self.now, over: [far, nil])
        #expect(stamps.writes == [far.next, stamp(Self.now)])
        clock.observe(far, now: Self.now)
        #expect(clock.local == stamp(Self.now + HybridClock.tolerance))
    }

    @Test(arguments: [
        (Int64.min, 946_684_800_000 as UInt64), (0, 946_684_800_000), (.max, 7_289_654_400_000),
    ])
    func `reads no year before 2000 or after 2200`(_ reading: Int64, _ milliseconds: UInt64) {
        #expect(Stamp(clamping: reading).milliseconds == milliseconds)
        var clock = HybridClock()
        #expect(clock.stamp(at: reading, now: reading, over: [nil]).common.isValid)
    }

    @Test func `counts no further than a pack may hold`() {
        let last = Stamp(number: 1 << 63 - 1)
        #expect(last.isValid && last.next == last)
        #expect(!Stamp(number: 1 << 63).isValid)
    }
}
