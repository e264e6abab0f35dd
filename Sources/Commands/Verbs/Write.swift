internal import Platform
internal import Preferences
internal import PropertyLists
internal import SettingsSchema
internal import Synchronization

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

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
            rows: TypeFlag.ofBoth.map { ($0.usage, $0.argument.meaning) },
            modernRows: TypeFlag.allCases.filter(\.isOnlyModern).map { ($0.usage, $0.argument.meaning) }),
        options: [
            .layer, .force, .rewrite, .insert, .ifCurrent, .ifAbsent, .printed, .dryRun, .predicate, .create, .bind,
            .from, .newDomain, .newHost,
        ],
        forms: [
            [.domain, Operand("DICTIONARY", .value)], [.domain, .declaredKey, Operand("VALUE", .value, .oneOrMore)],
        ],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout, .different]
    ) { invocation, context in
        let revision = try Revision(invocation, context)
        let access = revision.access
        let key = invocation[operand: Operand.key.name]
        let selection = try EntrySelection(key, invocation)
        let request = try invocation.written(context)
        let inserts = invocation.has(.insert)
        if inserts, request.isOfStoredValue {
            throw CommandFailure(.usage, "write: --insert requires a new value, not --add or --toggle")
        }
        if inserts, key == nil { throw CommandFailure(.usage, "write: --insert requires KEY, such as :list:0") }
        if selection != nil, let option = [Option.insert, .printed].first(where: invocation.has) {
            throw CommandFailure(.usage, "write: \(option.name) is for one entry; omit \(Option.predicate.name)")
        }
        try revision.checkSingle(.printed, invocation)
        let condition = try WriteCondition(invocation)
        let notes = UniqueNotes()
        let writings = try revision.domains.map { domain in
            try access.checkNewDomain(domain, invocation)
            let printed = invocation.has(.printed) ? Rendering(invocation) : nil
            if printed != nil { try access.checkSecrecy(of: domain, "--print is refused; nothing was changed") }
            return try Writing(
                access: access, domain: domain, condition: condition, isForced: invocation.has(.force),
                inserts: inserts, printed: printed, request: request, word: key, notes: notes)
        }
        let selected = SelectedEntries()
        let edits = try writings.map { writing in
            if let selection { return try writing.setAll(selection, noting: selected) }
            if writing.key != nil { return try writing.set() }
            if case .value(.dictionary(let values)) = request { return try writing.replaceAll(with: values) }
            if case .value(let root) = request, writing.domain.name == nil {
                return try writing.replaceRoot(by: root)
            }
            throw CommandFailure(
                .invalidValue,
                "\(writing.domain.word.onOneLine): only a dictionary can replace all values; name a key to set one")
        }
        return try revision.carryOut(edits) {
            guard let selection else { return nil }
            guard selected.count > 0 else { throw selection.failure(in: revision.name) }
            return selected.count
        } report: { index, outcome in
            try writings[index].report(outcome, isSelection: selection != nil)
        }
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
    let request: WriteRequest
    /// The key as given on the command line; nil for the whole domain.
    let word: String?
    /// The key that is written, under its current name.
    let key: KeyArgument?
    private let notes: UniqueNotes

    init(
        access: StoreAccess, domain: AddressedDomain, condition: WriteCondition, isForced: Bool, inserts: Bool,
        printed: Rendering?, request: WriteRequest, word: String?, notes: UniqueNotes
    ) throws {
        (self.access, self.domain, self.condition) = (access, domain, condition)
        (self.isForced, self.inserts, self.printed, self.request) = (isForced, inserts, printed, request)
        (self.word, self.notes) = (word, notes)
        key = try word.map {
            try access.currentKey(for: KeyArgument(forWriting: $0, inFile: domain.name == nil), in: domain)
        }
    }

    /// Returns the change that replaces the whole domain by a dictionary.
    func replaceAll(with values: PropertyList.Dictionary) throws -> DomainEdit {
        let adapted = access.adapted(values, in: domain)
        try adapted.checkNoneHidden()
        if !isForced { try access.checkNotForced(adapted.keys, in: domain) }
        return try access.edit(domain, isForced: isForced) { draft in
            let visible = draft.values.withoutHidden
            try condition.check(visible.isEmpty ? nil : .dictionary(visible), domain.word)
            draft.values.replaceVisible(with: adapted)
            draft.createsFile = true
        }
    }

    /// Returns the change that replaces the root of a file by a value that is not a dictionary.
    func replaceRoot(by root: PropertyList) throws -> DomainEdit {
        try access.edit(domain, isForced: isForced) { draft in
            try condition.check(draft.exists ? draft.root : nil, domain.word)
            draft.root = root
            draft.createsFile = true
        }
    }

    /// Returns the change that sets one value.
    func set() throws -> DomainEdit {
        guard let key else { return DomainEdit(domain.file) { _ in } }
        if !isForced { try access.checkNotForced([access.storedKey(of: key, in: domain)], in: domain) }
        let compared = try condition.isNone ? nil : access.valueInForce(of: key, in: domain)
        let base = try request.isOfStoredValue ? access.valueToChange(of: key, in: domain) : nil
        let rule = access.schemaInForce(domain)?.schema.rule(at: key.path)
        let now = access.context.clock.wall.date
        return try access.edit(domain, isForced: isForced) { draft in
            var root = draft.root
            let present = root[key.path]
            draft.step = inserts ? .insertion(root.counted(key.path)) : nil
            if let compared { try condition.check(compared(root), key.spelling) }
            try root.checkEmptyKeys(of: key.path)
            let former = try inserts ? nil : base.map { try $0(root) } ?? present
            let value = try value(replacing: former, at: key.path, word ?? key.spelling, rule, now)
            if inserts { try root.insert(value, at: key) } else { try root.set(value, at: key.path) }
            draft.root = root
        }
    }

    /// Returns the change that sets all selected entries.
    func setAll(_ selection: EntrySelection, noting selected: SelectedEntries) throws -> DomainEdit {
        try access.checkSecrecy(of: domain, "no entries are selected")
        let schema = access.schemaInForce(domain)?.schema
        let now = access.context.clock.wall.date
        return try access.edit(domain, isForced: isForced) { draft in
            var root = draft.root
            let paths = try selection.paths(in: root, of: domain, access, creates: selection.creates)
            selected.note(paths.count, in: domain.file)
            guard !paths.isEmpty else {
                draft.rewrites = false
                return
            }
            let keys = try paths.map { try KeyArgument($0) }
            if !isForced { try access.checkNotForced(keys.map { access.storedKey(of: $0, in: domain) }, in: domain) }
            for key in keys {
                let present = root[key.path]
                try condition.check(present, key.spelling)
                try root.checkEmptyKeys(of: key.path)
                let rule = schema?.rule(at: key.path)
                try root.set(value(replacing: present, at: key.path, key.spelling, rule, now), at: key.path)
            }
            draft.root = root
        }
    }

    /// Returns the new value of an entry.
    private func value(
        replacing former: PropertyList?, at path: EntryPath, _ word: String, _ rule: ValueRule?, _ now: Date
    ) throws -> PropertyList {
        if request.isOfStoredValue, let former { try access.checkExact(former, at: path, in: domain) }
        let typed = try access.isInexactInteger(former, at: path, of: domain) ? .integer(0) : former
        return try request.value(replacing: typed, key: word, rule: rule, now: now)
    }

    // MARK: Output

    /// Prints the new value, and notes on it, after the domain was written.
    func report(_ outcome: CommittedDomain, isSelection: Bool) throws {
        noteFileOfThisName(outcome)
        if isSelection { return }
        guard let key, let word else {
            let isDictionary = if case .value(.dictionary) = request { true } else { false }
            return try printNewValue(
                isDictionary ? .dictionary(outcome.after.values.withoutHidden) : outcome.after.root, under: nil)
        }
        // The index after the last element, or the end of an array, names the element that was added.
        let path = outcome.before.root.counted(key.path)
        let end = EntryPath(path.components.dropLast() + [EntryPath.Component(-1)])
        try printNewValue(outcome.after.root[path] ?? outcome.after.root[end], under: key)
        noteValue(outcome, key, word)
        access.noteValueBefore(domain, at: key, isForced: isForced)
    }

    /// Prints the value in the layer that was written, if that is requested, with sensitive values masked.
    private func printNewValue(_ value: PropertyList?, under key: KeyArgument?) throws {
        guard let printed, let value else { return }
        let bytes = try printed.bytes(of: value, under: key, access.masking(domain))
        try access.printing(domain) { try access.context.print(bytes, of: value, printed) }
    }

    /// Notes that a new domain has the name of a file in the working directory, which may be meant.
    private func noteFileOfThisName(_ outcome: CommittedDomain) {
        guard access.context.dialect == .modern, domain.name != nil, outcome.before.exists == false,
            access.context.hasFile(named: domain.word)
        else { return }
        let name = domain.word.onOneLine
        access.context.note("stored in a new domain \(name); the file ./\(name) is unchanged")
    }

    /// Notes that a new entry got a text that looks like a value of another type. A domain is often written by scripts,
    /// so the note is for a terminal only.
    private func noteText(_ key: KeyArgument, _ outcome: CommittedDomain) {
        let isSeen = domain.name == nil || access.context.terminal.isTerminal(.errors)
        guard isSeen, outcome.after.format?.hasTypes ?? false, let note = request.noteOnText,
            inserts || outcome.before.root[key.path] == nil
        else { return }
        notes.print(note, access.context)
    }

    /// Notes a key that is probably not meant, and a change of type if none was requested.
    private func noteValue(_ outcome: CommittedDomain, _ key: KeyArgument, _ word: String) {
        let schema = access.schemaInForce(domain)?.schema
        guard schema?.rule(at: key.path)?.isOpen ?? true else { return }
        noteText(key, outcome)
        if inserts { return }
        if access.context.dialect == .modern, let schema, !domain.file.isAdopted,
            schema.anyDeclaration(of: key.key) == nil
        {
            let own = schema.ownSettings.filter { $0.key.hasSameBytes(as: key.key) }.map { $0.storedKey.onOneLine }
            let hint =
                own.isEmpty
                ? Suggestion.hint(key.key, among: schema.storedSettings.map(\.key))
                : "; it declares \(own.joined(separator: " and "))"
            notes.print(
                "\(domain.word.onOneLine): stored \(key.key.onOneLine), which its schema does not declare\(hint)",
                access.context)
        }
        let (before, after) = (outcome.before.root, outcome.after.root)
        if access.context.dialect == .modern, before[[.init(key.key)]] == nil, let entry = key.entry(in: before) {
            notes.print(
                "\(word.onOneLine): stored as a new key; to change the existing entry, write \(entry)".onOneLine,
                access.context)
        }
        let notice = request.notice(
            replacing: before[key.path], with: after[key.path], key: word)
        if let notice { notes.print(notice, access.context) }
    }
}

/// Notes that several files can cause, each printed once.
private final class UniqueNotes: Sendable {
    private let printed = Mutex<Set<String>>([])

    func print(_ line: String, _ context: CommandContext) {
        if printed.withLock({ $0.insert(line).inserted }) { context.note(line) }
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
