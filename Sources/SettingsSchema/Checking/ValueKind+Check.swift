extension ValueKind {
    /// Returns whether text can be of this kind, without accessing the system.
    func admits(_ text: String) -> Bool {
        switch self {
        case .file, .folder, .path: !text.isEmpty && !text.unicodeScalars.contains("\0")
        case .url: Self.isURL(text)
        case .host: Self.isHost(text)
        case .address: Self.isAddress(text)
        case .duration, .size: true
        }
    }

    /// Returns whether the text is a scheme, a colon and more text without white space.
    private static func isURL(_ text: String) -> Bool {
        let parts = text.unicodeScalars.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let first = parts[0].first, first.isASCII, first.properties.isAlphabetic else {
            return false
        }
        let schemeCharacters = "+-.0123456789".unicodeScalars
        return parts[0].allSatisfy { $0.isASCII && $0.properties.isAlphabetic || schemeCharacters.contains($0) }
            && !parts[1].isEmpty
            && !parts[1].contains { $0.properties.isWhitespace || $0.value < 0x20 || $0.value == 0x7F }
    }

    /// Returns whether the text is a host, after a user and an at sign if it has one.
    private static func isAddress(_ text: String) -> Bool {
        guard let sign = text.unicodeScalars.lastIndex(of: "@") else { return isHost(text) }
        let user = text.unicodeScalars[..<sign]
        let isUser = user.first.map { $0 != "-" } ?? false
        return isUser && user.allSatisfy { !$0.properties.isWhitespace && $0.value > 0x20 && $0.value != 0x7F }
            && isHost(String(text.unicodeScalars[text.unicodeScalars.index(after: sign)...]))
    }

    /// Returns whether the text is a host name, an IPv4 address or an IPv6 address, optionally with a port.
    private static func isHost(_ text: String) -> Bool {
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            let rest = text[text.index(after: end)...]
            return isIPv6(text[text.index(after: text.startIndex)..<end]) && (rest.isEmpty || isPort(rest))
        }
        if text.filter({ $0 == ":" }).count > 1 { return isIPv6(text[...]) }
        guard let colon = text.firstIndex(of: ":") else { return isName(text[...]) }
        return isName(text[..<colon]) && isPort(text[colon...])
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.first == ":" && text.dropFirst().allSatisfy { $0.isASCII && $0.isNumber }
            && (UInt16(text.dropFirst()) ?? 0) > 0
    }

    private static func isName(_ text: Substring) -> Bool {
        let labels = (text.hasSuffix(".") ? text.dropLast() : text).split(
            separator: ".", omittingEmptySubsequences: false)
        return text.utf8.count <= 253 && !labels.isEmpty
            && labels.allSatisfy { label in
                1...63 ~= label.utf8.count && label.first != "-" && label.last != "-"
                    && label.allSatisfy { $0 == "-" || $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }
            }
    }

    private static func isIPv6(_ text: Substring) -> Bool {
        let halves = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)[0]
        let groups = halves.split(separator: ":", omittingEmptySubsequences: false)
        let filled = groups.filter { !$0.isEmpty }
        let hasGap = halves.contains("::")
        return filled.allSatisfy { $0.count <= 4 && $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
            && (hasGap ? filled.count < 8 : groups.count == 8 && filled.count == 8)
            && !halves.contains(":::") && groups.count <= 9
    }
}
