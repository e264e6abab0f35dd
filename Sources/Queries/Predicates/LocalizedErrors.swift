#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// `localizedDescription` is the same sentence as `description`.

extension Query.Predicate.Failure: LocalizedError {
    public var errorDescription: String? { description }
}
