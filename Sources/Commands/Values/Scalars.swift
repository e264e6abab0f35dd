/// What one word says, where its type is known.
extension Double {
    /// A decimal or hexadecimal number that a double can hold, or `nan`, `inf`, `infinity` in any case.
    package init?(word: String) {
        let name = word.lowercased()
        switch name {
        case "nan": self = .nan
        case "inf", "+inf", "infinity", "+infinity": self = .infinity
        case "-inf", "-infinity": self = -.infinity
        default:
            guard !name.utf8.contains(UInt8(ascii: "n")), let number = Double(word), number.isFinite else { return nil }
            self = number
        }
    }

    /// The shortest text that says this number.
    package var word: String { description }
}
