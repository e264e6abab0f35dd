/// A time of the monotonic clock, in nanoseconds since an arbitrary start.
package struct Instant: Hashable, Sendable, Comparable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// A time that never comes.
    package static let never = Instant(nanoseconds: .max)

    package func advanced(by duration: Duration) -> Instant {
        Instant(nanoseconds: nanoseconds.addingClamped(duration.nanoseconds))
    }

    package func duration(to other: Instant) -> Duration { .nanoseconds(other.nanoseconds - nanoseconds) }

    package static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
}
