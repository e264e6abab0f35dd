import Glibc

/// The time of one call and the bytes that it handled, measured by the rule in Tests/Peers/driver.h for every
/// contender.
struct Measurement {
    let nanoseconds: Double
    /// The size of the input that was read, or of the output that was written.
    let bytes: Int
}

extension Measurement {
    private static let leastSample: Int64 = 1_000_000
    private static let leastTotal: Int64 = 100_000_000
    private static let leastSamples = 3

    /// Measures `work`, which returns the number of bytes that it handled and releases its results.
    static func of(_ work: () throws -> Int) throws -> Measurement {
        var (repeats, samples, total, best) = (1, 0, Int64(0), Int64.max)
        var bytes = 0
        while total < leastTotal || samples < leastSamples {
            let start = processorTime()
            for _ in 0..<repeats { bytes = try work() }
            let elapsed = processorTime() - start
            if samples == 0, elapsed < leastSample {
                repeats *= 2
                continue
            }
            samples += 1
            total += elapsed
            best = min(best, elapsed)
        }
        return Measurement(nanoseconds: Double(best) / Double(repeats), bytes: bytes)
    }

    /// The processor time of this process and all of its threads, which excludes other work on the machine.
    static func processorTime() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Returns the median of several measurements.
    static func median(of measurements: [Measurement]) -> Measurement? {
        guard !measurements.isEmpty else { return nil }
        return measurements.sorted { $0.nanoseconds < $1.nanoseconds }[measurements.count / 2]
    }
}
