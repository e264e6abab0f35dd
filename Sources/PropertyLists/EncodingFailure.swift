/// Why a value cannot be written in a format: the problem and its entry.
public struct EncodingFailure: Error, Hashable, Sendable {
    /// The reason the value cannot be written.
    package let problem: Problem
    /// The path of the entry that cannot be written.
    public let path: EntryPath
    /// The requested format.
    public let format: PropertyList.Format

    package init(_ problem: Problem, path: EntryPath = EntryPath(), format: PropertyList.Format) {
        self.problem = problem
        self.path = path
        self.format = format
    }

    /// The kinds of problem.
    package enum Problem: Hashable, Sendable {
        /// Containers are nested more deeply than the limit.
        case nestedTooDeeply(limit: Int)
        /// The value contains more values and keys than the limit.
        case tooManyValues(limit: Int)
        /// The output has more bytes than the limit.
        case tooLarge(limit: Int)
        /// The values of a binary file exceed the limit of bytes, where a shared value is counted at each reference.
        case tooManyBytes(limit: Int)
        /// The format has no representation for values of this kind.
        case kindNotSupported(PropertyList.Kind)
        /// An integer that the format cannot hold.
        case integerOutOfRange
        /// A character that the format cannot hold, even as a reference.
        case characterNotSupported(UInt32)
        /// A date with a fraction of a second, which the format cannot hold.
        case fractionOfSecond
        /// A date that the format cannot hold.
        case dateOutOfRange
        /// A number that only JSON text holds exactly, and that the edit moved so that its text can no longer be
        /// identified.
        case numberNotKept(String)
        /// A real that is infinite or not a number.
        case notFinite
        /// The edited text would be read as a different value. This is an error in this library.
        case notKept
        /// A dictionary that would be read back as a value of another kind.
        case looksLike(PropertyList.Kind)
    }
}

extension EncodingFailure: CustomStringConvertible {
    public var description: String {
        let entry = path.components.isEmpty ? "the value" : path.shown
        return "\(entry): \(reason)"
    }

    private var reason: String {
        switch problem {
        case .nestedTooDeeply(let limit): "containers more than \(limit) levels deep"
        case .tooManyValues(let limit): "more than \(limit) values"
        case .tooLarge(let limit): "more than \(limit) bytes as \(format.rawValue)"
        case .tooManyBytes(let limit): "more than \(limit) bytes if each reference to a shared value is counted"
        case .kindNotSupported(.null) where format.hasNull: "settings cannot be null"
        case .kindNotSupported(let kind): "\(format.rawValue) cannot hold a value of type \(kind.rawValue)"
        case .characterNotSupported(let code):
            "\(format.rawValue) cannot hold the character \(codePoint(code))"
        case .integerOutOfRange: "\(format.rawValue) cannot hold an integer above 9223372036854775807"
        case .fractionOfSecond: "\(format.rawValue) cannot hold the fraction of a second"
        case .numberNotKept(let text): "the number \(shortened(text)) would be rounded"
        case .dateOutOfRange: "\(format.rawValue) cannot hold this date"
        case .notFinite: "\(format.rawValue) cannot hold a real that is not finite"
        case .notKept: "the edited \(format.rawValue) would be read as another value, which is an error of this program"
        case .looksLike(let kind):
            "\(format.rawValue) would read this dictionary back as a value of type \(kind.rawValue)"
        }
    }
}
