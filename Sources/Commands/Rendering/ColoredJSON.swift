internal import Platform
package import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// JSON for a terminal: keys, strings and other scalars in colors.
enum ColoredJSON {
    private static let colors = ("\u{1B}[34m", "\u{1B}[32m", "\u{1B}[33m", "\u{1B}[0m")

    /// Returns the JSON, in colors if they are wanted. Invisible characters are escaped, as JSON escapes them.
    static func text(_ json: String, hasColors: Bool) -> String {
        let (key, text, scalar, plain) = hasColors ? colors : ("", "", "", "")
        var output = ""
        var rest = json.unicodeScalars[...]
        while let first = rest.first {
            if first == "\"" {
                let string = takeString(&rest)
                output += (rest.first == ":" ? key : text) + escaped(string) + plain
            } else if first.properties.isAlphabetic || first == "-" || ("0"..."9").contains(first) {
                let word = rest.prefix { !",]} \n".unicodeScalars.contains($0) }
                rest = rest[word.endIndex...]
                output += scalar + String(word) + plain
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
    /// Prints a rendered value. On a terminal, JSON remains JSON, and is in colors unless `NO_COLOR` is set.
    func print(_ bytes: [UInt8], of value: PropertyList, _ rendering: Rendering) throws {
        let isJSON = rendering.format.map { $0.ofPropertyList == .json } ?? value.isContainer
        guard isJSON, terminal.isTerminal(.output) else { return try terminal.write(bytes, to: .output) }
        let hasColors = (environment.variables[Variable.noColor.rawValue] ?? "").isEmpty
        let text = ColoredJSON.text(String(decoding: bytes, as: UTF8.self), hasColors: hasColors)
        try cursor.write(text, to: .output)
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
