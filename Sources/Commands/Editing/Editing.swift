internal import Platform
internal import Preferences
internal import PropertyLists

/// The change of a domain in an editor, from the text that it is given to the keys that are written.
struct Editing {
    let access: StoreAccess
    let domain: AddressedDomain
    /// The format of the text, where the user wants one.
    let format: PropertyList.Format?
    /// Whether keys that the administrator has decided on are written all the same.
    let isForced: Bool

    func run() throws {
        if domain.file.isReadOnly { throw StoreFailure(domain.file, .readOnly) }
        let contents = try domain.file.contents(on: access.machine)
        try access.warn(contents.recovery)
        let base = contents.values.withoutHidden
        try access.checkExact(.dictionary(base), at: [], in: domain)
        // What is not shown stays as it is, unless the dots in its place are changed.
        let shown = access.masking(domain).masked(.dictionary(base), at: []).dictionaryValue ?? base
        let text = try text(of: shown, contents.format)
        do {
            if let edited = try edit(text, base) {
                try commit(EditedChanges(from: try text.values(text.original), to: edited, base: base))
            }
        } catch {
            // What the user has typed is not to be lost with what went wrong.
            guard let bytes = try? text.bytes(), bytes != text.original else {
                text.remove()
                throw error
            }
            throw CommandFailure(error, and: "the edited text is kept in \(text.file)")
        }
        text.remove()
    }

    /// The text in the wanted format; else in the file's own or, where XML cannot hold a value, as JSON.
    private func text(of values: PropertyList.Dictionary, _ own: PropertyList.Format?) throws -> EditedText {
        let name = domain.name?.fileStem ?? "settings"
        let preset: PropertyList.Format = own == .json ? .json : .xml
        // A file of JSON that is no domain has nothing wrapped in it.
        let isWrapped = domain.file.isOfDomain || own != .json
        func text(as format: PropertyList.Format) throws -> EditedText {
            try EditedText(values, as: format, isWrapped: isWrapped, named: name, access.surroundings)
        }
        do {
            return try text(as: format ?? preset)
        } catch let failure as EncodingFailure where format == nil {
            guard preset == .xml else { throw failure }
            return try text(as: .json)
        }
    }

    // MARK: The editor

    /// The values that the user has left in the file; nil where the text is the same as before. A mistake opens the
    /// editor again, unless the user has left it as it was.
    private func edit(_ text: EditedText, _ base: PropertyList.Dictionary) throws -> PropertyList.Dictionary? {
        var refused: [UInt8]?
        while true {
            try runEditor(on: text.file)
            let bytes = try text.bytes()
            if bytes == text.original { return nil }
            do {
                let values = try text.values(bytes)
                try checkKeys(values, base, text)
                return try checked(values, base, text)
            } catch let mistake as any Reportable {
                guard bytes != refused else { throw mistake }
                refused = bytes
                for line in mistake.lines { try access.surroundings.note(line) }
            }
        }
    }

    /// The values as the schema of the domain declares them; an error where what was changed breaks it.
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
            throw CommandFailure(.invalidValue, "\(text.file): \(StoreFailure(domain.file, .badKey(key)))")
        }
    }

    private func runEditor(on file: FilePath) throws {
        let variables = access.surroundings.environment.variables
        let editor = [Variable.visual, .editor].compactMap { variables[$0.rawValue] }.first { !$0.isEmpty } ?? "vi"
        // As git does it: the variable is a line of the shell, and the file is an argument of that.
        let status = try access.surroundings.run("/bin/sh", ["-c", editor + " \"$@\"", editor, file.description])
        guard status == 0 else {
            throw CommandFailure(
                .systemFailed,
                "the editor \(ShellWord.quoted(editor.onOneLine)) ended with status \(status); nothing was changed")
        }
    }

    // MARK: Writing

    private func commit(_ changes: EditedChanges) throws {
        guard !changes.isEmpty else { return }
        if !isForced { try access.checkNotForced(changes.keys, in: domain) }
        let name = domain.word
        try access.change(domain, WriteReason(rawValue: "edit"), isForced: isForced) { values in
            let conflicts = changes.conflicts(with: values)
            guard conflicts.isEmpty else {
                let keys = conflicts.map(\.onOneLine).joined(separator: ", ")
                throw CommandFailure(
                    .different, "\(name.onOneLine): changed by others meanwhile too: \(keys); nothing was changed")
            }
            changes.apply(to: &values)
        }
    }
}
