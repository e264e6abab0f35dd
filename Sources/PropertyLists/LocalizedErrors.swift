#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// `localizedDescription` is the same sentence as `description`.

extension DecodingFailure: LocalizedError {
    public var errorDescription: String? { description }
}

extension EncodingFailure: LocalizedError {
    public var errorDescription: String? { description }
}

extension EntryPath.Failure: LocalizedError {
    public var errorDescription: String? { description }
}

extension PropertyList.ConversionFailure: LocalizedError {
    public var errorDescription: String? { description }
}
