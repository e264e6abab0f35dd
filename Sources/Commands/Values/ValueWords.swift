package import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The arguments of `write` that express a value: the inverse of `ValueArguments`.
///
/// Scalars have a type flag, and so do the elements of small arrays and dictionaries. Other values are lossless JSON.
package struct ValueWords: Hashable, Sendable {
    package let words: [String]
    private let value: PropertyList

    /// The words where others follow, which an array or a dictionary would take for its own.
    var wordsBeforeOthers: [String] {
        guard TypeFlag(rawValue: words.first ?? "")?.isComposite ?? false, let json = LosslessJSON.text(of: value)
        else { return words }
        return [TypeFlag.json.rawValue, json]
    }

    /// Creates the words, or returns nil if the value is nested too deeply.
    package init?(_ value: PropertyList) {
        self.value = value
        if let words = Self.flagged(value), Self.fits(words) {
            self.words = words
            return
        }
        guard let json = LosslessJSON.text(of: value) else { return nil }
        words = [TypeFlag.json.rawValue, json]
    }

    package var fitsCommandLine: Bool { Self.fits(words) }

    /// Linux limits a single argument to 128 KiB. The limit for all arguments is much higher.
    private static let mostBytes = 120_000

    /// The maximum number of elements written as separate words.
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
        case .uid, .null, .array, .dictionary: nil
        }
    }
}
