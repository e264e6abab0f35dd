/// A pattern as an extended regular expression of POSIX, for programs that read lines of bytes.
///
/// They get a text without the bytes that continue a character in UTF-8, so that each character has one byte, and with
/// another character in place of each newline.
package struct ExtendedExpression: Sendable {
    /// The whole line must match.
    package let text: String
    /// The character in place of a newline, which each set contains or lacks together with it; nil if no text with a
    /// newline matches.
    package let newline: UInt8?

    /// The reason that a pattern has no such expression, which completes a sentence.
    package struct Obstacle: Error, Hashable, Sendable {
        package let text: String
    }

    package init(_ pattern: Pattern) throws(Obstacle) {
        guard let node = try? PatternParser.parse(pattern.text) else { throw Obstacle(text: "that is invalid") }
        let sets = node.sets
        if sets.contains(where: { $0.contains(0x0A) }) {
            let candidates: [UInt8] = Self.controls.filter { character in
                sets.allSatisfy { $0.contains(UInt32(character)) == $0.contains(0x0A) }
            }
            guard let newline = candidates.first else { throw Obstacle(text: "with a newline") }
            self.newline = newline
        } else {
            newline = nil
        }
        text = try Part(node).text
    }

    private static let newlineByte: UInt8 = 0x0A
    /// The control characters but those that are usual in texts.
    private static let controls = (Array(0x01...0x08) + [0x0B, 0x0C] + Array(0x0E...0x1F) + [0x7F]) as [UInt8]
}

extension ExtendedExpression {
    /// A part of the expression.
    private struct Part {
        var text: String
        /// Whether a repetition after the text applies to all of it.
        var isAtom = true

        init(_ node: PatternNode) throws(Obstacle) {
            switch node {
            case .one(let set): text = try Self.text(of: set)
            case .sequence(let nodes):
                text = ""
                for node in nodes { text += try Part(node).text }
                isAtom = text.isEmpty
            case .alternatives(let nodes):
                var texts: [String] = []
                for node in nodes { texts.append(try Part(node).text) }
                // An empty alternative is undefined.
                let filled = texts.filter { !$0.isEmpty }
                guard !filled.isEmpty else {
                    text = ""
                    return
                }
                text = "(\(filled.joined(separator: "|")))"
                if filled.count < texts.count { text = "(\(text)?)" }
            case .repeated(let node, let least, let most):
                let part = try Part(node)
                guard !part.text.isEmpty, most != 0 else {
                    text = ""
                    return
                }
                // Some programs search for the empty text without end.
                guard !node.canBeEmpty || most == 1 else { throw Obstacle(text: "with a repetition of nothing") }
                guard max(least, most ?? 0) <= Self.largestCount else {
                    throw Obstacle(text: "with a count above \(Self.largestCount)")
                }
                let count =
                    switch (least, most) {
                    case (0, nil): "*"
                    case (1, nil): "+"
                    case (0, 1): "?"
                    case (_, nil): "{\(least),}"
                    case (_, let most?): least == most ? "{\(least)}" : "{\(least),\(most)}"
                    }
                text = (part.isAtom ? part.text : "(\(part.text))") + count
                isAtom = false
            }
        }

        /// The largest count that every POSIX system allows.
        private static let largestCount = 255

        /// Returns the expression for one character of a set. All characters beyond ASCII are one to it.
        private static func text(of set: ScalarSet) throws(Obstacle) -> String {
            let members = (1...0x7F).filter { set.contains($0) && UInt8($0) != newlineByte }.map { UInt8($0) }
            switch set.beyondASCII {
            case .some(let scalar): throw Obstacle(text: "with \(scalar)")
            case nil where set.contains(0x80):
                let others = (1...0x7F).filter { !set.contains($0) && UInt8($0) != newlineByte }.map { UInt8($0) }
                return others.isEmpty ? "." : "[^\(try items(others))]"
            case nil:
                guard let first = members.first else { throw Obstacle(text: "with a newline") }
                guard members.count == 1 else { return "[\(try items(members))]" }
                let character = try items(members)
                return switch first {
                case UInt8(ascii: "^"), UInt8(ascii: "\\"): "\\\(character)"
                case let byte where ".[]()*+?{}|$".utf8.contains(byte): "[\(character)]"
                default: character
                }
            }
        }

        /// Returns the characters of a bracket expression, in which three have a meaning at some places.
        private static func items(_ members: [UInt8]) throws(Obstacle) -> String {
            var (left, start, end) = (members, "", "")
            func take(_ byte: UInt8) -> Bool {
                guard let index = left.firstIndex(of: byte) else { return false }
                left.remove(at: index)
                return true
            }
            let spaces: [UInt8] = [0x09, 0x0B, 0x0C, 0x0D, 0x20]
            if spaces.allSatisfy(left.contains) {
                left.removeAll(where: spaces.contains)
                start = "[:space:]"
            }
            if take(UInt8(ascii: "]")) { start = "]" + start }
            if take(UInt8(ascii: "[")) { end += "[" }
            let hasDash = take(UInt8(ascii: "-"))
            if take(UInt8(ascii: "^")) { end += "^" }
            if let control = left.first(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) {
                throw Obstacle(text: "with the control character \(control)")
            }
            var runs: [ClosedRange<UInt8>] = []
            for byte in left {
                if let last = runs.last, last.upperBound + 1 == byte {
                    runs[runs.count - 1] = last.lowerBound...byte
                } else {
                    runs.append(byte...byte)
                }
            }
            let middle = runs.map { run -> String in
                let bytes = run.count > 2 ? [run.lowerBound, UInt8(ascii: "-"), run.upperBound] : Array(run)
                return String(decoding: bytes, as: UTF8.self)
            }
            let others = start + middle.joined() + end
            // A circumflex must not be the first of several, and a dash is literal at either end.
            return others == "^" && hasDash ? "-^" : others + (hasDash ? "-" : "")
        }
    }
}

extension PatternNode {
    /// The sets of characters in it.
    fileprivate var sets: [ScalarSet] {
        switch self {
        case .one(let set): [set]
        case .sequence(let nodes), .alternatives(let nodes): nodes.flatMap(\.sets)
        case .repeated(let node, _, _): node.sets
        }
    }

    fileprivate var canBeEmpty: Bool {
        switch self {
        case .one: false
        case .sequence(let nodes): nodes.allSatisfy(\.canBeEmpty)
        case .alternatives(let nodes): nodes.contains(where: \.canBeEmpty)
        case .repeated(let node, let least, _): least == 0 || node.canBeEmpty
        }
    }
}

extension ScalarSet {
    /// A character beyond ASCII that is listed, so that these are not all members or all others; nil if there is none.
    fileprivate var beyondASCII: Unicode.Scalar? {
        listed.lazy.filter { $0.upperBound > 0x7F }.compactMap { Unicode.Scalar(max($0.lowerBound, 0x80)) }.first
    }
}
