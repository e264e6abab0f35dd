internal import PropertyLists

extension String {
    /// The paragraphs of a text without what steers a terminal: columns that were counted stay as they are.
    var printable: String {
        func isOmitted(_ scalar: Unicode.Scalar) -> Bool { scalar.steersTerminal && scalar != "\n" }
        guard unicodeScalars.contains(where: isOmitted) else { return self }
        var result = ""
        for scalar in unicodeScalars where !isOmitted(scalar) { result.unicodeScalars.append(scalar) }
        return result
    }
}
