internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let edit = Verb(
        "edit", .new, "change a domain as text in $VISUAL or $EDITOR",
        details: [
            "The saved text is checked first; an error opens the editor again, unless the text is left as it is. An unchanged text changes nothing.",
            "Concurrent changes are merged key by key. If both sides have changed a key, nothing is written, and the text is kept in a file whose name is printed.",
        ],
        options: [
            .format(
                FormatName.ofFiles.filter { $0.ofPropertyList?.isEditedInPlace ?? false }, "the format of the text"),
            .layer, .force, .rewrite, .newDomain, .newHost,
        ],
        forms: [[.domain]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout, .different]
    ) { invocation, context in
        let (access, domain) = try StoreAccess.ofDomain(invocation, context)
        try access.checkNewDomain(domain, invocation)
        let editing = Editing(
            access: access, domain: domain, format: invocation.format?.ofPropertyList,
            isForced: invocation.has(.force))
        try editing.run()
        return .done
    }
}

/// The editing of a domain in an editor.
struct Editing {
    let access: StoreAccess
    let domain: AddressedDomain
    /// The requested format of the text.
    let format: PropertyList.Format?
    /// Whether to write keys that the administrator forces.
    let isForced: Bool

    func run() throws {
        if domain.file.isReadOnly { throw StoreFailure(domain.file, .readOnly) }
        try access.checkSecrecy(of: domain, "they cannot be edited")
        let contents = try domain.file.contents(on: access.system)
        access.warn(contents.recovery)
        let base = contents.values.withoutHidden
        // Masked values are unchanged unless the user edits the mask.
        let shown = access.masking(domain).masked(.dictionary(base), at: []).dictionaryValue ?? base
        let text = try ownText(contents, shown) ?? text(of: shown, contents.format)
        try text.removedAfterwards {
            let edited = try text.edited { values, bytes in
                try checkKeys(values, base, text)
                return (values: try checked(values, base, text), bytes: bytes)
            }
            guard let edited else { return }
            let changes = EditedChanges(from: try text.values(text.original), to: edited.values, base: base)
            try commit(changes, text.isOwnText ? edited.bytes : nil)
        }
    }

    /// Returns the text of a file by its path or of a domain with comments, with its layout, or nil if it is binary,
    /// another domain or partly masked.
    private func ownText(_ contents: DomainContents, _ shown: PropertyList.Dictionary) throws -> EditedText? {
        guard format == nil, shown == contents.values, contents.recovery == nil,
            let own = contents.format, own.isEditedInPlace,
            domain.name == nil || own == .json && domain.file.hasComments(on: access.system),
            let bytes = try domain.file.bytes(on: access.system),
            (try? domain.file.parse(bytes))?.0 == shown
        else { return nil }
        let name = domain.name.flatMap { FilePath($0.fileStem + ".json") }
        return try EditedText(copying: bytes, of: domain.file, named: name, as: own, access.context)
    }

    /// Returns the text in the requested format, or else in the file's own format, or as JSON if XML cannot hold a
    /// value.
    private func text(of values: PropertyList.Dictionary, _ own: PropertyList.Format?) throws -> EditedText {
        try access.checkExact(.dictionary(values), at: [], in: domain)
        let name = domain.name?.fileStem ?? "settings"
        let preset: PropertyList.Format = own == .json ? .json : .xml
        // A JSON file that is not a domain has no wrapped values.
        let isWrapped = domain.file.isOfDomain || own != .json
        func text(as format: PropertyList.Format) throws -> EditedText {
            try EditedText(values, as: format, isWrapped: isWrapped, named: name, access.context)
        }
        do {
            return try text(as: format ?? preset)
        } catch let failure as EncodingFailure where format == nil {
            guard preset == .xml else { throw failure }
            return try text(as: .json)
        }
    }

    // MARK: Checking

    /// Returns the values converted to their declared types. Throws if a change breaks the schema.
    private func checked(
        _ values: PropertyList.Dictionary, _ base: PropertyList.Dictionary, _ text: EditedText
    ) throws -> PropertyList.Dictionary {
        let adapted = text.format.hasTypes ? values : access.adapted(values, in: domain)
        guard !isForced, let rules = try access.rules(for: domain) else { return adapted }
        let masking = access.masking(domain)
        let unshown = PropertyList.Dictionary(
            base.map { entry in
                (entry.key, masking.hidden(entry.value, at: [EntryPath.Component(entry.key)]))
            })
        try rules.check(from: unshown, to: adapted, domain.word.onOneLine)
        return adapted
    }

    private func checkKeys(
        _ values: PropertyList.Dictionary, _ base: PropertyList.Dictionary, _ text: EditedText
    ) throws {
        for key in values.keys where !key.isFitForWriting && base[key] == nil {
            throw CommandFailure(.invalidValue, "\(text.file): \(StoreFailure(domain.file, .invalidKey(key)))")
        }
    }

    // MARK: Writing

    /// - Parameter text: The edited text of the file itself.
    private func commit(_ changes: EditedChanges, _ text: [UInt8]?) throws {
        guard !changes.isEmpty || text != nil else { return }
        if !isForced { try access.checkNotForced(changes.keys, in: domain) }
        let name = domain.word
        let edit = try access.edit(domain, isForced: isForced) { draft in
            let conflicts = changes.conflicts(with: draft.values)
            guard conflicts.isEmpty else {
                let keys = conflicts.map(\.onOneLine).joined(separator: ", ")
                throw CommandFailure(
                    .different,
                    "\(name.onOneLine): also changed by others in the meantime: \(keys); nothing was changed")
            }
            changes.apply(to: &draft.values)
            draft.restoredBytes = text
        }
        try access.commit([edit])
    }
}

extension CommandContext {
    /// Runs the user's editor on a file.
    func runEditor(on file: FilePath) throws {
        let variables = environment.variables
        let named = [Variable.visual, .editor].lazy.compactMap { variables.path($0.rawValue) }.first
        let editor = named?.word ?? "vi"
        // As in git: the variable is a shell command line, and the file is its argument. An interrupt in the editor
        // must not end the shell, because the editor would then continue without it.
        let command = "trap : INT QUIT; \(editor) \"$@\""
        let status = try run(ForegroundProgram("/bin/sh", ["-c", command, editor, file.word]))
        guard status == 0 else {
            throw CommandFailure(
                .systemFailed,
                "the editor \(ShellWord.quoted(editor.onOneLine)) ended with status \(status); nothing was changed")
        }
    }
}

/// The text of a domain in a file for an editor, in a folder that only its owner can access.
struct EditedText {
    let file: FilePath
    let format: PropertyList.Format
    let original: [UInt8]
    private let folder: FilePath
    /// Whether values without a JSON type are wrapped.
    private let isWrapped: Bool
    /// The file whose own text this is; nil for a text made from the values of a domain.
    private let source: DomainFile?
    private let context: CommandContext

    init(
        _ values: PropertyList.Dictionary, as format: PropertyList.Format, isWrapped: Bool, named name: String,
        _ context: CommandContext
    ) throws {
        let name = FilePath(name + (format == .json ? ".json" : ".plist")) ?? "settings"
        let bytes = try Self.text(of: values, as: format, isWrapped)
        try self.init(bytes, named: name, as: format, isWrapped: isWrapped, of: nil, context)
    }

    /// Creates a copy of a text file.
    init(
        copying bytes: [UInt8], of source: DomainFile, named name: FilePath?, as format: PropertyList.Format,
        _ context: CommandContext
    ) throws {
        let name = name ?? source.path.lastComponent.flatMap { FilePath($0.bytes) } ?? "settings"
        try self.init(bytes, named: name, as: format, isWrapped: false, of: source, context)
    }

    private init(
        _ bytes: [UInt8], named name: FilePath, as format: PropertyList.Format, isWrapped: Bool,
        of source: DomainFile?, _ context: CommandContext
    ) throws {
        self.context = context
        self.format = format
        self.isWrapped = isWrapped
        self.source = source
        original = bytes
        folder = try Self.makeFolder(context)
        file = folder.resolving(name)
        do throws(SystemFailure) {
            let opened = try context.fileSystem.open(file, .creatingNew(.privateFile))
            try opened?.write(original, at: 0)
        } catch {
            remove()
            throw error
        }
    }

    private static func text(
        of values: PropertyList.Dictionary, as format: PropertyList.Format, _ isWrapped: Bool
    ) throws -> [UInt8] {
        var options = PropertyList.WritingOptions()
        options.isPretty = true
        options.wrapsInJSON = isWrapped
        let bytes = Array(try PropertyList.dictionary(values).serialized(as: format, options: options))
        return bytes.last == UInt8(ascii: "\n") ? bytes : bytes + [UInt8(ascii: "\n")]
    }

    private static func makeFolder(_ context: CommandContext) throws -> FilePath {
        let named = context.environment.variables.path(Variable.temporaryFolder.rawValue)
        let place = named.flatMap { $0.isAbsolute ? $0 : nil } ?? "/tmp"
        for _ in 0..<16 {
            guard let name = FileName(context.fileSystem.unpredictableName().bytes.dropFirst()) else { break }
            let folder = place.appending(name)
            if try context.fileSystem.makeFolder(folder, .privateFolder) { return folder }
        }
        throw SystemFailure(.exists, .makeFolder, place)
    }

    // MARK: The editor

    /// Runs the editor and returns the result of `accept` for the edited values and their text, or nil if the text is
    /// unchanged. After an error the editor is opened again, unless the user has not changed the text since.
    func edited<Result>(_ accept: (PropertyList.Dictionary, [UInt8]) throws -> Result) throws -> Result? {
        var refused: [UInt8]?
        while true {
            try context.runEditor(on: file)
            let bytes = try bytes()
            if bytes == original { return nil }
            do {
                return try accept(values(bytes), bytes)
            } catch let mistake as any Reportable {
                guard bytes != refused else { throw mistake }
                refused = bytes
                for line in mistake.lines { context.note(line) }
            }
        }
    }

    /// Removes the text after `body`, but keeps the user's changes if an error occurs.
    func removedAfterwards<Result>(_ body: () throws -> Result) throws -> Result {
        let result: Result
        do {
            result = try body()
        } catch {
            guard let bytes = try? bytes(), bytes != original else {
                remove()
                throw error
            }
            throw CommandFailure(error, and: "the edited text is kept in \(file)")
        }
        remove()
        return result
    }

    // MARK: Result

    /// Whether the text is that of the file that is edited, and not one made from its values.
    var isOwnText: Bool { source != nil }

    /// Returns the current text.
    func bytes() throws -> [UInt8] {
        guard
            let bytes = try context.fileSystem.contents(
                of: file, limit: PropertyList.Limits.default.inputBytes)
        else {
            throw CommandFailure(.notFound, "\(file): the editor has removed the file; nothing was changed")
        }
        return bytes
    }

    /// Parses the text of the file.
    func values(_ bytes: [UInt8]) throws -> PropertyList.Dictionary {
        if let source { return try source.parse(bytes).0 }
        let value: PropertyList
        do throws(DecodingFailure) {
            var options = PropertyList.ReadingOptions(unwrapsJSON: isWrapped)
            options.inexactIntegers = .refused
            value = try PropertyList(parsing: bytes, as: format, options: options)
        } catch {
            throw InvalidInput(name: file.description, bytes: bytes, failure: error)
        }
        guard let values = value.dictionaryValue else {
            throw CommandFailure(
                .damaged, "\(file):1:1: expected a dictionary of settings, not a value of type \(value.kind.rawValue)")
        }
        return values
    }

    /// Removes the file and anything the editor has left next to it.
    func remove() {
        let files = context.fileSystem
        for name in (try? files.names(in: folder)) ?? [] { _ = try? files.remove(folder.appending(name)) }
        _ = try? files.remove(folder)
    }
}

/// The keys that a user has changed in a text, and their values in the domain when the text was created.
struct EditedChanges: Sendable {
    private let changes: [(key: String, value: PropertyList?)]
    private let base: PropertyList.Dictionary

    /// Creates the changes.
    ///
    /// - Parameters:
    ///   - original: The values of the original text. They may differ from `base`, since not all formats can hold every
    ///     value.
    ///   - edited: The values of the edited text.
    ///   - base: The domain's values from which the text was created.
    init(from original: PropertyList.Dictionary, to edited: PropertyList.Dictionary, base: PropertyList.Dictionary) {
        self.base = base
        let added = edited.keys.filter { original[$0] == nil }
        changes = (Array(original.keys) + added).filter { original[$0] != edited[$0] && !$0.isHidden }
            .sorted { $0.isBefore($1) }.map { ($0, edited[$0]) }
    }

    var isEmpty: Bool { changes.isEmpty }
    var keys: [String] { changes.map(\.key) }

    /// Returns the changed keys that someone else has since changed differently.
    func conflicts(with values: PropertyList.Dictionary) -> [String] {
        changes.filter { values[$0.key] != base[$0.key] && values[$0.key] != $0.value }.map(\.key)
    }

    func apply(to values: inout PropertyList.Dictionary) {
        for (key, value) in changes { values[key] = value }
    }
}
