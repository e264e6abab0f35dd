/// The wall clock of a host in milliseconds since 1970, which may be wrong.
struct HostClock {
    private enum Course { case on, still, back }

    /// A time in June 2025.
    static let epoch: Int64 = 1_750_000_000_000

    /// The number of seconds by which the clock is ahead.
    var skew: Int64 = 0
    private var course = Course.on
    /// The time at which the clock stopped.
    private var since: Int64 = 0

    func reading(at time: Int64) -> Int64 {
        switch course {
        case .on: Self.epoch + (time + skew) * 1000
        case .still: Self.epoch + (since + skew) * 1000
        case .back: Self.epoch + (since - (time - since) + skew) * 1000
        }
    }

    /// Makes the clock run normally from its present time.
    mutating func mend(at time: Int64) {
        skew = (reading(at: time) - Self.epoch) / 1000 - time
        course = .on
    }

    /// Sets the clock to a wrong time, or makes it run wrongly.
    mutating func setFault(at time: Int64, _ fault: Fault) {
        mend(at: time)
        since = time
        switch fault {
        case .standingClock: course = .still
        case .backwardClock: course = .back
        case .leap: skew += 31_536_000
        case .year1970: skew = -Self.epoch / 1000
        case .year2106: skew = 2_555_000_000
        default: skew = 0
        }
    }

    static let faults: [Fault] = [.standingClock, .backwardClock, .leap, .year1970, .year2106]
}
