#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// `localizedDescription` is the sentence that `description` is.

extension MirrorFailure: LocalizedError {
    public var errorDescription: String? { description }
}
