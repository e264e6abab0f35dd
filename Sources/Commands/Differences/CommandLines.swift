package import Preferences
package import PropertyLists

/// The shell commands that turn one state of a domain into another.
///
/// Each command changes one key or, by its path, one entry, so that concurrent changes to others are kept. Keys and
/// values that cannot be on a command line, such as an empty key, a key with a NUL or a very long value, are passed on
/// the standard input.
///
///     prefs delete com.example.app :windows:3
///     prefs write com.example.app theme -string 'it'\''s dark'
package struct CommandLines {
    private let old: PropertyList.Dictionary
    private let new: PropertyList.Dictionary
    private let command: CommandSpelling
    private let masking: Masking

    /// Creates the commands.
    ///
    /// - Parameter masking: The values that are replaced by a comment.
    package init(
        from old: PropertyList.Dictionary, to new: PropertyList.Dictionary, _ command: CommandSpelling,
        masking: Masking = .none
    ) {
        (self.old, self.new, self.command, self.masking) = (old, new, command, masking)
    }

    /// Returns the lines. A quoted value may span several lines.
    ///
    /// Elements are removed from the end of an array first, so that the indices of the others stay valid.
    package func text() throws(CommandFailure) -> String {
        let steps = steps()
        guard !steps.contains(.replaceAll) else { return try comments() + replacement() }
        let removals = steps.filter(\.isRemoval).reversed()
        let writes = steps.filter { !$0.isRemoval }
        var output = ""
        for step in removals + writes { output += try line(step) }
        return try comments() + output + importing(steps)
    }
}

// MARK: Steps

extension CommandLines {
    fileprivate enum Step: Hashable {
        case delete(EntryPath)
        case write(EntryPath, PropertyList)
        /// Appends a value to the array that contains the entry at the path.
        case append(EntryPath, PropertyList)
        /// Imports a key's whole value from the standard input.
        case importKey(String)
        case replaceAll
        /// A change that cannot be expressed without showing a sensitive value.
        case inexpressible(EntryPath)

        var isRemoval: Bool { if case .delete = self { true } else { false } }
    }

    /// Returns a step for each difference, or a single one for a value that is replaced as a whole.
    private func steps() -> [Step] {
        let differences = Differences(from: old, to: new).entries.filter { !isHidden($0) }
        let steps = differences.map { (entry: $0, step: step(for: $0)) }
        let wholes = Set(steps.filter { $0.step.place != $0.entry.path || $0.step.isWhole }.compactMap(\.step.place))
        var done: Set<EntryPath> = []
        return steps.map(\.step).filter { step in
            guard let place = step.place else { return true }
            return !place.isInside(anyOf: wholes) && done.insert(place).inserted
        }
    }

    private func step(for entry: Differences.Entry) -> Step {
        let parent = EntryPath(Array(entry.path.components.dropLast()))
        guard (try? KeyArgument(entry.path))?.argument != nil else { return wholeStep(above: entry.path) }
        switch entry.change {
        case .removed: return .delete(entry.path)
        case .changed(_, let value):
            return fits(value) ? .write(entry.path, value) : wholeStep(above: entry.path)
        case .added(let value):
            guard fits(value) else { return wholeStep(above: entry.path) }
            let isElement = !parent.components.isEmpty && PropertyList.dictionary(new)[parent]?.kind == .array
            return isElement ? .append(entry.path, value) : .write(entry.path, value)
        }
    }

    /// Returns the step for an entry that cannot be on a command line: it replaces the nearest container that can be.
    private func wholeStep(above path: EntryPath) -> Step {
        let root = PropertyList.dictionary(new)
        for length in stride(from: path.components.count - 1, to: 0, by: -1) {
            let place = EntryPath(Array(path.components.prefix(length)))
            guard (try? KeyArgument(place))?.argument != nil, let value = root[place], fits(value) else { continue }
            return masking.touches(value, at: place) ? .inexpressible(place) : .write(place, value)
        }
        let key = path.components.first.map { EntryPath([$0]) } ?? []
        guard let value = root[key] else { return .replaceAll }
        return masking.touches(value, at: key) ? .inexpressible(key) : .importKey(key.components.first?.text ?? "")
    }

    private func fits(_ value: PropertyList) -> Bool { ValueWords(value).map(\.fitsCommandLine) ?? false }

    private func isHidden(_ entry: Differences.Entry) -> Bool {
        entry.change.new.map { masking.touches($0, at: entry.path) } ?? masking.hides(entry.path)
    }
}

extension CommandLines.Step {
    fileprivate var place: EntryPath? {
        switch self {
        case .delete(let path), .write(let path, _), .append(let path, _), .inexpressible(let path): path
        case .importKey(let key): [EntryPath.Component(key)]
        case .replaceAll: nil
        }
    }

    /// Whether the step replaces the whole value at its place, even if only part of it differs.
    fileprivate var isWhole: Bool {
        switch self {
        case .importKey, .inexpressible: true
        default: false
        }
    }
}

// MARK: Text

extension CommandLines {
    private func line(_ step: Step) throws(CommandFailure) -> String {
        switch step {
        case .delete(let path): return command.line("delete", [spelling(path)])
        case .write(let path, let value): return command.line("write", [spelling(path)], value: ValueWords(value))
        case .append(let path, let value):
            let end = EntryPath(path.components.dropLast() + [.end])
            return command.line("write", [end.description], value: ValueWords(value))
        case .inexpressible(let path):
            return "# \(spelling(path).onOneLine): omitted because it contains a sensitive value\n"
        case .importKey, .replaceAll: return ""
        }
    }

    private func spelling(_ path: EntryPath) -> String { (try? KeyArgument(path))?.spelling ?? path.description }

    private func importing(_ steps: [Step]) throws(CommandFailure) -> String {
        var entries = PropertyList.Dictionary()
        for case .importKey(let key) in steps { entries[key] = new[key] }
        return entries.isEmpty ? "" : try command.importing(entries, replacing: false)
    }

    /// Returns the command that replaces the whole domain, for changes that no other command can express. Throws if the
    /// domain has sensitive values.
    private func replacement() throws(CommandFailure) -> String {
        let hasSecrets = masking.touches(.dictionary(new), at: []) || masking.touches(.dictionary(old), at: [])
        guard !hasSecrets else {
            throw CommandFailure(
                .invalidValue, "a key that cannot be on a command line was removed, and the domain has sensitive values"
            )
        }
        return try command.importing(new, replacing: true)
    }

    private func comments() -> String {
        Differences(from: old, to: new).entries.filter(isHidden).map { entry in
            "# \(entry.label): \(Masking.dots) (\(entry.change.name); sensitive, so not shown)\n"
        }.joined()
    }
}

extension EntryPath {
    /// Returns whether the path is inside one of the places.
    fileprivate func isInside(anyOf places: Set<EntryPath>) -> Bool {
        guard !places.isEmpty else { return false }
        return components.indices.dropFirst().contains { places.contains(EntryPath(Array(components[..<$0]))) }
    }
}

/// The spelling of prefs commands on a domain, for messages and scripts.
package struct CommandSpelling {
    let domain: String
    /// Options before the verb, such as `-currentHost`.
    let options: [String]
    /// Options after the verb, such as `--layer site`.
    let verbOptions: [String]

    /// Creates the spelling for a domain in its layer.
    ///
    /// - Parameters:
    ///   - domain: The argument that names the domain: its name, `-g` or a path.
    ///   - host: The host for the layer `user-host`; nil for this one.
    package init(_ domain: String, in layer: Layer = .user, store: String? = nil, host: String? = nil) {
        self.domain = domain
        let words = layer == .userHost ? host.map { [Option.host.name, $0] } ?? [Option.currentHost.name] : []
        options = Option.words(naming: store) + words
        verbOptions = layer.isOfUser ? [] : [Option.layer.name, layer.name]
    }

    /// Returns the words of a command.
    ///
    /// - Parameter value: A type flag and the words of its value.
    func words(
        _ verb: [String], options verbOptions: [String] = [], _ operands: [String] = [], value: ValueWords? = nil
    ) -> [String] {
        let start = [Prefs.name] + options + verb + self.verbOptions + verbOptions
        // `--` keeps a domain or a key that begins with a dash from being taken as an option. No type can follow it.
        let isLikeOption =
            domain.looksLikeOption && !DomainArgument.isGlobalFlag(domain) || operands.contains { $0.looksLikeOption }
        guard isLikeOption else { return start + [domain] + operands + (value?.words ?? []) }
        return start + (value?.wordsBeforeOthers ?? []) + ["--", domain] + operands
    }

    /// Returns a command line with a newline.
    func line(_ verb: String, _ operands: [String], value: ValueWords? = nil) -> String {
        ShellWord.line(words([verb], operands, value: value)) + "\n"
    }

    /// Returns the command line that imports entries from the standard input.
    func importing(_ entries: PropertyList.Dictionary, replacing: Bool) throws(CommandFailure) -> String {
        guard let text = LosslessJSON.text(of: .dictionary(entries)) else {
            throw CommandFailure(.invalidValue, "a value is nested too deeply")
        }
        let command = words([Verb.importing.name], options: replacing ? [Option.replace.name] : [], ["-"])
        return ShellWord.line(["printf", "%s", text]) + " | " + ShellWord.line(command) + "\n"
    }
}
