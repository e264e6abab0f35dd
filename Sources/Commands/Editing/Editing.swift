internal import Platform
internal import Preferences
internal import PropertyLists

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
        let contents = try domain.file.contents(on: access.machine)
        access.warn(contents.recovery)
        let base = contents.values.withoutHidden
        // Masked values are unchanged unless the user edits the mask.
        let shown = access.masking(domain).masked(.dictionary(base), at: []).dictionaryValue ?? base
        let text = try ownText(contents, shown) ?? text(of: shown, contents.format)
        do {
            if let edited = try edit(text, base) {
                let changes = EditedChanges(from: try text.values(text.original), to: edited, base: base)
                try commit(changes, text.isOwnText ? text.bytes() : nil)
            }
        } catch {
            // Keeps the user's text if an error occurs.
            guard let bytes = try? text.bytes(), bytes != text.original else {
                text.remove()
                throw error
            }
            throw CommandFailure(error, and: "the edited text is kept in \(text.file)")
        }
        text.remove()
    }

    /// Returns the text of a file by its path, with its comments and its layout, or nil if it is binary, a domain or
    /// partly masked.
    private func ownText(_ contents: DomainContents, _ shown: PropertyList.Dictionary) throws -> EditedText? {
        guard format == nil, domain.name == nil, shown == contents.values, contents.recovery == nil,
            let own = contents.format, own.isEditedInPlace,
            let bytes = try access.machine.fileSystem.contents(
                of: domain.file.path, limit: domain.file.limits.inputBytes),
            (try? domain.file.parse(bytes))?.0 == shown
        else { return nil }
        return try EditedText(copying: bytes, of: domain.file, as: own, access.context)
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

    // MARK: The editor

    /// Runs the editor and returns the edited values, or nil if the text is unchanged. After an error the editor is
    /// opened again, unless the user has not changed the text since.
    private func edit(_ text: EditedText, _ base: PropertyList.Dictionary) throws -> PropertyList.Dictionary? {
        var refused: [UInt8]?
        while true {
            try access.context.runEditor(on: text.file)
            let bytes = try text.bytes()
            if bytes == text.original { return nil }
            do {
                let values = try text.values(bytes)
                try checkKeys(values, base, text)
                return try checked(values, base, text)
            } catch let mistake as any Reportable {
                guard bytes != refused else { throw mistake }
                refused = bytes
                for line in mistake.lines { access.context.note(line) }
            }
        }
    }

    /// Returns the values converted to their declared types. Throws if a change breaks the schema.
    private func checked(
        _ values: PropertyList.Dictionary, _ base: PropertyList.Dictionary, _ text: EditedText
    ) throws -> PropertyList.Dictionary {
        let adapted = text.format == .openstep ? access.adapted(values, in: domain) : values
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
        try access.commit([edit], WriteReason(rawValue: "edit"))
    }
}

extension CommandContext {
    /// Runs the user's editor on a file.
    func runEditor(on file: FilePath) throws {
        let variables = environment.variables
        let editor = [Variable.visual, .editor].compactMap { variables[$0.rawValue] }.first { !$0.isEmpty } ?? "vi"
        // As in git: the variable is a shell command line, and the file is its argument.
        let status = try run("/bin/sh", ["-c", editor + " \"$@\"", editor, file.description])
        guard status == 0 else {
            throw CommandFailure(
                .systemFailed,
                "the editor \(ShellWord.quoted(editor.onOneLine)) ended with status \(status); nothing was changed")
        }
    }
}
