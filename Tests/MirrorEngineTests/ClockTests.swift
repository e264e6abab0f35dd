import MirrorEngine
import Testing

@Suite struct `The clock` {
    private static let now: Int64 = 1_750_000_000_000
    private func stamp(_ milliseconds: Int64, _ counter: UInt64 = 0) -> Stamp {
        Stamp(number: Stamp(clamping: milliseconds).number + counter)
    }

    @Test func `follows the wall clock, and increments while that stops or runs backward`() {
        var clock = HybridClock()
        let readings = [Self.now, Self.now, Self.now - 9, Self.now + 1].map { clock.stamp(at: $0) }
        #expect(readings == [stamp(Self.now), stamp(Self.now, 1), stamp(Self.now, 2), stamp(Self.now + 1)])
    }

    @Test(arguments: [
        (Int64.min, 946_684_800_000 as UInt64), (0, 946_684_800_000), (.max, 7_289_654_400_000),
    ])
    func `reads no year before 2000 or after 2200`(_ reading: Int64, _ milliseconds: UInt64) {
        #expect(Stamp(clamping: reading).milliseconds == milliseconds)
        var clock = HybridClock()
        #expect(clock.stamp(at: reading).isValid)
    }

    @Test func `never exceeds the limit of a pack`() {
        let limit: UInt64 = 10_413_792_000_000 << 16
        let last = Stamp(number: limit - 1)
        #expect(last.isValid && last.next == last)
        #expect(!Stamp(number: limit).isValid)
    }
}
