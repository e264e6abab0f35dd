internal import Preferences
package import PropertyLists

/// A key as the command line names it: the key itself, or the way to an entry inside its value.
///
///     theme          the key `theme`, whatever it holds, dots and all
///     :windows:0     the first element of the array under `windows`
///     \:theme        the key `:theme`
package struct KeyArgument: Hashable, Sendable {
    /// The key in the domain, and behind it the way into its value.
    package let path: EntryPath

    package init(_ path: EntryPath) throws(KeyFailure) {
        guard !path.components.isEmpty else { throw KeyFailure(.notAPath(":"), argument: ":") }
        self.path = path
    }

    /// Reads an argument that names what may or may not exist.
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

    /// Reads an argument that names what is to be written.
    package init(forWriting argument: String) throws(KeyFailure) {
        try self.init(argument)
        let texts = path.components.map(\.text)
        // Only the last component may be empty, and never the key itself: it stands for the place behind an array's
        // end.
        guard let key = texts.first, !key.isEmpty, !texts.dropLast().contains(where: \.isEmpty) else {
            throw KeyFailure(.empty, argument: argument)
        }
        guard !texts.contains(where: { $0.utf8.contains(0) }) else { throw KeyFailure(.nul, argument: argument) }
        guard !key.isHidden else { throw KeyFailure(.own, argument: argument) }
    }
}

extension KeyArgument {
    /// The key in the domain.
    package var key: String { path.components.first?.text ?? "" }

    /// The way from the key's value to the entry; empty for the value itself.
    package var rest: EntryPath { EntryPath(Array(path.components.dropFirst())) }

    /// What is written to name the entry; nil where no argument can: a key that is empty or has a NUL in it.
    package var argument: String? {
        guard !path.components.contains(where: { $0.text.isEmpty || $0.text.utf8.contains(0) }) else { return nil }
        return spelling
    }

    /// The argument for any key, be it one that no command line could hold.
    package var spelling: String {
        guard path.components.count == 1 else { return path.description }
        if key.utf8.first == UInt8(ascii: ":") { return "\\" + key }
        return key.beginsWithEscapedColon ? path.description : key
    }
}

/// Why an argument names no key, or none that may be written.
package struct KeyFailure: Reportable, Hashable {
    package enum Problem: Hashable, Sendable {
        /// What is wrong with an entry path.
        case notAPath(String)
        case empty
        case nul
        /// The key is the store's own.
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
        case .empty: [argument.isEmpty ? "a key may not be empty" : "\(argument): a key may not be empty"]
        case .nul: ["\(argument.onOneLine): a key may not have a NUL in it"]
        case .own: ["\(argument.onOneLine): prefs itself keeps this key"]
        }
    }
}

extension String {
    /// Whether the text begins as a literal key with a colon is written.
    fileprivate var beginsWithEscapedColon: Bool { utf8.starts(with: "\\:".utf8) }

    fileprivate var withoutFirstByte: String { String(unicodeScalars.dropFirst()) }
}
