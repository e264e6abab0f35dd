/// A pattern for names: `*` matches any text, `?` one character, and `[a-z]` or `[!a-z]` one of several.
///
/// A backslash makes the next character literal. A bracket without its counterpart is literal.
package struct Glob: Hashable, Sendable {
    fileprivate enum Piece: Hashable, Sendable {
        case one(Unicode.Scalar)
        case any
        case oneOf([ClosedRange<Unicode.Scalar>], isInverted: Bool)
        case many
    }

    private let pieces: [Piece]

    package init(_ pattern: String) {
        var pieces: [Piece] = []
        var rest = pattern.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            // Consecutive asterisks are equivalent to one.
            case "*": if pieces.last != .many { pieces.append(.many) }
            case "?": pieces.append(.any)
            case "\\": pieces.append(.one(rest.popFirst() ?? "\\"))
            case "[": pieces.append(Self.set(&rest) ?? .one("["))
            default: pieces.append(.one(scalar))
            }
        }
        self.pieces = pieces
    }

    /// Parses the set after an opening bracket. Returns nil without consuming anything if there is no closing bracket.
    private static func set(_ rest: inout Substring.UnicodeScalarView) -> Piece? {
        var (set, ranges) = (rest, [ClosedRange<Unicode.Scalar>]())
        let isInverted = set.first == "!" || set.first == "^"
        if isInverted { set.removeFirst() }
        while let scalar = set.popFirst() {
            if scalar == "]", !ranges.isEmpty {
                rest = set
                return .oneOf(ranges, isInverted: isInverted)
            }
            let ending = set.dropFirst().first
            if set.first == "-", let ending, ending != "]" {
                set.removeFirst(2)
                ranges.append(min(scalar, ending)...max(scalar, ending))
            } else {
                ranges.append(scalar...scalar)
            }
        }
        return nil
    }

    /// Whether the pattern matches the whole text. The time is bounded by the product of both lengths.
    package func matches(_ text: String) -> Bool {
        let scalars = Array(text.unicodeScalars)
        var (at, piece) = (0, 0)
        /// The last asterisk, and the position at which the text after it was last tried.
        var retry: (piece: Int, at: Int)?
        while at < scalars.count {
            if piece < pieces.count, pieces[piece] == .many {
                retry = (piece, at)
                piece += 1
            } else if piece < pieces.count, pieces[piece].takes(scalars[at]) {
                (at, piece) = (at + 1, piece + 1)
            } else if let last = retry {
                retry = (last.piece, last.at + 1)
                (at, piece) = (last.at + 1, last.piece + 1)
            } else {
                return false
            }
        }
        return pieces[piece...].allSatisfy { $0 == .many }
    }
}

extension Glob.Piece {
    fileprivate func takes(_ scalar: Unicode.Scalar) -> Bool {
        switch self {
        case .one(let other): scalar == other
        case .any: true
        case .oneOf(let ranges, let isInverted): ranges.contains { $0.contains(scalar) } != isInverted
        case .many: false
        }
    }
}
