extension String {
    /// The text as a terminal may have it: without the controls that move its cursor or change its colours.
    package var printable: String {
        guard unicodeScalars.contains(where: \.isControl) else { return self }
        var result = ""
        for scalar in unicodeScalars where !scalar.isControl { result.unicodeScalars.append(scalar) }
        return result
    }
}

extension Unicode.Scalar {
    /// Whether this is a control character other than the end of a line.
    fileprivate var isControl: Bool {
        (value < 0x20 && self != "\n") || 0x7F..<0xA0 ~= value || 0x202A...0x202E ~= value
    }
}
