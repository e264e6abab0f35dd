internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let write = Verb(
        "write", .classic, "set a value, or replace a whole domain",
        details: [
            "A value without a type is a string, unless one of the characters \" ( ) [ ] { } < > in it makes it the text of a property list. With a schema it is of the type that the schema declares.",
            "DICTIONARY, the text of a property list, replaces all that the domain holds.",
        ],
        table: Table(
            title: "Types",
            rows: TypeFlag.allCases.map { ("\($0.rawValue) \($0.argument.name)", $0.argument.meaning) }),
        options: [.layer, .force, .ifCurrent, .ifAbsent],
        forms: [[.domain, Operand("DICTIONARY", .word)], [.domain, .key, Operand("VALUE", .value, .oneOrMore)]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout, .different]
    ) { invocation, surroundings in
        let access = try StoreAccess(invocation, surroundings)
        let domain = try access.domain(invocation[operand: "DOMAIN"] ?? "")
        let isForced = invocation.has(.force)
        let condition = try WriteCondition(invocation)
        if let text = invocation[operand: "DICTIONARY"] {
            let replacement = try PropertyList.Dictionary(replacement: text)
            let adapted = access.adapted(replacement, in: domain)
            try adapted.checkNoneHidden()
            if !isForced { try access.checkNotForced(adapted.keys, in: domain) }
            try access.change(domain, isForced: isForced) { values in
                let visible = values.withoutHidden
                try condition.check(visible.isEmpty ? nil : .dictionary(visible), domain.word)
                values.replaceVisible(with: adapted)
            }
            return .done
        }
        let word = invocation[operand: "KEY"] ?? ""
        let key = try access.present(KeyArgument(forWriting: word), in: domain)
        let request = try ValueArguments.request(invocation.words("VALUE"), in: surroundings)
        if !isForced { try access.checkNotForced([key.key], in: domain) }
        let rule = access.schemaInForce(domain)?.schema.rule(at: key.path)
        let now = surroundings.clock.wall.date
        let outcome = try access.change(domain, isForced: isForced) { values in
            var root = PropertyList.dictionary(values)
            let former = root[key.path]
            try condition.check(former, key.spelling)
            try root.set(try request.value(replacing: former, key: word, rule: rule, now: now), at: key.path)
            values = root.dictionaryValue ?? values
        }
        if rule == nil, let outcome,
            let notice = request.notice(
                replacing: PropertyList.dictionary(outcome.before.values)[key.path],
                with: PropertyList.dictionary(outcome.after.values)[key.path], key: word)
        {
            try surroundings.note(notice)
        }
        return .done
    }
}

/// What must hold of the present value for a new one to be written.
private enum WriteCondition: Sendable {
    case none, absent
    case current(PropertyList)

    init(_ invocation: Invocation) throws {
        if invocation.has(.ifAbsent) {
            self = .absent
        } else if let text = invocation[.ifCurrent] {
            do {
                self = .current(try PropertyList(parsing: text, as: .json, options: .ofDomains))
            } catch {
                throw CommandFailure(.invalidValue, "--if-current \(text.onOneLine): \(error)")
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
        let found = value == nil ? "there is no value now" : "the value is another"
        throw CommandFailure(.different, "\(name.onOneLine): \(found); nothing was changed")
    }
}

extension PropertyList.Dictionary {
    /// Refuses keys that are not the user's.
    func checkNoneHidden() throws(StoreFailure) {
        for entry in self where entry.key.isHidden { throw StoreFailure(.ownKey(entry.key), "") }
    }

    /// Makes the values those given, but for the store's own keys.
    mutating func replaceVisible(with values: PropertyList.Dictionary) {
        var new = values
        for entry in self where entry.key.isHidden { new[entry.key] = entry.value }
        self = new
    }
}

extension Option {
    package static let ifCurrent = Option(
        "--if-current", Argument("JSON", .word), "write only if this is the value now, in lossless JSON")
    package static let ifAbsent = Option("--if-absent", "write only if there is no value now")
}
