internal import Preferences
package import PropertyLists

/// A key on the command line, or the path of an entry within its value.
///
///     theme          the key `theme`; dots have no special meaning
///     :windows:0     the first element of the array under `windows`
///     \:theme        the key `:theme`
package struct KeyArgument: Hashable, Sendable {
    /// The key, followed by the path within its value.
    package let path: EntryPath

    package init(_ path: EntryPath) throws(KeyFailure) {
        guard !path.components.isEmpty else { throw KeyFailure(.notAPath(":"), argument: ":") }
        self.path = path
    }

    /// Parses an argument for reading.
    package init(_ argument: String) throws(KeyFailure) {
        if argument.utf8.first == UInt8(ascii: ":") {
            do {
                path = try EntryPath(parsing: argument)
            } catch {
                throw KeyFailure(.notAPath(error.description), argument: argument)
            }
        } else {
            path = [EntryPath.Component(argument.beginsWithEscapedColon ? argument.withoutFirstByte : argument)]
        }
    }

    /// Parses an argument for writing.
    package init(forWriting argument: String) throws(KeyFailure) {
        try self.init(argument)
        let texts = path.components.map(\.text)
        // Only the last component may be empty, where it denotes the end of an array. The key itself must not be.
        guard let key = texts.first, !key.isEmpty, !texts.dropLast().contains(where: \.isEmpty) else {
            throw KeyFailure(.empty, argument: argument)
        }
        guard !texts.contains(where: { $0.utf8.contains(0) }) else { throw KeyFailure(.nul, argument: argument) }
        guard !key.isHidden else { throw KeyFailure(.own, argument: argument) }
    }
}

extension KeyArgument {
    package var key: String { path.components.first?.text ?? "" }

    /// The path from the key's value to the entry; empty for the value itself.
    package var rest: EntryPath { EntryPath(Array(path.components.dropFirst())) }

    /// The argument that names the entry; nil if the key is empty or contains a NUL, which no argument can express.
    package var argument: String? {
        guard !path.components.contains(where: { $0.text.isEmpty || $0.text.utf8.contains(0) }) else { return nil }
        return spelling
    }

    /// The spelling of any key, including those that no argument can express.
    package var spelling: String {
        guard path.components.count == 1 else { return path.description }
        if key.utf8.first == UInt8(ascii: ":") { return "\\" + key }
        return key.beginsWithEscapedColon ? path.description : key
    }
}

/// The reason an argument is not a valid key.
package struct KeyFailure: Reportable, Hashable {
    package enum Problem: Hashable, Sendable {
        /// The argument is not a valid entry path.
        case notAPath(String)
        case empty
        case nul
        /// The key is reserved for the store.
        case own
    }

    package let problem: Problem
    package let argument: String

    package init(_ problem: Problem, argument: String) {
        self.problem = problem
        self.argument = argument
    }

    package var status: ExitStatus { .invalidValue }

    package var lines: [String] {
        switch problem {
        case .notAPath(let reason): [reason]
        case .empty: [argument.isEmpty ? "a key must not be empty" : "\(argument): a key must not be empty"]
        case .nul: ["\(argument.onOneLine): a key must not contain a NUL"]
        case .own: ["\(argument.onOneLine): this key is reserved for prefs"]
        }
    }
}

extension String {
    fileprivate var beginsWithEscapedColon: Bool { utf8.starts(with: "\\:".utf8) }

    fileprivate var withoutFirstByte: String { String(unicodeScalars.dropFirst()) }
}
