#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// `localizedDescription` is the same sentence as `description`.

extension Schema.Problem: LocalizedError {
    public var errorDescription: String? { description }
}

extension Schema.Problem.Reason: LocalizedError {
    public var errorDescription: String? { description }
}

extension Schema.Mistake: LocalizedError {
    public var errorDescription: String? { description }
}

extension Schema.Mistakes: LocalizedError {
    public var errorDescription: String? { description }
}

extension Schema.Arguments.Mistake: LocalizedError {
    public var errorDescription: String? { description }
}
