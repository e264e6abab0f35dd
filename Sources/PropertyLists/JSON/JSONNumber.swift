/// A number in a JSON text that is read as a real.
struct JSONNumber {
    let path: EntryPath
    /// The range of the number in the UTF-8 text.
    let range: Range<Int>
    let text: String
    let value: Double
}

extension String {
    /// Whether a number has neither a point nor an exponent, so that it was meant to be exact.
    fileprivate var isInteger: Bool { utf8.allSatisfy { $0 == UInt8(ascii: "-") || $0 &- 0x30 <= 9 } }

    /// Whether the real may differ from the number in the text: an integer beyond 64 bits, or more than 17 digits.
    fileprivate var isInexact: Bool {
        let digits = utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }.filter { $0 &- 0x30 <= 9 }
        return isInteger || digits.drop { $0 == 0x30 }.count > 17
    }
}

extension PropertyList {
    /// Whether a JSON text has a real with more digits than a property list keeps.
    package static func hasInexactReals(inJSON bytes: [UInt8], _ options: ReadingOptions) -> Bool {
        !jsonNumbers(in: bytes, options) { text, _ in text.isInexact && !text.isInteger }.isEmpty
    }

    /// The failure for the first integer beyond 64 bits at or below `path`, or nil if there is none. The indices of the
    /// path are counted from the first element.
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
        let integers = jsonNumbers(in: bytes, options) { text, _ in text.isInteger }
        return integers.first { isIncluded($0.path) }.map { number in
            let (encoding, start) = TextEncoding.byteOrderMark(in: bytes) ?? (.utf8, 0)
            let offset = DecodedText(bytes, as: encoding, from: start)
                .originalOffset(number.range.lowerBound, in: bytes)
            return DecodingFailure(.integerOutOfRange(number.text), offset: offset, path: number.path, format: .json)
        }
    }

    /// The numbers that are read as reals and satisfy a condition.
    static func jsonNumbers(
        in bytes: [UInt8], _ options: ReadingOptions,
        where isRecorded: @escaping (_ text: String, _ value: Double) -> Bool
    ) -> [JSONNumber] {
        let (encoding, start) = TextEncoding.byteOrderMark(in: bytes) ?? (.utf8, 0)
        let text = DecodedText(bytes, as: encoding, from: start).text(of: bytes)
        let traits = TextTraits(of: text)
        guard traits.firstInvalid == nil else { return [] }
        var reader = JSONReader(text, isASCII: traits.isASCII, limits: .default, options: options)
        reader.isRecorded = isRecorded
        _ = try? reader.read()
        return reader.numbers
    }

    /// Returns the JSON of this value, with the original text of numbers that a real does not hold exactly.
    ///
    /// - Parameters:
    ///   - written: The JSON of this value, in UTF-8.
    ///   - former: The original file of this edited copy, and its value.
    package func keepingNumbers(
        in written: [UInt8], of former: (bytes: [UInt8], value: PropertyList), _ options: ReadingOptions
    ) throws(EncodingFailure) -> [UInt8] {
        let kept = Self.jsonNumbers(in: former.bytes, options) { text, _ in text.isInexact }
        guard !kept.isEmpty else { return written }
        var aligned: Set<EntryPath> = []
        for number in kept where !isAligned(with: former.value, to: number.path, &aligned) {
            throw EncodingFailure(.numberNotKept(number.text), path: number.path, format: .json)
        }
        let byPath = Swift.Dictionary(grouping: kept, by: \.path).compactMapValues(\.last)
        // A number that is no longer at its path may have been moved to another.
        let moved = texts(ofMoved: kept)
        let values = Set(kept.map(\.value))
        var result: [UInt8] = []
        var copied = 0
        for number in Self.jsonNumbers(in: written, options, where: { values.contains($1) }) {
            var texts: Set<String> = []
            if let same = byPath[number.path], same.value == number.value {
                texts = [same.text]
            } else {
                texts = moved[number.value] ?? []
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
        texts(ofMoved: Self.jsonNumbers(in: bytes, options) { text, _ in text.isInexact })
    }

    private func texts(ofMoved numbers: [JSONNumber]) -> [Double: Set<String>] {
        let moved = numbers.filter { self[$0.path] != .real($0.value) }
        return Swift.Dictionary(grouping: moved, by: \.value).mapValues { Set($0.map(\.text)) }
    }

    /// Whether the elements of all arrays on `path` have the same index as in `former`.
    ///
    /// - Parameter known: The paths of the arrays of different length that begin with equal elements.
    private func isAligned(with former: PropertyList, to path: EntryPath, _ known: inout Set<EntryPath>) -> Bool {
        var (now, before) = (self, former)
        for (depth, component) in path.components.enumerated() {
            if case .array(let elements) = now, case .array(let earlier) = before, elements.count != earlier.count {
                let array = EntryPath(Array(path.components[..<depth]))
                let common = min(elements.count, earlier.count)
                guard known.contains(array) || elements.prefix(common) == earlier.prefix(common) else { return false }
                known.insert(array)
                return true
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
        let text = text.plainNumber
        guard isRecorded?(text, value) ?? false else { return }
        numbers.append(JSONNumber(path: builder.path, range: range, text: text, value: value))
    }
}

extension String {
    /// A JSON5 number in JSON syntax: without a plus sign, and with digits before and after the point.
    var plainNumber: String {
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
