/// Parses the arguments according to the table of verbs.
package struct Parser {
    /// The result of parsing.
    package enum Request: Sendable {
        case run(Invocation)
        /// Help on the verb at the end of the path, or general help.
        case help([Verb])
        case version
    }

    /// The verbs to use instead of the command's own.
    private let verbs: [Verb]?
    /// The name by which the command was called.
    private let program: String
    private var words: ArraySlice<String>
    private var options: [(option: Option, word: String)] = []
    private var path: [Verb] = []

    package static func request(
        _ words: [String], verbs: [Verb]? = nil, program: String = Prefs.name
    ) throws(UsageFailure) -> Request {
        var parser = Parser(verbs: verbs, program, words: words[...])
        return try parser.request()
    }

    private init(verbs: [Verb]?, _ program: String, words: ArraySlice<String>) {
        self.verbs = verbs
        self.program = program
        self.words = words
    }

    private mutating func request() throws(UsageFailure) -> Request {
        if let end = try takeOptions(Option.global) { return end }
        guard let verb = try takeVerb() else { return .help(path) }
        let operands: [String]
        switch verb.kind {
        case .hidden: operands = Array(words)
        case .classic:
            if let end = try takeOptions(verb.options + [.help]) { return end }
            if words.first == "--" { words.removeFirst() }
            operands = Array(words)
        case .new:
            var found: [String] = []
            if let end = try takeOptionsAndOperands(of: verb, &found) { return end }
            operands = found
        }
        return .run(try invocation(of: verb, operands))
    }

    /// Takes the words that name a verb; returns nil if one of them requests help.
    private mutating func takeVerb() throws(UsageFailure) -> Verb? {
        guard let word = words.popFirst() else { throw failure(.noVerb) }
        var verb: Verb
        if verbs == nil, let common = Verb.fastPath(word) {
            verb = common
        } else {
            verb = try self.verb(word, among: verbs ?? Verb.all)
        }
        path = [verb]
        while !verb.parts.isEmpty {
            if words.first == Option.help.name { return nil }
            guard let word = words.popFirst() else { throw failure(.missingOperand("a verb"), showsUsage: true) }
            verb = try self.verb(word, among: verb.parts)
            path.append(verb)
        }
        return verb
    }

    /// Takes all words, with options anywhere before `--`. Returns a request that ends parsing, if any.
    private mutating func takeOptionsAndOperands(
        of verb: Verb, _ operands: inout [String]
    ) throws(UsageFailure) -> Request? {
        let known = verb.options + [.help]
        while !words.isEmpty {
            if let end = try takeOptions(known) { return end }
            guard let word = words.popFirst() else { break }
            if word == "--" {
                operands += words
                break
            }
            operands.append(word)
        }
        return nil
    }

    private func verb(_ word: String, among verbs: [Verb]) throws(UsageFailure) -> Verb {
        if let verb = Verb.named(word, among: verbs) { return verb }
        let known = verbs.filter { $0.kind != .hidden }.flatMap { [$0.name] + $0.aliases }
        throw failure(.unknownVerb(word, known: known))
    }

    private func failure(_ problem: UsageFailure.Problem, showsUsage: Bool = false) -> UsageFailure {
        let names = path.map(\.name)
        guard showsUsage, let verb = path.last else { return UsageFailure(problem, path: names) }
        let usage = HelpText.usageLines(of: verb, [program] + names).joined(separator: ", or ")
        return UsageFailure(problem, path: names, usage: usage)
    }
}

// MARK: Options

extension Parser {
    /// Takes options up to the first other word. Returns a request that ends parsing, if any.
    private mutating func takeOptions(_ known: [Option]) throws(UsageFailure) -> Request? {
        while let word = words.first, word.utf8.first == UInt8(ascii: "-"), word != "-", word != "--" {
            if !path.isEmpty, DomainArgument.isGlobalFlag(word) { return nil }
            words.removeFirst()
            // Split only at an equals sign: option names contain neither `=` nor `:`.
            let (name, attached) = word.splitAtEqualsSign
            guard let option = known.first(where: { $0.name == name }) else {
                throw failure(.unknownOption(name, known: known.map(\.name)))
            }
            let argument = try argument(of: option, attached)
            if option.name == Option.help.name { return .help(path) }
            if option.name == Option.version.name { return .version }
            guard option.repeats || !options.contains(where: { $0.option.name == option.name }) else {
                throw failure(.repeatedOption(option.name))
            }
            options.append((option, argument))
        }
        return nil
    }

    private mutating func argument(of option: Option, _ attached: String?) throws(UsageFailure) -> String {
        guard let argument = option.argument else {
            guard attached == nil else { throw failure(.unexpectedArgument(option: option.name)) }
            return ""
        }
        guard let word = attached ?? words.popFirst() else {
            throw failure(.missingArgument(option: option.name, argument: argument.name))
        }
        if let canonical = argument.canonical(word) { return canonical }
        guard let choices = argument.choices else {
            throw failure(.notANumber(option: option.name, word: word))
        }
        throw failure(.unknownArgument(option: option.name, word: word, known: choices))
    }
}

// MARK: Operands

extension Parser {
    /// Returns the invocation for the first form of the verb that accepts the number of words.
    private func invocation(of verb: Verb, _ words: [String]) throws(UsageFailure) -> Invocation {
        for form in verb.forms {
            guard let bound = bind(words, to: form) else { continue }
            return Invocation(
                verb: verb, path: path.map(\.name), operands: try bound.map(canonical), options: options)
        }
        let (least, most) = (verb.forms.map(\.least).min() ?? 0, verb.forms.map(\.most).max() ?? 0)
        if words.count > most, words.indices.contains(most) {
            let isOption = verb.options.contains { $0.name == words[most].splitAtEqualsSign.name }
            throw failure(
                verb.kind == .classic && isOption ? .lateOption(words[most]) : .unexpectedOperand(words[most]),
                showsUsage: !isOption)
        }
        let form = verb.forms.first { words.count < $0.least || words.count < least } ?? verb.forms.first ?? []
        let missing = form.indices.contains(words.count) ? form[words.count].name : "more"
        throw failure(.missingOperand(missing), showsUsage: true)
    }

    /// Returns the operand with canonical spellings.
    private func canonical(
        _ bound: (operand: Operand, words: [String])
    ) throws(UsageFailure) -> (operand: Operand, words: [String]) {
        guard case .choice(let choice) = bound.operand.kind else { return bound }
        var words: [String] = []
        for word in bound.words {
            guard let canonical = choice.canonical(word) else {
                throw failure(.unknownOperand(bound.operand.name, word: word, known: choice.words))
            }
            words.append(canonical)
        }
        return (bound.operand, words)
    }

    private func bind(_ words: [String], to form: [Operand]) -> [(operand: Operand, words: [String])]? {
        guard form.least <= words.count, words.count <= form.most else { return nil }
        var rest = words[...]
        var behind = form.least
        return form.map { operand in
            behind -= operand.bounds.least
            let available = rest.count - behind
            let count = min(available, operand.bounds.most ?? available)
            defer { rest = rest.dropFirst(count) }
            return (operand, Array(rest.prefix(count)))
        }
    }
}

extension [Operand] {
    /// The minimum number of words.
    fileprivate var least: Int { reduce(0) { $0 + $1.bounds.least } }

    /// The maximum number of words.
    fileprivate var most: Int {
        contains { $0.bounds.most == nil } ? .max : reduce(0) { $0 + ($1.bounds.most ?? 0) }
    }
}

extension String {
    /// Splits `--format=json` into its two parts.
    var splitAtEqualsSign: (name: String, argument: String?) {
        guard utf8.starts(with: "--".utf8), let sign = unicodeScalars.firstIndex(of: "=") else { return (self, nil) }
        return (String(unicodeScalars[..<sign]), String(unicodeScalars[sign...].dropFirst()))
    }
}
