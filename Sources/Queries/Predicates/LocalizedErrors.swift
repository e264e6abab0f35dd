#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// `localizedDescription` is the sentence that `description` is.

extension Query.Predicate.Failure: LocalizedError {
    public var errorDescription: String? { description }
}
