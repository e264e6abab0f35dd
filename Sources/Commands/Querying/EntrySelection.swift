internal import Preferences
internal import PropertyLists
internal import Queries

/// The entries that `--where` selects.
///
/// The last `*` of an entry path stands for the entries that satisfy the predicate, and an earlier one for every entry.
/// The rest of the path leads from such an entry to the selected one.
struct EntrySelection: Sendable {
    private let word: String
    private let pattern: EntryPattern
    /// The components before the last `*` and it, and those after it.
    private let records: EntryPattern
    private let rest: [EntryPath.Component]
    private let query: Query
    /// Whether entries that do not exist are selected too.
    let creates: Bool
    /// Whether the verb can create entries.
    private let mayCreate: Bool

    /// Parses the options; nil if there is no `--where`.
    ///
    /// - Parameter word: The entry path.
    init?(_ word: String?, _ invocation: Invocation) throws {
        guard let predicate = invocation[.predicate] else {
            guard let useless = [Option.create, .bind].first(where: invocation.has) else { return nil }
            throw CommandFailure(.usage, "\(useless.name) is for \(Option.predicate.name)")
        }
        guard let word, let pattern = try EntryPattern(argument: word),
            let last = pattern.components.lastIndex(of: .every)
        else {
            throw CommandFailure(
                .usage, "\(Option.predicate.name) requires an entry path with *, such as :list:*:name")
        }
        query = try Query(where: predicate).bound(to: QueryRequest.values(invocation.all(.bind)))
        if let missing = query.predicate.variables.first {
            throw CommandFailure(
                .invalidValue,
                "no value for $\(missing.onOneLine); add \(Option.bind.name) \(missing.onOneLine)=VALUE")
        }
        mayCreate = invocation.verb.options.contains(.create)
        (self.word, self.pattern, creates) = (word, pattern, invocation.has(.create))
        records = EntryPattern(Array(pattern.components[...last]))
        rest = pattern.components[(last + 1)...].compactMap {
            if case .one(let component) = $0 { component } else { nil }
        }
    }

    /// Returns the paths of the selected entries in a value of the domain, in the order of the value.
    ///
    /// - Parameter creates: Whether entries that do not exist are selected too.
    func paths(
        in root: PropertyList, of domain: AddressedDomain, _ access: StoreAccess, creates: Bool
    ) throws -> [EntryPath] {
        let masking = Masking(access.secrecy(domain))
        let fields = query.predicate.fields
        var selection = Selection(query)
        var paths: [EntryPath] = []
        try root.forEachRecord(matching: records) { record in
            let path = record.path
            // Sensitive values are NULL in a predicate, as in a query.
            guard !(path.components.first?.text.isHidden ?? false), masking.isEmpty || !masking.hides(path),
                let shown = masking.revealed(record.value, at: path)
            else { return }
            // An integer that a real would round is not compared.
            for name in fields ?? [] {
                let component = EntryPath.Component(name.text)
                guard let value = shown[[component]] else { continue }
                try access.checkExact(value, at: EntryPath(path.components + [component]), in: domain)
            }
            if fields == nil { try access.checkExact(shown, at: path, in: domain) }
            guard try selection.matches(record.replacing(shown.asQueried)) else { return }
            let entry = EntryPath(path.components + rest)
            if creates || root[entry] != nil { paths.append(root.counted(entry)) }
        }
        return paths
    }

    /// Returns the path in `target` at which its components `*` are those of an entry that this pattern matches.
    func path(_ entry: EntryPath, in target: EntryPattern) -> EntryPath {
        var matched = zip(pattern.components, entry.components).filter { $0.0 == .every }.map(\.1)[...]
        return EntryPath(
            target.components.compactMap { component in
                if case .one(let component) = component { component } else { matched.popFirst() }
            })
    }

    /// Throws if another pattern does not have as many components `*` as this one.
    func checkTarget(_ target: EntryPattern, _ word: String) throws(CommandFailure) {
        func count(_ pattern: EntryPattern) -> Int { pattern.components.count { $0 == .every } }
        guard count(target) != count(pattern) else { return }
        throw CommandFailure(
            .usage,
            "\(word.onOneLine): needs as many components * as \(self.word.onOneLine), which has \(count(pattern))")
    }

    /// The failure if no entry is selected.
    func failure(in name: String) -> CommandFailure {
        let end =
            rest.isEmpty || creates || !mayCreate ? "" : "; \(Option.create.name) creates entries that do not exist"
        return CommandFailure(
            .notFound, "\(name.onOneLine): no entry \(word.onOneLine) for which \(query.predicate.text.onOneLine)\(end)"
        )
    }
}

extension EntryPattern {
    /// Parses the argument of a command; nil if it is not an entry path.
    init?(argument: String) throws(KeyFailure) {
        guard argument.utf8.first == UInt8(ascii: ":") else { return nil }
        do {
            self = try EntryPattern(parsing: argument)
        } catch {
            throw KeyFailure(.notAPath(error.description), argument: argument)
        }
    }
}

extension PropertyList {
    /// Removes entries. Their paths count each index from the first element.
    mutating func remove(at paths: [EntryPath]) throws(EntryPath.Failure) {
        let groups = Swift.Dictionary(grouping: paths) { EntryPath($0.components.dropLast()) }
        for (container, paths) in groups {
            let removed = Set(paths.compactMap { $0.components.last })
            try edit(container) { (value: inout PropertyList?) throws(EntryPath.Failure) in
                switch value {
                case .array(let elements):
                    let kept = elements.indices.filter { !removed.contains(EntryPath.Component($0)) }
                    value = .array(kept.map { elements[$0] })
                case .dictionary(var entries):
                    value = nil
                    entries.removeAll { removed.contains(EntryPath.Component($0.key)) }
                    value = .dictionary(entries)
                default: break
                }
            }
        }
    }
}

extension Option {
    package static let predicate = Option(
        "--where", Argument("PREDICATE", .word), "change the entries of a path with * that satisfy this")
    package static let create = Option("--create", "with --where, create the entries that do not exist")
    /// The options that select entries.
    static let ofSelection = [predicate, create, bind]
}
