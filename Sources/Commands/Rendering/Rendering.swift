package import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// How a value is printed: in which format, and what is done with what the format lacks.
package struct Rendering: Hashable, Sendable {
    package var format: FormatName
    package var options: PropertyList.WritingOptions

    package init(_ format: FormatName, options: PropertyList.WritingOptions = .default) {
        self.format = format
        self.options = options
    }

    /// The bytes for standard output: text ends with a newline.
    ///
    /// - Parameter key: The key under which the value was asked for; nil where it is a whole domain.
    package func bytes(of value: PropertyList, under key: KeyArgument? = nil) throws -> [UInt8] {
        switch format {
        case .raw: return Array((try RawText.text(of: value) + "\n").utf8)
        case .typed:
            if let key { return Array(TypedText.text(of: value, under: key).utf8) }
            guard let domain = value.dictionaryValue else { throw RawFailure(kind: value.kind) }
            return Array(TypedText.text(of: domain).utf8)
        default:
            guard let format = format.ofPropertyList else { return Array((ClassicText.text(of: value) + "\n").utf8) }
            let bytes = try Array(value.serialized(as: format, options: options))
            let isFinished = format == .binary || bytes.last == UInt8(ascii: "\n")
            return isFinished ? bytes : bytes + [UInt8(ascii: "\n")]
        }
    }
}
