internal import Platform
internal import Preferences
package import PropertyLists
package import SettingsSchema

/// The completions for a command line, from the same table as the parser.
package struct Completion {
    /// A word to offer, with its description.
    package struct Candidate: Hashable, Sendable {
        package let word: String
        package let meaning: String
    }

    /// The completions for the shell.
    package struct Answer: Hashable, Sendable {
        package enum Files: String, Hashable, Sendable { case words, files, folders }

        package var candidates: [Candidate] = []
        /// Whether file names are offered too.
        package var files = Files.words
    }

    private let verbs: [Verb]
    let source: CompletionSource
    let dialect: Dialect
    /// The part of the last word that is completed, and what precedes it: the name in `--layer=us`.
    private(set) var current: String
    private var head = ""
    var answer = Answer()

    /// Returns the completions.
    ///
    /// - Parameter words: The words after the program's name; the last one is being completed.
    package static func answer(
        to words: [String], verbs: [Verb] = Verb.all, source: CompletionSource = .none, in dialect: Dialect = .modern
    ) -> Answer {
        var completion = Completion(verbs: verbs, source: source, dialect, current: words.last ?? "")
        completion.walk(words.dropLast())
        return completion.answer
    }

    private init(verbs: [Verb], source: CompletionSource, _ dialect: Dialect, current: String) {
        (self.verbs, self.source, self.dialect, self.current) = (verbs, source, dialect, current)
    }
}

extension Completion.Answer {
    /// The answer as the scripts read it: the kind of files, then a line for each word.
    package var text: String {
        let lines = candidates.filter { !$0.word.utf8.contains { $0 < 0x20 || $0 == 0x7F } }
        return files.rawValue + "\n"
            + lines.map { $0.meaning.isEmpty ? $0.word : "\($0.word)\t\($0.meaning)" }
            .map { $0 + "\n" }.joined()
    }
}

// MARK: Position

extension Completion {
    private mutating func walk(_ words: ArraySlice<String>) {
        var rest = words
        if let option = skipOptions(Option.global, &rest) { return offer(option, after: []) }
        guard let word = rest.popFirst() else {
            if offerAttached(Option.global, after: []) { return }
            if current.hasPrefix("-") { return offer(Option.global) }
            return offer(verbs)
        }
        guard var verb = Verb.named(word, among: verbs) else { return }
        while !verb.parts.isEmpty {
            guard let word = rest.popFirst() else { return offer(verb.parts) }
            guard let part = Verb.named(word, among: verb.parts) else { return }
            verb = part
        }
        walk(rest, after: verb)
    }

    private mutating func walk(_ words: ArraySlice<String>, after verb: Verb) {
        let known = verb.options + (dialect == .modern ? Option.everywhere : [.help])
        var rest = words
        var operands: [String] = []
        var isOver = false
        while true {
            if !isOver, let option = skipOptions(known, &rest) { return offer(option, after: operands) }
            guard let word = rest.popFirst() else { break }
            if word == "--", !isOver {
                isOver = true
                continue
            }
            operands.append(word)
            if verb.kind == .classic, dialect == .classic { isOver = true }
        }
        if !isOver, offerAttached(known, after: operands) { return }
        if current.hasPrefix("-"), !isOver { offer(known) }
        for kind in Set(verb.forms.compactMap { $0.kind(at: operands.count) }).sorted(by: Operand.Kind.isBefore) {
            offer(kind, after: operands)
        }
    }

    /// Completes the argument in `--name=argument`. Returns whether the last word has this form.
    private mutating func offerAttached(_ known: [Option], after operands: [String]) -> Bool {
        let (name, argument) = current.splitAtEqualsSign
        guard let argument, let option = known.first(where: { $0.isNamed(name) && $0.argument != nil }) else {
            return false
        }
        (head, current) = (name + "=", argument)
        offer(option, after: operands)
        // The shells would complete the whole word as the name of a file.
        answer.files = .words
        return true
    }

    /// Skips options with their arguments. Returns the option whose argument is being completed, if any.
    private func skipOptions(_ known: [Option], _ rest: inout ArraySlice<String>) -> Option? {
        while let word = rest.first, let option = known.first(where: { $0.isNamed(word.splitAtEqualsSign.name) }) {
            rest.removeFirst()
            guard option.argument != nil, word.splitAtEqualsSign.argument == nil else { continue }
            if rest.popFirst() == nil { return option }
        }
        return nil
    }
}

// MARK: Completions

extension Completion {
    mutating func offer(_ word: String, _ meaning: String = "") {
        guard word.utf8.starts(with: current.utf8) else { return }
        answer.candidates.append(Candidate(word: head + word, meaning: meaning))
    }

    private mutating func offer(_ verbs: [Verb]) {
        for verb in verbs where verb.kind != .hidden { offer(verb.name, verb.summary) }
    }

    private mutating func offer(_ options: [Option]) {
        for option in options {
            let names = dialect == .classic || !current.hasPrefix("--") ? [option.name] : [option.name] + option.aliases
            for name in names { offer(name, option.summary) }
        }
    }

    private mutating func offer(_ option: Option, after operands: [String]) {
        switch option.argument?.kind {
        case .choice(let choice): for word in choice.words { offer(word) }
        case .domain: offerDomains()
        case .file, .program: answer.files = .files
        case .folder: answer.files = .folders
        case .store:
            for store in Option.stores { offer(store.name) }
            answer.files = .folders
        case .version: offerVersions(of: operands.first ?? "")
        case .versions: offerVersions(of: operands.first ?? "", after: "..")
        case .key, .word, .number, nil: break
        }
    }

    private mutating func offer(_ kind: Operand.Kind, after operands: [String]) {
        switch kind {
        case .domain: offerDomains()
        case .domainOrFile:
            offerDomains()
            answer.files = .files
        case .declaredDomain:
            for domain in source.declaredDomains().sorted(by: { $0.isBefore($1) }) { offer(domain) }
            answer.files = .files
        case .compared:
            offerDomains()
            offerLayersAndVersions()
            answer.files = .files
        case .version: offerVersions(of: operands.first ?? "")
        case .key: offerKeys(of: operands.first ?? "", declared: false)
        case .declaredKey: offerKeys(of: operands.first ?? "", declared: true)
        case .query: offerQueries(of: operands.first ?? "")
        case .file: answer.files = .files
        case .folder: answer.files = .folders
        case .choice(let choice): for word in choice.words { offer(word) }
        case .verb:
            offer(operands.reduce(verbs) { known, word in Verb.named(word, among: known)?.parts ?? [] })
            if operands.isEmpty { for topic in HelpTopic.all { offer(topic.name) } }
        case .value, .typedValue: offerValues(after: operands)
        case .word: break
        }
    }
}

extension Operand.Kind {
    /// An arbitrary but stable order.
    fileprivate static func isBefore(_ a: Self, _ b: Self) -> Bool { "\(a)" < "\(b)" }
}

// Completions from the store and the schemas: domains, keys and values.
extension Completion {
    mutating func offerDomains() {
        if current.hasPrefix("-") { offer(DomainArgument.globalFlags[0], "the settings for all programs") }
        if DomainArgument.isPath(current) { answer.files = .files }
        for domain in source.domains().sorted(by: { $0.isBefore($1) }) { offer(domain) }
    }

    /// Offers the layers and versions of the domain before the sign: `DOMAIN@LAYER`, `DOMAIN@VERSION`.
    mutating func offerLayersAndVersions() {
        guard let sign = current.unicodeScalars.lastIndex(of: "@") else { return }
        let domain = String(current[..<sign])
        guard source.domains().contains(exactly: domain) else { return }
        for layer in Layer.writable.map(\.name) + ["effective"] { offer("\(domain)@\(layer)") }
        for (number, meaning) in source.versions(domain) { offer("\(domain)@\(number)", meaning) }
    }

    /// Offers the numbers of the kept versions.
    ///
    /// - Parameter separator: The text in the current word before the second number of a range.
    mutating func offerVersions(of domain: String, after separator: String? = nil) {
        let start = separator.flatMap { current.firstRange(of: $0)?.upperBound } ?? current.startIndex
        let head = String(current[..<start])
        for (number, meaning) in source.versions(domain) { offer("\(head)\(number)", meaning) }
    }

    /// Offers keys of the domain, or after a colon the entries of the container at the path.
    ///
    /// - Parameter declared: Whether to include keys that a schema declares but that are not set.
    mutating func offerKeys(of domain: String, declared: Bool) {
        let value = source.domain(domain)
        if let value, current.hasPrefix(":"), let typed = try? EntryPath(parsing: current) {
            return offerEntries(of: value, at: Array(typed.components.dropLast()))
        }
        var meanings: [Name: String] = [:]
        for setting in declared ? source.schema(domain)?.storedSettings ?? [] : [] where !setting.isTransient {
            meanings[Name(setting.key)] = setting.title ?? setting.rule.type.rawValue
        }
        for entry in value ?? [:] { meanings[entry.name] = meanings[entry.name] ?? entry.value.kind.rawValue }
        for key in meanings.keys.sorted() {
            offerKey([EntryPath.Component(key.text)], meanings[key] ?? "", isPath: false)
        }
    }

    /// Offers the queries that the schema of a domain declares.
    mutating func offerQueries(of domain: String) {
        for query in source.schema(domain)?.queries ?? [] { offer("@\(query.name)", query.title ?? "") }
    }

    private mutating func offerEntries(of domain: PropertyList.Dictionary, at path: [EntryPath.Component]) {
        switch PropertyList.dictionary(domain)[EntryPath(path)] {
        case .dictionary(let entries)?:
            for entry in entries.sortedEntries {
                offerKey(path + [EntryPath.Component(entry.key)], entry.value.kind.rawValue, isPath: true)
            }
        case .array(let elements)?:
            for (index, element) in elements.enumerated() {
                offerKey(path + [EntryPath.Component(index)], element.kind.rawValue, isPath: true)
            }
        default: break
        }
    }

    private mutating func offerKey(_ path: [EntryPath.Component], _ meaning: String, isPath: Bool) {
        guard let key = try? KeyArgument(EntryPath(path)), let argument = key.argument else { return }
        offer(isPath ? key.path.description : argument, meaning)
    }

    /// Offers the values that the key's schema allows. If there are none, or a dash was typed, offers the type flags.
    mutating func offerValues(after operands: [String]) {
        let rule = operands.dropFirst().first.flatMap { try? KeyArgument($0) }.flatMap { key in
            source.schema(operands.first ?? "")?.rule(at: key.path)
        }
        let words = rule?.words ?? []
        for word in words { offer(word) }
        switch rule?.kind {
        case .file, .path: answer.files = .files
        case .folder: answer.files = .folders
        default: break
        }
        guard operands.count == 2, words.isEmpty || current.hasPrefix("-") else { return }
        let isShort = current.hasPrefix("-") && !current.hasPrefix("--")
        for flag in dialect == .modern ? TypeFlag.allCases : TypeFlag.ofBoth {
            offer(isShort ? flag.rawValue : dialect.spelling(flag), flag.argument.meaning)
        }
    }
}

extension ValueRule {
    /// All valid values as text; empty if their number is unlimited.
    fileprivate var words: [String] {
        if !choices.isEmpty { return choices.map(text) }
        return type == .boolean ? ["true", "false"] : []
    }
}

/// The source of domain names and their contents for completions.
package struct CompletionSource: Sendable {
    package let domains: @Sendable () -> [String]
    /// The domains with a schema.
    package let declaredDomains: @Sendable () -> [String]
    /// The values of the domain that an argument names, or nil.
    package let domain: @Sendable (String) -> PropertyList.Dictionary?
    /// The schema of the domain that an argument names, or nil.
    package let schema: @Sendable (String) -> Schema?
    /// The kept versions of the domain that an argument names, newest first, each with a description.
    package let versions: @Sendable (String) -> [(number: Int, meaning: String)]

    package init(
        domains: @escaping @Sendable () -> [String],
        declaredDomains: @escaping @Sendable () -> [String] = { [] },
        domain: @escaping @Sendable (String) -> PropertyList.Dictionary?,
        schema: @escaping @Sendable (String) -> Schema? = { _ in nil },
        versions: @escaping @Sendable (String) -> [(number: Int, meaning: String)] = { _ in [] }
    ) {
        (self.domains, self.declaredDomains) = (domains, declaredDomains)
        self.domain = domain
        self.schema = schema
        self.versions = versions
    }

    /// A source without domains.
    package static let none = CompletionSource(domains: { [] }, domain: { _ in nil })
}

extension CompletionSource {
    /// Returns the source for the store that the words on the command line select. Errors are not reported, since they
    /// would disturb the user's typing.
    static func live(_ words: [String], _ context: CommandContext) -> CompletionSource {
        // Created on demand: options and verbs need no store.
        let access: @Sendable () -> StoreAccess? = {
            let invocation = Invocation(
                verb: .complete, path: [], operands: [], options: storeOptions(words.dropLast()))
            return try? StoreAccess(invocation, context)
        }
        return CompletionSource(
            domains: { ((try? access()?.names()) ?? []).map(\.text) },
            declaredDomains: {
                guard let access = access() else { return [] }
                return [StorePolicy.domain.text] + access.schemas.places.domains(on: access.system).map(\.text)
            },
            domain: { word in
                guard let access = access(), let domain = try? access.domain(word) else { return nil }
                if let contents = try? domain.file.contents(on: access.system), contents.exists {
                    return contents.values.withoutHidden
                }
                return try? access.quietlyEffectiveValues(domain)
            },
            schema: { word in
                guard let access = access(), let domain = try? access.domain(word) else { return nil }
                return access.schemaInForce(domain)?.schema
            },
            versions: { word in
                guard let access = access(), let domain = try? access.domain(word),
                    let history = try? access.history(of: domain)
                else { return [] }
                return HistoryListing(history).entries.map { ($0.version.sequence, $0.occasion) }
            })
    }

    /// Returns the options among the words that select store, host and layer.
    private static func storeOptions(_ words: ArraySlice<String>) -> [(option: Option, word: String)] {
        var options: [(Option, String)] = []
        var rest = words
        while let word = rest.popFirst() {
            let (name, attached) = word.splitAtEqualsSign
            guard let option = [Option.store, .host, .currentHost, .layer].first(where: { $0.isNamed(name) }) else {
                continue
            }
            guard option.argument != nil else {
                options.append((option, ""))
                continue
            }
            if let argument = attached ?? rest.popFirst() { options.append((option, argument)) }
        }
        return options
    }
}

extension StoreAccess {
    /// Returns the values in force of a domain without a file in its own layer. Damage is not reported.
    fileprivate func quietlyEffectiveValues(_ domain: AddressedDomain) throws -> PropertyList.Dictionary? {
        let files = try files(domain).filter { $0.layer.isOfAdministrator && !$0.layer.isGlobal }
        let layers = try layers(in: files) { (try? $0.contents(on: system)) ?? .absent }
        guard !layers.isEmpty else { return nil }
        return LayerStack(layers, nil).valuesInForce().entries.withoutHidden
    }
}
