extension PropertyList {
    /// The two readings of the text format: Core Foundation's, and GNUstep's with typed values.
    enum OpenStepDialect { case openstep, gnustep }

    static func readOpenStep(
        _ bytes: UnsafeBufferPointer<UInt8>, dialect: OpenStepDialect, limits: Limits, options: ReadingOptions
    ) throws(DecodingFailure) -> PropertyList {
        throw DecodingFailure(.noValue, offset: 0, format: dialect == .gnustep ? .gnustep : .openstep)
    }
}
