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

    /// Returns the word of an operand: `invocation["DOMAIN"]`.
    package subscript(operand name: String) -> String? { words(name).first }

    /// Returns all words of a repeatable operand.
    package func words(_ operand: String) -> [String] {
        operands.first { $0.operand.name == operand }?.words ?? []
    }

    /// The type flag and the words of a value in the grammar of `prefs`; empty if there is none.
    package var typedValue: [String] { operands.first { $0.operand.kind == .typedValue }?.words ?? [] }

    /// Returns whether the word is used only as a file name.
    func namesFile(_ word: String) -> Bool {
        let isOfFile = { (operand: Operand) in
            switch operand.kind {
            case .file, .folder: true
            case .domain, .domainOrFile, .compared: DomainArgument.isPath(word)
            default: false
            }
        }
        let found = operands.filter { $0.words.contains(word) }
        let others = options.filter { $0.word == word && $0.option.name != Option.output.name }
        return found.allSatisfy { isOfFile($0.operand) } && others.isEmpty
            && (!found.isEmpty || self[.output] == word)
    }

    /// Returns whether the word is only an argument of a script, whose bytes are passed on as they are.
    func passesBytes(_ word: String) -> Bool {
        path == [Verb.args.name] && words("ARGUMENT").contains(word)
            && operands.allSatisfy { $0.operand.name == "ARGUMENT" || !$0.words.contains(word) || namesFile(word) }
            && !options.contains { $0.word == word }
    }

    /// The requested format.
    package var format: FormatName? {
        options.last { $0.option.name == "--format" }.flatMap { FormatName(word: $0.word) }
    }
}
