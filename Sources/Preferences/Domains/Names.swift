internal import Digests
internal import Platform
package import PropertyLists
internal import SettingsSchema

/// The name of a domain, which is safe to use as a file name.
public struct DomainName: Hashable, Sendable {
    package let name: Name

    /// The name. For the global domain, which has several names, it is `NSGlobalDomain`.
    public var text: String { name.text }

    /// The global domain, whose settings apply to all programs of the user.
    public static let global = DomainName(unchecked: "NSGlobalDomain")

    /// The length limit of a name in bytes. Every file name derived from it must fit in 255 bytes.
    package static let mostBytes = 180

    /// Creates a name. Throws if the text is not safe as a file name.
    public init(_ text: String) throws(Failure) {
        let name = Name(text)
        if Self.namesOfGlobal.contains(name) {
            self = .global
            return
        }
        if let problem = Self.problem(of: text) { throw Failure(problem: problem, name: text) }
        self.name = name
    }

    /// Whether this is the global domain.
    public var isGlobal: Bool { self == .global }

    /// The prefix of the names of the domain's files.
    package var fileStem: String { isGlobal ? ".GlobalPreferences" : text }

    private init(unchecked text: String) { name = Name(text) }

    /// An array, because building a set would take a third of the run time of a command.
    private static let namesOfGlobal: [Name] = ["NSGlobalDomain", "Apple Global Domain", ".GlobalPreferences"]
}

extension DomainName {
    /// The reason a text is not a valid domain name.
    public struct Failure: Error, Hashable, Sendable {
        /// The kinds of invalid names.
        package enum Problem: Hashable, Sendable {
            /// The name is empty.
            case empty
            /// The name has more than `mostBytes` bytes.
            case tooLong(bytes: Int)
            /// The name begins with a dot, so its file would be hidden.
            case leadingDot
            /// The name contains a slash, so it could refer to a file outside of the store's folder.
            case slash
            /// The name contains a control character, which cannot be displayed.
            case controlCharacter
        }

        /// The kind of error.
        package let problem: Problem
        /// The invalid name.
        public let name: String
    }

    private static func problem(of text: String) -> Failure.Problem? {
        if text.isEmpty { return .empty }
        if text.utf8.count > mostBytes { return .tooLong(bytes: text.utf8.count) }
        if text.utf8.first == UInt8(ascii: ".") { return .leadingDot }
        if text.utf8.contains(UInt8(ascii: "/")) { return .slash }
        if text.unicodeScalars.contains(where: \.isControl) {
            return .controlCharacter
        }
        return nil
    }

    /// Creates a name from any text. Characters that are not allowed are percent-encoded.
    package init(encoding text: String) {
        if text.utf8.count <= Self.mostBytes, text.utf8.first != UInt8(ascii: "."), !text.isEmpty,
            text.utf8.allSatisfy(\.isPlain)
        {
            self.init(unchecked: text)
            return
        }
        var encoded = ""
        for scalar in text.unicodeScalars {
            let isPlain =
                scalar != "/" && scalar != "%" && !scalar.isControl
                && !(scalar == "." && encoded.isEmpty)
            let piece =
                isPlain
                ? String(scalar)
                : String(scalar).utf8.map { "%" + Hexadecimal.text(of: [$0]).uppercased() }.joined()
            if encoded.utf8.count + piece.utf8.count > Self.mostBytes { break }
            encoded += piece
        }
        self.init(unchecked: encoded.isEmpty ? "%" : encoded)
    }
}

extension DomainName: CustomStringConvertible {
    public var description: String { text }
}

extension DomainName: Comparable {
    public static func < (left: DomainName, right: DomainName) -> Bool { left.name < right.name }
}

extension DomainName: ExpressibleByStringLiteral {
    /// Creates a name from a literal. Traps if it is invalid.
    public init(stringLiteral text: String) {
        do {
            self = try DomainName(text)
        } catch {
            preconditionFailure(error.description)
        }
    }
}

extension DomainName.Failure: CustomStringConvertible {
    public var description: String {
        switch problem {
        case .empty: "a domain name is required"
        case .tooLong(let bytes):
            "the domain name is too long: \(bytes) bytes, at most \(DomainName.mostBytes) are allowed"
        case .leadingDot: "the domain name '\(shownName)' begins with a dot"
        case .slash:
            "the domain name '\(shownName)' contains a slash; the path of a file must begin with / ./ or ~/"
        case .controlCharacter: "the domain name '\(shownName)' contains a control character"
        }
    }

    private var shownName: String { name.shown }
}

extension Unicode.Scalar {
    /// Whether this is in the general category `Cc`, determined without a table.
    fileprivate var isControl: Bool { value < 0x20 || (0x7F...0x9F).contains(value) }
}

extension UInt8 {
    /// Whether this ASCII character needs no encoding in the name of a domain.
    fileprivate var isPlain: Bool { 0x20..<0x7F ~= self && self != UInt8(ascii: "/") && self != UInt8(ascii: "%") }
}

extension FileName {
    /// The name of a property list without its extension, or nil for other and for temporary files.
    package var propertyListStem: String? { stem(before: ".plist") }

    /// The name of a domain's folder without its extension, or nil for other names.
    package var folderStem: String? { stem(before: ".prefs") }

    func stem(before ending: String) -> String? {
        guard !isTemporary, let text = String(validating: bytes, as: UTF8.self) else { return nil }
        return text.dropping(ending: ending)
    }
}

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
    /// Whether an opening bracket has no counterpart, so that it is literal.
    package let hasUnmatchedBracket: Bool

    package init(_ pattern: String) {
        var pieces: [Piece] = []
        var isUnmatched = false
        var rest = pattern.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            // Consecutive asterisks are equivalent to one.
            case "*": if pieces.last != .many { pieces.append(.many) }
            case "?": pieces.append(.any)
            case "\\": pieces.append(.one(rest.popFirst() ?? "\\"))
            case "[":
                let set = Self.set(&rest)
                isUnmatched = isUnmatched || set == nil
                pieces.append(set ?? .one("["))
            default: pieces.append(.one(scalar))
            }
        }
        self.pieces = pieces
        hasUnmatchedBracket = isUnmatched
    }

    /// The only text that the pattern matches, or nil if it has a wildcard.
    package var literal: String? {
        var text = String.UnicodeScalarView()
        for piece in pieces {
            guard case .one(let scalar) = piece else { return nil }
            text.append(scalar)
        }
        return String(text)
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

extension String {
    /// Whether the key is the store's own and not one of the program's settings.
    package var isHidden: Bool { self == Schema.versionKey }
    /// Whether this is a valid key for a domain.
    package var isFitForWriting: Bool { !isEmpty && !utf8.contains(0) }
    /// The reason the key is invalid.
    var unfitness: String { isEmpty ? "a key cannot be empty" : "a key cannot contain a NUL character" }
}

extension PropertyList {
    /// Returns the reason the value cannot be that of a setting, or nil.
    func unfitness(under key: String) -> String? {
        pathToNull.map { "\(EntryPath([.init(key)] + $0.components)): a setting cannot be null" }
    }
}
