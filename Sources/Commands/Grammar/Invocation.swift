/// What was asked for: a verb with its options and operands, all of a form that its row allows.
package struct Invocation: Sendable {
    package let verb: Verb
    /// The words that led to the verb: `mirror`, `sync`.
    package let path: [String]
    /// Each operand of the form that was recognised, with its words.
    private let operands: [(operand: Operand, words: [String])]
    /// Each option that was given, those before the verb too.
    private let options: [(option: Option, word: String)]

    init(
        verb: Verb, path: [String], operands: [(operand: Operand, words: [String])],
        options: [(option: Option, word: String)]
    ) {
        self.verb = verb
        self.path = path
        self.operands = operands
        self.options = options
    }
}

extension Invocation {
    /// Whether the option was given.
    package func has(_ option: Option) -> Bool { options.contains { $0.option.name == option.name } }

    /// The word behind the option, the last one where it was given twice.
    package subscript(option: Option) -> String? { options.last { $0.option.name == option.name }?.word }

    /// Every word behind an option that may be repeated.
    package func all(_ option: Option) -> [String] { options.filter { $0.option.name == option.name }.map(\.word) }

    /// The word of an operand: `invocation["DOMAIN"]`.
    package subscript(operand name: String) -> String? { words(name).first }

    /// All words of an operand that may be repeated.
    package func words(_ operand: String) -> [String] {
        operands.first { $0.operand.name == operand }?.words ?? []
    }

    /// Whether the word is nothing but the name of a file wherever it was given.
    func namesFile(_ word: String) -> Bool {
        let isOfFile = { (operand: Operand) in
            switch operand.kind {
            case .file, .folder: true
            case .domain, .domainOrFile: DomainWord.isPath(word)
            default: false
            }
        }
        let found = operands.filter { $0.words.contains(word) }
        let others = options.filter { $0.word == word && $0.option.name != Option.output.name }
        return found.allSatisfy { isOfFile($0.operand) } && others.isEmpty
            && (!found.isEmpty || self[.output] == word)
    }

    /// The format that was asked for.
    package var format: FormatName? {
        options.last { $0.option.name == "--format" }.flatMap { FormatName(word: $0.word) }
    }
}
