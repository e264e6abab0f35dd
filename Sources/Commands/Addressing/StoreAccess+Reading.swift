internal import Platform
internal import Preferences
internal import PropertyLists

/// The values of a domain that a verb shows.
enum Reading {
    /// Those of one layer.
    case layer
    /// Those in force: of all stored layers, and the defaults of the schema.
    case inForce
    /// Those that a program would see: as `inForce`, with the variables of this process.
    case effective
}

extension StoreAccess {
    /// Returns which values of a domain, or of any domain, a verb shows.
    func reading(_ domain: AddressedDomain? = nil) -> Reading {
        if let domain, domain.name == nil { return .layer }
        return requestedReading ?? (places.policy.readsUserLayer ? .layer : .inForce)
    }

    /// Returns the values of a domain to show, or nil if it has none. Those of the global domain are shown only with
    /// `--effective`.
    func shownValues(_ domain: AddressedDomain) throws -> PropertyList.Dictionary? {
        switch reading(domain) {
        case .layer: try values(domain)
        case .inForce: try valuesInForce(domain, withGlobal: false)
        case .effective: try valuesInForce(domain)
        }
    }

    /// Returns the value of a key to show, and its layer if that is not the only one that was read.
    func shownValue(_ key: KeyArgument, in domain: AddressedDomain) throws -> (value: PropertyList, layer: Layer?)? {
        guard reading(domain) != .layer else { return try value(key, in: domain).map { ($0, nil) } }
        guard !key.key.isHidden else { return nil }
        if installedSchema(domain) == nil { return try firstValue(key, in: domain) }
        let layers = try layers(domain)
        let found: (value: PropertyList?, layer: Layer?)
        if layers.schema?.schema.isScope(key.path) ?? false {
            let values = try valuesInForce(layers, of: domain)
            found = (values.entries[key.key]?[key.rest], values.origin(of: Name(key.key))?.layer)
        } else {
            let (resolution, rest) = layers.explanation(at: key.path)
            if let error = resolution.error { throw error.failure(of: key.key, in: domain) }
            found = (resolution.winner?.value?[rest], resolution.winner?.origin.layer)
        }
        guard let value = found.value else { return nil }
        try checkExact(value, at: key.path, in: domain)
        return (value, found.layer)
    }

    /// Returns the value of a key in the first layer that has it. Of a binary file no more is read than that, since a
    /// domain can be large.
    private func firstValue(_ key: KeyArgument, in domain: AddressedDomain) throws -> (
        value: PropertyList, layer: Layer?
    )? {
        for (layer, file) in places.withoutMissingFolders(try files(domain)) {
            do {
                guard try layer != .forced || file.isTrusted(on: system) else { continue }
                let (whole, recovery) = try file.value(at: EntryPath([EntryPath.Component(key.key)]), on: system)
                warn(recovery)
                guard let whole else { continue }
                // A layer with the key but not the entry hides the lower ones.
                guard let value = whole[key.rest] else { return nil }
                try checkExact(value, at: key.path, in: domain)
                return (value, layer)
            } catch {
                try skip(layer, error)
            }
        }
        return nil
    }

    /// Returns the domains to show, sorted: those with a file in the layer or, for values in force, with a file in any
    /// layer or a schema.
    func shownNames() throws -> [DomainName] {
        guard reading() != .layer else { return try names() }
        return Set(try namesInAllLayers()).union(schemas.places.domains(on: system)).sorted()
    }

    /// Returns all values of a domain in its layer, or nil if it has no file.
    func values(_ domain: AddressedDomain) throws -> PropertyList.Dictionary? {
        try existingContents(domain)?.values
    }

    /// Returns the contents of a domain in its layer, or nil if it has no file.
    func existingContents(_ domain: AddressedDomain) throws -> DomainContents? {
        let contents = try contents(domain.file)
        guard contents.exists else { return nil }
        try checkExact(contents.root, at: [], in: domain)
        return contents
    }

    func value(_ key: KeyArgument, in domain: AddressedDomain) throws -> PropertyList? {
        guard !key.key.isHidden else { return nil }
        let (value, recovery) = try domain.file.value(at: key.path, on: system)
        warn(recovery)
        if let value { try checkExact(value, at: key.path, in: domain) }
        return value
    }

    /// Returns the values in force, or nil if the domain has none of its own.
    ///
    /// - Parameters:
    ///   - withGlobal: Whether to include those of the global domain.
    ///   - hasVariables: Whether the variables of this process are a layer; nil to leave that to the command line.
    func valuesInForce(
        _ domain: AddressedDomain, withGlobal: Bool = true, hasVariables: Bool? = nil
    ) throws -> PropertyList.Dictionary? {
        let layers = try layers(domain, hasVariables: hasVariables)
        // A domain exists if it has values of its own, and not only those of the global domain.
        guard layers.layers.contains(where: { domain.name?.isGlobal == true || !$0.layer.isGlobal }) else { return nil }
        var inForce = try valuesInForce(layers, of: domain)
        if !withGlobal, domain.name?.isGlobal != true { inForce.removeGlobal() }
        let values = inForce.entries
        try checkExact(.dictionary(values), at: [], in: domain)
        return values
    }

    /// Returns all values in force. Throws if one of them is an error for every program.
    func valuesInForce(_ layers: LayerStack, of domain: AddressedDomain) throws(StoreFailure) -> ValuesInForce {
        let values = layers.valuesInForce()
        if let (key, error) = values.errors.min(by: { $0.key.text.isBefore($1.key.text) }) {
            throw error.failure(of: key.text, in: domain)
        }
        return values
    }

    /// Returns the function that finds the value of a key in force while the domain is written, in the root of the
    /// domain and in the other layers as they are before that. If the command names a layer, only the root counts.
    func valueInForce(
        of key: KeyArgument, in domain: AddressedDomain
    ) throws -> @Sendable (PropertyList) throws -> PropertyList? {
        guard domain.name != nil, requestedReading != .layer else { return { $0[key.path] } }
        return try resolvedValue(of: key, in: domain)
    }

    /// Returns the function that finds the value that a change such as an increment starts from: the one in the root
    /// of the domain that is written or, if it has none, the one in force. If the command names a layer, only that
    /// layer and the default of the schema count.
    func valueToChange(
        of key: KeyArgument, in domain: AddressedDomain
    ) throws -> @Sendable (PropertyList) throws -> PropertyList? {
        guard domain.name != nil else { return { $0[key.path] } }
        let inherited = try resolvedValue(of: key, in: domain)
        return { root in try root[key.path] ?? inherited(root) }
    }

    private func resolvedValue(
        of key: KeyArgument, in domain: AddressedDomain
    ) throws -> @Sendable (PropertyList) throws -> PropertyList? {
        let files = try requestedReading == .layer ? [] : files(domain).filter { $0.file.path != domain.file.path }
        let others = try layers(in: files) {
            try $0.contents(on: system)
        }
        return { [self] root in
            var stored = others
            let own = LayerSource(Origin(domain.layer), root.dictionaryValue ?? [:])
            stored.insert(own, at: stored.firstIndex { $0.layer > domain.layer } ?? stored.endIndex)
            let (resolution, rest) = layers(domain, stored: stored).explanation(at: key.path)
            if let error = resolution.error { throw error.failure(of: key.key, in: domain) }
            return resolution.winner?.value?[rest]
        }
    }

    /// Notes that a key that was changed in a domain has a value in a layer before it, which stays in force.
    ///
    /// - Parameter isForced: Whether the key can have a forced value, since the change was made despite it.
    func noteValueBefore(_ domain: AddressedDomain, at key: KeyArgument, isForced: Bool) {
        guard context.dialect == .modern, domain.name != nil, !domain.file.isAdopted, let files = try? files(domain)
        else { return }
        let before = files.prefix { $0.layer < domain.layer }.first { layer, file in
            (isForced || layer != .forced) && (try? file.contents(on: system).values[key.key]) ?? nil != nil
        }
        guard let layer = before?.layer.name else { return }
        context.note("\(domain.word) \(key.key): the value in layer \(layer) stays in force".onOneLine)
    }

    /// Throws if the entry comes from JSON and contains an integer beyond 64 bits.
    func checkExact(_ value: PropertyList, at path: EntryPath, in domain: AddressedDomain) throws {
        if let failure = try inexactInteger(in: value, at: path, of: domain) { throw failure }
    }

    /// Returns the failure for an integer beyond 64 bits in an entry that comes from JSON, or nil if it has none.
    func inexactInteger(
        in value: PropertyList, at path: EntryPath, of domain: AddressedDomain
    ) throws -> InvalidInput? {
        guard value.mayBeRounded,
            let bytes = try domain.file.bytes(on: system),
            let (root, format) = try? domain.file.root(bytes), format == .json
        else { return nil }
        let path = path.resolved(in: root)
        return PropertyList.integerOutOfRange(inJSON: bytes, at: path, domain.file.optionsOfJSON)
            .map { InvalidInput(name: domain.word, bytes: bytes, failure: $0) }
    }

    /// Returns whether the value is a real only because JSON has an integer beyond 64 bits at the path.
    func isInexactInteger(_ value: PropertyList?, at path: EntryPath, of domain: AddressedDomain) throws -> Bool {
        guard let value, value.kind == .real else { return false }
        return try inexactInteger(in: value, at: path, of: domain) != nil
    }

    /// Runs `body` for one of several domains. One that cannot be read is reported, and its status is returned.
    func reportingUnreadable(_ body: () throws -> Void) throws -> ExitStatus? {
        do {
            try body()
            return nil
        } catch let failure as StoreFailure {
            for line in failure.goodVersion == nil ? [failure.description] : lines(of: failure) { context.note(line) }
            return failure.status
        } catch let failure as InvalidInput {
            context.note(failure.lines.joined(separator: "\n"))
            return failure.status
        } catch let failure as SystemFailure where failure.path != nil {
            context.note(failure.description)
            return .systemFailed
        }
    }

    /// Returns the failure for a key that a domain lacks, or for a domain or file that does not exist.
    ///
    /// - Parameter classic: The lines of `defaults` for a missing key; nil for those of a reading verb.
    func failure(
        ofMissing key: KeyArgument?, in domain: AddressedDomain, classic: [String]? = nil
    ) throws -> CommandFailure {
        guard let key, try exists(domain) || context.dialect == .classic else {
            return .noDomain(domain, context, hint: domain.name == nil ? "" : hint(atMissing: domain.word))
        }
        return .noPair(domain, key, hint: hint(atMissing: key, in: domain), classic: classic)
    }

    /// Returns whether the file exists or, for a domain, a file in any layer or a schema.
    func exists(_ domain: AddressedDomain) throws -> Bool {
        if try domain.file.status(on: system) != nil { return true }
        guard domain.name != nil else { return false }
        return try installedSchema(domain) != nil
            || files(domain).contains { try !$0.layer.isGlobal && $0.file.status(on: system) != nil }
    }

    /// Returns a suggestion for a domain that does not exist.
    private func hint(atMissing domain: String) -> String {
        if domain == "-" { return "; `prefs convert - json` prints the standard input" }
        if let name = try? DomainName(word: domain), isUnadoptedProgram(name) {
            return "; `prefs adopt \(name)` makes the file of this program a domain"
        }
        // Without finishing transactions, since the caller may hold a lock.
        let place = try? places.place(of: layer, on: host)
        let names = (((try? place?.domains(in: system.fileSystem)) ?? []) + adoptedDomains).map(\.text)
        if names.contains(domain) { return "; its file is a link to a file that does not exist" }
        let stem = domain.hasSuffix(".plist") ? String(domain.dropLast(".plist".count)) : domain
        return names.contains(stem) ? "; did you mean \(stem)?" : Suggestion.hint(domain: domain, among: names)
    }

    /// Returns a suggestion for a key that a domain lacks: an entry path in another notation, or a similar key.
    private func hint(atMissing key: KeyArgument, in domain: AddressedDomain) -> String {
        if context.dialect == .modern, domain.name == nil, DomainArgument.isPath(key.key),
            (try? system.fileSystem.status(of: context.path(key.key)))?.kind == .file
        {
            return "; quote a pattern for several files, such as './*.json'"
        }
        if let place = otherLayer(with: key, of: domain) { return "; \(place)" }
        guard context.dialect == .modern, key.rest.components.isEmpty,
            let values = (try? domain.file.contents(on: system))?.values.withoutHidden, values.count <= 1000
        else { return "" }
        if let path = key.entry(in: .dictionary(values)) { return "; did you mean \(path)?" }
        let declared = schemaInForce(domain)?.schema.storedSettings.map(\.key) ?? []
        if declared.contains(key.key) { return "; its schema declares it, but it has no value here" }
        return Suggestion.hint(key.key, among: Array(values.keys) + declared)
    }

    /// Returns a sentence that names another layer of the domain with a value that the one of the command lacks.
    private func otherLayer(with key: KeyArgument, of domain: AddressedDomain) -> String? {
        guard context.dialect == .modern, domain.name != nil, !domain.file.isAdopted, let files = try? files(domain)
        else { return nil }
        let other = files.first { layer, file in
            guard !layer.isGlobal, file.path != domain.file.path else { return false }
            return ((try? file.contents(on: system))?.root[key.path]) != nil
        }
        guard let layer = other?.layer else { return nil }
        let option = layer == .userHost ? Option.currentHost.longName : "\(Option.layer.name) \(layer.name)"
        return "the value is in layer \(layer.name) (\(option))"
    }

    /// Reports that a kept version replaces a damaged file.
    func warn(_ recovery: Recovery?) {
        if let recovery { context.note(recovery.description) }
    }
}

extension PropertyList {
    /// Whether this contains a real to which an integer beyond 64 bits may have been rounded.
    fileprivate var mayBeRounded: Bool {
        switch self {
        case .real(let number): abs(number) >= 0x1p63
        case .array(let elements): elements.contains(where: \.mayBeRounded)
        case .dictionary(let entries): entries.contains { $0.value.mayBeRounded }
        default: false
        }
    }
}

extension PropertyList.Dictionary {
    /// The values without the store's own keys.
    var withoutHidden: PropertyList.Dictionary {
        guard keys.contains(where: \.isHidden) else { return self }
        var values = self
        values.removeAll { $0.key.isHidden }
        return values
    }
}

// MARK: Failures

extension Resolution.Answer {
    /// The failure of a look-up in which a value is an error.
    fileprivate func failure(of key: String, in domain: AddressedDomain) -> StoreFailure {
        StoreFailure(.invalid(key: key, origin: origin, reason: fault ?? ""), domain.word)
    }
}

extension CommandFailure {
    /// The option `--from` was given for a domain, or for a pattern for domains.
    static func formatOfDomain(_ word: String) -> CommandFailure {
        CommandFailure(.usage, "\(word.onOneLine): --from is for a file by its path, not for a domain")
    }

    static func noPair(
        _ domain: AddressedDomain, _ key: KeyArgument, hint: String = "", classic: [String]? = nil
    ) -> CommandFailure {
        let shown = key.spelling.isEmpty ? ShellWord.quoted("") : key.spelling.onOneLine
        let pair = "(\(domain.application.onOneLine), \(key.spelling.onOneLine))"
        return CommandFailure(
            .notFound, ["\(domain.word.onOneLine) has no key \(shown)\(hint.onOneLine)"],
            classic: classic ?? ["The domain/default pair of \(pair) does not exist"])
    }

    /// The message names a file of the working directory that has the name of the domain.
    static func noDomain(
        _ domain: AddressedDomain, _ context: CommandContext, hint: String = ""
    ) -> CommandFailure {
        let name = domain.word.onOneLine
        let message: String
        if domain.name == nil {
            message = "\(domain.file.isAdopted ? domain.file.path.description.onOneLine : name): no such file"
        } else if context.hasFile(named: domain.word) {
            message = "no domain \(name); the file is ./\(name)"
        } else {
            message = "no domain \(name)\(hint.onOneLine)"
        }
        return CommandFailure(.notFound, message, classic: "Domain \(name) does not exist")
    }
}

/// A cache of files that a command has read. A file is read again only when it has changed.
struct FileContentsCache {
    private let system: SystemServices
    private var seen: [FilePath: DomainContents] = [:]

    init(on system: SystemServices) { self.system = system }

    /// Returns the current contents of a file. When a damaged file is replaced by a kept version, `note` is called
    /// once.
    mutating func contents(
        of file: DomainFile, note: (Recovery) throws -> Void = { _ in }
    ) throws -> DomainContents {
        if let known = seen[file.path], try file.status(on: system)?.generation == known.generation { return known }
        let contents = try file.contents(on: system)
        if let recovery = contents.recovery { try note(recovery) }
        seen[file.path] = contents
        return contents
    }
}
