internal import Preferences

/// What a word stands for where a domain is wanted.
package enum DomainWord {
    /// The words for the global domain that look like options.
    package static let globalFlags = ["-g", "-globalDomain"]

    /// Whether the word is one of those.
    static func isGlobalFlag(_ word: String) -> Bool { globalFlags.contains(word) }

    /// Whether the word is the path of a file, and no domain's name.
    static func isPath(_ word: String) -> Bool {
        word.utf8.first == UInt8(ascii: "/") || word.utf8.starts(with: "./".utf8) || word.utf8.starts(with: "~/".utf8)
    }

    /// The name that the word stands for, or the word itself.
    static func name(_ word: String) -> String { isGlobalFlag(word) ? DomainName.global.text : word }
}

extension DomainName {
    /// The domain that a word of the command line names.
    init(word: String) throws(Failure) { try self.init(DomainWord.name(word)) }
}
