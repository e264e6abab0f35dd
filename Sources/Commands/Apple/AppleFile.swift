internal import Platform
internal import Preferences
internal import PropertyLists
internal import Synchronization

/// A property list that `plutil` or `PlistBuddy` reads and writes: a plain file, a standard stream for `-`, or the
/// domain that a path in macOS's folders of preferences names.
///
/// A plain file has no history, schema or layer. It is changed under its lock and replaced as a whole.
struct AppleFile: Sendable {
    /// The argument that names the file.
    let name: String
    private let context: CommandContext
    private let domain: (access: StoreAccess, addressed: AddressedDomain)?
    /// Whether only this user may read the file if it is new.
    private let isPrivate: Bool

    /// - Parameter source: The file whose values are written to this one.
    init(_ name: String, _ context: CommandContext, from source: AppleFile? = nil) throws {
        (self.name, self.context) = (name, context)
        domain = try Self.domain(name, context)
        isPrivate = try source.map { try $0.name != name && $0.hasSecrets() } ?? false
    }

    /// Whether the file is that of a domain with sensitive settings.
    private func hasSecrets() throws -> Bool {
        if let domain { return !domain.access.secrecy(domain.addressed).hidesNothing }
        guard name != "-" else { return false }
        let access = try Self.access(context)
        guard let addressed = try? access.domain(name.contains("/") ? name : "./" + name) else { return false }
        return !access.secrecy(addressed).hidesNothing
    }

    /// The contents of a file.
    struct Contents: Sendable {
        var value: PropertyList
        /// The format of the file; that of a new one if there is no file yet.
        var format: PropertyList.Format
        /// The bytes of a plain file.
        var bytes: [UInt8]?
        /// The options with which a text was read.
        var options = PropertyList.ReadingOptions()
    }

    /// Bytes that are not a property list.
    struct Damage: Reportable {
        let failure: DecodingFailure
        let bytes: [UInt8]
        let name: String

        var status: ExitStatus { .damaged }
        var lines: [String] { InvalidInput(name: name, bytes: bytes, failure: failure).lines }
    }

    /// Whether the file is that of a domain.
    var isDomain: Bool { domain != nil }

    /// Reads the file, or returns nil if it does not exist.
    func contents() throws -> Contents? {
        if let domain {
            let contents = try domain.access.contents(domain.addressed.file)
            guard contents.exists else { return nil }
            return Contents(value: .dictionary(contents.values), format: contents.format ?? .binary)
        }
        do {
            let bytes = try context.contents(name, limit: PropertyList.Limits.default.inputBytes)
            return try Self.contents(bytes, named: name)
        } catch let failure as CommandFailure where failure.status == .notFound {
            return nil
        }
    }

    /// Parses a property list as Apple's tools do: text that is not JSON is OpenStep, and so is a scalar.
    static func contents(_ bytes: [UInt8], named name: String) throws(Damage) -> Contents {
        let file = name == "-" ? nil : name
        var options = PropertyList.ReadingOptions.ofFiles.reading(fileNamed: file)
        options.readsScalarsAsJSON = false
        do throws(DecodingFailure) {
            let (value, format) = try PropertyList.sniffed(bytes, named: file, options: options)
            return Contents(value: value, format: format, bytes: bytes, options: options)
        } catch {
            throw Damage(failure: error, bytes: bytes, name: name)
        }
    }

    /// A value that a file gets, and what led to it.
    struct Revision: Sendable {
        let value: PropertyList
        /// What was done to an entry, or nil if the values show it.
        var step: EntryStep?
    }

    /// Changes the file under its lock. It keeps its format.
    ///
    /// - Parameters:
    ///   - destination: The file that is written instead, or nil to write this one.
    ///   - mayBecomeXML: Whether a plain file becomes XML if its format cannot hold the new value.
    ///   - change: Called with the present contents, perhaps more than once. If it throws, nothing is written.
    func edit(
        into destination: AppleFile? = nil, mayBecomeXML: Bool = false,
        _ change: @escaping @Sendable (Contents) throws -> [Revision]
    ) throws {
        guard let contents = try contents() else { throw SystemFailure(.noSuchFile, .open, try context.path(name)) }
        let revisions = try change(contents)
        guard let last = revisions.last else { return }
        let target = destination ?? self
        guard target.domain == nil else {
            guard destination == nil else {
                return try target.replace(Contents(value: last.value, format: contents.format))
            }
            return try commit { draft in
                let revisions = try change(Contents(value: .dictionary(draft.values), format: draft.format))
                guard let last = revisions.last, let values = last.value.dictionaryValue else { return }
                (draft.values, draft.step) = (values, revisions.count == 1 ? last.step : nil)
            }
        }
        var edited = try contents.edited(through: revisions, mayBecomeXML: mayBecomeXML)
        if destination == nil, name != "-", contents.value.kind == .dictionary, last.value.kind == .dictionary {
            edited = try editInPlace(mayBecomeXML: mayBecomeXML, change)
        } else {
            try target.replace(edited.bytes)
        }
        context.note(removed: edited.removedComments, from: name == "-" ? "<stdin>" : name)
    }

    /// Edits a plain file whose root is a dictionary.
    private func editInPlace(
        mayBecomeXML: Bool, _ change: @escaping @Sendable (Contents) throws -> [Revision]
    ) throws -> EditResult {
        let written = Mutex(EditResult([]))
        try commit { draft in
            // The writer has read the file under its lock, and replaces it only if it has not changed since.
            guard let contents = try contents() else { throw SystemFailure(.noSuchFile, .open, try context.path(name)) }
            let edited = try contents.edited(through: try change(contents), mayBecomeXML: mayBecomeXML)
            let result = try Self.contents(edited.bytes, named: name)
            guard let values = result.value.dictionaryValue else { return }
            (draft.values, draft.format, draft.restoredBytes) = (values, result.format, edited.bytes)
            written.withLock { $0 = edited }
        }
        return written.withLock { $0 }
    }

    /// Replaces the file, or writes to the standard output for `-`.
    func replace(_ contents: Contents) throws {
        guard let domain else { return try replace(try Self.bytes(of: contents)) }
        guard let values = contents.value.dictionaryValue else {
            throw CommandFailure(.invalidValue, "\(domain.addressed.word): a domain must be a dictionary")
        }
        try commit { draft in
            // The store's own keys are not shown, and must not be lost.
            draft.values.removeAll { !$0.key.isHidden }
            for entry in values { draft.values.updateValue(entry.value, forKey: entry.key) }
            draft.format = contents.format
            (draft.rewrites, draft.createsFile) = (true, true)
        }
    }

    /// Replaces a plain file, or writes to the standard output for `-`.
    func replace(_ bytes: [UInt8]) throws {
        guard domain == nil else { throw CommandFailure(.invalidValue, "a domain can only hold a property list") }
        try context.write(bytes, to: name, isSensitive: isPrivate)
    }

    private func commit(_ change: @escaping @Sendable (inout DomainDraft) throws -> Void) throws {
        if let domain {
            try domain.access.commit([DomainEdit(domain.addressed.file, change: change)], .write)
            return
        }
        try context.checkReplaceable(name)
        let file = DomainFile(name: name, path: try context.absolutePath(name), lock: .byPath).addressedByPath
        defer { context.delayInterrupts(false) }
        let delay = context.delayInterrupts
        try DomainWriter(context.system, context.author(of: .write)).commit([
            DomainEdit(file) { draft in
                delay(true)
                try change(&draft)
            }
        ])
    }

    /// Returns a property list as the bytes of a file. Fractions of a second are dropped where the format has none.
    static func bytes(of contents: Contents) throws(EncodingFailure) -> [UInt8] {
        if contents.format == .json { return try contents.value.appleJSON(of: contents.bytes) }
        return Array(try contents.value.serialized(as: contents.format, options: .ofAppleTools))
    }

    // MARK: Domains

    private static func domain(_ name: String, _ context: CommandContext) throws -> (StoreAccess, AddressedDomain)? {
        guard name.contains("/"), name.hasSuffix(".plist") else { return nil }
        let access = try access(context)
        return try access.libraryDomain(name).map { (access, $0) }
    }

    private static func access(_ context: CommandContext) throws -> StoreAccess {
        try StoreAccess(Invocation(verb: .read, path: [], operands: [], options: []), context)
    }
}

extension PropertyList.WritingOptions {
    /// The options of Apple's tools: dates without fractions of a second, and reals with 17 digits.
    fileprivate static let ofAppleTools: Self = {
        var options = Self()
        (options.isLossy, options.padsReals) = (true, true)
        return options
    }()
}

// MARK: Editing

extension AppleFile.Contents {
    /// The bytes of the file after an edit. All edits of plain files under Apple's names are made here: in place, into
    /// another file, and on a stream. In a text, only the entries that differ are changed.
    ///
    /// - Parameters:
    ///   - revisions: The values one after the other. The file gets the last.
    ///   - mayBecomeXML: Whether the file becomes XML if its format cannot hold the last value.
    func edited(through revisions: [AppleFile.Revision], mayBecomeXML: Bool) throws(EncodingFailure) -> EditResult {
        guard let last = revisions.last, let bytes else { return EditResult(self.bytes ?? []) }
        let value = format.keepsFractions ? last.value : last.value.droppingFractions
        func source(_ bytes: [UInt8]) -> SourceText? {
            format.isEditedInPlace ? try? SourceText(bytes, as: format, options: options) : nil
        }
        if mayBecomeXML, !format.canHold(value) {
            let changed = AppleFile.Contents(value: value, format: .xml)
            return EditResult(try AppleFile.bytes(of: changed), removing: source(bytes)?.comments ?? [])
        }
        var (text, removed) = (bytes, [String]())
        for revision in revisions {
            guard let source = source(text) else {
                return EditResult(
                    try AppleFile.bytes(of: AppleFile.Contents(value: value, format: format, bytes: bytes)))
            }
            let value = format.keepsFractions ? revision.value : revision.value.droppingFractions
            let result = try source.edited(to: value, by: revision.step, options: .ofAppleTools)
            text = result.bytes
            removed += result.removedComments
        }
        return EditResult(text, removing: removed)
    }
}

extension PropertyList {
    /// Returns the JSON that replaces the JSON of a file, with the original text of numbers that a real would round.
    func appleJSON(of former: [UInt8]?, isPretty: Bool = false) throws(EncodingFailure) -> [UInt8] {
        let written = Array(appleJSON(isPretty: isPretty).utf8)
        let options = ReadingOptions(allowsJSON5: true)
        guard let former, let value = try? PropertyList(parsing: former, as: .json, options: options) else {
            return written
        }
        return try keepingNumbers(in: written, of: (former, value), options)
    }
}

extension PropertyList.Format {
    /// Whether a plain file can hold the value, except for fractions of a second.
    fileprivate func canHold(_ value: PropertyList) -> Bool {
        (try? value.serialized(as: self, options: .ofAppleTools)) != nil
    }
}

// MARK: Entries

extension PropertyList {
    /// The entry to which keys and indexes lead, as both tools name it.
    func entry(_ path: some Sequence<String>) -> PropertyList? {
        var value = self
        for component in path {
            guard let position = value.position(component), let next = value[EntryPath([position])] else { return nil }
            value = next
        }
        return value
    }

    /// Returns the place to which a component leads: a key, or the index of an element that exists.
    private func position(_ component: String) -> EntryPath.Component? {
        switch self {
        case .dictionary(let entries): entries[component] == nil ? nil : EntryPath.Component(component)
        case .array(let elements): Int(component).flatMap { elements.indices.contains($0) ? .init($0) : nil }
        default: nil
        }
    }

    /// Replaces an entry that exists.
    mutating func replaceEntry(_ path: some Sequence<String>, by value: PropertyList) throws(EntryPath.Failure) {
        try set(value, at: place(of: path))
    }

    /// The path of an entry that exists.
    func place(of path: some Sequence<String>) -> EntryPath {
        var (place, container) = (EntryPath(), self)
        for component in path {
            // Only an array has numbers: "007" and "7" are different keys.
            let position = container.position(component) ?? EntryPath.Component(component)
            place.components.append(position)
            container = container[EntryPath([position])] ?? ""
        }
        return place
    }
}

/// The failure of one command or of one file, as Apple's tool prints it.
struct AppleFailure: Error, Hashable {
    let message: String

    init(_ message: String) { self.message = message }
}

extension ExitStatus {
    /// The status of every failure of Apple's tools.
    static let appleFailure = ExitStatus.notFound
}

extension Completion.Answer {
    /// The options of one of Apple's tools that begin with the last word; for any other word, that files are offered.
    ///
    /// - Parameter words: The name of the shell, and the words after the program's name.
    init(to words: ArraySlice<String>, _ options: [(word: String, summary: String)]) {
        let current = words.dropFirst().last ?? ""
        guard current.hasPrefix("-") else {
            files = .files
            return
        }
        candidates = options.filter { $0.word.hasPrefix(current) }
            .map { Completion.Candidate(word: $0.word, meaning: $0.summary) }
    }
}
