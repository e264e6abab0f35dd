#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A property list with its source text, for edits that change only the bytes of the edited entries. Comments, the
/// order of keys, indentation, quotes, the spelling of numbers, line breaks and the encoding are preserved. A new entry
/// is formatted like its siblings. It is inserted in sorted order if they are sorted, otherwise at the end. The line,
/// the comma and the comments of a removed entry are removed too.
package struct SourceText {
    /// The value of the text.
    package let value: PropertyList
    package let format: PropertyList.Format

    private let bytes: [UInt8]
    private let options: PropertyList.ReadingOptions
    private let limits: PropertyList.Limits
    private let decoded: DecodedText
    /// The layout of the text, or nil for a binary file.
    private let layout: SourceLayout?

    /// Reads a file in the given format.
    package init(
        _ bytes: [UInt8], as format: PropertyList.Format, limits: PropertyList.Limits = .default,
        options: PropertyList.ReadingOptions = PropertyList.ReadingOptions()
    ) throws(DecodingFailure) {
        (self.bytes, self.format, self.options, self.limits) = (bytes, format, options, limits)
        guard let syntax = format.facts.syntax else {
            value = try PropertyList(parsing: bytes, as: format, limits: limits, options: options)
            (decoded, layout) = (DecodedText([], as: .utf8, from: 0), nil)
            return
        }
        let mark = TextEncoding.byteOrderMark(in: bytes) ?? (.utf8, 0)
        let (encoding, start) = format == .xml ? try PropertyList.xmlEncoding(of: bytes) : mark
        decoded = DecodedText(bytes, as: encoding, from: start)
        let text = decoded.text(of: bytes)
        if encoding != .utf8 || start > 0 {
            // Reads the original bytes first, so that a failure has its offset in the file.
            _ = try PropertyList(parsing: bytes, as: format, limits: limits, options: options)
        }
        let map: SourceMap
        (value, map) = try Self.read(text, as: format, limits, options)
        layout = SourceLayout(text, format, syntax, map)
    }

    /// Reads a text in UTF-8, regardless of the encoding that it declares.
    private static func read(
        _ text: [UInt8], as format: PropertyList.Format, _ limits: PropertyList.Limits,
        _ options: PropertyList.ReadingOptions
    ) throws(DecodingFailure) -> (PropertyList, SourceMap) {
        var sources: SourceMap? = SourceMap()
        let value: PropertyList
        if format == .xml {
            value = try DecodedText(text, as: .utf8, from: 0).read(text, as: .xml, sources: &sources) { text, isASCII in
                XMLReader(text, isASCII: isASCII, limits: limits, options: options)
            }
        } else {
            value = try PropertyList.read(text, as: format, limits: limits, options: options, sources: &sources)
        }
        return (value, sources ?? SourceMap())
    }

    /// The comments of the text, with their marks.
    package var comments: [String] { layout.map { $0.texts(of: $0.allComments) } ?? [] }

    /// Returns the file with a new value. A binary file is rewritten as a whole.
    ///
    /// The result has been read back and compared with `value`.
    ///
    /// - Parameter step: What the verb has done to an entry, or nil if the values show it.
    package func edited(
        to value: PropertyList, by step: EntryStep? = nil, options: PropertyList.WritingOptions = .default
    ) throws(EncodingFailure) -> EditResult {
        guard let layout else { return EditResult(Array(try value.serialized(as: format, options: options))) }
        guard value != self.value else { return EditResult(bytes) }
        var plan = EditPlan(layout, TextStyle(of: layout, options), self.options, step)
        if format == .json {
            plan.style.exactNumbers = value.textsOfMovedNumbers(inJSON: bytes, self.options)
        }
        try plan.edit(from: self.value, to: value)
        let pieces = plan.pieces()
        let result = encoded(pieces)
        guard result.count <= limits.inputBytes else {
            throw EncodingFailure(.tooLarge(limit: limits.inputBytes), format: format)
        }
        guard (try? PropertyList(parsing: result, as: format, limits: limits, options: self.options)) == value else {
            throw EncodingFailure(.notKept, format: format)
        }
        return EditResult(result, removing: plan.removedComments(pieces))
    }
}

/// The bytes of a file after an edit.
package struct EditResult: Sendable {
    package let bytes: [UInt8]
    /// The comments that the edit has removed, with their marks.
    package let removedComments: [String]

    package init(_ bytes: [UInt8], removing comments: [String] = []) {
        (self.bytes, removedComments) = (bytes, comments)
    }

    /// The note on removed comments, or nil if there are none.
    package static func note(onRemoved comments: [String]) -> String? {
        guard !comments.isEmpty else { return nil }
        let texts = comments.prefix(mostShown).map { comment in
            shortened(comment.split(whereSeparator: \.isWhitespace).joined(separator: " "), to: 200)
        }
        let more = comments.count > mostShown ? ", and \(comments.count - mostShown) more" : ""
        let noun = comments.count == 1 ? "the comment" : "\(comments.count) comments:"
        return "removed \(noun) \(texts.joined(separator: ", "))\(more)"
    }

    private static let mostShown = 16
}

// MARK: Encoding

extension SourceText {
    /// Encodes a text that consists of old and new parts.
    private func encoded(_ pieces: [EditPlan.Piece]) -> [UInt8] {
        guard let layout else { return bytes }
        let offset = decoded.originalOffsets(in: bytes)
        let isEscaping = usesEscapes(layout)
        var result = Array(bytes[..<decoded.start])
        for piece in pieces {
            switch piece {
            case .old(let range): result += bytes[offset(range.lowerBound)..<offset(range.upperBound)]
            case .new(let text):
                for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
                    if scalar.isASCII || !isEscaping, let bytes = decoded.encoding.bytes(of: scalar) {
                        result += bytes
                    } else {
                        for byte in escape(scalar).utf8 {
                            result += decoded.encoding.bytes(of: Unicode.Scalar(byte)) ?? []
                        }
                    }
                }
            }
        }
        return result
    }

    /// Whether the text contains characters beyond ASCII, all of them escaped.
    private func usesEscapes(_ layout: SourceLayout) -> Bool {
        guard let mark = layout.syntax.escape?.asciiValue, !layout.text.contains(where: { $0 >= 0x80 }) else {
            return false
        }
        var at = 0
        while let backslash = layout.text[at...].firstIndex(of: UInt8(ascii: "\\")), backslash + 5 < layout.text.count {
            let digits = layout.text[(backslash + 2)...(backslash + 5)]
            if layout.text[backslash + 1] == mark, let code = UInt64(digits: digits, radix: 16), code >= 0x80 {
                return true
            }
            at = backslash + 2
        }
        return false
    }

    private func escape(_ scalar: Unicode.Scalar) -> String {
        guard let letter = layout?.syntax.escape else { return "&#\(scalar.value);" }
        return (UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter).map { unit in
            let digits = String(unit, radix: 16)
            return "\\\(letter)" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }
}

extension TextEncoding {
    /// The bytes of a character, or nil if the encoding does not have it.
    fileprivate func bytes(of scalar: Unicode.Scalar) -> [UInt8]? {
        func unit(_ value: UInt32, width: Int, _ bigEndian: Bool) -> [UInt8] {
            let bytes = (0..<width).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }
            return bigEndian ? bytes.reversed() : bytes
        }
        switch self {
        case .utf8: return UTF8.encode(scalar).map(Array.init)
        case .utf16(let bigEndian):
            return UTF16.encode(scalar).map { $0.flatMap { unit(UInt32($0), width: 2, bigEndian) } }
        case .utf32(let bigEndian): return unit(scalar.value, width: 4, bigEndian)
        case .ascii: return scalar.isASCII ? [UInt8(scalar.value)] : nil
        case .latin1: return UInt8(exactly: scalar.value).map { [$0] }
        // Its characters at 0x80–0x9F are written as references.
        case .windows1252:
            return UInt8(exactly: scalar.value).flatMap { (0x80...0x9F).contains($0) ? nil : [$0] }
        }
    }
}

// MARK: Style

extension TextStyle {
    /// The style of a text.
    init(of layout: SourceLayout, _ options: PropertyList.WritingOptions) {
        self.init(layout.format, layout.syntax, options)
        let text = layout.text
        if let newline = text.indices.lazy.compactMap({ layout.newline(at: $0) }).first {
            self.newline = Array(text[newline])
        }
        var (hasUnit, hasSpace, hasColon) = (false, false, false)
        var evidence = (keys: QuoteEvidence(), strings: QuoteEvidence())
        for (position, children) in layout.children.enumerated() {
            let entry = layout.map.entries[position]
            if let key = entry.key { evidence.keys.note(text, key, isKey: true, layout) }
            guard !children.isEmpty else {
                evidence.strings.note(text, entry.value, isKey: false, layout)
                continue
            }
            if layout.hasLines(position) || layout.hasDottedKeys(position)
                || layout.map.sections?.kinds[position] == .dotted
            {
                continue
            }
            if hasUnit, hasSpace, hasColon { continue }
            let first = layout.map.entries[children[0]]
            // The search for the start of the line is skipped if there is no line break, because a text may be one long
            // line.
            if !hasUnit, let place = layout.child(0, of: position).gap.indent {
                let (indent, outer) = (text[place], layout.indent(ofLineAt: entry.value.lowerBound))
                if indent.count > outer.count, indent.starts(with: outer) {
                    (unit, hasUnit) = (Array(indent.dropFirst(outer.count)), true)
                }
            }
            if !hasColon, let key = first.key, layout.syntax.mark == UInt8(ascii: ":") {
                let between = text[key.upperBound..<first.value.lowerBound]
                if between.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == UInt8(ascii: ":") }) {
                    (self.between, hasColon) = (Array(between), true)
                    if !hasSpace, between.last == UInt8(ascii: ":") { space = [] }
                }
            }
            if !hasSpace, children.count > 1 {
                let second = layout.child(1, of: position)
                if second.gap.newline == nil, second.gap.isBlank {
                    (space, hasSpace) = (Array(text[second.gapStart..<second.start]), true)
                }
            }
        }
        if let line = layout.map.sections?.lines.first(where: { $0.kind == .entry }), let key = line.keys.last {
            between = Array(text[key.upperBound..<layout.map.entries[line.position].value.lowerBound])
        }
        guard !layout.syntax.hasSections else {
            stringQuotes = evidence.strings.quotes(default: stringQuotes)
            return
        }
        keyQuotes = evidence.keys.quotes(default: layout.isStringsFile ? .double : keyQuotes)
        stringQuotes = evidence.strings.quotes(default: layout.isStringsFile ? .double : stringQuotes)
        usesLetterEscapes = layout.isStringsFile
    }
}

/// The use of quotes in the strings of a text.
private struct QuoteEvidence {
    private var first: TextStyle.Quotes?

    /// Notes a key or a value. A string that needs its quotes does not show a style.
    mutating func note(_ text: [UInt8], _ range: Range<Int>, isKey: Bool, _ layout: SourceLayout) {
        guard first != .whereNeeded, !range.isEmpty, !layout.syntax.hasTags else { return }
        switch text[range.lowerBound] {
        case UInt8(ascii: "'"): first = first ?? .single
        case UInt8(ascii: "\""):
            if layout.hasOptionalQuotes(range) { first = first ?? .double }
        case UInt8(ascii: "<"), UInt8(ascii: "{"), UInt8(ascii: "("): break
        default: if layout.syntax.bareCharacters != nil || isKey { first = .whereNeeded }
        }
    }

    func quotes(default preset: TextStyle.Quotes) -> TextStyle.Quotes { first ?? preset }
}
