package import PropertyLists

/// The conversions of the untyped accessors, compatible with Foundation's `UserDefaults` on Linux.
///
/// Arrays, dictionaries, data and dates are never converted; use `arrayValue` and its siblings. Where the result in
/// Foundation depends on the processor or is missing, these return the nearest number:
///
/// - A real outside the range of integers is clamped, and NaN is 0. Foundation on x86 always returns the least integer.
/// - Integers from 2⁶³−1 up are numbers. Foundation returns no value once they were in a file.
/// - −0.0 keeps its sign. In Foundation it loses the sign once it was in a file.
/// - A text with a character beyond U+FFFF or a combining character is read like any other. Foundation may trap, or
///   return false for `1` followed by such a character.
extension PropertyList {
    /// The value rounded towards zero, or 0 if it is not a number.
    package var asInteger: Int {
        switch self {
        case .integer(let number): Int(exactly: number) ?? (number < 0 ? .min : .max)
        case .real(let number): Int(clamping: number)
        case .boolean(let flag): flag ? 1 : 0
        case .string(let text): text.scanned { $0.integer() }
        default: 0
        }
    }

    package var asDouble: Double {
        switch self {
        case .integer(let number): number.asDouble
        case .real(let number): number
        case .boolean(let flag): flag ? 1 : 0
        case .string(let text): text.scanned { $0.real() }
        default: 0
        }
    }

    /// The value rounded once. A value beyond the greatest float is infinite.
    package var asFloat: Float {
        switch self {
        case .integer(let number): number < 0 ? -Float(number.magnitude) : Float(number.magnitude)
        case .real(let number): Float(number)
        case .boolean(let flag): flag ? 1 : 0
        case .string(let text): text.scanned { $0.real() }
        default: 0
        }
    }

    /// Whether a number is not 0, or a text begins like a yes.
    package var asBoolean: Bool {
        switch self {
        case .integer(let number): number != 0
        case .real(let number): number != 0
        case .boolean(let flag): flag
        case .string(let text): text.scanned { $0.boolean() }
        default: false
        }
    }

    /// A text itself, a number in the fewest digits that identify it, and a boolean as `1` or `0`.
    package var asString: String? {
        switch self {
        case .integer(let number): number.description
        case .real(let number): number.description
        case .boolean(let flag): flag ? "1" : "0"
        case .string(let text): text
        default: nil
        }
    }

    /// The strings of an array that contains nothing else.
    package var asStringArray: [String]? {
        guard case .array(let elements) = self else { return nil }
        let texts = elements.compactMap(\.stringValue)
        return texts.count == elements.count ? texts : nil
    }
}

extension String {
    fileprivate func scanned<Result>(_ read: (inout NumberScanner) -> Result) -> Result {
        var scanner = NumberScanner(self)
        return read(&scanner)
    }
}

extension Int {
    /// Rounds towards zero and clamps to the range of `Int`. NaN becomes 0.
    fileprivate init(clamping number: Double) {
        if number.isNaN {
            self = 0
        } else {
            self = Int(exactly: number.rounded(.towardZero)) ?? (number < 0 ? .min : .max)
        }
    }
}
