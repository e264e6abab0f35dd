internal import Platform
internal import Preferences
package import PropertyLists
internal import Screens

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// All names that `--format` accepts. Each verb declares the ones that it supports. The name of a property list format
/// is the raw value of its `PropertyList.Format`.
package enum FormatName: String, Hashable, Sendable, CaseIterable {
    case classic, xml, binary, json, openstep, gnustep, raw, typed, json5
    case jsonPlain = "json-plain"
    case text, lines, commands
    case table, markdown, man
    case jsonSchema = "json-schema"
    case commandLine = "cli-json"
    case dconf, env, ini, toml
    /// A domain with a file for each key.
    case folder
}

extension FormatName {
    /// The name of a property list format. The initializer with a raw value would search the whole executable for a
    /// conformance, at each start.
    init(_ format: PropertyList.Format) { self = Self.allCases.first { $0.rawValue == format.rawValue } ?? .binary }

    /// The alternative names of a format.
    package var synonyms: [String] {
        switch self {
        case .xml: ["xml1"]
        case .binary: ["binary1"]
        default: []
        }
    }

    /// Returns the format that a word names, ignoring case.
    package init?(word: String) {
        let word = word.lowercased()
        guard let found = Self.allCases.first(where: { $0.rawValue == word || $0.synonyms.contains(word) }) else {
            return nil
        }
        self = found
    }

    /// The formats of `read`, `export`, `explain`, `find` and `history`.
    package static let ofValues =
        [.json, .jsonPlain] + ofFiles.filter { $0 != .json } + [.raw, .lines, .classic, .typed]

    /// The formats in which a file can be written.
    package static let ofFiles = PropertyList.Format.allCases.map { FormatName($0) }

    /// The formats in which a file can be read.
    package static let readable: [FormatName] = ofFiles + [.json5]

    /// The formats in which values can be read.
    package static let importable: [FormatName] = readable + [.typed]

    /// The formats of other programs that `import` reads.
    package static let ofOtherPrograms: [FormatName] = [.dconf, .env, .ini]

    /// The property list format. JSON5 is a variant of JSON for reading, and is written as JSON.
    package var ofPropertyList: PropertyList.Format? {
        self == .json5 || self == .jsonPlain ? .json : PropertyList.Format(rawValue: rawValue)
    }
}

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
        case .env:
            guard let variables = value.dictionaryValue else { throw RawFailure(kind: value.kind) }
            return Array(try EnvironmentText.text(of: variables).utf8)
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
        guard !masking.isEmpty, masking.touches(value, at: path) else { return try bytes(of: value, under: key) }
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
        options.padsReals = invocation.dialect == .classic
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

/// JSON for a terminal, with its keys in a style.
enum ColoredJSON {
    /// Returns the JSON, without styles if `colors` is nil. Invisible characters are escaped, as JSON escapes them.
    static func text(_ json: String, in colors: Colors?) -> String {
        let (start, end) = colors.map { (Style.key.sequence(in: $0), Style.end) } ?? ("", "")
        var output = ""
        var rest = json.unicodeScalars[...]
        while let first = rest.first {
            if first == "\"" {
                let string = takeString(&rest)
                output += rest.first == ":" ? start + escaped(string) + end : escaped(string)
            } else {
                output.unicodeScalars.append(rest.removeFirst())
            }
        }
        return output
    }

    private static func takeString(_ rest: inout Substring.UnicodeScalarView) -> String {
        var end = rest.index(after: rest.startIndex)
        while end < rest.endIndex, rest[end] != "\"" {
            let isEscape = rest[end] == "\\"
            end = rest.index(after: end)
            if isEscape, end < rest.endIndex { end = rest.index(after: end) }
        }
        if end < rest.endIndex { end = rest.index(after: end) }
        defer { rest = rest[end...] }
        return String(rest[..<end])
    }

    private static func escaped(_ string: String) -> String {
        guard string.unicodeScalars.contains(where: \.isInvisible) else { return string }
        return string.unicodeScalars.map { scalar in
            guard scalar.isInvisible else { return String(scalar) }
            return String(scalar).utf16.map { "\\u" + digits($0, radix: 16, 4) }.joined()
        }.joined()
    }
}

extension CommandContext {
    /// Prints a value with its sensitive parts masked.
    func print(
        _ value: PropertyList, _ rendering: Rendering, under key: KeyArgument? = nil, masking: Masking = .none
    ) throws {
        try print(rendering.bytes(of: value, under: key, masking), of: value, rendering)
    }

    /// Prints a rendered value. On a terminal, JSON remains JSON.
    ///
    /// - Parameter layer: A layer to name at the end of the line, on a terminal and without a format.
    func print(
        _ bytes: [UInt8], of value: PropertyList, _ rendering: Rendering, from layer: Layer? = nil
    ) throws {
        let isJSON = rendering.format.map { $0.ofPropertyList == .json } ?? value.isContainer
        guard terminal.isTerminal(.output) else { return try terminal.write(bytes, to: .output) }
        var bytes = bytes
        let isLine = bytes.last == UInt8(ascii: "\n")
        let layer = rendering.format == nil && isLine ? layer : nil
        if layer != nil { bytes.removeLast() }
        if isJSON {
            try print(json: bytes)
        } else {
            try terminal.write(bytes, to: .output)
        }
        guard let layer else { return }
        try print(StyledText("  (\(layer))", Style(isDim: true)))
        try say("")
    }
}

extension CommandContext {
    /// Prints JSON, whose keys have a style on a terminal.
    func print(json bytes: [UInt8]) throws {
        guard terminal.isTerminal(.output) else { return try terminal.write(bytes, to: .output) }
        try writeUnescaped(ColoredJSON.text(String(decoding: bytes, as: UTF8.self), in: colorsOfOutput))
    }
}

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
