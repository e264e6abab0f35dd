internal import Digests
internal import PropertyLists

/// The name of a domain. Whoever holds one knows that a file can safely be named for it.
public struct DomainName: Hashable, Sendable {
    /// The name as it is written; of the global domain, its official one.
    public let text: String

    /// The settings that every program of the user shares.
    public static let global = DomainName(unchecked: "NSGlobalDomain")

    /// The most bytes of a name: every name of a file that is made from it must fit in 255.
    public static let mostBytes = 180

    /// Throws where the text cannot be the name of a file, too.
    public init(_ text: String) throws(Failure) {
        if Self.namesOfGlobal.contains(text) {
            self = .global
            return
        }
        if let problem = Self.problem(of: text) { throw Failure(problem: problem, name: text) }
        self.text = text
    }

    /// Whether it is the domain that counts for all programs.
    public var isGlobal: Bool { self == .global }

    /// The name that files of the domain begin with.
    package var fileStem: String { isGlobal ? ".GlobalPreferences" : text }

    private init(unchecked text: String) { self.text = text }

    /// A list: to make a set of so few takes a third of the time of a whole command.
    private static let namesOfGlobal = ["NSGlobalDomain", "Apple Global Domain", ".GlobalPreferences"]
}

extension DomainName {
    /// Why a text is no name of a domain.
    public struct Failure: Error, Hashable, Sendable {
        /// What may be wrong with a name.
        @nonexhaustive
        public enum Problem: Hashable, Sendable {
            /// It has no character.
            case empty
            /// It has more bytes than `mostBytes`.
            case tooLong(bytes: Int)
            /// It would name a hidden file.
            case leadingDot
            /// It would lead out of the store's folder.
            case slash
            /// It could not be shown as it is.
            case controlCharacter
        }

        /// What is wrong with it.
        public let problem: Problem
        /// The name as it was given.
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

    /// The name for a text that need not be one: what is not allowed is written in percent signs and hexadecimal
    /// digits.
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
    public static func < (left: DomainName, right: DomainName) -> Bool { left.text.isBefore(right.text) }
}

extension DomainName: ExpressibleByStringLiteral {
    /// A name that the program itself knows: one that is not allowed is a mistake in its source.
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
        case .empty: "a domain needs a name"
        case .tooLong(let bytes): "the domain name is too long: \(bytes) bytes, of at most \(DomainName.mostBytes)"
        case .leadingDot: "the domain name '\(shownName)' begins with a dot"
        case .slash:
            "the domain name '\(shownName)' has a slash in it; a file is addressed by a path that begins with / ./ or ~/"
        case .controlCharacter: "the domain name '\(shownName)' has a control character in it"
        }
    }

    private var shownName: String { name.shown }
}

extension Unicode.Scalar {
    /// Whether it is one of the general category `Cc`, which needs no table to be told.
    fileprivate var isControl: Bool { value < 0x20 || (0x7F...0x9F).contains(value) }
}

extension UInt8 {
    /// Whether it stands for itself in the name of a domain, in ASCII.
    fileprivate var isPlain: Bool { 0x20..<0x7F ~= self && self != UInt8(ascii: "/") && self != UInt8(ascii: "%") }
}
