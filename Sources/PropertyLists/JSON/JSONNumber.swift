/// A number in a JSON text that is read as a real.
struct JSONNumber {
    let path: EntryPath
    /// The range of the number in the UTF-8 text.
    let range: Range<Int>
    let text: String
    let value: Double

    /// Whether the number has neither a point nor an exponent, so that it was meant to be exact.
    var isInteger: Bool { text.utf8.allSatisfy { $0 == UInt8(ascii: "-") || $0 &- 0x30 <= 9 } }

    /// Whether the real may differ from the number in the text: an integer beyond 64 bits, or more than 17 digits.
    var isInexact: Bool {
        let digits = text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }.filter { $0 &- 0x30 <= 9 }
        return isInteger || digits.drop { $0 == 0x30 }.count > 17
    }
}

extension PropertyList {
    /// Whether a JSON text has a real with more digits than a property list keeps.
    package static func hasInexactReals(inJSON bytes: [UInt8], _ options: ReadingOptions) -> Bool {
        jsonNumbers(in: bytes, options).contains { $0.isInexact && !$0.isInteger }
    }

    /// The failure for the first integer beyond 64 bits at or below `path`, or nil if there is none.
    package static func integerOutOfRange(
        inJSON bytes: [UInt8], at path: EntryPath, _ options: ReadingOptions
    ) -> DecodingFailure? {
        integerOutOfRange(inJSON: bytes, options) {
            $0.components.map(\.text).starts(with: path.components.map(\.text))
        }
    }

    /// The failure for the first integer beyond 64 bits whose path satisfies a condition, or nil if there is none.
    package static func integerOutOfRange(
        inJSON bytes: [UInt8], _ options: ReadingOptions, where isIncluded: (EntryPath) -> Bool
    ) -> DecodingFailure? {
        jsonNumbers(in: bytes, options).first { $0.isInteger && isIncluded($0.path) }.map { number in
            let (encoding, start) = TextEncoding.byteOrderMark(in: bytes) ?? (.utf8, 0)
            let offset = DecodedText(bytes, as: encoding, from: start)
                .originalOffset(number.range.lowerBound, in: bytes)
            return DecodingFailure(.integerOutOfRange(number.text), offset: offset, path: number.path, format: .json)
        }
    }

    static func jsonNumbers(in bytes: [UInt8], _ options: ReadingOptions) -> [JSONNumber] {
        let (encoding, start) = TextEncoding.byteOrderMark(in: bytes) ?? (.utf8, 0)
        let text = DecodedText(bytes, as: encoding, from: start).text(of: bytes)
        let traits = TextTraits(of: text)
        guard traits.firstInvalid == nil else { return [] }
        var reader = JSONReader(text, isASCII: traits.isASCII, limits: .default, options: options)
        reader.numbers = []
        _ = try? reader.read()
        return reader.numbers ?? []
    }

    /// Returns the JSON of this value, with the original text of numbers that a real does not hold exactly.
    ///
    /// - Parameters:
    ///   - written: The JSON of this value, in UTF-8.
    ///   - former: The original file of this edited copy, and its value.
    package func keepingNumbers(
        in written: [UInt8], of former: (bytes: [UInt8], value: PropertyList), _ options: ReadingOptions
    ) throws(EncodingFailure) -> [UInt8] {
        let kept = Self.jsonNumbers(in: former.bytes, options).filter(\.isInexact)
        guard !kept.isEmpty else { return written }
        for number in kept where !isAligned(with: former.value, to: number.path) {
            throw EncodingFailure(.numberNotKept(number.text), path: number.path, format: .json)
        }
        let byPath = Swift.Dictionary(grouping: kept, by: \.path).compactMapValues(\.last)
        // A number that is no longer at its path may have been moved to another.
        let moved = kept.filter { number in
            guard case .real(let value)? = self[number.path] else { return true }
            return value != number.value
        }
        var result: [UInt8] = []
        var copied = 0
        for number in Self.jsonNumbers(in: written, options) {
            var texts: Set<String> = []
            if let same = byPath[number.path], same.value == number.value {
                texts = [same.text]
            } else {
                texts = Set(moved.filter { $0.value == number.value }.map(\.text))
            }
            guard let text = texts.first else { continue }
            guard texts.count == 1 else {
                throw EncodingFailure(.numberNotKept(text), path: number.path, format: .json)
            }
            result += written[copied..<number.range.lowerBound] + text.utf8
            copied = number.range.upperBound
        }
        return result + written[copied...]
    }

    /// The texts of inexact numbers that are no longer at their path in this edited copy of a JSON file, by the real
    /// that they are read as.
    func textsOfMovedNumbers(inJSON bytes: [UInt8], _ options: ReadingOptions) -> [Double: Set<String>] {
        let moved = Self.jsonNumbers(in: bytes, options).filter { $0.isInexact && self[$0.path] != .real($0.value) }
        return Swift.Dictionary(grouping: moved, by: \.value).mapValues { Set($0.map(\.text)) }
    }

    /// Whether the elements of all arrays on `path` have the same index as in `former`.
    private func isAligned(with former: PropertyList, to path: EntryPath) -> Bool {
        var (now, before) = (self, former)
        for component in path.components {
            if case .array(let elements) = now, case .array(let earlier) = before {
                let common = min(elements.count, earlier.count)
                let isSame = elements.count == earlier.count
                guard isSame || elements.prefix(common) == earlier.prefix(common) else { return false }
            }
            guard let next = now[EntryPath([component])], let last = before[EntryPath([component])] else { return true }
            (now, before) = (next, last)
        }
        return true
    }
}

extension JSONReader {
    /// Records a number that is about to be added.
    @inline(never)
    mutating func note(_ range: Range<Int>, _ text: String, _ value: Double) {
        numbers?.append(JSONNumber(path: builder.path, range: range, text: text.plainNumber, value: value))
    }
}

extension String {
    /// A JSON5 number in JSON syntax: without a plus sign, and with digits before and after the point.
    fileprivate var plainNumber: String {
        var plain = ""
        for character in utf8.drop(while: { $0 == UInt8(ascii: "+") }) {
            let follows = plain.utf8.last.map { $0 &- 0x30 <= 9 } ?? false
            if character == UInt8(ascii: "."), !follows { plain += "0" }
            if plain.utf8.last == UInt8(ascii: "."), character &- 0x30 > 9 { plain += "0" }
            plain.unicodeScalars.append(Unicode.Scalar(character))
        }
        return plain.utf8.last == UInt8(ascii: ".") ? plain + "0" : plain
    }
}
