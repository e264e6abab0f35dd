/// The appearance of text: a color, and attributes.
package struct Style: Hashable, Sendable {
    package enum Color: UInt8, Hashable, Sendable, CaseIterable { case red = 1, green, yellow, blue, magenta, cyan }

    /// The color in the lowest three bits, then the attributes.
    let bits: UInt8

    init(bits: UInt8) { self.bits = bits }

    package init(_ color: Color? = nil, isBold: Bool = false, isDim: Bool = false, isReversed: Bool = false) {
        bits = (color?.rawValue ?? 0) | (isBold ? 8 : 0) | (isDim ? 16 : 0) | (isReversed ? 32 : 0)
    }

    package var color: Color? { Color(rawValue: bits & 7) }
    package var isBold: Bool { bits & 8 != 0 }
    package var isDim: Bool { bits & 16 != 0 }
    package var isReversed: Bool { bits & 32 != 0 }
}

// Meanings. Each has one style, in the screens and in the output of verbs.
extension Style {
    /// A value that is set, and not a default.
    package static let set = Style(isBold: true)
    package static let forced = Style(.cyan)
    package static let edited = Style(.yellow)
    package static let conflict = Style(.magenta)
    package static let invalid = Style(.red)
    /// Hints, arrows and marks of what can be opened.
    package static let control = Style(isDim: true)
    package static let key = Style(.blue, isBold: true)
    package static let added = Style(.green, isBold: true)
    package static let removed = Style(.red, isBold: true)
    package static let changed = Style(.yellow, isBold: true)
}

/// The state of a value. It has one mark and one style, which are the same in all screens.
///
/// The text of a value is in the foreground color of the terminal: bold if the user has set it, and otherwise plain.
package enum ValueState: Hashable, Sendable, CaseIterable {
    /// A default, or a value of another layer.
    case standard
    case set, forced, edited, conflict, invalid

    package var mark: String {
        switch self {
        case .standard, .set: " "
        case .forced: "■"
        case .edited: "•"
        case .conflict: "↔"
        case .invalid: "!"
        }
    }

    package var style: Style {
        switch self {
        case .standard: Style()
        case .set: .set
        case .forced: .forced
        case .edited: .edited
        case .conflict: .conflict
        case .invalid: .invalid
        }
    }
}

/// The colors that a terminal shows.
///
/// No color has enough contrast on each background that is common, so there is a set for dark ones and one for light
/// ones. Their colors are of the 216 that no theme of a terminal changes.
package enum Colors: Hashable, Sendable, CaseIterable {
    /// Only bold and other attributes.
    case none
    /// The first eight colors of the terminal, whose contrast is unknown.
    case own
    case dark, light
}

extension Colors {
    /// Creates the set for the background that a terminal states in the variable `COLORFGBG`, such as `15;0`; nil if it
    /// states none. The last number is the background, of the first sixteen colors.
    package init?(statedBy text: String) {
        guard let background = text.split(separator: ";").dropFirst().last.flatMap({ Int($0) }) else { return nil }
        switch background {
        case 0...6, 8: self = .dark
        case 7, 9...15: self = .light
        default: return nil
        }
    }

    /// Creates the set for a background, such as `rgb:fdfd/f6f6/e3e3` as a terminal reports it; nil for a report of
    /// another form. On a background of medium brightness, no set has enough contrast.
    package init?(reportedAs text: String) {
        let parts = text.split(separator: "/")
        guard parts.count == 3, text.hasPrefix("rgb:") else { return nil }
        let digits = [parts[0].dropFirst("rgb:".count), parts[1], parts[2]]
        let levels = digits.compactMap { part -> Double? in
            guard 1...4 ~= part.count, let level = UInt16(part, radix: 16) else { return nil }
            return Double(level) / Double(1 << (4 * part.count) - 1)
        }
        guard levels.count == 3 else { return nil }
        // A polynomial close to the relative luminance of WCAG 2.
        let linear = levels.map { $0 * ($0 * ($0 * 0.3053 + 0.6822) + 0.0125) }
        switch 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] {
        case ...0.05: self = .dark
        case 0.78...: self = .light
        default: self = .none
        }
    }

    /// The question for the background, and one that each terminal answers, after which no answer to the first comes.
    package static let question = "\u{1B}]11;?\u{1B}\\\u{1B}[c"

    /// Returns the number of a color among the 256 of a terminal; nil if it is not used.
    package func number(of color: Style.Color) -> Int? {
        switch self {
        case .none: nil
        case .own: Int(color.rawValue)
        case .dark:
            switch color {
            case .red: 210
            case .green: 114
            case .yellow: 221
            case .blue: 111
            case .magenta: 213
            case .cyan: 80
            }
        case .light:
            switch color {
            case .red: 124
            case .green: 22
            case .yellow: 94
            case .blue: 25
            case .magenta: 127
            case .cyan: 23
            }
        }
    }
}

extension Style {
    /// Returns the sequence that selects the style.
    package func sequence(in colors: Colors) -> String {
        var codes = "0"
        if isBold { codes += ";1" }
        if isDim { codes += ";2" }
        if isReversed { codes += ";7" }
        if let number = color.flatMap(colors.number) { codes += number < 8 ? ";3\(number)" : ";38;5;\(number)" }
        return "\u{1B}[\(codes)m"
    }

    /// The sequence that ends all styles.
    package static let end = "\u{1B}[0m"
}
