/// The interval between periodic exchanges: a second after a change, and ever longer without one.
struct Backoff: Hashable, Sendable {
    private(set) var interval = Self.shortest
    /// The upper limit of the interval.
    var longest: Duration = .seconds(60)

    static let shortest: Duration = .seconds(1)

    /// Resets the interval after a change.
    mutating func quicken() { interval = Self.shortest }

    /// Returns the next interval. It varies by a fifth, so that hosts do not all exchange at once.
    mutating func next(random: UInt64) -> Duration {
        let share = 80 + Int(random % 41)
        defer { interval = min(interval * 8 / 5, longest) }
        return min(interval, longest) * share / 100
    }
}

/// The delay before local changes are published: none after a quiet period, and longer during a stream of changes.
///
/// It grows from 50 ms to one second during the first five minutes of a stream, mostly towards the end. A user who
/// changes one setting after another should not notice it, and a program that never stops should not fill the
/// directory.
struct PublishingDelay: Hashable, Sendable {
    private var began: Int64?
    private var last: Int64?

    private static let shortest: Duration = .milliseconds(50)
    private static let longest: Duration = .seconds(1)
    /// The duration of a stream after which the delay is longest.
    private static let untilLongest: Duration = .seconds(300)
    /// The pause that ends a stream.
    private static let quiet: Duration = .seconds(1)

    /// Returns the remaining delay, or zero if changes may be published.
    func delay(at nanoseconds: Int64) -> Duration {
        guard let last, let began else { return .zero }
        let share = min(1, Duration.nanoseconds(last - began) / Self.untilLongest)
        let interval = Self.shortest + (Self.longest - Self.shortest) * (share * share)
        return max(.zero, interval - .nanoseconds(nanoseconds - last))
    }

    /// Records that something was published.
    mutating func note(at nanoseconds: Int64) {
        let isStream = last.map { .nanoseconds(nanoseconds - $0) < Self.quiet + Self.longest } ?? false
        if !isStream { began = nanoseconds }
        last = nanoseconds
    }
}
