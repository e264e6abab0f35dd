internal import Preferences

/// An option of a verb or of the command itself.
package struct Option: Hashable, Sendable {
    package struct Argument: Hashable, Sendable {
        package enum Kind: Hashable, Sendable {
            case domain, key, file, folder, word
            /// The name of a store, or a folder.
            case store
            /// A non-negative integer.
            case number
            /// The number of a kept version of the domain.
            case version
            /// A range of two such numbers, or one of them.
            case versions
            /// The name of a program, and all words after it.
            case program
            case choice(Choice)
        }

        package let name: String
        package let kind: Kind

        package init(_ name: String, _ kind: Kind) {
            self.name = name
            self.kind = kind
        }
    }

    package let name: String
    /// Other names, which help does not list for `defaults`.
    package private(set) var aliases: [String] = []
    package let argument: Argument?
    /// A description on one line without a full stop.
    package let summary: String
    /// Whether it can be repeated.
    package let repeats: Bool

    package init(_ name: String, _ argument: Argument, _ summary: String, repeats: Bool = false) {
        self.name = name
        self.argument = argument
        self.summary = summary
        self.repeats = repeats
    }

    /// Creates an option without an argument.
    package init(_ name: String, _ summary: String) {
        self.name = name
        argument = nil
        self.summary = summary
        repeats = false
    }

    /// The option with its argument, for usage and help.
    func usage(in dialect: Dialect) -> String {
        let names = dialect == .classic ? [name] : [name] + aliases
        return names.joined(separator: ", ") + (argument.map { " \($0.name)" } ?? "")
    }

    /// The name with two dashes, if it has one.
    var longName: String { ([name] + aliases).first { $0.utf8.starts(with: "--".utf8) } ?? name }

    /// Returns whether a word is a name of the option.
    func isNamed(_ word: String) -> Bool { name == word || aliases.contains(word) }

    private func alias(_ name: String) -> Option {
        var option = self
        option.aliases.append(name)
        return option
    }
}

extension Option.Argument {
    /// The possible values, if they are known.
    package var choices: [String]? {
        switch kind {
        case .choice(let choice): choice.words
        default: nil
        }
    }

    /// Returns the canonical spelling of an argument, or nil if it is invalid.
    func canonical(_ word: String) -> String? {
        switch kind {
        case .choice(let choice): choice.canonical(word)
        case .number, .version: Int(word).flatMap { $0 < 0 ? nil : $0.description }
        case .domain, .key, .file, .folder, .word, .store, .versions, .program: word
        }
    }
}

// MARK: Shared options

extension Option {
    package static let currentHost = Option("-currentHost", "the settings for this host only")
        .alias("--current-host")
    package static let host = Option("-host", Argument("NAME", .word), "the settings for that host only")
        .alias("--host")
    package static let newHost = Option("--new-host", "with --host, the name of a host that has no files yet")
    package static let store = Option(
        "--store", Argument("NAME|DIR", .store), "where settings are stored: native, foundation, gnustep or a folder")
    /// The named stores.
    static let stores: [(name: String, kind: Store.Kind)] = [
        ("native", .native), ("foundation", .foundation), ("gnustep", .gnustep),
    ]
    /// Returns the store with a name, or nil if the word can only be a folder.
    static func store(named word: String) -> Store.Kind? {
        let name = word.lowercased()
        return stores.first { $0.name == name }?.kind
    }
    /// Returns the words that select a store; empty for the default one.
    static func words(naming store: String?) -> [String] { store.map { [Self.store.name, $0] } ?? [] }
    package static let version = Option("--version", "print the version")
    package static let help = Option("--help", "print help; also after any verb").alias("-h")

    /// The options that can precede the verb.
    package static let global: [Option] = [currentHost, host, store, version, help]
    /// The options that can be anywhere.
    static let everywhere: [Option] = [currentHost, host, store, help]

    package static func format(_ formats: [FormatName], _ summary: String = "how to print it") -> Option {
        Option("--format", Argument("FORMAT", .choice(.formats(formats))), summary)
    }

    package static let effective = Option("--effective", "with the variables of the environment, as a program sees it")
    package static let layer = Option(
        "--layer", Argument("LAYER", .choice(.words(Layer.writable.map(\.name)))), "the layer to read or write")
    package static let force = Option("--force", "write despite the schema and forced values")
    package static let rewrite = Option("--rewrite", "write a text file anew, without its comments and layout")
    package static let dryRun = Option("--dry-run", "print what would be done, without doing it")
    package static let sort = Option("--sort", "sort the keys of JSON")
    package static let losslessJSON = Option(
        "--lossless-json", "wrap values that JSON has no type for, and unwrap them when reading")
    package static let coerce = Option("--coerce", "write values as text if the format has no type for them")
    package static let lossy = Option("--lossy", "leave null out of dictionaries if the format has none")
    package static let globalKeys = Option("--global", "include the keys of the global domain")
    package static let strict = Option("--strict", "fail if data would be lost")
    package static let from = Option(
        "--from", Argument("FORMAT", .choice(.formats(FormatName.readable))), "the required format of the input")
    /// The `--from` option for verbs that read values rather than a file in its own format.
    package static let fromLines = Option(
        "--from", Argument("FORMAT", .choice(.formats(FormatName.importable))), "the required format of the input")
    package static let output = Option("-o", Argument("OUT", .file), "write there instead of in place")
}

/// A fixed set of words for an argument. The parser rejects others.
package enum Choice: Hashable, Sendable {
    case formats([FormatName])
    case words([String])
}

extension Choice {
    /// The words in their canonical spelling.
    package var words: [String] {
        switch self {
        case .formats(let formats): formats.map(\.rawValue)
        case .words(let words): words
        }
    }

    /// Returns the canonical spelling of a word, or nil if it is not in the set.
    func canonical(_ word: String) -> String? {
        switch self {
        case .formats: words.first { $0 == FormatName(word: word)?.rawValue }
        case .words: words.first { $0.lowercased() == word.lowercased() }
        }
    }
}
