#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PropertyList {
    func writtenAsOpenStep(_ options: WritingOptions, dialect: OpenStepDialect) throws(EncodingFailure) -> Data {
        Data()
    }
}
