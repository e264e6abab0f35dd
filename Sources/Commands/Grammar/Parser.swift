internal import PropertyLists

/// Parses the arguments according to the table of verbs.
///
/// The verbs are not declared as a `Schema`, whose `ArgumentParser` reads the arguments of other programs. The
/// arguments of `defaults` do not fit that grammar: `-int 5` and `-array a b` are types that take the following words,
/// even words that begin with a dash; a verb has several forms that differ in their operands; and the same words are
/// read in two dialects. What both have in common exists once: columns, wrapping and the table of a help text
/// (`TextColumns`), and suggestions (`nearest`).
package struct Parser {
    /// The result of parsing.
    package enum Request: Sendable {
        case run(Invocation)
        /// Help on the verb at the end of the path, or general help.
        case help([Verb])
        case version
    }

    /// Returns the domain of the application with a name, or nil.
    package typealias Applications = (_ name: String) -> String?

    /// The verbs to use instead of the command's own.
    private let verbs: [Verb]?
    /// The name by which the command was called.
    private let program: String
    private let dialect: Dialect
    private let application: Applications
    private var words: ArraySlice<String>
    private var options: [(option: Option, word: String)] = []
    private var path: [Verb] = []
    /// A type flag with the words of its value, which `prefs` takes from anywhere before `--`.
    private var typed: [String] = []

    package static func request(
        _ words: [String], verbs: [Verb]? = nil, program: String = Prefs.name,
        application: @escaping Applications = { _ in nil }
    ) throws(UsageFailure) -> Request {
        // `withoutActuallyEscaping` would put the length of this file's path into the executable, which then differs
        // between two clones.
        var parser = Parser(verbs: verbs, program, words: words[...], application)
        return try parser.request()
    }

    private init(verbs: [Verb]?, _ program: String, words: ArraySlice<String>, _ application: @escaping Applications) {
        self.verbs = verbs
        self.program = program
        self.words = words
        self.application = application
        dialect = Dialect(program: program)
    }

    private mutating func request() throws(UsageFailure) -> Request {
        if let end = try takeOptions(Option.global) { return end }
        guard let verb = try takeVerb() else { return .help(path) }
        var operands: [String] = []
        switch (verb.kind, dialect) {
        case (.hidden, _): operands = Array(words)
        case (.classic, .classic):
            if let end = try takeOptions(verb.options + [.help]) { return end }
            if words.first == "--" { words.removeFirst() }
            let isOfDomain = verb.forms.contains { $0.kind(at: 0)?.isOfDomain ?? false }
            operands = try isOfDomain ? withApplication(Array(words)) : Array(words)
        default: if let end = try takeOptionsAndOperands(of: verb, &operands) { return end }
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
            verb = try Verb.named(word, among: verbs ?? Verb.all, after: path)
        }
        path = [verb]
        while !verb.parts.isEmpty {
            if let word = words.first, Option.help.isNamed(word) { return nil }
            guard let word = words.popFirst() else { throw failure(.missingVerb(known: verb.parts.map(\.name))) }
            verb = try Verb.named(word, among: verb.parts, after: path)
            path.append(verb)
        }
        return verb
    }

    /// Takes all words, with options anywhere before `--`. Returns a request that ends parsing, if any.
    private mutating func takeOptionsAndOperands(
        of verb: Verb, _ operands: inout [String]
    ) throws(UsageFailure) -> Request? {
        let known = verb.options + Option.everywhere
        let takesValue = dialect == .modern && verb.takesValue
        while let word = words.first {
            if word == "--" {
                operands += words.dropFirst()
                break
            }
            if takesValue, let flag = TypeFlag(word: word.splitAtEqualsSign.name) {
                try takeValue(flag, known)
            } else if try takeDomainFlag(verb, &operands) {
                continue
            } else if word.looksLikeOption {
                if let end = try takeOption(known) { return end }
            } else {
                operands.append(word)
                words.removeFirst()
            }
        }
        return nil
    }

    /// Parses a flag for a domain, if the verb expects one. Returns whether there was one.
    private mutating func takeDomainFlag(_ verb: Verb, _ operands: inout [String]) throws(UsageFailure) -> Bool {
        guard let word = words.first,
            DomainArgument.isGlobalFlag(word) || DomainArgument.isApplicationFlag(word),
            verb.forms.contains(where: { $0.kind(at: operands.count)?.isOfDomain ?? false })
        else { return false }
        words.removeFirst()
        operands += try withApplication([word] + (DomainArgument.isApplicationFlag(word) ? words.prefix(1) : []))
        if DomainArgument.isApplicationFlag(word) { words = words.dropFirst() }
        return true
    }

    /// Returns the words with `-app NAME` at their start replaced by the domain of the application.
    private func withApplication(_ words: [String]) throws(UsageFailure) -> [String] {
        guard let flag = words.first, DomainArgument.isApplicationFlag(flag) else { return words }
        guard words.count > 1 else { throw failure(.missingArgument(option: flag, argument: "NAME")) }
        guard let domain = application(words[1]) else { throw failure(.unknownApplication(words[1])) }
        return [domain] + words.dropFirst(2)
    }

    /// Takes a type flag with its value: the next word or, for an array or a dictionary, all words that follow.
    private mutating func takeValue(_ flag: TypeFlag, _ known: [Option]) throws(UsageFailure) {
        let word = words.removeFirst()
        let (name, attached) = word.splitAtEqualsSign
        guard typed.isEmpty else { throw failure(.unexpectedOperand(word)) }
        typed = [flag.rawValue]
        guard flag.takesWord || attached == nil else { throw failure(.unexpectedArgument(option: name)) }
        if let attached { typed.append(attached) }
        if flag.isComposite {
            try takeElements(of: flag, known)
        } else if !flag.takesWord {
            return
        } else if attached == nil {
            guard let value = words.popFirst() else {
                throw failure(.missingArgument(option: name, argument: flag.argument.name))
            }
            typed.append(value)
        }
    }

    /// Takes the words of an array or a dictionary. An option among them is misplaced, unless a type or `--` precedes
    /// it. The words after `--` are literal.
    private mutating func takeElements(of flag: TypeFlag, _ known: [Option]) throws(UsageFailure) {
        var isKey = flag.hasKeys
        while let word = words.popFirst() {
            if word == "--" {
                for word in words {
                    typed += isKey ? [word] : [TypeFlag.string.rawValue, word]
                    if flag.hasKeys { isKey.toggle() }
                }
                words = []
            } else if word.utf8.starts(with: "--".utf8),
                known.contains(where: { $0.isNamed(word.splitAtEqualsSign.name) })
            {
                throw failure(.optionAmongValues(word.splitAtEqualsSign.name, of: dialect.spelling(flag)))
            } else {
                typed.append(word)
                if !isKey, TypeFlag(word: word) != nil, let value = words.popFirst() { typed.append(value) }
                if flag.hasKeys { isKey.toggle() }
            }
        }
    }

    private func failure(_ problem: UsageFailure.Problem, showsUsage: Bool = false) -> UsageFailure {
        let names = path.map(\.name)
        guard showsUsage, let verb = path.last else { return UsageFailure(problem, path: names) }
        let usage = HelpText.usageLines(of: verb, [program] + names, dialect).joined(separator: ", or ")
        return UsageFailure(problem, path: names, usage: usage)
    }
}

// MARK: Options

extension Parser {
    /// Takes options up to the first other word. Returns a request that ends parsing, if any.
    private mutating func takeOptions(_ known: [Option]) throws(UsageFailure) -> Request? {
        while let word = words.first, word.looksLikeOption, word != "--" {
            if !path.isEmpty, DomainArgument.isGlobalFlag(word) || DomainArgument.isApplicationFlag(word) { return nil }
            if let end = try takeOption(known) { return end }
        }
        return nil
    }

    /// Takes one option. Returns a request that ends parsing, if any.
    private mutating func takeOption(_ known: [Option]) throws(UsageFailure) -> Request? {
        // Split only at an equals sign: option names contain neither `=` nor `:`.
        let (name, attached) = words.removeFirst().splitAtEqualsSign
        guard let option = known.first(where: { $0.isNamed(name) }) else {
            if !path.isEmpty, Option.global.contains(where: { $0.isNamed(name) }) {
                throw failure(.optionOfCommand(name))
            }
            if path.isEmpty, (verbs ?? Verb.all).contains(where: { $0.hasOption(named: name) }) {
                throw failure(.optionOfVerb(name))
            }
            let mayBeValue = path.last?.takesValue ?? false
            throw failure(.unknownOption(name, known: known.map(\.name) + typeNames, mayBeValue: mayBeValue))
        }
        let argument = try argument(of: option, attached)
        if option.name == Option.help.name { return .help(path) }
        if option.name == Option.version.name { return .version }
        guard option.repeats || !options.contains(where: { $0.option.name == option.name }) else {
            throw failure(.repeatedOption(dialect == .modern ? option.longName : option.name))
        }
        options.append((option, argument))
        if option.argument?.kind == .program {
            options += words.map { (option, $0) }
            words = []
        }
        return nil
    }

    /// The type flags, if the verb takes them as options.
    private var typeNames: [String] {
        guard dialect == .modern, path.last?.takesValue ?? false else { return [] }
        return TypeFlag.allCases.map { dialect.spelling($0) }
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
        var words = words
        if dialect == .modern,
            let useless = options.first(where: { given in !path.allSatisfy { $0.uses(given.option) } })
        {
            throw failure(.optionWithoutEffect(useless.option.longName))
        }
        if let domain = options.first(where: { $0.option == .asDomain }) { words.insert(domain.word, at: 0) }
        // The words of a typed value were collected apart from the other operands.
        let forms = verb.forms(in: dialect).compactMap { form -> (taken: [Operand], value: Operand?)? in
            guard form.last?.kind == .typedValue else { return (form, nil) }
            return typed.isEmpty ? nil : (form.dropLast(), form.last)
        }.filter { typed.isEmpty || $0.value != nil }
        for form in forms {
            guard let bound = bind(words, to: form.taken) else { continue }
            return Invocation(
                verb: verb, path: path.map(\.name), dialect,
                operands: try bound.map(canonical) + (form.value.map { [($0, typed)] } ?? []), options: options)
        }
        let known = forms.map(\.taken)
        let (least, most) = (known.map(\.least).min() ?? 0, known.map(\.most).max() ?? 0)
        if words.count > most, words.indices.contains(most) {
            let isOption = verb.options.contains { $0.isNamed(words[most].splitAtEqualsSign.name) }
            let isLate = dialect == .classic && verb.kind == .classic && isOption
            // The shell has probably replaced a pattern by the files that it matches.
            let areFiles =
                forms.first?.taken.first?.kind.isOfDomain ?? false && words.count > 1
                && words.prefix(2).allSatisfy { DomainArgument.isPath($0) && !$0.hasPrefix(":") }
            if !isLate, areFiles { throw failure(.severalFiles(words[most])) }
            throw failure(isLate ? .lateOption(words[most]) : .unexpectedOperand(words[most]), showsUsage: !isLate)
        }
        let form = known.first { words.count < $0.least || words.count < least } ?? known.first ?? []
        let missing = form.indices.contains(words.count) ? form[words.count] : nil
        if dialect == .modern, missing?.kind == .value, words.count > 1, let word = words.last, word.isAssignment {
            throw failure(.joinedValue(word), showsUsage: true)
        }
        throw failure(.missingOperand(missing?.name ?? "more"), showsUsage: true)
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
        var following = form.least
        return form.map { operand in
            following -= operand.bounds.least
            let available = rest.count - following
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

    /// Whether the word is a key with a value, such as `size=12`.
    fileprivate var isAssignment: Bool {
        let key = utf8.prefix { $0 != UInt8(ascii: "=") }
        let isPlain = key.allSatisfy { $0 > UInt8(ascii: " ") && $0 < 0x7F && !"(){}[]<>\"'".utf8.contains($0) }
        return isPlain && !key.isEmpty && key.endIndex < utf8.endIndex
    }

    /// Whether the word begins with a dash, and is neither a dash alone nor a negative number.
    var looksLikeOption: Bool {
        var bytes = utf8.makeIterator()
        guard bytes.next() == UInt8(ascii: "-"), let second = bytes.next() else { return false }
        let isNumber = (0x30...0x39).contains(second) || second == UInt8(ascii: ".")
        return !isNumber || Double(word: self) == nil
    }
}
