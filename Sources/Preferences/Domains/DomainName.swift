internal import Digests
internal import Platform
internal import PropertyLists

/// The name of a domain, which is safe to use as a file name.
public struct DomainName: Hashable, Sendable {
    /// The name. For the global domain, which has several names, it is `NSGlobalDomain`.
    public let text: String

    /// The global domain, whose settings apply to all programs of the user.
    public static let global = DomainName(unchecked: "NSGlobalDomain")

    /// The length limit of a name in bytes. Every file name derived from it must fit in 255 bytes.
    public static let mostBytes = 180

    /// Creates a name. Throws if the text is not safe as a file name.
    public init(_ text: String) throws(Failure) {
        if Self.namesOfGlobal.contains(text) {
            self = .global
            return
        }
        if let problem = Self.problem(of: text) { throw Failure(problem: problem, name: text) }
        self.text = text
    }

    /// Whether this is the global domain.
    public var isGlobal: Bool { self == .global }

    /// The prefix of the names of the domain's files.
    package var fileStem: String { isGlobal ? ".GlobalPreferences" : text }

    private init(unchecked text: String) { self.text = text }

    /// A list, because building a set of so few takes a third of the run time of a whole command.
    private static let namesOfGlobal = ["NSGlobalDomain", "Apple Global Domain", ".GlobalPreferences"]
}

extension DomainName {
    /// The reason a text is not a valid domain name.
    public struct Failure: Error, Hashable, Sendable {
        /// The kinds of invalid names.
        @nonexhaustive
        public enum Problem: Hashable, Sendable {
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
        public let problem: Problem
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

    /// Makes a name of any text. Characters that are not allowed are percent-encoded.
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
    var propertyListStem: String? { stem(before: ".plist") }

    /// The name of a domain's folder without its extension, or nil for other names.
    package var folderStem: String? { stem(before: ".prefs") }

    private func stem(before ending: String) -> String? {
        guard !isTemporary, let text = String(validating: bytes, as: UTF8.self), text.hasSuffix(ending) else {
            return nil
        }
        return String(text.dropLast(ending.count))
    }
}
