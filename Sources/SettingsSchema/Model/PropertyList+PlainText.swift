package import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PropertyList {
    /// The value as plain text: strings as they are, `true` and `false`, RFC 3339 dates, base64 data, and containers as
    /// lossless JSON.
    package var plainText: String {
        switch self {
        case .string(let text): return text
        case .integer(let number): return number.description
        case .real(let number) where !number.isFinite: return number.isNaN ? "nan" : number < 0 ? "-inf" : "inf"
        case .boolean(let flag): return flag ? "true" : "false"
        case .uid(let number): return String(number)
        case .null: return "null"
        case .real, .date: return json(coerces: true).unquoted
        case .data(let data): return data.base64EncodedString()
        case .array, .dictionary: return json(coerces: false)
        }
    }

    private func json(coerces: Bool) -> String {
        var options = WritingOptions()
        options.coerces = coerces
        options.wrapsInJSON = !coerces
        guard let data = try? serialized(as: .json, options: options) else { return "" }
        return String(decoding: data, as: UTF8.self)
    }

    /// The value for a message, on one line of limited length.
    package var shownText: String { shortened(plainText, to: 60) }
}

extension String {
    /// The text without surrounding quotes.
    fileprivate var unquoted: String { hasPrefix("\"") ? String(dropFirst().dropLast()) : self }
}

/// The text shown in place of a secret.
package let mask = "••••"
