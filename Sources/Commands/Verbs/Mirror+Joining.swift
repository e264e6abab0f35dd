internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PreferencesMirror
internal import PropertyLists

// Joining a mirror, and selecting domains.
extension MirrorVerbs {
    static let initialise = Verb(
        "init", .new, "create a mirror in a directory and join it",
        details: [
            "The directory is created if it is missing, but its parent must exist. `prefs mirror add` then selects the domains to mirror.",
            "With --again, it recreates the missing parts of the directory of a mirror that this store has joined, after the directory was deleted or emptied on purpose. The mirror keeps its ID, and each host publishes its values again.",
        ],
        options: [.label, .signed, .again, .mirrorID], forms: [[directory]], statuses: [.invalidValue] + outcomes
    ) { invocation, context in
        let access = try MirrorAccess(invocation, context)
        let directory = try access.directory(invocation)
        // If the parent is missing, its file system may not be mounted.
        guard try context.fileSystem.status(of: directory.parent) != nil else {
            throw SystemFailure(.noSuchFile, .makeFolder, directory)
        }
        guard invocation.has(.again) else {
            guard invocation[.mirrorID] == nil else { throw CommandFailure(.usage, "--id requires --again") }
            try access.checkLoss(in: directory)
            var options = try joinOptions(invocation)
            options.signing = try signingKey(invocation, access).map { SigningKey(file: $0, key: $1, trusted: $1) }
            return try begin(access.places.initialise(directory, options), access, "created the mirror")
        }
        for option in [Option.label, .signed] where invocation[option] != nil {
            throw CommandFailure(.usage, "\(option.name) and --again are mutually exclusive")
        }
        let joined = try access.places.initialiseAgain(directory, id: joinOptions(invocation).id)
        var session = MirrorSession(joined, access.places)
        try session.carryOut(.heal) { access.wait($0) }
        try context.say("recreated the mirror \(joined.id.abbreviation) in \(directory.description.onOneLine)")
        try context.say("each host publishes its values again at its next exchange")
        return try access.conclude(&session)
    }

    static let join = Verb(
        "join", .new, "join a mirror",
        details: [
            "Where both sides have a value, SIDE determines which is used: with merge, the default, the mirror's value, and other values of this host are added; with remote, no value of this host; with local, this host's value. Values replaced on this host are kept in its history.",
            "A store in a home folder on a file server is mirrored by one host; --take-over makes it this one.",
        ],
        options: [
            .mirrorID, .seed, .label, .signed, .trust, .takeOver,
        ],
        forms: [[directory]], statuses: [.invalidValue] + outcomes
    ) { invocation, context in
        let access = try MirrorAccess(invocation, context)
        let directory = try access.directory(invocation)
        try access.checkLoss(in: directory)
        var options = try joinOptions(invocation)
        options.signing = try signing(in: directory, options, invocation, access)
        return try begin(access.places.join(directory, options), access, "joined the mirror")
    }

    /// Returns the key file and the public key of `--signed`.
    private static func signingKey(
        _ invocation: Invocation, _ access: MirrorAccess
    ) throws -> (FilePath, SignerKey)? {
        guard let word = invocation[.signed] else { return nil }
        let file = try access.context.absolutePath(word).normalized
        return (file, try SSHKeygen(on: access.places.system).key(in: file))
    }

    /// Returns the key with which this host joins, and the one that the user trusts.
    private static func signing(
        in directory: FilePath, _ options: MirrorPlaces.JoinOptions, _ invocation: Invocation, _ access: MirrorAccess
    ) throws -> SigningKey? {
        guard let (file, key) = try signingKey(invocation, access) else {
            guard invocation[.trust] == nil else { throw CommandFailure(.usage, "--trust requires --signed") }
            return nil
        }
        // Without signers, `join` reports that the mirror is not signed.
        guard let signers = try access.places.signers(in: directory, options) else {
            return SigningKey(file: file, key: key, trusted: key)
        }
        guard let trusted = invocation[.trust] else {
            let place = ShellWord.quoted(directory.description.shown)
            guard let first = signers.admitted.first else {
                throw CommandFailure(.invalidValue, "\(place): add --trust with the key of an admitted host")
            }
            let host = first.value.isEmpty ? "its first host" : first.value.onOneLine
            throw CommandFailure(
                .invalidValue,
                "\(place): the mirror claims that \(host) has the key \(first.key.fingerprint); compare it with "
                    + "`prefs mirror status` on that host, then add --trust \(first.key.fingerprint); "
                    + "the key of any other admitted host can be used instead")
        }
        guard let pinned = try access.places.key(of: trusted, in: directory, options) else {
            throw CommandFailure(
                .notFound, "\(trusted.onOneLine): no host of the mirror has a key with this fingerprint")
        }
        return SigningKey(file: file, key: key, trusted: pinned)
    }

    static let add = Verb(
        "add", .new, "mirror domains",
        details: [
            "GLOB is a pattern with * ? [a-z] for names of domains. The global domain is mirrored only if it is named (-g), and settings for a single host never are.",
            "The file of a program (prefs adopt) is mirrored only if it is named without a pattern, by key: all keys that its schema does not keep on each host. Without a schema for it, --key or --all-keys is required. If the file does not exist and the mirror has values of it, it is created.",
            "Where this host and the mirror have different values, only one is used (see --seed of join). --dry-run prints both for each such key, and changes nothing.",
        ],
        options: [.fileKey, .allKeys, .dryRun, .mirror], forms: [[globs]], statuses: outcomes
    ) { invocation, context in
        let access = try MirrorAccess(invocation, context)
        var session = try access.one()
        let patterns = try patterns(invocation)
        let files = try AdoptedSelection(patterns, invocation, access)
        if invocation.has(.dryRun) { return try preview(patterns, files, in: session, access) }
        return try add(patterns, files, to: &session, access)
    }

    static let remove = Verb(
        "remove", .new, "stop mirroring domains",
        details: [
            "The domains' files stay as they are, here and on other hosts. With --withdraw, the values that this host published leave the mirror, now; other hosts, their histories and backups can still hold what they have read.",
            "With --key, the rest of the file of a program is still mirrored.",
        ],
        options: [.removedKey, .withdraw, .mirror], forms: [[globs]], statuses: outcomes
    ) { invocation, context in
        let (access, keys) = (try MirrorAccess(invocation, context), try keys(invocation.all(.removedKey)))
        return try keys.isEmpty ? remove(invocation, access) : remove(keys, invocation, access)
    }

    static let list = Verb(
        "list", .new, "list the mirrored domains", options: [.mirror], statuses: outcomes
    ) { invocation, context in
        try MirrorAccess(invocation, context).each { session in
            let status = try session.status()
            try context.say(session.place)
            for pattern in status.patterns { try context.say("  pattern  \(pattern.onOneLine)") }
            for domain in status.domains {
                try context.say("  domain   \(domain.onOneLine)")
                guard let name = try? DomainName(domain),
                    let file = session.configuration.selection.file(of: name)
                else { continue }
                if case .some(let keys) = file.keys {
                    for key in keys.sorted() { try context.say("    mirrored  \(key.text.onOneLine)") }
                    if keys.isEmpty { try context.say("    no key is mirrored") }
                }
                for key in file.keptKeys.sorted() { try context.say("    stays here  \(key.text.onOneLine)") }
            }
            return .done
        }
    }

    // MARK: Implementation

    private static func joinOptions(_ invocation: Invocation) throws -> MirrorPlaces.JoinOptions {
        var options = MirrorPlaces.JoinOptions()
        options.label = invocation[.label]
        guard options.isLabelFit else {
            throw CommandFailure(.usage, "--label: a name has at most \(WriterNote.longestText) bytes")
        }
        options.takesOver = invocation.has(.takeOver)
        if let word = invocation[.mirrorID] {
            guard (1...32).contains(word.utf8.count), word.utf8.allSatisfy("0123456789abcdef".utf8.contains) else {
                throw CommandFailure(.usage, "\(ShellWord.quoted(word.onOneLine)) is not the number of a mirror")
            }
            options.id = word
        }
        if let side = invocation[.seed].flatMap({ SeedSide(rawValue: $0) }) { options.seed = side.seeding }
        return options
    }

    private static func begin(
        _ joined: MirrorPlaces.Joined, _ access: MirrorAccess, _ what: String
    ) throws -> ExitStatus {
        var session = MirrorSession(joined, access.places)
        try access.sync(&session)
        try access.context.say("\(what) in \(joined.configuration.directory.description.onOneLine)")
        if joined.configuration.selection.patterns.isEmpty {
            try access.say("no domain is mirrored yet: `prefs mirror add 'GLOB'`")
            let here = Set(access.places.store.user.domainsHere(access.places.system).map(\.name))
            if !here.isDisjoint(with: session.mergeState.domains.map { Name($0) }) {
                try access.say(
                    "the mirror has values of domains of this host; `prefs mirror add --dry-run 'GLOB'` compares them")
            }
        }
        return try access.conclude(&session)
    }

    /// Changes which domains a mirror has, after a check under its lock. Returns those that it had before.
    private static func select(
        _ session: inout MirrorSession, check: (MirrorSession) throws -> Void = { _ in },
        _ change: (inout DomainSelection) -> Void
    ) throws -> Set<Name> {
        try session.begin()
        defer { session.end() }
        try check(session)
        let former = Set(session.domains.map { Name($0) })
        try session.configure { change(&$0.selection) }
        return former
    }

    private static func add(
        _ patterns: [String], _ files: AdoptedSelection, to session: inout MirrorSession, _ access: MirrorAccess
    ) throws -> ExitStatus {
        let former = try select(&session, check: files.check) { selection in
            for pattern in patterns { files.add(pattern, to: &selection) }
        }
        try checkOthers(session, access)
        try files.createMissing(session)
        files.noteKeysThatStay(session.configuration.selection)
        try access.sync(&session)
        try say("mirrored", session.domains.filter { !former.contains(Name($0)) }, access.context)
        let named = DomainSelection(patterns)
        let known =
            access.stored.adoptedDomains + access.places.store.user.domainsHere(access.places.system)
            + session.mergeState.domains.compactMap { try? DomainName($0) }
        if !known.contains(where: named.includes) {
            let hint = patterns.count == 1 ? Suggestion.hint(patterns[0], among: Set(known.map(\.text)).sorted()) : ""
            try access.context.say("no domain matches yet; a domain that appears later is mirrored\(hint)".onOneLine)
        }
        return try access.conclude(&session)
    }

    /// Adopts and mirrors the known programs whose files this host does not have and a mirror does. The files are
    /// created.
    ///
    /// - Parameter adopt: Returns false for a program that could not be adopted, which it has reported.
    static func addPrograms(
        _ programs: [DomainName], _ access: MirrorAccess, adopt: (DomainName) -> Bool
    ) throws -> ExitStatus {
        let (joined, failures) = access.places.listing
        guard !programs.isEmpty, !joined.isEmpty || !failures.isEmpty else { return .done }
        var added: Set<DomainName> = []
        return try access.each { session in
            try access.check(session)
            try access.sync(&session)
            let (atoms, selection) = (session.mergeState.atoms, session.configuration.selection)
            let domains = Set(atoms.filter { $0.value.value != nil }.map { Name($0.path.domain) })
            let names = programs.filter { name in
                // What was mirrored here once was removed by a user, if the selection was carried out.
                let isNew =
                    selection.formerFile(of: name) == nil
                    || selection.file(of: name) != nil && !session.isCaptured(name.text)
                return domains.contains(name.name) && isNew && !selection.excludes(name) && !added.contains(name)
            }
            guard session.directoryStatus == .present else { return try access.conclude(&session) }
            let patterns = names.filter(adopt).map(\.text)
            added.formUnion(names)
            guard !patterns.isEmpty else { return try access.conclude(&session) }
            return try add(patterns, AdoptedSelection(patterns, .declared, access), to: &session, access)
        }
    }

    private static func remove(_ invocation: Invocation, _ access: MirrorAccess) throws -> ExitStatus {
        var session = try access.one()
        let patterns = try patterns(invocation)
        let former = try select(&session) { selection in
            for pattern in patterns { selection.remove(pattern) }
        }
        try checkOthers(session, access)
        try access.sync(&session)
        let gone = former.subtracting(session.domains.map { Name($0) }).sorted()
        try say("no longer mirrored", gone.map(\.text), access.context)
        if gone.isEmpty, !invocation.has(.withdraw) {
            let isExcluded = patterns.contains { session.configuration.selection.patterns.contains(exactly: "!" + $0) }
            try access.context.say(
                "no mirrored domain matches\(isExcluded ? "; a domain that appears later is not mirrored" : "")")
        }
        guard invocation.has(.withdraw) else {
            if gone.contains(where: { session.publishesValues(of: $0.text) }) {
                try access.say("values that this host published stay in the mirror; --withdraw removes them")
            }
            return try access.conclude(&session)
        }
        let named = DomainSelection(patterns)
        let withdrawn = session.mergeState.domains.filter { domain in
            !session.domains.contains(exactly: domain) && (try? DomainName(domain)).map(named.includes) ?? false
        }
        for domain in withdrawn { try session.carryOut(.withdraw(domain: domain)) { access.wait($0) } }
        return try concludeCompaction(&session, access)
    }

    /// Makes keys of a program's file stay on this host.
    private static func remove(
        _ keys: Set<Name>, _ invocation: Invocation, _ access: MirrorAccess
    ) throws -> ExitStatus {
        guard !invocation.has(.withdraw) else {
            throw CommandFailure(.usage, "--key and --withdraw are mutually exclusive")
        }
        let patterns = try patterns(invocation)
        guard patterns.count == 1, let name = try? DomainName(patterns[0]),
            let file = try access.places.store.adoptedFile(of: name)
        else { throw CommandFailure(.usage, "--key is for one domain that is the file of a program") }
        var session = try access.one()
        _ = try select(&session) { session in
            let selection = session.configuration.selection
            guard selection.file(of: name) == nil || !selection.includes(name) else { return }
            throw CommandFailure(.notFound, "\(name.text.onOneLine): not mirrored")
        } _: {
            $0.remove(keys, ofFile: name)
        }
        try access.sync(&session)
        let here = (try? file.contents(on: access.places.system).values) ?? [:]
        for key in keys.sorted() where here[key.text] == nil { access.note("\(name) has no key \(key.text)".onOneLine) }
        for key in keys.sorted() { try access.context.say("stays on this host: \(name) \(key.text)".onOneLine) }
        return try access.conclude(&session)
    }

    /// Prints a line for each domain, or the number of those after many.
    private static func say(_ what: String, _ domains: [String], _ context: CommandContext) throws {
        for domain in domains.prefix(MirrorLine.mostLines) { try context.say("\(what): \(domain.onOneLine)") }
        let rest = domains.count - MirrorLine.mostLines
        if rest > 0 { try context.say("\(what): \(counted(rest, "more domain")), \(domains.count) in all") }
    }

    /// Returns the keys that words name, in the notation of all verbs.
    fileprivate static func keys(_ words: [String]) throws -> Set<Name> {
        try Set(
            words.map { word in
                let key = try KeyArgument(word)
                guard key.rest.components.isEmpty else {
                    throw CommandFailure(.usage, "\(word.onOneLine): an entry in a key; name the key")
                }
                return Name(key.key)
            })
    }

    private static func patterns(_ invocation: Invocation) throws -> [String] {
        try invocation.words("GLOB").map { word in
            let pattern = DomainArgument.name(word)
            guard !pattern.isEmpty, !pattern.hasPrefix("!"), !pattern.utf8.contains(UInt8(ascii: "/")) else {
                throw CommandFailure(.usage, "\(ShellWord.quoted(word.onOneLine)) matches no domain")
            }
            return pattern
        }
    }

    /// Prints what `add` would mirror, and the values that would be replaced.
    private static func preview(
        _ patterns: [String], _ files: AdoptedSelection, in session: MirrorSession, _ access: MirrorAccess
    ) throws -> ExitStatus {
        let context = access.context
        try access.check(session)
        var selection = session.configuration.selection
        try files.check(session)
        for pattern in patterns { files.add(pattern, to: &selection) }
        let preview = try session.preview(of: selection)
        let new = preview.domains.map(\.onOneLine) + preview.keys.map { "\($0.place)" }
        if new.isEmpty { try context.say("nothing else would be mirrored") }
        for name in new { try context.say("would be mirrored: \(name)") }
        for key in preview.differing {
            let text = MirrorValueText(masking: try access.masking(key.path.domain))
            let outcome =
                switch key.outcome {
                case .replaced: key.mirror == nil ? "would be removed" : "would be replaced by the mirror's value"
                case .kept: "would replace the mirror's value"
                case .conflict: "would be a conflict"
                case .combined: "would be combined with the mirror's value"
                }
            try context.say("\(key.path.place)  \(outcome)")
            try context.say("    here    \(text.text(key.here, at: key.path).shown)")
            if key.mirror != nil { try context.say("    mirror  \(text.text(key.mirror, at: key.path).shown)") }
        }
        files.noteKeysThatStay(selection)
        for trouble in preview.troubles { access.note(trouble) }
        if preview.isUnfinished { access.note("a file is being written at present; try again") }
        if preview.unread > 0 {
            access.note(
                "\(counted(preview.unread, "file")) not fetched yet; `prefs mirror sync` fetches before this")
        }
        return .done
    }

    /// Reports a domain that is selected in several mirrors.
    private static func checkOthers(_ session: MirrorSession, _ access: MirrorAccess) throws {
        for other in access.places.joined where other.id != session.id {
            let here = access.places.store.user.domainsHere(access.places.system) + access.stored.adoptedDomains
            let both = here.filter {
                session.configuration.selection.includes($0) && other.configuration.selection.includes($0)
            }
            guard let domain = both.first else { continue }
            let place = MirrorSession(other, access.places).place
            access.context.note(
                "\(domain.text.onOneLine) is also mirrored in \(place); mirror it in only one")
        }
    }
}

extension Option {
    fileprivate static let fileKey = Option(
        "--key", Argument("KEY", .word),
        "mirror only this key of a program's file; can be repeated",
        repeats: true)
    fileprivate static let removedKey = Option(
        "--key", Argument("KEY", .word),
        "keep this key of a program's file on this host; can be repeated",
        repeats: true)
    fileprivate static let allKeys = Option(
        "--all-keys", "mirror all keys of a program's file that no schema knows")
}

/// The programs' files among the words of `add`.
private struct AdoptedSelection {
    private let files: [DomainName: DomainFile]
    private let keys: MirroredFile.Keys
    /// The known programs whose files are not domains.
    private let unadopted: [DomainName]
    private let access: MirrorAccess

    init(_ patterns: [String], _ invocation: Invocation, _ access: MirrorAccess) throws {
        let keys = try MirrorVerbs.keys(invocation.all(.fileKey))
        guard keys.isEmpty || !invocation.has(.allKeys) else {
            throw CommandFailure(.usage, "--key and --all-keys are mutually exclusive")
        }
        try self.init(patterns, !keys.isEmpty ? .some(keys) : invocation.has(.allKeys) ? .all : .declared, access)
    }

    /// Throws if a file cannot be mirrored, or if it is unknown which of its keys are to be.
    init(_ patterns: [String], _ keys: MirroredFile.Keys, _ access: MirrorAccess) throws {
        let store = access.places.store
        let schemas = SchemaCache(in: store, on: access.places.system)
        let named: [(name: DomainName, file: DomainFile)] = try patterns.compactMap { try? DomainName($0) }.compactMap {
            name in
            try store.adoptedFile(of: name).map { (name, $0) }
        }
        guard keys == .declared || patterns.count == 1 && named.count == 1 else {
            throw CommandFailure(.usage, "--key and --all-keys are for one domain that is the file of a program")
        }
        for (name, file) in named {
            guard !file.path.isOfSystem(on: access.places.system) else {
                throw CommandFailure(.usage, "\(name.text.onOneLine): a file of the system, which is not mirrored")
            }
            if case .some(let keys) = keys {
                for key in keys.sorted() where schemas.secrecy(of: name).staysLocal(key.text) {
                    access.note("\(name) \(key.text): stays on this host".onOneLine)
                }
            }
            guard keys == .declared, schemas[name] == nil else { continue }
            let keys = (try? file.contents(on: access.places.system).values.keys.map(\.onOneLine)) ?? []
            let list = keys.prefix(20).joined(separator: ", ") + (keys.count > 20 ? ", …" : "")
            throw CommandFailure(
                .usage,
                "\(name.text.onOneLine): no schema knows this file; name the keys to mirror with --key, or add --all-keys for all\(list.isEmpty ? "" : ": \(list)")"
            )
        }
        unadopted = patterns.compactMap { try? DomainName($0) }.filter { name in
            !named.contains { $0.name == name } && schemas.places.program(name, on: access.places.system) != nil
        }
        files = Dictionary(named) { first, _ in first }
        (self.keys, self.access) = (keys, access)
    }

    /// Throws if a domain was another file in this mirror, because the keys of that file would look deleted, or if the
    /// file of a known program is not a domain yet.
    func check(_ session: MirrorSession) throws {
        for (name, file) in files
        where session.isCaptured(name.text) && session.configuration.selection.formerFile(of: name) != file.path {
            throw CommandFailure(
                .usage,
                "\(name.text.onOneLine): was another file in this mirror; adopt this one under another name (prefs adopt --as)"
            )
        }
        let system = access.places.system
        for file in files.values where try system.fileSystem.status(of: file.path) == nil {
            guard try system.fileSystem.status(of: file.path, followingLink: false) != nil else { continue }
            throw CommandFailure(.notFound, "\(file.path): a link to a file that does not exist".onOneLine)
        }
        for name in unadopted where !session.isCaptured(name.text) {
            guard access.places.store.user.domainsHere(system).contains(name) else {
                throw CommandFailure(
                    .usage,
                    "\(name.text.onOneLine): a program's file, which is not a domain yet; first run: prefs adopt \(name)"
                )
            }
        }
    }

    func add(_ pattern: String, to selection: inout DomainSelection) {
        if let name = try? DomainName(pattern), let file = files[name] {
            selection.add(MirroredFile(at: file.path, keys), of: name)
        } else {
            selection.add(pattern)
        }
    }

    /// Names the keys of the files that the schema, their names or the user keep on this host.
    func noteKeysThatStay(_ selection: DomainSelection) {
        guard keys == .declared || keys == .all else { return }
        let schemas = SchemaCache(in: access.places.store, on: access.places.system)
        for (name, file) in files.sorted(by: { $0.key < $1.key }) {
            let own = (try? file.contents(on: access.places.system).values.keys.map { Name($0) }) ?? []
            let kept = selection.file(of: name)?.keptKeys ?? []
            let local = own.filter { schemas.secrecy(of: name).staysLocal($0.text) }
            let staying = kept.union(local).sorted().map(\.text.onOneLine)
            guard !staying.isEmpty else { continue }
            let rest = staying.count > 10 ? " and \(counted(staying.count - 10, "more key"))" : ""
            access.note("\(name): stay on this host: \(staying.prefix(10).joined(separator: ", "))\(rest)".onOneLine)
        }
    }

    /// Creates the files that do not exist, for the values that the mirror has.
    func createMissing(_ session: MirrorSession) throws {
        let system = access.places.system
        let schemas = SchemaCache(in: access.places.store, on: system)
        for (name, file) in files where !session.isCaptured(name.text) {
            let secrecy = schemas.secrecy(of: name)
            // The mirror can have nothing but keys that stay on each host.
            let hasValues = session.mergeState.atoms.contains {
                $0.value.value != nil && $0.path.domain.hasSameBytes(as: name.text)
                    && !secrecy.staysLocal($0.path.key ?? "")
            }
            guard hasValues, try system.fileSystem.status(of: file.path) == nil else { continue }
            let bytes = try PropertyList.dictionary([:]).serialized(as: file.newFormat)
            try system.fileSystem.makeFolders(file.path.parent)
            let new = try system.fileSystem.open(file.path, .creatingNew(.privateFile))
            try new?.write(Array(bytes).span.bytes, at: 0)
            try access.context.say("\(name): created \(file.path)".onOneLine)
        }
    }
}

/// The side whose values are used where both have one.
private enum SeedSide: String, CaseIterable {
    case merge, remote, local

    var seeding: Seeding {
        switch self {
        case .merge: .merge
        case .remote: .remote
        case .local: .local
        }
    }
}

extension StoreFolder {
    fileprivate func domainsHere(_ system: SystemServices) -> [DomainName] {
        (try? domains(in: system.fileSystem)) ?? []
    }
}

extension Option {
    static let mirrorID = Option("--id", Argument("ID", .word), "which of several mirrors in the directory")
    fileprivate static let again = Option("--again", "recreate the missing parts of the directory of a mirror")
    static let seed = Option(
        "--seed", Argument("SIDE", .choice(.words(SeedSide.allCases.map(\.rawValue)))), "which side's values are used")
    fileprivate static let signed = Option(
        "--signed", Argument("KEY", .file), "sign the files of this host with an SSH key")
    fileprivate static let trust = Option(
        "--trust", Argument("FINGERPRINT", .word), "the key of the host whose list of hosts is trusted")
    static let label = Option("--label", Argument("NAME", .word), "the name of this host")
    static let withdraw = Option("--withdraw", "remove the values that this host published")
    static let takeOver = Option("--take-over", "mirror a store that another host has mirrored")
}
