#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// `localizedDescription` is the same sentence as `description`.

extension MirrorFailure: LocalizedError {
    public var errorDescription: String? { description }
}
