internal import Platform
internal import Preferences
internal import PropertyLists

/// The store, layer and host that the options of a command select.
struct StoreAccess {
    let context: CommandContext
    let system: SystemServices
    let places: StorePlaces
    let schemas: SchemaCache
    /// Whether text files are rewritten, and not only edited.
    let writesAnew: Bool
    /// Whether the verb has the option `--force`.
    let offersForce: Bool
    /// The reason that the verb records with its changes.
    let reason: WriteReason
    /// The layer that is written, and that verbs read which read one layer.
    let layer: Layer
    /// The values that the command line asks for; nil if it leaves that to the store.
    let requestedReading: Reading?
    /// The host for the layer `user-host`.
    let host: String?
    /// The store and the host as the command line names them.
    private let named: (store: String?, host: String?)
    /// The format that the command line requires of a file.
    let requiredFormat: String?

    init(_ invocation: Invocation, _ context: CommandContext) throws {
        self.context = context
        system = context.system
        let kind = try invocation[.store].map { try Self.kind($0, context) } ?? .native
        guard let places = try StorePlaces(kind, on: system) else {
            throw CommandFailure(.usage, "this store has no files")
        }
        self.places = places
        schemas = SchemaCache(kind, in: places, on: system)
        writesAnew = invocation.has(.rewrite)
        offersForce = invocation.verb.options.contains { $0.name == Option.force.name }
        reason = WriteReason(rawValue: invocation.verb.name)
        named = (invocation[.store], invocation[.host])
        requiredFormat = invocation.verb.options.contains(.from) ? invocation[.from] : nil
        if invocation.has(.newHost), named.host == nil, !invocation.has(.foldersAreLayers) {
            throw CommandFailure(.usage, "\(Option.newHost.name) is for --host")
        }
        let isByHost = invocation.has(.currentHost) || named.host != nil
        let word = invocation[.layer]
        requestedReading =
            invocation.has(.effective)
            ? .effective
            : word != nil || isByHost || context.dialect == .classic ? .layer : nil
        guard !invocation.has(.effective) || word == nil && !isByHost else {
            let option: Option = word != nil ? .layer : named.host != nil ? .host : .currentHost
            throw CommandFailure(.usage, "--effective looks in all layers of this host; omit \(option.name)")
        }
        layer = Layer.writable.first { $0.name == word } ?? (isByHost ? .userHost : .user)
        try Self.check(layer, places)
        if layer == .userHost {
            let isNew = invocation.has(.newHost) || context.dialect == .classic
            host = try named.host.map { try Self.host(named: $0, isNew: isNew, places, context) } ?? places.host()
        } else {
            if let word = named.host { try Self.check(host: word) }
            host = nil
        }
        if isByHost, layer != .userHost {
            throw CommandFailure(.usage, "the layer \(layer) does not depend on the host")
        }
        if let record = places.user.recordOfAnotherUser(on: system) {
            context.note(
                "\(record): another user's change of several files in this store is pending, and only that user can complete it"
            )
        }
    }

    static func kind(_ word: String, _ context: CommandContext) throws -> Store.Kind {
        if let kind = Option.store(named: word) { return kind }
        let path = try context.absolutePath(word)
        // A misspelled store name must not create a folder.
        guard try word.contains("/") || context.fileSystem.status(of: path) != nil else {
            let hint = Suggestion.hint(word, among: Option.stores.map(\.name))
            throw CommandFailure(
                .usage,
                "unknown store \(ShellWord.quoted(word.onOneLine))\(hint.isEmpty ? "; write ./\(word.onOneLine) for a folder" : hint)"
            )
        }
        let files = context.fileSystem
        if try files.status(of: path)?.kind == .folder, let inner = FilePath(path.description + "/.config/prefs"),
            try files.status(of: inner)?.kind == .folder
        {
            context.note("\(word): a home folder; its store is \(inner)".onOneLine)
        }
        return .folder(path)
    }

    /// Returns the host in file names that a word means: this one, by its identifier or its name with or without a
    /// domain, or one that has files here.
    ///
    /// - Parameter isNew: Whether it may be another one.
    private static func host(
        named word: String, isNew: Bool, _ places: StorePlaces, _ context: CommandContext
    ) throws -> String {
        let own = try places.host()
        let name = context.system.environment.hostName
        let known = try places.user.hosts(in: context.fileSystem)
        let names = [name, String(name.prefix { $0 != "." })]
        if names.contains(where: { $0.lowercased().hasSameBytes(as: word.lowercased()) }) {
            if known.contains(where: { $0.hasSameBytes(as: word) }) {
                context.note(
                    "\(word.onOneLine) is this host, \(own); the files of an earlier version in its name are not used")
            }
            return own
        }
        try check(host: word)
        guard !isNew, !([own] + known).contains(where: { $0.hasSameBytes(as: word) }) else { return word }
        let others = known.filter { $0 != own }.map(\.onOneLine)
        let list = (["\(name.onOneLine) (this host)"] + others).joined(separator: ", ")
        throw CommandFailure(
            .usage,
            "unknown host \(ShellWord.quoted(word.onOneLine)); the known ones are \(list); to write for another, add --new-host"
        )
    }

    /// Returns the host that a word means, like the word of `--host`.
    func host(named word: String, isNew: Bool) throws -> String {
        try Self.host(named: word, isNew: isNew, places, context)
    }

    /// The hosts that have files in this store, and this one, which is the first.
    func hosts() throws -> [(host: String, name: String?)] {
        let own = try places.host()
        let others = try places.user.hosts(in: system.fileSystem).filter { !$0.hasSameBytes(as: own) }
        return [(own, system.environment.hostName)] + others.map { ($0, nil) }
    }

    /// Throws unless the name is valid and has no dot. The file of a domain is `domain.host`, so a dot in the host
    /// would make it another domain's file. The identifier of this host, which is hexadecimal, has none.
    private static func check(host: String) throws {
        let isName = (try? DomainName(host)) != nil
        guard !isName || host.utf8.contains(UInt8(ascii: ".")) else { return }
        let reason = isName ? ": it contains a dot" : ""
        throw CommandFailure(.usage, "\(ShellWord.quoted(host.onOneLine)) is not a valid host name\(reason)")
    }

    /// Throws if the store does not have the layer.
    func check(_ layer: Layer) throws { try Self.check(layer, places) }

    private static func check(_ layer: Layer, _ places: StorePlaces) throws {
        guard places.folder(of: layer) != nil else {
            throw CommandFailure(.usage, "this store has no layer \(layer)")
        }
    }
}

// MARK: Domains

extension StoreAccess {
    /// Returns the spelling of commands on a domain in this store.
    func spelling(_ domain: String, in layer: Layer) -> CommandSpelling {
        CommandSpelling(domain, in: layer, store: named.store, host: named.host)
    }

    /// Returns the spelling of commands on a domain, which may be of another host than the options name.
    func spelling(of domain: AddressedDomain) -> CommandSpelling {
        let isOfThisHost = named.host == nil && domain.host == (try? places.host())
        return CommandSpelling(
            domain.word, in: domain.layer, store: named.store, host: isOfThisHost ? nil : domain.host ?? named.host)
    }

    /// Returns the domain or file that a word names.
    func domain(_ word: String) throws -> AddressedDomain {
        if DomainArgument.isPath(word) {
            if context.dialect == .classic, let domain = try libraryDomain(word) { return domain }
            let file = try self.file(at: word)
            return AddressedDomain(word: word, name: nil, file: file, layer: .user)
        }
        if context.dialect == .classic, let domain = try domain(withoutEndingOf: word) { return domain }
        return try domain(DomainName(word: word))
    }

    func domain(_ name: DomainName) throws -> AddressedDomain { try domain(name, in: layer) }

    func domain(_ name: DomainName, in layer: Layer) throws -> AddressedDomain {
        let file = try file(of: name, in: layer)
        // A program's file has no layers and no schema, like a file that is named by its path.
        guard !file.isAdopted else {
            // The modern commands check this for all files.
            guard layer == .user || context.dialect == .modern else {
                throw CommandFailure(.usage, "\(name): a program's file, which has no values for one host")
            }
            return AddressedDomain(word: name.text, name: nil, file: file, layer: .user)
        }
        return AddressedDomain(
            word: name.text, name: name, file: file, layer: layer,
            host: layer == .userHost ? try host ?? places.host() : nil)
    }

    /// Returns a domain in a layer, for a host if it is not nil.
    func domain(_ name: DomainName, in layer: Layer, on host: String?) throws -> AddressedDomain {
        guard let place = try places.place(of: layer, on: host) else {
            throw CommandFailure(.usage, "this store has no layer \(layer)")
        }
        return AddressedDomain(word: name.text, name: name, file: place.file(of: name), layer: layer, host: host)
    }

    /// Returns a domain in each of the user's layers.
    func domainsOfUser(_ name: DomainName) throws -> [AddressedDomain] {
        try Layer.writable.filter(\.isOfUser).filter { places.folder(of: $0) != nil }.map { try domain(name, in: $0) }
    }

    /// Returns the domains of this name that the user has for other hosts, with values or a history.
    func domainsOfOtherHosts(_ name: DomainName) throws -> [AddressedDomain] {
        guard places.folder(of: .userHost) != nil else { return [] }
        return try hosts().dropFirst().map { try domain(name, in: .userHost, on: $0.host) }.filter { domain in
            try domain.file.status(on: system) != nil || !(History(of: domain.file, on: system)?.versions ?? []).isEmpty
        }
    }

    func file(of name: DomainName, in layer: Layer) throws(StoreFailure) -> DomainFile {
        // The administrator's layers do not depend on the user's folder.
        let adopted = layer == .user ? try places.adoptedFile(of: name) : (try? places.adoptedFile(of: name)) ?? nil
        if let adopted { return adopted }
        return (try places.place(of: layer, on: host) ?? LayerPlace(.user, places.user)).file(of: name)
    }

    /// Returns a file by its path, with `.plist` added if only that file exists; `defaults` adds it to a new file
    /// too.
    private func file(at word: String) throws -> DomainFile {
        guard !word.hasSuffix("/") else {
            throw CommandFailure(.usage, "\(word.onOneLine): names a folder, not a file")
        }
        var path = try context.absolutePath(word)
        if try system.fileSystem.status(of: path) == nil, !word.hasSuffix(".plist"),
            let longer = FilePath(path.bytes + Array(".plist".utf8))
        {
            if context.dialect == .classic {
                path = longer
            } else if try system.fileSystem.status(of: longer) != nil {
                context.note("\(word.onOneLine): no such file; using \(word.onOneLine).plist")
                path = longer
            }
        }
        let target = try path.followingLinks(in: system.fileSystem)
        try Self.checkMember(at: target, word, of: places, system) { schemas }
        if let file = try places.user.ownFile(at: target, name: word, in: system.fileSystem) { return file }
        let place = (try? path.resolvingLinks(in: system.fileSystem)) ?? target
        return places.user.file(
            at: path, place: place, name: word,
            newFormat: .ofNewFile(named: word))
    }

    /// Returns the names of all domains that have a file in the layer.
    func names() throws -> [DomainName] { try names(in: layer) }

    func names(in layer: Layer) throws -> [DomainName] {
        let names = try places.place(of: layer, on: host).map(names) ?? []
        return layer == .user ? Set(names + adoptedDomains).sorted() : names
    }

    /// The domains that are programs' files. If the folder cannot be read, its own domains are reported.
    var adoptedDomains: [DomainName] { (try? places.user.adoptedDomains(on: system)) ?? [] }

    func names(in place: LayerPlace) throws -> [DomainName] {
        // Pending transactions may create files of new domains.
        try place.domains(in: place.file(of: .global).completed(on: system).fileSystem)
    }
}

/// A domain or file named on the command line.
struct AddressedDomain: Sendable {
    /// The name in messages.
    let word: String
    /// The domain; nil for a file given by its path.
    let name: DomainName?
    var file: DomainFile
    let layer: Layer
    /// The host for the layer `user-host`; nil for other layers.
    var host: String?

    /// The name in messages that can concern several layers.
    var label: String { host.map { "\(word) for host \($0)" } ?? word }

    /// The name in messages that concern several layers of one domain.
    var labelOfLayer: String { host != nil || layer == .user ? label : "\(word)@\(layer)" }

    /// Returns the heading in the output of `read`.
    func heading(_ dialect: Dialect) -> String {
        dialect == .classic && name?.isGlobal == true ? "Apple Global Domain" : word
    }

    /// Returns the domain, read in the format that `--from` requires of a file.
    func requiringFormat(of invocation: Invocation) throws(CommandFailure) -> AddressedDomain {
        guard invocation.verb.options.contains(.from), let word = invocation[.from],
            let format = FormatName(word: word)
        else { return self }
        guard name == nil else { throw CommandFailure.formatOfDomain(self.word) }
        var domain = self
        domain.file.requiredFormat = format.ofPropertyList
        domain.file.allowsJSON5 = format == .json5
        return domain
    }

    /// The name in messages that also name a key.
    var application: String { name?.isGlobal == true ? "kCFPreferencesAnyApplication" : word }
}

/// An operand of a comparison: a domain, one of its layers, or a file.
///
///     com.example.app              the user's values, or with -currentHost those for this host
///     com.example.app@site         the values of a layer that a command can write
///     com.example.app@effective    the values in force
///     com.example.app@3            the values of a version
///     ./settings.plist             a file; - is the standard input
///     settings.plist               the domain of that name, or else the file
struct ComparedOperand {
    let values: PropertyList.Dictionary
    let masking: Masking
    /// The operand as named in commands; nil if no command can write it.
    let command: CommandSpelling?
    /// Whether `--from` applies to the operand.
    var isInput = false
}

extension StoreAccess {
    /// Resolves an operand of `diff`.
    ///
    /// - Parameter isForced: Whether the word is a domain, even if there is a file of that name.
    func operand(_ word: String, _ invocation: Invocation, isForced: Bool = false) throws -> ComparedOperand {
        if isForced { return try operand(domain(DomainName(word: word))) }
        if try word == "-" || DomainArgument.isPath(word) && context.isStream(word) {
            let input = try InputFile(word, invocation, context, unwrapsJSON: true)
            return ComparedOperand(
                values: try input.dictionary().withoutHidden, masking: .none, command: nil, isInput: true)
        }
        if let (domain, version) = try versionOperand(word) {
            let values = try state(ofVersion: Verb.number(version, "the number of a version"), of: domain).values
            return ComparedOperand(values: values.withoutHidden, masking: masking(domain), command: nil)
        }
        if let (name, layer) = layerOperand(word) { return try operand(name, layer, invocation) }
        guard DomainArgument.isPath(word) else {
            let named = try domainRatherThanFile(word, isForced: false) { try $0.file.status(on: system) != nil }
            return try named.map(operand) ?? operand(context.file(named: word), invocation)
        }
        let domain = try domain(word)
        if domain.name == nil, invocation.has(.from) {
            let input = try InputFile(domain.file.path.word, invocation, context)
            return ComparedOperand(
                values: try input.dictionary(), masking: masking(domain), command: spelling(word, in: domain.layer),
                isInput: true)
        }
        return try operand(domain)
    }

    private func operand(_ domain: AddressedDomain) throws -> ComparedOperand {
        guard let values = try values(domain) else {
            guard domain.name != nil, domain.word.contains("@") else { throw try failure(ofMissing: nil, in: domain) }
            let layers = Layer.writable.map(\.name).joined(separator: ", ")
            throw CommandFailure(
                .notFound, "no domain \(domain.word.onOneLine); the layers after @ are \(layers) and effective")
        }
        return ComparedOperand(
            values: values, masking: masking(domain), command: spelling(domain.word, in: domain.layer))
    }

    /// A layer without the domain is treated as empty.
    private func operand(
        _ name: String, _ layer: Layer?, _ invocation: Invocation
    ) throws -> ComparedOperand {
        let named = try domain(name)
        guard let domain = named.name else {
            throw CommandFailure(.usage, "\(name.onOneLine): a file has no layers")
        }
        guard let layer else {
            let withGlobal = invocation.has(.globalKeys)
            guard let values = try valuesInForce(named, withGlobal: withGlobal, hasVariables: true) else {
                throw try failure(ofMissing: nil, in: named)
            }
            return ComparedOperand(values: values, masking: masking(named), command: nil)
        }
        try check(layer)
        let addressed = try self.domain(domain, in: layer)
        return ComparedOperand(
            values: try values(addressed) ?? [:], masking: masking(addressed),
            command: spelling(name, in: layer))
    }

    /// Splits `DOMAIN@VERSION`, where the domain can be a file. The result is nil for other words, and for the name of
    /// a domain or a file that exists.
    func versionOperand(_ word: String) throws -> (domain: AddressedDomain, version: String)? {
        guard let sign = word.unicodeScalars.lastIndex(of: "@"), sign != word.startIndex else { return nil }
        let version = String(word[sign...].dropFirst())
        guard !version.isEmpty, version.utf8.allSatisfy({ $0 &- 0x30 <= 9 }) else { return nil }
        let isName =
            DomainArgument.isPath(word)
            ? try system.fileSystem.status(of: context.absolutePath(word)) != nil
            : try context.hasFile(named: word) || domain(word).file.status(on: system) != nil
        return isName ? nil : (try named(String(word[..<sign])), version)
    }

    /// Splits `DOMAIN@LAYER`. The layer is nil for `effective`; the result is nil for other words.
    private func layerOperand(_ word: String) -> (domain: String, layer: Layer?)? {
        guard let sign = word.unicodeScalars.lastIndex(of: "@"), sign != word.startIndex else { return nil }
        let (name, ending) = (String(word[..<sign]), String(word[sign...].dropFirst()))
        if ending == "effective" { return (name, nil) }
        return Layer.writable.first { $0.name == ending }.map { (name, $0) }
    }
}

extension StoreAccess {
    /// Returns the files in which the values of a domain are stored, highest priority first.
    func files(_ domain: AddressedDomain) throws -> [(layer: Layer, file: DomainFile)] {
        guard let name = domain.name else { return [(.user, domain.file)] }
        return try places.searchList(name)
    }

    /// Returns the layers of the files that exist and take effect.
    ///
    /// - Parameter read: Reads a file, and reports damage if needed.
    func layers(
        in files: [(layer: Layer, file: DomainFile)], by read: (DomainFile) throws -> DomainContents
    ) throws -> [LayerSource] {
        try places.layers(in: files, by: read, orSkip: skip)
    }

    /// Reports that a layer of defaults from the administrator cannot be read and is skipped. Throws the error of any
    /// other layer: above all, forced values must never be ignored.
    func skip(_ layer: Layer, _ error: any Error) throws {
        guard layer.isSkippedIfUnreadable else { throw error }
        let (_, lines) = Prefs.explanation(of: error)
        for line in lines { context.note("\(line); skipped") }
    }

    /// The layers that have a file for a domain, with the store's own keys.
    func storedLayers(_ domain: AddressedDomain) throws -> [LayerSource] {
        try layers(in: files(domain)) { try reportingRecovery($0) }
    }

    /// The layers in which a command looks up the values of a domain.
    ///
    /// - Parameter hasVariables: Whether the variables of this process are one of them; nil to leave that to the
    ///   command line.
    func layers(_ domain: AddressedDomain, hasVariables: Bool? = nil) throws -> LayerStack {
        layers(domain, stored: try storedLayers(domain), hasVariables: hasVariables)
    }

    /// Returns the layers of a domain whose files were read. The variables of this process are one of them only for a
    /// command with `--effective`.
    func layers(
        _ domain: AddressedDomain, stored: [LayerSource], hasVariables: Bool? = nil
    ) -> LayerStack {
        let layers = layers(
            domain, stored: stored, schemaInForce(domain),
            hasVariables: hasVariables ?? (requestedReading == .effective))
        do throws(Schema.Arguments.Mistake) {
            return try layers.withConfiguration(on: system) { file throws(StoreFailure) in
                try file.configuration(on: system)
            }
        } catch {
            context.note("\(error); skipped")
            return layers
        }
    }

    /// Returns the layers of a domain whose files were read, with this schema instead of the installed one.
    func layers(
        _ domain: AddressedDomain, stored: [LayerSource], _ schema: EffectiveSchema?, hasVariables: Bool = true
    ) -> LayerStack {
        // The layers of the process and the schema belong to a domain, not to a file that is named by its path.
        LayerStack(stored, schema, on: system, isFileAlone: domain.name == nil, hasVariables: hasVariables)
    }

    /// The contents of a file. A damaged one is replaced by a kept version, which is reported.
    private func reportingRecovery(_ file: DomainFile) throws -> DomainContents {
        let contents = try file.contents(on: system)
        warn(contents.recovery)
        return contents
    }

    /// Returns the contents of a file without the store's own keys. Reports when a kept version replaces a damaged
    /// file.
    func contents(_ file: DomainFile) throws -> DomainContents {
        var contents = try reportingRecovery(file)
        contents.values = contents.values.withoutHidden
        return contents
    }

    /// Returns the file with the values that the administrator forces for a domain; nil if the domain is itself in that
    /// layer.
    func forcedFile(of domain: AddressedDomain) throws -> DomainFile? {
        guard let name = domain.name, domain.layer != .forced, let file = places.forced?.file(of: name),
            try file.isTrusted(on: system)
        else {
            return nil
        }
        return file
    }

    /// Returns the names of all domains that have a file in any layer, sorted.
    func namesInAllLayers() throws -> [DomainName] {
        var names = Set(adoptedDomains)
        for place in try places.allPlaces() {
            do {
                names.formUnion(try self.names(in: place))
            } catch {
                try skip(place.layer, error)
            }
        }
        return names.sorted()
    }
}

/// The location of a layer's files.
struct LayerPlace: Sendable {
    let layer: Layer
    let folder: StoreFolder
    /// The host for which the files are; nil for all hosts.
    private let host: String?

    init(_ layer: Layer, _ folder: StoreFolder, host: String? = nil) {
        self.layer = layer
        self.folder = folder
        self.host = host
    }

    func file(of name: DomainName) -> DomainFile {
        host.map { folder.file(of: name, on: $0) } ?? folder.file(of: name)
    }

    /// Returns the domains that have a file in the layer, sorted.
    func domains(in files: any FileSystem) throws(SystemFailure) -> [DomainName] {
        guard let host else { return try folder.domains(in: files) }
        return try folder.domains(on: host, in: files)
    }

    /// The folder of the files.
    var path: FilePath { host == nil ? folder.folder : folder.folder.appending(StoreFolder.hostFolder) }
}

extension StorePlaces {
    /// Returns the location of a writable layer, or nil if this store does not have it.
    ///
    /// - Parameter host: The host for the layer `user-host`; nil for this one.
    func place(of layer: Layer, on host: String?) throws(StoreFailure) -> LayerPlace? {
        guard let folder = folder(of: layer) else { return nil }
        guard layer == .userHost else { return LayerPlace(layer, folder) }
        let name = if let host { host } else { try self.host() }
        return LayerPlace(layer, folder, host: name)
    }

    /// Returns the locations of all writable layers, highest priority first.
    func writablePlaces() throws(StoreFailure) -> [LayerPlace] {
        var found: [LayerPlace] = []
        for layer in Layer.writableByPriority { if let place = try place(of: layer, on: nil) { found.append(place) } }
        return found
    }

    /// Returns the folders of the store, each with one of its layers.
    func foldersByLayer() throws(StoreFailure) -> [(layer: Layer, folder: StoreFolder)] {
        try allPlaces().filter { $0.layer != .userHost }.map { ($0.layer, $0.folder) }
    }

    /// Returns the locations of all files that a lookup may read, for any domain.
    func allPlaces() throws(StoreFailure) -> [LayerPlace] {
        try writablePlaces() + site.dropFirst().map { LayerPlace(.site, $0) }
    }
}
