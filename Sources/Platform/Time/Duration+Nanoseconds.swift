extension Duration {
    /// The duration in whole nanoseconds, clamped to the range of `Int64`.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return Timestamp(seconds: seconds, nanoseconds: attoseconds / 1_000_000_000).nanoseconds
    }
}

extension Int64 {
    /// Returns the sum, clamped to the range of `Int64`.
    func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }
}
