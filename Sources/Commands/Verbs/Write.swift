internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let write = Verb(
        "write", .classic, "set a value, or replace a whole domain",
        details: [
            "VALUE is literal text. It gets the type that the domain's schema declares, or else the type of the stored value if the text represents one; a new key is a string. Text does not replace data, an array or a dictionary.",
            "--add and --toggle change the value in the layer that is written or, if it has none, the one in force, such as a schema's default. Processes that do so at the same time lose no change.",
            "After a type, the next word is the value, whatever it is; after --array and --dict and their -add forms, all words are, and options come before them. The words after -- are literal. Each type can be written with one dash. Without KEY, a dictionary replaces all values of the domain.",
        ],
        classicDetails: [
            "A value without a type is a string, unless one of the characters \" ( ) [ ] { } < > in it makes it a property list. With a schema, it has the type that the schema declares.",
            "DICTIONARY, a property list, replaces all values of the domain.",
        ],
        table: Table(
            title: "Types",
            rows: TypeFlag.ofValues.map { ($0.usage, $0.argument.meaning) },
            modernRows: TypeFlag.allCases.filter(\.isOfStoredValue).map { ($0.usage, $0.argument.meaning) }),
        options: [
            .layer, .force, .rewrite, .insert, .ifCurrent, .ifAbsent, .printed, .from, .newDomain, .newHost,
        ],
        forms: [
            [.domain, Operand("DICTIONARY", .value)], [.domain, .declaredKey, Operand("VALUE", .value, .oneOrMore)],
        ],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout, .different]
    ) { invocation, context in
        let (access, domain) = try StoreAccess.ofDomain(invocation, context)
        try access.checkNewDomain(domain, invocation)
        let writing = Writing(
            access: access, domain: domain, condition: try WriteCondition(invocation), isForced: invocation.has(.force),
            inserts: invocation.has(.insert), printed: invocation.has(.printed) ? Rendering(invocation) : nil)
        if writing.printed != nil { try access.checkSecrecy(of: domain, "--print is refused; nothing was changed") }
        let request = try invocation.written(context)
        if writing.inserts, request.isOfStoredValue {
            throw CommandFailure(.usage, "write: --insert requires a new value, not --add or --toggle")
        }
        if let key = invocation[operand: Operand.key.name] {
            try writing.set(key, to: request)
        } else if writing.inserts {
            throw CommandFailure(.usage, "write: --insert requires KEY, such as :list:0")
        } else if case .value(.dictionary(let values)) = request {
            try writing.replaceAll(with: values)
        } else if case .value(let root) = request, domain.name == nil {
            try writing.replaceRoot(by: root)
        } else {
            throw CommandFailure(
                .invalidValue,
                "\(domain.word.onOneLine): only a dictionary can replace all values; name a key to set one")
        }
        return .done
    }
}

extension Invocation {
    /// The value to write.
    fileprivate func written(_ context: CommandContext) throws -> WriteRequest {
        if let text = self[operand: "DICTIONARY"] {
            return .value(.dictionary(try PropertyList.Dictionary(replacement: text)))
        }
        if typedValue.isEmpty, dialect == .modern { return .text(self[operand: "VALUE"] ?? "") }
        return try ValueArguments.request(typedValue.isEmpty ? words("VALUE") : typedValue, in: context)
    }
}

/// The change that `write` makes to a domain.
private struct Writing: Sendable {
    let access: StoreAccess
    let domain: AddressedDomain
    let condition: WriteCondition
    /// Whether to ignore the schema's rules and the values that the administrator forces.
    let isForced: Bool
    /// Whether to insert the value into an array, before the element at the path.
    let inserts: Bool
    /// How to print the new value; nil not to print it.
    let printed: Rendering?

    /// Replaces the whole domain by a dictionary.
    func replaceAll(with values: PropertyList.Dictionary) throws {
        let adapted = access.adapted(values, in: domain)
        try adapted.checkNoneHidden()
        if !isForced { try access.checkNotForced(adapted.keys, in: domain) }
        let edit = try access.edit(domain, isForced: isForced) { draft in
            let visible = draft.values.withoutHidden
            try condition.check(visible.isEmpty ? nil : .dictionary(visible), domain.word)
            draft.values.replaceVisible(with: adapted)
            draft.createsFile = true
        }
        let outcome = try access.commit([edit]).first
        noteFileOfThisName(outcome)
        try printNewValue(outcome.map { .dictionary($0.after.values.withoutHidden) }, under: nil)
    }

    /// Replaces the root of a file by a value that is not a dictionary.
    func replaceRoot(by root: PropertyList) throws {
        let edit = try access.edit(domain, isForced: isForced) { draft in
            try condition.check(draft.exists ? draft.root : nil, domain.word)
            draft.root = root
            draft.createsFile = true
        }
        try printNewValue(access.commit([edit]).first?.after.root, under: nil)
    }

    /// Prints the value in the layer that was written, if that is requested, with sensitive values masked.
    private func printNewValue(_ value: PropertyList?, under key: KeyArgument?) throws {
        guard let printed, let value else { return }
        let bytes = try printed.bytes(of: value, under: key, access.masking(domain))
        try access.printing(domain) { try access.context.print(bytes, of: value, printed) }
    }

    /// Notes that a new domain has the name of a file in the working directory, which may be meant.
    private func noteFileOfThisName(_ outcome: CommittedDomain?) {
        guard access.context.dialect == .modern, domain.name != nil, outcome?.before.exists == false,
            access.context.hasFile(named: domain.word)
        else { return }
        let name = domain.word.onOneLine
        access.context.note("stored in a new domain \(name); the file ./\(name) is unchanged")
    }

    /// Notes that a new entry got a text that looks like a value of another type. A domain is often written by scripts,
    /// so the note is for a terminal only.
    private func noteText(_ request: WriteRequest, _ key: KeyArgument, _ outcome: CommittedDomain) {
        let isSeen = domain.name == nil || access.context.terminal.isTerminal(.errors)
        guard isSeen, outcome.after.format?.hasTypes ?? false, let note = request.noteOnText,
            inserts || outcome.before.root[key.path] == nil
        else { return }
        access.context.note(note)
    }

    /// Sets one value. Reports a change of type if none was requested.
    func set(_ word: String, to request: WriteRequest) throws {
        let key = try access.currentKey(for: KeyArgument(forWriting: word, inFile: domain.name == nil), in: domain)
        if !isForced { try access.checkNotForced([access.storedKey(of: key, in: domain)], in: domain) }
        let schema = access.schemaInForce(domain)?.schema
        let rule = schema?.rule(at: key.path)
        let now = access.context.clock.wall.date
        let step: @Sendable (PropertyList) -> EntryStep? = { [inserts] in
            inserts ? .insertion($0.counted(key.path)) : nil
        }
        let compared = try condition.isNone ? nil : access.valueInForce(of: key, in: domain)
        let base = try request.isOfStoredValue ? access.valueToChange(of: key, in: domain) : nil
        let outcome = try access.change(domain, isForced: isForced, by: step) { root in
            let present = root[key.path]
            if let compared { try condition.check(compared(root), key.spelling) }
            try root.checkEnd(of: key.path)
            let former = try inserts ? nil : base.map { try $0(root) } ?? present
            if base != nil, let former { try access.checkExact(former, at: key.path, in: domain) }
            let typed = try access.isInexactInteger(former, at: key.path, of: domain) ? .integer(0) : former
            let value = try request.value(replacing: typed, key: word, rule: rule, now: now)
            if inserts { try root.insert(value, at: key) } else { try root.set(value, at: key.path) }
        }
        noteFileOfThisName(outcome)
        if let outcome {
            // The index after the last element, or the end of an array, names the element that was added.
            let path = outcome.before.root.counted(key.path)
            let end = EntryPath(path.components.dropLast() + [EntryPath.Component(-1)])
            try printNewValue(outcome.after.root[path] ?? outcome.after.root[end], under: key)
        }
        guard rule?.isOpen ?? true, let outcome else { return }
        noteText(request, key, outcome)
        if inserts { return }
        if access.context.dialect == .modern, let schema, schema.anyDeclaration(of: key.key) == nil {
            let own = schema.ownSettings.filter { $0.key.hasSameBytes(as: key.key) }.map { $0.storedKey.onOneLine }
            let hint =
                own.isEmpty
                ? Suggestion.hint(key.key, among: schema.storedSettings.map(\.key))
                : "; its commands store \(own.joined(separator: " and "))"
            access.context.note(
                "\(domain.word.onOneLine): stored \(key.key.onOneLine), which its schema does not declare\(hint)")
        }
        let (before, after) = (outcome.before.root, outcome.after.root)
        if access.context.dialect == .modern, before[[.init(key.key)]] == nil, let entry = key.entry(in: before) {
            access.context.note(
                "\(word.onOneLine): stored as a new key; to change the existing entry, write \(entry)".onOneLine)
        }
        let notice = request.notice(
            replacing: before[key.path], with: after[key.path], key: word)
        if let notice { access.context.note(notice) }
    }
}

/// The condition on the current value for a write.
private enum WriteCondition: Sendable {
    case none, absent
    /// The text that `read --format raw` prints, or lossless JSON.
    case current(String)

    init(_ invocation: Invocation) throws {
        guard !invocation.has(.ifAbsent) || invocation[.ifCurrent] == nil else {
            throw CommandFailure(.usage, "write: only one of --if-current and --if-absent can be given")
        }
        if invocation.has(.ifAbsent) {
            self = .absent
        } else if let text = invocation[.ifCurrent] {
            self = .current(text)
        } else {
            self = .none
        }
    }

    var isNone: Bool { if case .none = self { true } else { false } }

    func check(_ value: PropertyList?, _ name: String) throws(CommandFailure) {
        switch self {
        case .none: return
        case .absent: if value == nil { return }
        case .current(let text): if let value, try Self.value(value, equals: text) { return }
        }
        let isAbsence = if case .absent = self { true } else { false }
        let found =
            isAbsence ? "there is already a value" : value == nil ? "there is no value" : "the value differs"
        throw CommandFailure(.different, "\(name.onOneLine): \(found); nothing was changed")
    }

    /// Returns whether a value has this raw text, or is equal to the value of this JSON. Throws for an array or a
    /// dictionary, which has no raw text, if the text is not JSON.
    private static func value(_ value: PropertyList, equals text: String) throws(CommandFailure) -> Bool {
        let raw = try? Rendering(.raw).bytes(of: value)
        if raw == Array((value.kind == .data ? text : text + "\n").utf8) { return true }
        do throws(DecodingFailure) {
            return try value == LosslessJSON.value(of: text)
        } catch {
            if raw != nil { return false }
            let damage = InvalidInput(name: Option.ifCurrent.name, bytes: Array(text.utf8), failure: error)
            throw CommandFailure(.invalidValue, damage.lines.joined())
        }
    }
}

extension PropertyList {
    /// Inserts a value before the element of an array at the path, or at the end for the index after the last one.
    fileprivate mutating func insert(_ value: PropertyList, at key: KeyArgument) throws {
        let parent = EntryPath(Array(key.path.components.dropLast()))
        guard let index = key.path.components.last?.index, case .array(var elements)? = self[parent] else {
            throw CommandFailure(
                .invalidValue, "\(key.spelling.onOneLine): not a place in an array; --insert needs one, such as :list:0"
            )
        }
        let position = index < 0 ? index + elements.count : index
        guard (0...elements.count).contains(position) else {
            throw CommandFailure(
                .invalidValue,
                "\(key.spelling.onOneLine): the array has \(elements.count) elements; nothing was changed")
        }
        elements.insert(value, at: position)
        try set(.array(elements), at: parent)
    }
}

extension PropertyList.Dictionary {
    /// Throws if a key is reserved for the store.
    func checkNoneHidden() throws(StoreFailure) {
        for entry in self where entry.key.isHidden { throw StoreFailure(.reservedKey(entry.key), "") }
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
        "--if-current", Argument("TEXT", .word),
        "write only if this is the value in force, as read --format raw prints it or in lossless JSON")
    package static let printed = Option("--print", "print the new value")
    package static let insert = Option("--insert", "insert before the element of an array that KEY names")
    package static let ifAbsent = Option("--if-absent", "write only if there is no value in force")
}
