#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// A time of the wall clock, in nanoseconds since the beginning of 1970 in UTC: what files carry.
///
/// The wall clock jumps and runs backwards. It says when something was, never how long it took.
package struct Timestamp: Hashable, Sendable, Comparable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The nearest time that can be told, should it lie outside the years 1677 to 2262.
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
