internal import Preferences

/// The interpretation of an argument that names a domain.
package enum DomainArgument {
    /// The options that stand for the global domain.
    package static let globalFlags = ["-g", "-globalDomain"]

    /// Returns whether the word is one of these options.
    static func isGlobalFlag(_ word: String) -> Bool { globalFlags.contains(word) }

    /// Returns whether the word is the path of a file rather than a domain.
    static func isPath(_ word: String) -> Bool {
        word.utf8.first == UInt8(ascii: "/") || word.utf8.starts(with: "./".utf8) || word.utf8.starts(with: "~/".utf8)
    }

    /// Returns the domain name for the word.
    static func name(_ word: String) -> String { isGlobalFlag(word) ? DomainName.global.text : word }
}

extension DomainName {
    init(word: String) throws(Failure) { try self.init(DomainArgument.name(word)) }
}
