internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let write = Verb(
        "write", .classic, "set a value, or replace a whole domain",
        details: [
            "A value without a type is a string, unless one of the characters \" ( ) [ ] { } < > in it makes it a property list. With a schema, it has the type that the schema declares.",
            "DICTIONARY, a property list, replaces all values of the domain.",
        ],
        table: Table(
            title: "Types",
            rows: TypeFlag.allCases.map { ("\($0.rawValue) \($0.argument.name)", $0.argument.meaning) }),
        options: [.layer, .force, .ifCurrent, .ifAbsent],
        forms: [
            [.domain, Operand("DICTIONARY", .word)], [.domain, .declaredKey, Operand("VALUE", .value, .oneOrMore)],
        ],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout, .different]
    ) { invocation, context in
        let (access, domain) = try StoreAccess.ofDomain(invocation, context)
        let writing = Writing(
            access: access, domain: domain, condition: try WriteCondition(invocation), isForced: invocation.has(.force))
        if let text = invocation[operand: "DICTIONARY"] {
            try writing.replaceAll(with: text)
        } else {
            try writing.set(invocation[operand: Operand.key.name] ?? "", to: invocation.words("VALUE"))
        }
        return .done
    }
}

/// The change that `write` makes to a domain.
private struct Writing: Sendable {
    let access: StoreAccess
    let domain: AddressedDomain
    let condition: WriteCondition
    /// Whether to ignore the schema's rules and the values that the administrator forces.
    let isForced: Bool

    /// Replaces the whole domain by a dictionary.
    func replaceAll(with text: String) throws {
        let adapted = access.adapted(try PropertyList.Dictionary(replacement: text), in: domain)
        try adapted.checkNoneHidden()
        if !isForced { try access.checkNotForced(adapted.keys, in: domain) }
        try access.change(domain, isForced: isForced) { values in
            let visible = values.withoutHidden
            try condition.check(visible.isEmpty ? nil : .dictionary(visible), domain.word)
            values.replaceVisible(with: adapted)
        }
    }

    /// Sets one value. Reports a change of type if none was requested.
    func set(_ word: String, to words: [String]) throws {
        let key = try access.present(KeyArgument(forWriting: word), in: domain)
        let request = try ValueArguments.request(words, in: access.context)
        if !isForced { try access.checkNotForced([key.key], in: domain) }
        let rule = access.schemaInForce(domain)?.schema.rule(at: key.path)
        let now = access.context.clock.wall.date
        let outcome = try access.change(domain, isForced: isForced) { values in
            var root = PropertyList.dictionary(values)
            let former = root[key.path]
            try condition.check(former, key.spelling)
            try root.checkEnd(of: key.path)
            try root.set(try request.value(replacing: former, key: word, rule: rule, now: now), at: key.path)
            values = root.dictionaryValue ?? values
        }
        guard rule == nil, let outcome else { return }
        let (before, after) = (outcome.before.values, outcome.after.values)
        let notice = request.notice(
            replacing: PropertyList.dictionary(before)[key.path], with: PropertyList.dictionary(after)[key.path],
            key: word)
        if let notice { try access.context.note(notice) }
    }
}

/// The condition on the current value for a write.
private enum WriteCondition: Sendable {
    case none, absent
    case current(PropertyList)

    init(_ invocation: Invocation) throws {
        if invocation.has(.ifAbsent) {
            self = .absent
        } else if let text = invocation[.ifCurrent] {
            do throws(DecodingFailure) {
                self = .current(try LosslessJSON.value(of: text))
            } catch {
                let damage = InvalidInput(name: Option.ifCurrent.name, bytes: Array(text.utf8), failure: error)
                throw CommandFailure(.invalidValue, damage.lines.joined())
            }
        } else {
            self = .none
        }
    }

    func check(_ value: PropertyList?, _ name: String) throws(CommandFailure) {
        switch self {
        case .none: return
        case .absent: if value == nil { return }
        case .current(let expected): if value == expected { return }
        }
        let isAbsence = if case .absent = self { true } else { false }
        let found =
            isAbsence ? "there is already a value" : value == nil ? "there is no value" : "the value differs"
        throw CommandFailure(.different, "\(name.onOneLine): \(found); nothing was changed")
    }
}

extension PropertyList.Dictionary {
    /// Throws if a key is reserved for the store.
    func checkNoneHidden() throws(StoreFailure) {
        for entry in self where entry.key.isHidden { throw StoreFailure(.ownKey(entry.key), "") }
    }

    /// Replaces all values but the store's own keys.
    mutating func replaceVisible(with values: PropertyList.Dictionary) {
        var new = values
        for entry in self where entry.key.isHidden { new[entry.key] = entry.value }
        self = new
    }
}

extension Option {
    package static let ifCurrent = Option(
        "--if-current", Argument("JSON", .word), "write only if this is the current value, in lossless JSON")
    package static let ifAbsent = Option("--if-absent", "write only if there is no value")
}
