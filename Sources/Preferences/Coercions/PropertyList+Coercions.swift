package import PropertyLists

/// What the untyped accessors make of a value: what Foundation's `UserDefaults` makes of it on Linux.
///
/// Arrays, dictionaries, data and dates are given as what they are, never converted: `arrayValue` and its like do that.
/// Where Foundation answers by accident of the processor, or not at all, this says the nearest number instead:
///
/// - A real beyond the integers is the least or the greatest of them, NaN is 0 (Foundation on x86: always the least).
/// - Integers from 2⁶³−1 up are numbers like others (Foundation: no value at all once they were in a file).
/// - −0.0 keeps its sign (Foundation: not once it was in a file).
/// - A text that holds a character beyond U+FFFF, or a combining one, is read like others (Foundation may trap, or
///   call `1` with such a character behind it false).
extension PropertyList {
    /// The integer nearest to what the value says, from zero's side; 0 where it says no number.
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

    /// Rounded once, from what the value says; beyond the greatest float it is infinite.
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

    /// A text as it is, a number in the fewest digits that tell it from others, a truth value as `1` or `0`.
    package var asString: String? {
        switch self {
        case .integer(let number): number.description
        case .real(let number): number.description
        case .boolean(let flag): flag ? "1" : "0"
        case .string(let text): text
        default: nil
        }
    }

    /// The texts of an array that holds nothing else.
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
    /// The number without its fraction, or the end of the range on its side; 0 for NaN.
    fileprivate init(clamping number: Double) {
        if number.isNaN {
            self = 0
        } else {
            self = Int(exactly: number.rounded(.towardZero)) ?? (number < 0 ? .min : .max)
        }
    }
}
