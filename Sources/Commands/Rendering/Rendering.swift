package import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The format and options for printing a value.
package struct Rendering: Hashable, Sendable {
    /// The format; nil for a scalar as itself and everything else as JSON.
    package var format: FormatName?
    package var options: PropertyList.WritingOptions
    /// Whether to leave null out of dictionaries if the format has none.
    var dropsNulls = false

    package init(_ format: FormatName?, options: PropertyList.WritingOptions = .default) {
        self.format = format
        self.options = options
    }

    /// Returns the bytes to print. Text ends with a newline.
    ///
    /// - Parameter key: The key of the value; nil for a whole domain.
    package func bytes(of value: PropertyList, under key: KeyArgument? = nil) throws -> [UInt8] {
        switch format {
        case nil:
            if let text = try? RawText.text(of: value) { return Array((text + "\n").utf8) }
            return try Rendering(.json, options: options).bytes(of: value)
        case .raw:
            if case .data(let data) = value { return Array(data) }
            return Array((try RawText.text(of: value) + "\n").utf8)
        case .lines: return Array(LineText.lines(of: value).utf8)
        case .typed:
            if let key { return Array(TypedText.text(of: value, under: key).utf8) }
            guard let domain = value.dictionaryValue else { throw RawFailure(kind: value.kind) }
            return Array(TypedText.text(of: domain).utf8)
        default:
            guard let format = format?.ofPropertyList else { return Array((ClassicText.text(of: value) + "\n").utf8) }
            let bytes = try Array(withoutNulls(value).serialized(as: format, options: options))
            let isFinished = format == .binary || bytes.last == UInt8(ascii: "\n")
            return isFinished ? bytes : bytes + [UInt8(ascii: "\n")]
        }
    }

    /// Returns the value without null in dictionaries, if that is requested and the format has none.
    func withoutNulls(_ value: PropertyList) -> PropertyList {
        dropsNulls && format?.ofPropertyList?.hasNull != true ? value.withoutNullEntries : value
    }
}

extension Rendering {
    /// Returns the bytes of a domain or of the value of a key, with sensitive values masked.
    func bytes(of value: PropertyList, under key: KeyArgument?, _ masking: Masking) throws -> [UInt8] {
        let path = key?.path ?? []
        guard masking.touches(value, at: path) else { return try bytes(of: value, under: key) }
        let isHidden = !path.components.isEmpty && masking.hides(path)
        return try bytes(ofMasked: isHidden ? .string(Masking.dots) : masking.masked(value, at: path), under: key)
    }

    /// Returns the bytes of a masked value. The classic format would escape the mask, so the escapes are replaced by
    /// it.
    func bytes(ofMasked value: PropertyList, under key: KeyArgument? = nil) throws -> [UInt8] {
        let bytes = try bytes(of: value, under: key)
        guard format == .classic else { return bytes }
        let text = String(decoding: bytes, as: UTF8.self)
        let (inside, alone) = (
            ClassicText.text(of: [.string(Masking.dots)]), ClassicText.text(of: .string(Masking.dots))
        )
        let quoted = inside.split(separator: "\"").dropFirst().first.map(String.init) ?? alone
        return Array(text.replacing(quoted, with: Masking.dots).replacing(alone, with: Masking.dots).utf8)
    }
}

extension Rendering {
    /// Creates the rendering that `--format` requests, or the one of this command. JSON wraps what it has no type for,
    /// and the keys of a domain are sorted; those of a file that is named by its path, and of an opened archive, keep
    /// their order.
    init(_ invocation: Invocation, preset: FormatName? = nil) {
        let format = invocation.format ?? preset ?? invocation.dialect.valueFormat
        var options = PropertyList.WritingOptions.default
        options.isPretty = true
        options.isLossy = true
        options.wrapsInJSON = format != .jsonPlain
        options.coerces = format == .jsonPlain
        let isOfFile = invocation[operand: Operand.domain.name].map(DomainArgument.isPath) ?? false
        options.keepsKeyOrder = isOfFile || invocation.unarchives
        self.init(format, options: options)
    }

    /// Creates the rendering for a conversion, as its options request.
    init(_ invocation: Invocation, convertingTo format: FormatName) {
        var options = PropertyList.WritingOptions.default
        options.isPretty = true
        options.wrapsInJSON = invocation.has(.losslessJSON)
        options.coerces = invocation.has(.coerce)
        options.isLossy = !invocation.has(.strict)
        options.keepsKeyOrder = format == .json && !invocation.has(.sort)
        self.init(format, options: options)
        dropsNulls = invocation.has(.lossy)
    }

    /// Whether loss of data is an error.
    var isStrict: Bool { !options.isLossy }

    /// Returns whether the format drops fractions of a second in the value's dates.
    func dropsFractions(of value: PropertyList) -> Bool {
        guard options.isLossy, let format = format?.ofPropertyList, !format.keepsFractions else { return false }
        return value.hasFractionalDates
    }
}
