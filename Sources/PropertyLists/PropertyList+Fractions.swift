#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PropertyList {
    /// Whether a date in the value has a fraction of a second.
    package var hasFractionalDates: Bool {
        switch self {
        case .date(let date):
            let seconds = date.timeIntervalSinceReferenceDate
            return seconds.isFinite && seconds != seconds.rounded(.down)
        case .array(let elements): return elements.contains(where: \.hasFractionalDates)
        case .dictionary(let entries): return entries.contains(where: \.value.hasFractionalDates)
        default: return false
        }
    }
}

extension PropertyList.Format {
    /// Whether a date keeps its fraction of a second.
    ///
    /// GNUstep ignores the fraction that this package writes in a domain, so other files have none.
    package var keepsFractions: Bool { self == .binary || self == .json }

    /// The format that the extension of a file's name states.
    package init?(fileName: String) {
        guard let named = NamedFormat(fileName: fileName) else { return nil }
        self = named.format
    }
}
