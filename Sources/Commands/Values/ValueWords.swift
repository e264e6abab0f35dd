package import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The arguments of `write` that say just one value: the opposite of `ValueArguments`.
///
/// Scalars go with their flag, and so do the elements of small arrays and dictionaries. What has no exact form of its
/// own goes as lossless JSON.
package struct ValueWords: Hashable, Sendable {
    package let words: [String]

    /// Nil for a value that is nested deeper than any format allows.
    package init?(_ value: PropertyList) {
        if let words = Self.flagged(value), Self.fits(words) {
            self.words = words
            return
        }
        guard let json = LosslessJSON.text(of: value) else { return nil }
        words = [TypeFlag.json.rawValue, json]
    }

    /// Whether the system takes the words as arguments.
    package var fitsCommandLine: Bool { Self.fits(words) }

    /// Linux refuses one argument beyond 128 KiB; all together have room by far.
    private static let mostBytes = 120_000

    /// The most elements that stand as words of their own.
    private static let mostElements = 64

    private static func fits(_ words: [String]) -> Bool {
        var total = 0
        for word in words { total += word.utf8.count }
        return total <= mostBytes
    }

    private static func flagged(_ value: PropertyList) -> [String]? {
        switch value {
        case .array(let elements) where elements.count <= mostElements:
            var words = [TypeFlag.array.rawValue]
            for element in elements {
                guard let scalar = scalar(element) else { return nil }
                words += scalar
            }
            return words
        case .dictionary(let entries) where entries.count <= mostElements:
            var words = [TypeFlag.dict.rawValue]
            for entry in entries.sortedEntries {
                guard !entry.key.utf8.contains(0), let scalar = scalar(entry.value) else { return nil }
                words += [entry.key] + scalar
            }
            return words
        default: return scalar(value)
        }
    }

    private static func scalar(_ value: PropertyList) -> [String]? {
        switch value {
        case .string(let text): text.utf8.contains(0) ? nil : [TypeFlag.string.rawValue, text]
        case .integer(let number): [TypeFlag.int.rawValue, number.description]
        case .real(let number): [TypeFlag.float.rawValue, number.word]
        case .boolean(let flag): [TypeFlag.bool.rawValue, flag ? "true" : "false"]
        case .date(let date): date.rfc3339.map { [TypeFlag.date.rawValue, $0] }
        case .data(let data): [TypeFlag.data.rawValue, data.hexadecimal]
        case .uid, .array, .dictionary: nil
        }
    }
}
