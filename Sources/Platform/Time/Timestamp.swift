#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// A time of the wall clock, in nanoseconds since 1970-01-01 UTC, as file systems store it.
///
/// The wall clock can jump and run backward. Use it to record when something happened, never to measure a duration.
package struct Timestamp: Hashable, Sendable, Comparable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Creates a timestamp, clamped to the years 1677 to 2262, which an `Int64` can represent.
    package init(seconds: Int64, nanoseconds: Int64) {
        let (whole, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carries) = whole.addingReportingOverflow(nanoseconds)
        self.nanoseconds = overflows || carries ? (seconds < 0 ? .min : .max) : sum
    }

    package var milliseconds: Int64 { nanoseconds / 1_000_000 }

    package var date: Date { Date(timeIntervalSince1970: Double(nanoseconds) / 1e9) }

    package func advanced(by duration: Duration) -> Timestamp {
        Timestamp(nanoseconds: nanoseconds.addingClamped(duration.nanoseconds))
    }

    package static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
}

extension Timestamp: CustomStringConvertible {
    package var description: String { date.ISO8601Format() }
}
