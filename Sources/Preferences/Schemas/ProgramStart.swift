package import Platform
package import PropertyLists
package import SettingsSchema
internal import Synchronization

// The steps that every program with declared settings takes when it starts, whether it is a script or written in Swift:
// it parses its command line with the stored values, migrates them, checks paths, saves flags, and only then runs.

extension LayerStack {
    /// Parses a program's command line, and reads the secrets and the configuration to which it refers. The layers are
    /// those of the program's domain. An invalid forced value is an error of the command line too, and so is one of the
    /// configuration.
    ///
    /// - Parameter read: Reads the file of the configuration.
    package func arguments(
        _ words: [String], of schema: Schema, on system: SystemServices,
        reading read: @escaping @Sendable (DomainFile) throws(StoreFailure) -> LayerSource?
    ) -> (outcome: Schema.Arguments.Outcome, configuration: LayerSource?) {
        let variables = system.environment.variables
        var context = Schema.Arguments.Context(
            variables: Dictionary(variables.all.map { ($0.name, $0.value) }) { first, _ in first },
            now: system.clock.wall.date)
        // The file is read once, so that the values in force are those that were checked.
        let found = Mutex<Configuration?>(nil)
        @Sendable func configuration(_ arguments: Schema.Arguments) -> Configuration {
            if let known = found.withLock(\.self) { return known }
            let read = checkedConfiguration(of: arguments, on: system, by: read)
            found.withLock { $0 = read }
            return read
        }
        context.stored = { [self] arguments in
            var stack = self
            if let source = configuration(arguments).source { stack.insert(source) }
            return stack.storedLayers(of: schema.settings(of: arguments.command))
        }
        context.invalidVariables = Set(variables.changed)
        switch schema.arguments(words, in: context) {
        case .values(let arguments):
            var mistakes = forcedMistakes(command: arguments.command)
            guard mistakes.isEmpty else { return (.mistakes(mistakes), nil) }
            let configuration = configuration(arguments)
            mistakes = configuration.mistakes
            let complete = schema.readingSecrets(of: arguments, &mistakes, on: system)
            return mistakes.isEmpty ? (.values(complete), configuration.source) : (.mistakes(mistakes), nil)
        case .storing(let arguments):
            var mistakes: [Schema.Arguments.Mistake] = []
            let complete = schema.readingSecrets(of: arguments, &mistakes, on: system)
            return (mistakes.isEmpty ? .storing(complete) : .mistakes(mistakes), nil)
        case .mistakes(let mistakes):
            let ofFile = found.withLock(\.self)?.mistakes ?? []
            // With other values in the file, a rule about several settings may not be broken.
            let others = ofFile.isEmpty ? mistakes : mistakes.filter { !$0.isRelation }
            return (.mistakes(ofFile + others + forcedMistakes()), nil)
        case let other: return (other, nil)
        }
    }
}

// MARK: The configuration

extension LayerStack {
    /// The file of a program's configuration, and the errors in it.
    private struct Configuration: Sendable {
        var source: LayerSource?
        var mistakes: [Schema.Arguments.Mistake] = []
    }

    /// Returns the layers with the configuration. Throws if it cannot be read.
    package func withConfiguration(
        of arguments: Schema.Arguments? = nil, on system: SystemServices,
        by read: (DomainFile) throws(StoreFailure) -> LayerSource?
    ) throws(Schema.Arguments.Mistake) -> LayerStack {
        guard let source = try configuration(of: arguments, on: system, by: read) else { return self }
        var stack = self
        stack.insert(source)
        return stack
    }

    /// Returns the file that a setting names as the program's configuration, or nil if there is none. Throws if it
    /// cannot be read, or does not exist although something other than the default names it.
    ///
    /// - Parameters:
    ///   - arguments: A command line whose values are not a layer yet.
    ///   - read: Reads the file.
    private func configuration(
        of arguments: Schema.Arguments?, on system: SystemServices,
        by read: (DomainFile) throws(StoreFailure) -> LayerSource?
    ) throws(Schema.Arguments.Mistake) -> LayerSource? {
        var named = self
        var setting = schema?.configuration
        if let arguments {
            named.insert(LayerSource(Origin(.arguments), arguments.values))
            named.insert(LayerSource(Origin(.environment), arguments.environment))
            setting = schema?.schema.settings(of: arguments.command).first(where: \.isConfiguration)
        }
        guard let setting, let answer = named[setting].winner, let text = answer.value?.stringValue, !text.isEmpty
        else { return nil }
        let place = answer.origin.layer == .arguments ? setting.writtenName : "\(setting.key) in \(answer.origin)"
        guard let path = system.path(text) else { throw Schema.Arguments.Mistake(.unusable("no path"), at: place) }
        do throws(StoreFailure) {
            return try read(DomainFile(path, answer.origin.layer == .default ? .optional : .required))
        } catch {
            throw Schema.Arguments.Mistake(.unusable("\(error)"), at: place)
        }
    }

    /// The notes about saved values that the configuration hides from later calls.
    ///
    /// - Parameter saved: The values by stored key.
    package func notesOnHidden(_ saved: PropertyList.Dictionary, of command: String?) -> [String] {
        guard let schema = schema?.schema, let source = layers.first(where: { $0.layer == .file }) else { return [] }
        return schema.settings(of: command).filter { setting in
            saved[setting.storedKey] != nil && !source.answers(to: setting.key, setting).isEmpty
        }.map { setting in
            "\(setting.writtenName): saved, but \(source.origin.file ?? "") has a value, which is used before it"
        }
    }

    private func checkedConfiguration(
        of arguments: Schema.Arguments, on system: SystemServices,
        by read: (DomainFile) throws(StoreFailure) -> LayerSource?
    ) -> Configuration {
        do throws(Schema.Arguments.Mistake) {
            guard let source = try configuration(of: arguments, on: system, by: read) else { return Configuration() }
            return Configuration(source: source, mistakes: mistakes(in: source, of: arguments.command, on: system))
        } catch {
            return Configuration(mistakes: [error])
        }
    }

    /// The invalid values of the configuration, as errors of a program's start.
    private func mistakes(
        in source: LayerSource, of command: String?, on system: SystemServices
    ) -> [Schema.Arguments.Mistake] {
        guard let schema = schema?.schema else { return [] }
        var faults: [(path: EntryPath, fault: String)] = []
        for setting in schema.settings(of: command) where setting.storedAt == nil {
            guard let answer = source.answers(to: setting.key, setting).first else { continue }
            let place = source.path(of: setting.key, setting)
            if setting.isConfiguration { faults.append((place, "names this file, and cannot be set in it")) }
            guard let fault = answer.fault else { continue }
            let problems = setting.rule.problems(
                with: setting.rule.adapted(answer.stored), at: place, isSecret: setting.isSensitive)
            faults += problems.isEmpty ? [(place, fault)] : problems.map { ($0.path, "\($0.reason)") }
        }
        // The dictionaries of commands are checked as a whole, like those in the store.
        for scope in schema.scopes {
            guard let value = source.value(scope.key) else { continue }
            let problems = scope.rule.problems(
                with: scope.rule.adapted(value), at: [EntryPath.Component(scope.key)], isSecret: false)
            faults += problems.map { ($0.path, "\($0.reason)") }
        }
        if schema.isClosed {
            let known = schema.storedSettings.flatMap(\.allKeys)
            faults += source.values.keys.filter { !known.contains(exactly: $0) }.prefix(Self.mostFaults).map { key in
                ([EntryPath.Component(key)], "\(Schema.Problem.Reason.unknownKey(nearest: known.nearest(to: key)))")
            }
        }
        faults = Array(faults.prefix(Self.mostFaults))
        let lines = source.lines(of: faults.map(\.path), on: system)
        return faults.map { path, fault in
            let line = lines[path].map { ":\($0)" } ?? ""
            return .init(.unusable("\(path) \(fault)"), at: "\(source.origin.file ?? "")\(line)")
        }
    }

    /// The most errors of a file that are listed.
    private static var mostFaults: Int { 100 }
}

extension DomainFile {
    /// Reads the file as a layer, or returns nil if there is none.
    package func configuration(on system: SystemServices) throws(StoreFailure) -> LayerSource? {
        let contents = try contents(on: system)
        return contents.exists ? LayerSource(.file, self, contents, on: system) : nil
    }
}

/// A value that was looked up: the answer of a layer, the path, and the end of the path within the value.
package typealias LocatedAnswer = (answer: Resolution.Answer, path: EntryPath, rest: EntryPath)

extension LayerStack {
    /// Returns the lines of answers in the files that the program was told to read; nil for those of other layers.
    package func lines(of answers: [LocatedAnswer], on system: SystemServices) -> [Int?] {
        let places = answers.map { answer, path, rest -> EntryPath? in
            let source = layers[answer.layer]
            guard source.layer == .file else { return nil }
            let key = EntryPath(path.components.dropLast(rest.components.count))
            let setting = schema?.schema.ownSetting(at: path) ?? declaration(of: key.components.first?.text ?? "")
            return EntryPath(source.path(of: key.components.last?.text ?? "", setting).components + rest.components)
        }
        // Each file is read once.
        let files = layers.indices.map { index in
            layers[index].lines(
                of: zip(answers, places).compactMap { $0.answer.layer == index ? $1 : nil }, on: system)
        }
        return zip(answers, places).map { answer, place in place.flatMap { files[answer.answer.layer][$0] } }
    }
}

extension [LayerSource] {
    /// Returns the stored keys, each once, of settings that have a value of the user's own.
    package func keysOfUser(_ keys: [String], of schema: Schema) -> [String] {
        var found: [String] = []
        for key in keys where !found.contains(exactly: key) {
            let paths = schema.storedPaths(of: key)
            let isStored = contains { source in
                source.layer.isOfUser && !source.layer.isGlobal
                    && paths.contains { source.values.value(at: $0) != nil }
            }
            if isStored { found.append(key) }
        }
        return found
    }
}

extension LayerSource {
    /// Returns the path in the file at which the layer has the value of a key, which can be that of a former key.
    package func path(of key: String, _ declaration: SettingDeclaration?) -> EntryPath {
        let paths = declaration?.pathsInFiles ?? []
        return paths.first { values.value(at: $0) != nil } ?? [EntryPath.Component(key)]
    }

    /// Returns the lines of entries, or of those that contain them, in a file that the program was told to read. A
    /// binary file has none.
    package func lines(of paths: [EntryPath], on system: SystemServices) -> [EntryPath: Int] {
        guard layer == .file, !paths.isEmpty, let file, let bytes = (try? file.versionBytes(on: system))?.bytes,
            let (_, format) = try? file.root(bytes),
            let map = SourceMap(bytes, as: format, options: file.optionsOfText)
        else { return [:] }
        let found = map.locations(of: paths.map(place), in: bytes)
        return Dictionary(paths.compactMap { path in found[place(of: path)].map { (path, $0.line) } }) { first, _ in
            first
        }
    }
}

extension Schema {
    /// Returns an error if the stored settings are of a newer version than the schema, or nil.
    package func newerVersion(in layers: [LayerSource]) -> NewerVersion? {
        let stored = layers.filter(\.layer.isOfUser).map { storedVersion(of: $0.values) }
        guard let stored = stored.max(), stored > version else { return nil }
        return NewerVersion(domain: domain, stored: stored, known: version)
    }

    /// Returns an error for each path in the values that does not exist although its setting requires that, or the
    /// reverse.
    package func pathMistakes(
        in values: PropertyList.Dictionary, of command: String?, on fileSystem: any FileSystem
    ) -> [Arguments.Mistake] {
        settings(of: command).flatMap { setting in
            values[setting.key].map { setting.rule.pathMistakes($0, at: setting.writtenName, on: fileSystem) } ?? []
        }
    }
}

extension ValueRule {
    fileprivate func pathMistakes(
        _ value: PropertyList, at place: String, on fileSystem: any FileSystem
    ) -> [Schema.Arguments.Mistake] {
        if let element, let elements = value.arrayValue ?? value.dictionaryValue?.map(\.value) {
            return elements.flatMap { element.pathMistakes($0, at: place, on: fileSystem) }
        }
        guard let exists, let kind, kind.isPath, let text = value.stringValue else { return [] }
        let found = FilePath(ByteText.bytes(text)).flatMap { try? fileSystem.status(of: $0) }
        let isThere = found != nil && (kind == .path || !exists || (found?.kind == .folder) == (kind == .folder))
        guard isThere != exists else { return [] }
        return [.init(.value(text, reported(.notOfKind(kind.expectation(exists: exists)))), at: place)]
    }
}

extension Schema {
    /// Returns the arguments with the secrets to which they refer.
    fileprivate func readingSecrets(
        of arguments: Arguments, _ mistakes: inout [Arguments.Mistake], on system: SystemServices
    ) -> Arguments {
        var result = arguments
        for request in arguments.secrets {
            do throws(Arguments.Mistake) {
                result.values[request.key] = try secret(for: request, of: arguments.command, on: system)
            } catch {
                mistakes.append(error)
            }
        }
        return result
    }

    /// Reads the secret that a flag refers to: a file that nobody else can read, or an open descriptor.
    package func secret(
        for request: Arguments.SecretRequest, of command: String?, on system: SystemServices
    ) throws(Arguments.Mistake) -> PropertyList {
        let bytes: [UInt8]
        do throws(UnreadableSecret) {
            bytes = try system.bytes(of: request.source)
        } catch {
            throw Arguments.Mistake(.unusable("\(error)"), at: request.flag)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Arguments.Mistake(.unusable("\(UnreadableSecret.noText)"), at: request.flag)
        }
        return try secret(text, for: request, of: command)
    }
}

/// The reason a secret cannot be read.
private enum UnreadableSecret: Error {
    case noName
    case missing(FilePath)
    case noFile(FilePath)
    /// Others can read the file.
    case exposed(FilePath)
    case ofAnotherUser(FilePath)
    case closed(Int32)
    /// The standard input is a terminal, which shows what is typed.
    case terminal
    case noText
    case system(SystemFailure)
}

extension SystemServices {
    private static let mostBytesOfSecret = 64 << 10

    fileprivate func bytes(
        of source: Schema.Arguments.SecretRequest.Source
    ) throws(UnreadableSecret) -> [UInt8] {
        switch source {
        case .descriptor(let number): return try bytes(from: number)
        case .file(let name):
            if name == "-" || name == "/dev/stdin" { return try bytesOfInput() }
            // A shell replaces `<(…)` by the path of a descriptor.
            for folder in ["/dev/fd/", "/proc/self/fd/"] where name.hasPrefix(folder) {
                if let number = Int32(name.dropFirst(folder.count)) { return try bytes(from: number) }
            }
            guard let path = path(name) else { throw .noName }
            let read: Result<[UInt8], UnreadableSecret>
            do throws(SystemFailure) {
                read = try contents(ofSecret: path)
            } catch {
                throw .system(error)
            }
            return try read.get()
        }
    }

    /// Returns the file that a flag names. A shell does not expand a tilde after an equals sign.
    func path(_ name: String) -> FilePath? {
        guard name.hasPrefix("~/"), let home = home(of: nil), let rest = FilePath(String(name.dropFirst(2))) else {
            return FilePath(ByteText.bytes(name)).map { (workingFolder ?? ".").resolving($0) }
        }
        return home.resolving(rest)
    }

    private func contents(
        ofSecret path: FilePath
    ) throws(SystemFailure) -> Result<[UInt8], UnreadableSecret> {
        guard let file = try fileSystem.open(path, .reading) else { return .failure(.missing(path)) }
        let status = try file.status()
        guard status.kind == .file else { return .failure(.noFile(path)) }
        guard !status.isExposed else { return .failure(.exposed(path)) }
        guard !status.isExposed(to: environment.user) else { return .failure(.ofAnotherUser(path)) }
        return .success(try file.contents(status, limit: Self.mostBytesOfSecret))
    }

    /// Returns the bytes of the standard input: those of a pipe, or of a file that only the user can read.
    private func bytesOfInput() throws(UnreadableSecret) -> [UInt8] {
        if terminal.isTerminal(.input) { throw .terminal }
        let path: FilePath = "/dev/stdin"
        let status: FileStatus?
        do throws(SystemFailure) {
            status = try fileSystem.status(of: path)
        } catch {
            throw .system(error)
        }
        if let status, status.kind == .file {
            guard !status.isExposed else { throw .exposed(path) }
            guard !status.isExposed(to: environment.user) else { throw .ofAnotherUser(path) }
        }
        return try bytes(from: StandardStream.input.rawValue)
    }

    private func bytes(from descriptor: Int32) throws(UnreadableSecret) -> [UInt8] {
        do throws(SystemFailure) {
            return try terminal.input(from: descriptor, limit: Self.mostBytesOfSecret)
        } catch {
            throw error.code == .badDescriptor ? .closed(descriptor) : .system(error)
        }
    }
}

extension UnreadableSecret: CustomStringConvertible {
    var description: String {
        switch self {
        case .noName: "a file name is required"
        case .missing(let path): "\(path): no such file".shown
        case .noFile(let path): "\(path): not a regular file".shown
        case .exposed(let path): "\(path): other users can read this file; fix it with chmod 600".shown
        case .ofAnotherUser(let path):
            "\(path): owned by another user, who can read it; a secret must be in a file of your own".shown
        case .closed(let descriptor): "\(descriptor) is not an open descriptor"
        case .terminal: "the standard input is a terminal; give it a pipe or a file of your own"
        case .noText: "is not UTF-8 text"
        case .system(let failure): failure.description
        }
    }
}

/// The migration of a domain's stored settings to the version of its schema.
package struct DomainMigration: Sendable {
    private let schema: Schema
    private let name: DomainName

    package init(_ schema: Schema, _ name: DomainName) { (self.schema, self.name) = (schema, name) }

    /// Returns the edits of the files, to be committed together. A file that was migrated already is not changed.
    ///
    /// - Parameters:
    ///   - command: The command that gets the values that no command uses; nil for none.
    ///   - report: Called with the migration steps of each file, possibly several times.
    package func edits(
        of files: [DomainFile], claimingFor command: String? = nil,
        report: @escaping @Sendable (DomainFile, [Schema.MigrationStep]) -> Void = { _, _ in }
    ) -> [DomainEdit] {
        let (schema, domain) = (schema, name.text)
        return files.map { file in
            DomainEdit(file) { draft in
                guard draft.exists else { return }
                var migrated = try Self.migrated(draft.values, by: schema, domain)
                if let command {
                    let claimed = try schema.claimed(migrated.values, by: command)
                    try SchemaRules(schema).check(from: migrated.values, to: claimed.values, domain)
                    migrated.values = claimed.values
                    migrated.steps += claimed.steps
                }
                report(file, migrated.steps)
                draft.values = migrated.values
            }
        }
    }

    private static func migrated(
        _ values: PropertyList.Dictionary, by schema: Schema, _ domain: String
    ) throws(StoreFailure) -> Schema.Migrated {
        do throws(Schema.NewerVersion) {
            return try schema.migrated(values)
        } catch {
            throw StoreFailure(.otherVersion(stored: error.stored, known: error.known, isNewer: true), domain)
        }
    }

    /// Migrates the settings in a store if necessary. Settings of a newer version are not changed.
    func run(in store: Store) throws {
        let shared = store.shared
        let targets = [shared.target(of: name), try shared.hostTarget(of: name)].compactMap(\.self)
        let found = targets.map { (domain: $0, contents: $0.snapshot()) }
        // An unreadable file is reported when it is used. The other file must not be migrated alone.
        guard found.allSatisfy({ $0.contents.failure == nil }) else { return }
        guard found.contains(where: { schema.needsMigration($0.contents.values) }) else { return }
        for domain in targets { try domain.flush() }
        // All files, not only those that exist: they are checked again under their locks.
        let files = targets.compactMap(\.file)
        guard files.count == targets.count else {
            let schema = schema
            for domain in targets {
                try domain.change(.migrate, checks: false) { $0 = try schema.migrated($0).values }
            }
            return
        }
        let system = shared.system
        let writer = DomainWriter(system, WriteAuthor(.migrate, by: system), by: shared.context.policy)
        try writer.commit(edits(of: files))
        for domain in targets { domain.checkFile(isExact: true) }
    }
}

extension WriteReason {
    package static let migrate = WriteReason(rawValue: "migrate")
}

extension SharedStore {
    /// Returns the user's own values of a domain for this host, or nil if the store has none of that kind.
    func hostTarget(of name: DomainName) throws -> OpenDomain? {
        guard let places = try places.get(), places.user.arrangement == .own else { return nil }
        return domain(of: places.user.file(of: name, on: try places.host()))
    }
}
