internal import Preferences
internal import PropertyLists
internal import SettingsSchema

// Completions from the store and the schemas: domains, keys and values.
extension Completion {
    mutating func offerDomains() {
        if current.hasPrefix("-") { offer(DomainArgument.globalFlags[0], "the settings for all programs") }
        if DomainArgument.isPath(current) { answer.files = .files }
        for domain in source.domains().sorted() { offer(domain) }
    }

    /// Offers the layers of the domain before the sign: `DOMAIN@LAYER`.
    mutating func offerLayers() {
        guard let sign = current.unicodeScalars.lastIndex(of: "@") else { return }
        let domain = String(current[..<sign])
        guard source.domains().contains(domain) else { return }
        for layer in Layer.writable.map(\.name) + ["effective"] { offer("\(domain)@\(layer)") }
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
        var meanings: [String: String] = [:]
        for setting in declared ? source.schema(domain)?.allSettings ?? [] : [] where !setting.isTransient {
            meanings[setting.key] = setting.title ?? setting.rule.type.rawValue
        }
        for entry in value ?? [:] { meanings[entry.key] = meanings[entry.key] ?? entry.value.kind.rawValue }
        for key in meanings.keys.sorted(by: { $0.isBefore($1) }) {
            offerKey([EntryPath.Component(key)], meanings[key] ?? "", isPath: false)
        }
    }

    /// Offers the requests that the schema of a domain declares.
    mutating func offerRequests(of domain: String) {
        for query in source.schema(domain)?.queries ?? [] { offer("@\(query.name)", query.title ?? "") }
    }

    private mutating func offerEntries(of domain: PropertyList.Dictionary, at way: [EntryPath.Component]) {
        switch PropertyList.dictionary(domain)[EntryPath(way)] {
        case .dictionary(let entries)?:
            for entry in entries.sortedEntries {
                offerKey(way + [EntryPath.Component(entry.key)], entry.value.kind.rawValue, isPath: true)
            }
        case .array(let elements)?:
            for (index, element) in elements.enumerated() {
                offerKey(way + [EntryPath.Component(index)], element.kind.rawValue, isPath: true)
            }
        default: break
        }
    }

    private mutating func offerKey(_ way: [EntryPath.Component], _ meaning: String, isPath: Bool) {
        guard let key = try? KeyArgument(EntryPath(way)), let argument = key.argument else { return }
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
        for flag in TypeFlag.allCases {
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
