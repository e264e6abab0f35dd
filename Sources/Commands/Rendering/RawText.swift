package import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A scalar without quotes, for scripts.
package enum RawText {
    /// Returns the text of a scalar, without a final newline.
    package static func text(of value: PropertyList) throws(RawFailure) -> String {
        switch value {
        case .string(let text): return text
        case .integer(let number): return number.description
        case .real(let number): return number.word
        case .boolean(let flag): return flag ? "true" : "false"
        case .date(let date):
            guard let text = date.nearestRFC3339 else { throw RawFailure(kind: .date) }
            return text
        case .data(let data): return data.base64EncodedString()
        case .uid(let number): return number.description
        case .null: return "null"
        case .array, .dictionary: throw RawFailure(kind: value.kind)
        }
    }
}

/// The value has no raw text: it is a container, or a date outside the supported years.
package struct RawFailure: Reportable, Hashable {
    package let kind: PropertyList.Kind

    package var status: ExitStatus { .invalidValue }

    package var lines: [String] {
        kind == .date
            ? ["raw: the date is outside the supported years"]
            : ["raw: a value of type \(kind.rawValue) is not a scalar; name an entry of it, or use --format json"]
    }
}
