internal import Preferences

/// The interpretation of an argument that names a domain.
package enum DomainArgument {
    /// The options that stand for the global domain.
    package static let globalFlags = ["-g", "-globalDomain"]

    /// Returns whether the word is one of these options, or their twin with two dashes.
    static func isGlobalFlag(_ word: String) -> Bool { globalFlags.contains(word) || word == "--global-domain" }

    /// Returns whether the word is the option that names an application instead of a domain.
    static func isApplicationFlag(_ word: String) -> Bool { word == "-app" || word == "--app" }

    /// Returns whether the word is the path of a file rather than a domain, whose name contains no slash.
    static func isPath(_ word: String) -> Bool { word.utf8.contains(UInt8(ascii: "/")) }

    /// Returns the domain name for the word.
    static func name(_ word: String) -> String { isGlobalFlag(word) ? DomainName.global.text : word }
}

extension DomainName {
    init(word: String) throws(Failure) { try self.init(DomainArgument.name(word)) }
}
