extension Duration {
    /// The whole nanoseconds, or as many as can be told.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return Timestamp(seconds: seconds, nanoseconds: attoseconds / 1_000_000_000).nanoseconds
    }
}

extension Int64 {
    /// The sum, or the nearest to it that there is.
    func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }
}
