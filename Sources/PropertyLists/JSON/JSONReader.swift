#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif
extension PropertyList {
    static func readJSON(_ bytes: UnsafeBufferPointer<UInt8>, limits: Limits, options: ReadingOptions) throws(DecodingFailure) -> PropertyList { throw DecodingFailure(.noValue, offset: 0, format: .xml) }
    func writtenAsJSON(_ options: WritingOptions) throws(EncodingFailure) -> Data { Data() }
}
