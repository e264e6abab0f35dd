extension PropertyList {
    static func readSniffed(
        _ bytes: UnsafeBufferPointer<UInt8>, limits: Limits, options: ReadingOptions
    ) throws(DecodingFailure) -> PropertyList { throw DecodingFailure(.noValue, offset: 0, format: .xml) }
}
enum XMLDeclaration { static func encoding(of: UnsafeBufferPointer<UInt8>) -> TextEncoding? { nil } }
