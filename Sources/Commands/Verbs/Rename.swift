internal import Platform
internal import Preferences
internal import PropertyLists
internal import Synchronization

extension Verb {
    package static let rename = Verb(
        "rename", .classic, "move a value to another key, or to another domain",
        details: [
            "A value at NEW is replaced. NEW is a key of the same domain, or with --to of another domain or file; both are changed in one transaction. An index in NEW refers to the array before the move. A sensitive value can be moved only to a sensitive key, unless --force is given.",
            "Without OLD and NEW, all values of the domain are moved to the domain --to, and its file is removed. Its schema, its history and what mirrors know of it stay under the old name.",
        ],
        options: Transfer.options, forms: Transfer.forms, statuses: Transfer.statuses + [.different]
    ) { invocation, context in
        if let whole = try DomainTransfer(invocation, context, moves: true) { return try whole.move() }
        let revision = try Revision(invocation, context)
        guard let pattern = revision.pattern else {
            return try Transfer(invocation, revision.access, revision.domains[0]).move()
        }
        try revision.checkSingle(.target, invocation)
        let selected = SelectedEntries()
        let transfers = try revision.domains.map { try Transfer(invocation, revision.access, $0) }
        let edits = try transfers.map { try $0.movingIfPresent(noting: selected) }
        return try revision.carryOut(edits) {
            guard selected.count == 0 else { return nil }
            throw CommandFailure.noFile(of: pattern, has: transfers[0].old)
        }
    }

    package static let copy = Verb(
        "copy", .new, "copy a value to another key, or to another domain",
        details: [
            "A value at NEW is replaced. NEW is a key of the same domain, or with --to of another domain or file. A sensitive value can be copied only to a sensitive key, unless --force is given.",
            "Without OLD and NEW, all values of the domain are copied to the domain or file --to.",
            "With --where, OLD is a path with *, and each * in NEW stands for the same key or index as the one in OLD.",
        ],
        options: Transfer.options + [.predicate, .create, .bind], forms: Transfer.forms,
        statuses: Transfer.statuses + [.different]
    ) { invocation, context in
        if let whole = try DomainTransfer(invocation, context, moves: false) { return try whole.copy() }
        let (access, source) = try StoreAccess.ofDomain(invocation, context)
        let transfer = try Transfer(invocation, access, source)
        guard let selection = try EntrySelection(invocation[operand: "OLD"], invocation) else {
            return try transfer.copy()
        }
        return try transfer.copy(selection)
    }
}

extension Option {
    package static let target = Option("--to", Argument("DOMAIN", .domain), "the domain or file of NEW")
}

/// A value, and the place to which `rename` moves or `copy` copies it.
private struct Transfer: Sendable {
    static let options: [Option] = [.target, .layer, .force, .rewrite, .dryRun, .from, .newDomain, .newHost]
    static let forms: [[Operand]] = [
        [.domain, Operand("OLD", .key), Operand("NEW", .key)], [.domain, .option(.target)],
    ]
    static let statuses: [ExitStatus] = [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout]

    private let invocation: Invocation
    private let access: StoreAccess
    private let source: AddressedDomain
    private let target: AddressedDomain
    let old: KeyArgument
    private let new: KeyArgument
    private let isForced: Bool
    private let maskings: (source: Masking, target: Masking)

    init(_ invocation: Invocation, _ access: StoreAccess, _ source: AddressedDomain) throws {
        (self.invocation, self.access, self.source) = (invocation, access, source)
        target = try invocation[.target].map(access.named) ?? source
        try access.checkNewDomain(target, invocation)
        old = try access.currentKey(for: KeyArgument(forWriting: invocation[operand: "OLD"] ?? ""), in: source)
        new = try access.currentKey(for: KeyArgument(forWriting: invocation[operand: "NEW"] ?? ""), in: target)
        isForced = invocation.has(.force)
        maskings = (Masking(access.secrecy(source)), Masking(declaredBy: access.secrecy(target)))
    }

    private var isWithinFile: Bool { target.file.path == source.file.path }

    func copy() throws -> ExitStatus {
        if !isForced { try access.checkNotForced([new.key], in: target) }
        guard let value = try access.value(old, in: source) else { throw try missing() }
        if !isForced { try access.checkSecrecy(of: source, "no value is copied") }
        let edit = try access.edit(audited(value), isForced: isForced) { draft in
            var root = draft.root
            // A copy within a domain is of the value that it has under its lock.
            guard let current = isWithinFile ? root[old.path] : value else { throw try missing() }
            try put(current, in: &root)
            draft.root = root
        }
        return try Revision(access, [target], invocation).carryOut([edit])
    }

    /// Copies the selected entries.
    func copy(_ selection: EntrySelection) throws -> ExitStatus {
        let word = invocation[operand: "NEW"] ?? ""
        let places = try EntryPattern(argument: word) ?? EntryPattern([.one(EntryPath.Component(word))])
        try selection.checkTarget(places, word)
        try access.checkSecrecy(of: source, "no entries are selected")
        let read: @Sendable (PropertyList) throws -> [(old: EntryPath, new: EntryPath, value: PropertyList)] = { root in
            try selection.paths(in: root, of: source, access, creates: false).compactMap { path in
                root[path].map { (path, selection.path(path, in: places), $0) }
            }
        }
        let values = try isWithinFile ? nil : read(access.contents(source.file).root)
        let written = self.written(isSensitive: isForced && values?.contains(where: isExposed) ?? false)
        let selected = SelectedEntries()
        let edit = try access.edit(written, isForced: isForced) { draft in
            var root = draft.root
            let copies = try (values ?? read(root)).filter { selection.creates || root[$0.new] != nil }
            selected.note(copies.count, in: written.file)
            guard !copies.isEmpty else {
                draft.rewrites = false
                return
            }
            if !isForced {
                let keys = try copies.map { try access.storedKey(of: KeyArgument($0.new), in: written) }
                try access.checkNotForced(keys, in: written)
                if let copy = copies.first(where: isExposed) {
                    throw try access.exposed(KeyArgument(copy.old), in: source, by: KeyArgument(copy.new))
                }
            }
            for copy in copies {
                try access.checkExact(copy.value, at: copy.old, in: source)
                try root.checkEmptyKeys(of: copy.new)
                try root.set(copy.value, at: copy.new)
            }
            draft.root = root
        }
        return try Revision(access, [target], invocation).carryOut([edit]) {
            guard selected.count > 0 else { throw selection.failure(in: source.word) }
            return selected.count
        }
    }

    private func isExposed(_ copy: (old: EntryPath, new: EntryPath, value: PropertyList)) -> Bool {
        maskings.source.exposes(copy.value, at: copy.old, movedTo: copy.new, maskings.target)
    }

    private func checkMove() throws {
        guard !isForced else { return }
        try access.checkNotForced([old.key], in: source)
        try access.checkNotForced([new.key], in: target)
        try access.checkSecrecy(of: source, "no value is renamed")
    }

    func move() throws -> ExitStatus {
        try checkMove()
        let edits = try isWithinFile ? [moving()] : movingToOtherFile()
        let domains = isWithinFile ? [source] : [source, target]
        return try Revision(access, domains, invocation).carryOut(
            edits,
            report: { index, outcome in
                let former = outcome.before.root
                guard access.context.dialect == .modern, index == domains.count - 1, former[new.path] != nil,
                    !isWithinFile || !former.overlap(old.path, new.path)
                else { return }
                access.context.note("\(target.word) \(new.spelling): the value there was replaced".onOneLine)
            })
    }

    /// Returns the change of a file that may lack the value.
    func movingIfPresent(noting selected: SelectedEntries) throws -> DomainEdit {
        try checkMove()
        var edit = try moving()
        let (change, old, file) = (edit.change, old, source.file)
        edit.change = { draft in
            let isPresent = draft.root[old.path] != nil
            selected.note(isPresent ? 1 : 0, in: file)
            if isPresent { try change(&draft) } else { draft.rewrites = false }
        }
        return edit
    }

    private func moving() throws -> DomainEdit {
        try access.edit(source, isForced: isForced) { draft in
            var root = draft.root
            draft.step = .move(root.counted(old.path), to: root.counted(new.path))
            let value = try present(in: root)
            try root.checkEmptyKeys(of: new.path)
            try root.move(value, from: root.counted(old.path), to: root.counted(new.path))
            draft.root = root
        }.ofExistingDomain
    }

    /// Returns the changes of both files. The first one is made first, while both are locked.
    private func movingToOtherFile() throws -> [DomainEdit] {
        for end in [source, target] { try checkNoMember(end) }
        guard let value = try access.value(old, in: source) else { throw try missing() }
        let written = try audited(value)
        let moved = Mutex<PropertyList?>(nil)
        let removal = try access.edit(source, isForced: isForced) { draft in
            var root = draft.root
            draft.step = .removal(root.counted(old.path))
            let value = try present(in: root)
            try root.remove(at: old.path)
            draft.root = root
            moved.withLock { $0 = value }
        }
        let addition = try access.edit(written, isForced: isForced) { draft in
            guard let value = moved.withLock(\.self) else { return }
            var root = draft.root
            try put(value, in: &root)
            draft.root = root
        }
        return [removal.ofExistingDomain, addition]
    }

    /// Throws for a file in the folder of a domain. If the other file is the domain, each change would revert the
    /// other.
    private func checkNoMember(_ end: AddressedDomain) throws {
        guard end.name == nil else { return }
        let files = access.system.fileSystem
        let path = try end.file.path.followingLinks(in: files)
        guard let (domain, _) = try access.places.user.ownMember(at: path, in: files) else { return }
        throw CommandFailure(.usage, "\(end.word.onOneLine): a value of the domain \(domain); name the domain".shown)
    }

    private func put(_ value: PropertyList, in root: inout PropertyList) throws {
        try root.checkEmptyKeys(of: new.path)
        try root.set(value, at: new.path)
    }

    /// Returns the value in the present root of the source.
    private func present(in root: PropertyList) throws -> PropertyList {
        guard let value = root[old.path] else { throw try missing() }
        guard isForced || !isExposed(value) else { throw access.exposed(old, in: source, by: new) }
        return value
    }

    private func missing() throws -> CommandFailure {
        try access.failure(
            ofMissing: old, in: source,
            classic: [
                "Key \(old.spelling.onOneLine) does not exist in domain \(source.word.onOneLine); leaving defaults unchanged"
            ])
    }

    /// Whether a sensitive value would be shown at its new place.
    private func isExposed(_ value: PropertyList) -> Bool {
        maskings.source.exposes(value, at: old.path, movedTo: new.path, maskings.target)
    }

    /// Returns the target, which only the user may read if the command forces a sensitive value into a new file. Throws
    /// if it does not force it.
    private func audited(_ value: PropertyList) throws -> AddressedDomain {
        guard isExposed(value) else { return target }
        guard isForced else { throw access.exposed(old, in: source, by: new) }
        return written(isSensitive: true)
    }

    /// Returns the target, which only the user may read if it is a new file with a sensitive value.
    private func written(isSensitive: Bool) -> AddressedDomain {
        var written = target
        if isSensitive, !target.file.isOfDomain { written.file.audience = .owner }
        return written
    }
}

/// All values of a domain, and the domain to which `rename` moves or `copy` copies them.
private struct DomainTransfer: Sendable {
    private let invocation: Invocation
    private let access: StoreAccess
    private let source: AddressedDomain
    private let target: AddressedDomain
    private let maskings: (source: Masking, target: Masking)

    /// Returns nil if the arguments name a value.
    init?(_ invocation: Invocation, _ context: CommandContext, moves: Bool) throws {
        guard invocation[operand: "OLD"] == nil else { return nil }
        self.invocation = invocation
        (access, source) = try StoreAccess.ofDomain(invocation, context)
        let verb = invocation.verb.name
        guard let word = invocation[.target] else {
            throw CommandFailure(
                .usage,
                "\(verb) requires OLD and NEW, or for all values the new domain: \(verb) \(Option.target.name) NEWDOMAIN \(source.word.onOneLine)",
                classic: "\(verb) requires OLD and NEW")
        }
        guard !invocation.has(.predicate) else { throw CommandFailure(.usage, "\(verb): --where requires OLD and NEW") }
        target = try access.named(word)
        for domain in moves ? [source, target] : [] where domain.name == nil || domain.file.isAdopted {
            let reason = domain.file.isAdopted ? "the file of another program" : "a file"
            throw CommandFailure(.usage, "\(domain.word.onOneLine): \(reason), which is not renamed as a domain")
        }
        try access.checkNewDomain(target, invocation)
        guard target.file.path != source.file.path else {
            throw CommandFailure(.usage, "\(verb): \(source.word.onOneLine) and \(word.onOneLine) are the same file")
        }
        maskings = (Masking(access.secrecy(source)), Masking(declaredBy: access.secrecy(target)))
    }

    private var isForced: Bool { invocation.has(.force) }

    func copy() throws -> ExitStatus {
        guard let contents = try access.existingContents(source) else {
            throw try access.failure(ofMissing: nil, in: source)
        }
        let values = try checked(contents.root)
        var target = target
        // As for one value, only the user may read a new file with a value that is forced into it.
        if !target.file.isOfDomain, values.contains(where: isExposed) { target.file.audience = .owner }
        return try Revision(access, [target], invocation).carryOut([adding(to: target) { (values, contents.form) }])
    }

    func move() throws -> ExitStatus {
        let moved = Mutex<(values: PropertyList.Dictionary, form: StorageForm?)>(([:], nil))
        let removal = DomainEdit(source.file) { draft in
            guard draft.exists else { throw try access.failure(ofMissing: nil, in: source) }
            try access.checkExact(draft.root, at: [], in: source)
            let values = try checked(draft.root)
            if !isForced { try access.checkNotForced(values.keys, in: source) }
            moved.withLock { $0 = (values, draft.form) }
            draft.removesFile = true
        }
        let addition = try adding(to: target) { moved.withLock(\.self) }
        return try Revision(access, [source, target], invocation).carryOut([removal.ofExistingDomain, addition])
    }

    /// A new domain is stored in the form of the source.
    private func adding(
        to target: AddressedDomain, _ added: @escaping @Sendable () -> (PropertyList.Dictionary, StorageForm?)
    ) throws -> DomainEdit {
        try access.edit(target, isForced: isForced) { draft in
            let (values, form) = added()
            if !draft.exists, let form { draft.form = form }
            var root = draft.root
            for entry in values { try root.set(entry.value, at: EntryPath([EntryPath.Component(entry.key)])) }
            draft.root = root
        }
    }

    /// Returns the values of the source. Throws if the target must not have one of them.
    private func checked(_ root: PropertyList) throws -> PropertyList.Dictionary {
        guard var values = root.dictionaryValue else {
            throw CommandFailure(.invalidValue, "\(source.word.onOneLine): the root is \(root.kind.withArticle)")
        }
        values.removeAll { $0.key.isHidden }
        guard !isForced else { return values }
        try access.checkNotForced(values.keys, in: target)
        try access.checkSecrecy(of: source, "no value is copied")
        if let entry = values.first(where: isExposed) {
            let key = try KeyArgument(EntryPath([EntryPath.Component(entry.key)]))
            throw access.exposed(key, in: source, by: key, of: target)
        }
        return values
    }

    /// Whether a sensitive value would be shown in the target.
    private func isExposed(_ entry: PropertyList.Dictionary.Entry) -> Bool {
        let path = EntryPath([EntryPath.Component(entry.key)])
        return maskings.source.exposes(entry.value, at: path, movedTo: path, maskings.target)
    }
}

extension PropertyList {
    /// Returns whether one of two entries is the other or contains it.
    fileprivate func overlap(_ one: EntryPath, _ other: EntryPath) -> Bool {
        let (one, other) = (counted(one).components, counted(other).components)
        return one.starts(with: other) || other.starts(with: one)
    }

    /// Returns the path with every index of an existing element as a number from the start, so that each element has a
    /// single path that stays valid when elements are appended.
    func counted(_ path: EntryPath) -> EntryPath {
        var (value, result) = (PropertyList?.some(self), path)
        for (depth, component) in path.components.enumerated() {
            if let count = value?.arrayValue?.count, let index = component.index, -count..<count ~= index {
                result.components[depth] = EntryPath.Component(index < 0 ? index + count : index)
            }
            value = value?[EntryPath([component])]
        }
        return result
    }

    /// Sets the value at the new path before it removes the old one, so that the indices in both paths stay valid.
    mutating func move(
        _ value: PropertyList, from old: EntryPath, to new: EntryPath
    ) throws(EntryPath.Failure) {
        if old.components.starts(with: new.components) { return try set(value, at: new) }
        guard new.components.starts(with: old.components) else {
            try set(value, at: new)
            try remove(at: old)
            return
        }
        // The new path is inside the old one, whose value is replaced by the containers that lead there.
        let depth = old.components.count - 1
        var holder = PropertyList.dictionary([:])
        do throws(EntryPath.Failure) {
            try holder.set(value, at: EntryPath(Array(new.components[depth...])))
        } catch {
            let path = EntryPath(Array(old.components[..<depth]))
            throw EntryPath.Failure(problem: error.problem, place: "\(path)\(error.place)")
        }
        if let container = holder[EntryPath(Array(old.components[depth...]))] { try set(container, at: old) }
    }
}

extension StoreAccess {
    /// Returns the failure of a move or copy that would show a sensitive value.
    func exposed(
        _ old: KeyArgument, in domain: AddressedDomain, by new: KeyArgument, of other: AddressedDomain? = nil
    ) -> CommandFailure {
        let place = other.map { "\($0.word) \(new.spelling)" } ?? new.spelling
        return CommandFailure(
            .invalidValue,
            "\(domain.word.onOneLine): \(old.spelling.onOneLine) is sensitive, and \(place.onOneLine) is not; \(StoreFailure.unchanged(offersForce))"
        )
    }
}

extension Masking {
    /// Returns whether the value would be shown at its new path, where the other masking applies, although it was
    /// masked before.
    func exposes(
        _ value: PropertyList, at old: EntryPath, movedTo new: EntryPath, _ other: Masking
    ) -> Bool {
        guard touches(value, at: old), !other.hides(new) else { return false }
        return hides(old) || other.masked(value, at: new) != masked(value, at: old)
    }
}
