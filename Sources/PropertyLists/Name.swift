/// The name of something that a user or a program has chosen: a domain, a key, a component of a path, a host, or a
/// part of a schema.
///
/// Two names are equal if their UTF-8 is, as in files. Swift compares strings by canonical equivalence instead, which
/// would merge two keys of a file that spell "é" as one scalar and as two.
package struct Name: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }

    package func hash(into hasher: inout Hasher) {
        text.hashBytes(into: &hasher)
    }
}

extension Name: Comparable {
    /// The order of sorted output, which is that of the UTF-16 code units.
    package static func < (left: Self, right: Self) -> Bool { left.text.isBefore(right.text) }
}

extension Name: CustomStringConvertible {
    package var description: String { text }
}

extension Sequence<String> {
    /// Returns whether one of the names has the same bytes as `name`.
    package func contains(exactly name: String) -> Bool { contains { $0.hasSameBytes(as: name) } }
}

extension Collection<String> {
    /// Returns the position of the first name with the same bytes as `name`.
    package func firstIndex(exactly name: String) -> Index? { firstIndex { $0.hasSameBytes(as: name) } }
}

extension String {
    /// Returns the text before an ending with the same bytes, or nil if the text ends in another way.
    package func dropping(ending: String) -> String? {
        let rest = utf8.count - ending.utf8.count
        guard rest >= 0, utf8.dropFirst(rest).elementsEqual(ending.utf8) else { return nil }
        return String(utf8.prefix(rest))
    }
}

extension Name: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { self.init(text) }
}
