package import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// JSON on one line that holds any value: what JSON has no type for is wrapped, as `--lossless-json` does.
package enum LosslessJSON {
    /// The text of a value; nil where it is nested deeper than any format allows.
    package static func text(of value: PropertyList) -> String? {
        guard let data = try? value.serialized(as: .json, options: options) else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    /// The value that such a text says, whose integers must not be beyond 64 bits.
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
