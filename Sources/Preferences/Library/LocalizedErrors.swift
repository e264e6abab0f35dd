public import SettingsSchema

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// `localizedDescription` is the same sentence as `description`.

extension DomainName.Failure: LocalizedError {
    public var errorDescription: String? { description }
}

extension StoreFailure: LocalizedError {
    public var errorDescription: String? { description }
}

extension Schema.Ending: LocalizedError {
    public var errorDescription: String? { description }
}
