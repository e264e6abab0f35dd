package import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// JSON on one line that can hold any value. Values without a JSON type are wrapped, as by `--lossless-json`.
package enum LosslessJSON {
    /// Returns the text of a value, or nil if it is nested too deeply.
    package static func text(of value: PropertyList) -> String? {
        guard let data = try? value.serialized(as: .json, options: options) else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    /// Parses a text. Integers beyond 64 bits are rejected.
    package static func value(of text: String) throws(DecodingFailure) -> PropertyList {
        var options = PropertyList.ReadingOptions(unwrapsJSON: true)
        options.inexactIntegers = .refused
        return try PropertyList(parsing: text, as: .json, options: options)
    }

    package static let options: PropertyList.WritingOptions = {
        var options = PropertyList.WritingOptions()
        options.wrapsInJSON = true
        return options
    }()
}
