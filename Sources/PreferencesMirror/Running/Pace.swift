/// How long nothing is looked at as long as nothing is heard: a second after a change, ever longer without one.
struct Pace: Hashable, Sendable {
    private(set) var interval = Self.shortest
    /// The longest that is waited.
    var longest: Duration = .seconds(60)

    static let shortest: Duration = .seconds(1)

    /// Begins anew, because something has changed.
    mutating func quicken() { interval = Self.shortest }

    /// How long to wait this time: a fifth more or less, so that hosts do not all look at once.
    mutating func next(random: UInt64) -> Duration {
        let share = 80 + Int(random % 41)
        defer { interval = min(interval * 8 / 5, longest) }
        return min(interval, longest) * share / 100
    }
}

/// When what changes here goes out: at once after a while of quiet, and a stream of changes in few files.
///
/// The longer a stream lasts, the longer is waited, from 50 ms to a second after five minutes, and most of that towards
/// their end: a person who changes one thing after the other is not to notice, and a program that never stops is not to
/// fill the directory.
struct PublishingPace: Hashable, Sendable {
    private var began: Int64?
    private var last: Int64?

    private static let shortest: Duration = .milliseconds(50)
    private static let longest: Duration = .seconds(1)
    /// After how long it is waited longest.
    private static let untilLongest: Duration = .seconds(300)
    /// What ends a stream.
    private static let quiet: Duration = .seconds(1)

    /// How long to wait yet; zero once it may be.
    func delay(at nanoseconds: Int64) -> Duration {
        guard let last, let began else { return .zero }
        let share = min(1, Duration.nanoseconds(last - began) / Self.untilLongest)
        let interval = Self.shortest + (Self.longest - Self.shortest) * (share * share)
        return max(.zero, interval - .nanoseconds(nanoseconds - last))
    }

    /// Notes that something went out.
    mutating func note(at nanoseconds: Int64) {
        let isStream = last.map { .nanoseconds(nanoseconds - $0) < Self.quiet + Self.longest } ?? false
        if !isStream { began = nanoseconds }
        last = nanoseconds
    }
}
