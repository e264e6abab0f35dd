internal import Preferences
package import PropertyLists

/// A parsed command line: a verb with its options and operands.
package struct Invocation: Sendable {
    package let verb: Verb
    /// The words that name the verb: `mirror`, `sync`.
    package let path: [String]
    package let dialect: Dialect
    /// The operands with their words.
    private let operands: [(operand: Operand, words: [String])]
    /// The options given, including those before the verb.
    private let options: [(option: Option, word: String)]

    init(
        verb: Verb, path: [String], _ dialect: Dialect = .modern, operands: [(operand: Operand, words: [String])],
        options: [(option: Option, word: String)]
    ) {
        self.verb = verb
        self.path = path
        self.dialect = dialect
        self.operands = operands
        self.options = options
    }
}

extension Invocation {
    /// Returns whether the option was given.
    package func has(_ option: Option) -> Bool { options.contains { $0.option.name == option.name } }

    /// Returns the argument of the option.
    package subscript(option: Option) -> String? { options.last { $0.option.name == option.name }?.word }

    /// Returns all arguments of a repeatable option.
    package func all(_ option: Option) -> [String] { options.filter { $0.option.name == option.name }.map(\.word) }

    /// Returns the command line with one of the arguments of a repeatable option, or with none if there are fewer.
    func with(_ index: Int, of option: Option) -> Invocation {
        let words = all(option).dropFirst(index).prefix(1).map { (option: option, word: $0) }
        return Invocation(
            verb: verb, path: path, dialect, operands: operands,
            options: options.filter { $0.option.name != option.name } + words)
    }

    /// Returns the word of an operand: `invocation["DOMAIN"]`.
    package subscript(operand name: String) -> String? { words(name).first }

    /// Returns all words of a repeatable operand.
    package func words(_ operand: String) -> [String] {
        operands.first { $0.operand.name == operand }?.words ?? []
    }

    /// The type flag and the words of a value in the grammar of `prefs`; empty if there is none.
    package var typedValue: [String] { operands.first { $0.operand.kind == .typedValue }?.words ?? [] }

    /// A word that is not valid UTF-8, unless it is the path of a file, or an argument that is passed on to a script.
    var wordWithoutText: String? {
        let isOfScript = path == [Verb.args.name]
        for (operand, words) in operands where !isOfScript || operand.name != "ARGUMENT" {
            if let word = words.first(where: { ByteText.holdsRaw($0) && !operand.kind.isPath($0) }) { return word }
        }
        return options.first { ByteText.holdsRaw($0.word) && !($0.option.argument?.kind.isPath($0.word) ?? false) }?
            .word
    }

    /// The requested format.
    package var format: FormatName? {
        options.last { $0.option.name == "--format" }.flatMap { FormatName(word: $0.word) }
    }
}

extension Operand.Kind {
    /// Returns whether a word of this kind is the path of a file.
    fileprivate func isPath(_ word: String) -> Bool {
        switch self {
        case .file, .folder: true
        case .domain, .domainOrFile, .declaredDomain, .compared: DomainArgument.isPath(word)
        default: false
        }
    }
}

extension Option.Argument.Kind {
    /// Returns whether a word of this kind is the path of a file.
    fileprivate func isPath(_ word: String) -> Bool {
        switch self {
        case .file, .folder: true
        case .domain, .store: DomainArgument.isPath(word)
        default: false
        }
    }
}

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

    /// Returns whether the word has a character with a meaning in a `Glob`.
    static func isPattern(_ word: String) -> Bool { word.utf8.contains { "*?[".utf8.contains($0) } }

    /// Returns the domain name for the word.
    static func name(_ word: String) -> String { isGlobalFlag(word) ? DomainName.global.text : word }
}

extension DomainName {
    init(word: String) throws(Failure) { try self.init(DomainArgument.name(word)) }
}

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
    ///
    /// - Parameter inFile: Whether it may be the place after the last element of a file's root.
    package init(forWriting argument: String, inFile: Bool = false) throws(KeyFailure) {
        try self.init(argument)
        if inFile, argument == ":" { return }
        let texts = path.components.map(\.text)
        guard let key = texts.first, !key.isEmpty else {
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

    /// The argument that names the entry; nil if a key is empty, so that it could not be created, or contains a NUL,
    /// which no argument can express.
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

    /// The entry that a key with colons or dots may mean: `:windows:0` for `windows:0` and `windows.0`.
    func entry(in root: PropertyList) -> EntryPath? {
        for separator: Character in [":", "."] {
            let path = EntryPath(key.split(separator: separator).map { EntryPath.Component(String($0)) })
            if path.components.count > 1, root[path] != nil { return path }
        }
        return nil
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
    fileprivate var beginsWithEscapedColon: Bool {
        utf8.first == UInt8(ascii: "\\") && utf8.dropFirst().first == UInt8(ascii: ":")
    }

    fileprivate var withoutFirstByte: String { String(unicodeScalars.dropFirst()) }
}

extension StoreAccess {
    /// Returns the access to the store, and the domain named on the command line.
    static func ofDomain(
        _ invocation: Invocation, _ context: CommandContext
    ) throws -> (access: StoreAccess, domain: AddressedDomain) {
        let access = try StoreAccess(invocation, context)
        let domain = try access.named(invocation[operand: Operand.domain.name] ?? "")
        try access.checkLayer(of: domain, invocation)
        return (access, try domain.requiringFormat(of: invocation))
    }
}

extension Invocation {
    /// The key named on the command line, if any.
    var key: KeyArgument? {
        get throws(KeyFailure) {
            guard let argument = self[operand: Operand.key.name] else { return nil }
            return try KeyArgument(argument)
        }
    }
}
