internal import PropertyLists

extension String {
    /// The text without terminal control characters other than newlines, so that column widths stay correct.
    var printable: String {
        func isOmitted(_ scalar: Unicode.Scalar) -> Bool { scalar.steersTerminal && scalar != "\n" }
        guard unicodeScalars.contains(where: isOmitted) else { return self }
        var result = ""
        for scalar in unicodeScalars where !isOmitted(scalar) { result.unicodeScalars.append(scalar) }
        return result
    }
}
