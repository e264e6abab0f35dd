/// What a host takes for the time, in milliseconds since 1970, whatever it is.
struct HostClock {
    private enum Course { case on, still, back }

    /// 2025.
    static let epoch: Int64 = 1_750_000_000_000

    /// Seconds that the clock is ahead.
    var skew: Int64 = 0
    private var course = Course.on
    /// When it began not to go on.
    private var since: Int64 = 0

    func reading(at time: Int64) -> Int64 {
        switch course {
        case .on: Self.epoch + (time + skew) * 1000
        case .still: Self.epoch + (since + skew) * 1000
        case .back: Self.epoch + (since - (time - since) + skew) * 1000
        }
    }

    /// Goes on as clocks do, from what it shows.
    mutating func mend(at time: Int64) {
        skew = (reading(at: time) - Self.epoch) / 1000 - time
        course = .on
    }

    /// Is set wrong, or goes wrong.
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
