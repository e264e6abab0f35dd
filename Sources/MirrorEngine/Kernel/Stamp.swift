/// The time of a write: 48 bits of milliseconds since 1970 and a 16-bit counter, compared as one number.
package struct Stamp: Hashable, Sendable, Comparable {
    package let number: UInt64

    package init(number: UInt64) { self.number = number }

    /// Converts the reading of a clock, clamped to the years 2000 to 2200.
    package init(clamping milliseconds: Int64) {
        let clamped = min(max(milliseconds, Self.earliest), Self.latest)
        number = UInt64(clamped) << Self.counterBits
    }

    package var milliseconds: UInt64 { number >> Self.counterBits }

    /// The stamp directly after this one, or this one at the limit. The counter carries into the milliseconds.
    package var next: Stamp { number < Self.limit - 1 ? Stamp(number: number + 1) : self }

    /// Whether a clock gave this stamp, and it is not the one after another.
    var isOfClock: Bool { number & (1 << Self.counterBits - 1) == 0 }

    /// Whether the value was found in a file, so that the time of the write is unknown.
    package var isFound: Bool { milliseconds == 0 }

    /// Whether a pack may contain this stamp.
    package var isValid: Bool { number < Self.limit }

    package static func < (left: Self, right: Self) -> Bool { left.number < right.number }

    /// The stamp before all readings of a clock.
    package static let zero = Stamp(number: 0)
    /// The stamp of a value that was found where the mirror had none. A value that was found where it had one is
    /// before it.
    static let ofGap = zero.next

    private static let counterBits: UInt64 = 16
    /// The beginning of 2300. Readers refuse later stamps, and no writer exceeds it, whatever it overwrites.
    private static let limit: UInt64 = 10_413_792_000_000 << counterBits
    /// The beginning of 2000, and of 2201.
    private static let earliest: Int64 = 946_684_800_000
    private static let latest: Int64 = 7_289_654_400_000
}

/// The clock of one host. Stamps of other hosts never enter it, so a host whose clock is fast cannot advance it.
package struct HybridClock: Hashable, Sendable {
    /// The last stamp taken from this clock.
    package private(set) var local: Stamp

    package init(local: Stamp = .zero) { self.local = local }

    /// Returns the stamp of a write made at this time, later than all stamps returned before.
    package mutating func stamp(at milliseconds: Int64) -> Stamp {
        local = max(Stamp(clamping: milliseconds), local.next)
        return local
    }
}
