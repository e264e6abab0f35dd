internal import PropertyLists

// Uses the Unicode data of the standard library, because Foundation's needs ICU, which would make the command much
// larger.
#if canImport(FoundationEssentials)
    @_spi(_Unicode) internal import Swift
#else
    internal import Foundation
#endif

/// The differences between strings that a comparison ignores.
///
/// Ignoring case applies Unicode's full case mappings, so that “STRASSE” equals “straße”; it does not depend on a
/// language, so that “I” equals “i” but not “ı”. Ignoring diacritics removes the combining marks of the canonical
/// decomposition, so that “é” equals “e”; letters such as “ø” and “ł” have no decomposition and remain different.
struct Folding: OptionSet, Hashable, Sendable {
    let rawValue: UInt8

    static let `case` = Folding(rawValue: 1)
    static let diacritics = Folding(rawValue: 2)
    static let all: Folding = [.case, .diacritics]
}

extension Folding {
    /// Returns the text without the differences that are ignored.
    func folded(_ text: String) -> String {
        if isEmpty { return text }
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return contains(.case) ? text.lowercased() : text }
        var folded = String.UnicodeScalarView()
        for scalar in contains(.diacritics) ? Self.decomposed(text) : Array(text.unicodeScalars) {
            if contains(.diacritics), scalar.isMark { continue }
            if contains(.case) { Self.append(scalar, to: &folded) } else { folded.append(scalar) }
        }
        return String(folded)
    }

    /// Returns the value with all its strings folded.
    func folded(_ value: Value) -> Value {
        guard !isEmpty else { return value }
        switch value {
        case .null: return .null
        case .one(let value): return .one(folded(value))
        case .many(let values): return .many(values.map { folded($0) })
        }
    }

    private func folded(_ value: PropertyList) -> PropertyList {
        switch value {
        case .string(let text): .string(folded(text))
        case .array(let elements): .array(elements.map { folded($0) })
        default: value
        }
    }

    /// Appends the lowercase form of the uppercase form, so that variants of a letter become equal, such as the two
    /// lowercase sigmas.
    private static func append(_ scalar: Unicode.Scalar, to text: inout String.UnicodeScalarView) {
        guard scalar != "ı" else { return text.append(scalar) }
        for capital in scalar.properties.uppercaseMapping.unicodeScalars {
            text.append(contentsOf: capital.properties.lowercaseMapping.unicodeScalars)
        }
    }

    private static func decomposed(_ text: String) -> [Unicode.Scalar] {
        #if canImport(FoundationEssentials)
            Array(text._nfd)
        #else
            Array(text.decomposedStringWithCanonicalMapping.unicodeScalars)
        #endif
    }
}

extension String {
    /// The text in Unicode's normal forms C and D, without those that have the same bytes as this text.
    package var otherNormalForms: [String] {
        #if canImport(FoundationEssentials)
            let forms = [_nfc.map(\.self), _nfd.map(\.self)].map { String(String.UnicodeScalarView($0)) }
        #else
            let forms = [precomposedStringWithCanonicalMapping, decomposedStringWithCanonicalMapping]
        #endif
        return forms.filter { !$0.hasSameBytes(as: self) }
    }
}

extension Unicode.Scalar {
    fileprivate var isMark: Bool { properties.canonicalCombiningClass != .notReordered }
}

// MARK: Searching

/// A text to search for in linear time.
struct Needle: Sendable {
    private let bytes: [UInt8]
    /// For each position, the length of the longest beginning of the text that also ends there and is shorter, as in
    /// the algorithm of Knuth, Morris and Pratt.
    private let borders: [Int]

    init(_ text: String) {
        bytes = Array(text.utf8)
        var borders = Array(repeating: 0, count: bytes.count)
        var length = 0
        for at in bytes.indices.dropFirst() {
            while length > 0, bytes[at] != bytes[length] { length = borders[length - 1] }
            if bytes[at] == bytes[length] { length += 1 }
            borders[at] = length
        }
        self.borders = borders
    }

    func isContained(in text: String) -> Bool {
        if bytes.isEmpty { return true }
        if bytes.count > text.utf8.count { return false }
        let span = text.utf8Span.span
        var length = 0
        for at in span.indices {
            while length > 0, span[at] != bytes[length] { length = borders[length - 1] }
            if span[at] == bytes[length] { length += 1 }
            if length == bytes.count { return true }
        }
        return false
    }
}

/// The right side of LIKE or MATCHES.
struct TextPattern: Sendable {
    private let pattern: Pattern
    private let folding: Folding

    /// Compiles a regular expression, or a text in which `*` and `?` are wildcards.
    init(_ text: String, isRegular: Bool, _ folding: Folding) throws(PatternFailure) {
        self.folding = folding
        // Folding the case of a regular expression would change its classes, so the matcher ignores it.
        pattern =
            isRegular
            ? Pattern(folding.subtracting(.case).folded(text)) : Pattern(wildcards: folding.folded(text))
        if let failure = pattern.failure { throw failure }
    }

    /// Returns whether the whole text matches, or nil if that takes more work than the budget, which is reduced.
    func matches(_ text: String, budget: inout Int) -> Bool? {
        pattern.matches(
            (pattern.isRegular ? folding.subtracting(.case) : folding).folded(text),
            ignoresCase: pattern.isRegular && folding.contains(.case), budget: &budget)
    }
}
