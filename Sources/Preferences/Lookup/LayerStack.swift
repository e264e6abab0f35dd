internal import Platform
package import PropertyLists
package import SettingsSchema

/// The layers of a domain, and the rule that decides which one of them gives a key its value.
///
/// A valid value of the highest layer wins. An invalid stored value is skipped. An invalid value that is forced, or
/// given to this process, is an error: a program that parses its command line does not start with it. A `Defaults`
/// whose program does not parse skips it too.
package struct LayerStack: Sendable {
    /// Highest priority first.
    package private(set) var layers: [LayerSource]
    package let schema: EffectiveSchema?
    /// Whether there are variables whose keys are not known until they are looked up. Every look-up that finds no value
    /// asks this.
    private let hasVariablesOfScope: Bool

    /// - Parameter layers: The layers, highest priority first.
    package init(_ layers: [LayerSource], _ schema: EffectiveSchema?) {
        (self.layers, self.schema) = (layers, schema)
        hasVariablesOfScope = layers.contains(where: \.hasVariablesOfScope)
    }

    /// Adds the layers of the schema, the variables and the command line to the stored layers.
    ///
    /// - Parameters:
    ///   - stored: The stored layers, highest priority first.
    ///   - added: Other layers, in any order.
    ///   - mapping: The variables that hold values besides those of the schema, each with its key.
    ///   - isFileAlone: Whether the stored layer is a file that does not belong to a domain, so that nothing is added.
    ///   - hasVariables: Whether the variables of this process's environment are a layer.
    ///   - isForScope: Whether the layers will be those of a scope, which has variables that no schema declares.
    package init(
        _ stored: [LayerSource], adding added: [LayerSource] = [], _ schema: EffectiveSchema?,
        on system: SystemServices, mapping: [String: String] = [:], isFileAlone: Bool = false,
        hasVariables: Bool = true, isForScope: Bool = false
    ) {
        self.init(
            stored.map { ($0.openDomain == nil ? $0.migrated(by: schema?.schema) : $0).withoutHidden }, schema)
        if isFileAlone { return }
        for layer in added { insert(layer) }
        if let arguments = schema?.program?.arguments { insert(LayerSource(Origin(.arguments), arguments)) }
        if let configuration = schema?.program?.configuration { insert(configuration) }
        let given = hasVariables ? Self.values(ofVariables: mapping, schema, on: system) : [:]
        if !given.isEmpty || isForScope { insert(LayerSource(Origin(.environment), given)) }
        guard let schema else { return }
        insert(LayerSource(Origin(.default, file: schema.file), schema.defaultValues(on: system)))
    }

    /// Returns the layers with their present values, which change no more, and the version of each that changes.
    func frozen() -> (stack: LayerStack, versions: [UInt64?]) {
        let parts = layers.map { $0.frozen() }
        return (LayerStack(parts.map(\.source), schema), parts.map(\.version))
    }

    /// Checks the files, and returns the layers with the user's settings migrated to the version of the schema. A
    /// program migrates its settings before it uses them.
    func migrated() -> LayerStack {
        checkFiles()
        return LayerStack(layers.map { $0.openDomain == nil ? $0 : $0.migrated(by: schema?.schema) }, schema)
    }

    /// Puts a layer after those of the same or a higher priority.
    mutating func insert(_ source: LayerSource) {
        let index = layers.firstIndex { $0.layer > source.layer } ?? layers.endIndex
        layers.insert(source, at: index)
    }

    /// Returns the layers that a program searches, in its order.
    ///
    /// - Parameter others: The files and providers among them.
    func searched(in order: [SearchedLayer], _ others: [LayerSource]) -> LayerStack {
        var (found, rest, others) = ([LayerSource](), layers, others[...])
        func take(_ isTaken: (Layer) -> Bool) {
            found += rest.filter { isTaken($0.layer) }
            rest.removeAll { isTaken($0.layer) }
        }
        take { $0 == .forced }
        for layer in order {
            switch layer.source {
            case .layers(let layers): take(layers.contains)
            case .file, .provider: found += others.popFirst().map { [$0] } ?? []
            }
        }
        take { $0 >= .default }
        return LayerStack(found, schema)
    }

    /// Returns the layers of a scope.
    func scoped(to scope: SettingsScope) -> LayerStack {
        LayerStack(layers.map { $0.scoped(to: scope) }, schema?.scoped(to: scope.path))
    }

    /// Returns the layers with other values of a domain, and with a layer for the changes of an edit session.
    func replacing(
        _ domain: OpenDomain, with values: PropertyList.Dictionary, _ session: PropertyList.Dictionary
    ) -> LayerStack {
        var layers = layers.map { $0.openDomain === domain ? $0.holding(values) : $0 }
        let index = layers.firstIndex { $0.layer == .user || $0.layer >= .default } ?? layers.endIndex
        layers.insert(LayerSource(Origin(.session), session), at: index)
        return LayerStack(layers, schema)
    }

    /// The values of the variables. An empty variable is unset.
    private static func values(
        ofVariables mapping: [String: String], _ schema: EffectiveSchema?, on system: SystemServices
    ) -> PropertyList.Dictionary {
        let variables = system.environment.variables
        var values = schema?.program?.environment ?? [:]
        if let schema, schema.program?.environment == nil {
            for setting in schema.declarations.values {
                guard let text = setting.variable(in: { variables[$0] })?.text else { continue }
                values[setting.key] = setting.rule.adapted(.string(text), now: system.clock.wall.date)
            }
            for setting in schema.scopes.isEmpty ? [] : schema.schema.ownSettings {
                guard let text = setting.variable(in: { variables[$0] })?.text, let place = setting.storedAt else {
                    continue
                }
                try? values.put(setting.rule.adapted(.string(text), now: system.clock.wall.date), at: place)
            }
        }
        for (variable, key) in mapping.sorted(by: { $0.key < $1.key }) {
            if let text = variables[variable], !text.isEmpty { values[key] = .string(text) }
        }
        return values
    }
}

// MARK: Look-ups

/// The outcome of a look-up: the layers that have the key, and which of them wins.
package struct Resolution: Sendable {
    /// The answer of one layer for a key.
    package struct Answer: Sendable {
        package let origin: Origin
        /// The value as the layer has it.
        package let stored: PropertyList
        /// The value as programs use it; nil for an invalid one.
        package let value: PropertyList?
        /// The reason the value is invalid.
        package let fault: String?
        /// Whether programs that parse their command line do not start with the value.
        package fileprivate(set) var isError = false
        /// Whether the value is a secret in a file that others can read. It is skipped in every layer.
        package fileprivate(set) var isExposed = false
        /// The setting that excludes this value, which is therefore not used; nil if there is none.
        package fileprivate(set) var excludedBy: String?
        /// The index of the layer.
        package let layer: Int

        /// Returns a value with the origin of this answer, for help and forms.
        fileprivate func shown(_ value: PropertyList) -> Schema.ValueInForce {
            let named = origin.layer == .file ? origin.file.map { Schema.ValueInForce.Source.other($0) } : nil
            return Schema.ValueInForce(value, layer: named ?? origin.layer.shown, fault: fault, file: origin.file)
        }

        /// Whether a look-up can return the value.
        fileprivate var isUsable: Bool { fault == nil && excludedBy == nil }
    }

    /// The answers of the layers, highest priority first. A look-up of only the value omits those that cannot change
    /// it.
    package fileprivate(set) var answers: [Answer] = []

    /// The answer with the value that a `Defaults` returns.
    package var winner: Answer? { answers.first(where: \.isUsable) }

    /// The first value with which no program starts.
    package var error: Answer? { answers.first(where: \.isError) }

    /// The invalid values above the winner.
    package var skipped: [Answer] {
        answers.prefix { !$0.isUsable }.filter { $0.fault != nil && $0.excludedBy == nil }
    }
}

extension LayerStack {
    /// The value of a key, its origin, and the invalid values that were skipped.
    package subscript(key: String) -> Resolution { resolution(of: key, declaration(of: key)) }

    /// The resolution of a setting, whether the schema declares it or not.
    package subscript(setting: SettingDeclaration) -> Resolution { resolution(of: setting.key, setting) }

    /// All layers that have a key, including those with a lower priority.
    package func explanation(of key: String) -> Resolution { explanation(of: key, declaration(of: key)) }

    /// All layers that have the entry at a path, and the rest of the path within their values.
    ///
    /// An entry in the dictionary of a command is resolved like a key of the domain.
    package func explanation(at path: EntryPath) -> (resolution: Resolution, rest: EntryPath) {
        let setting = schema?.scopes.isEmpty ?? true ? nil : schema?.schema.ownSetting(at: path)
        let length = setting?.storedAt?.components.count ?? 1
        let rest = EntryPath(Array(path.components.dropFirst(length)))
        if let setting { return (explanation(of: setting.storedKey, setting.underStoredKey), rest) }
        return (explanation(of: path.components.first?.text ?? ""), rest)
    }

    /// Returns a path, or those of the entries below it if it leads to the dictionary of a command.
    package func paths(under path: EntryPath) -> [EntryPath] {
        guard let schema, !schema.scopes.isEmpty, schema.schema.isScope(path) else { return [path] }
        let keys = Set(
            layers.flatMap { source in
                (source.values.value(at: path)?.dictionaryValue ?? [:]).keys.map { EntryPath.Component($0) }
            })
        return keys.sorted { $0.text.isBefore($1.text) }.flatMap { paths(under: EntryPath(path.components + [$0])) }
    }

    func explanation(of key: String, _ declaration: SettingDeclaration?) -> Resolution {
        resolution(of: key, declaration, isComplete: true)
    }

    /// Returns the value of a key with the secrets that the schema declares masked, also those in a dictionary.
    func masked(_ value: PropertyList, under key: String) -> PropertyList {
        let own = schema?.schema.masked(value, under: key) ?? value
        return declaration(of: key)?.masked(own) ?? own
    }

    /// Whether one of the values of a key is or contains a secret that the schema declares.
    func hasSecret(_ values: [PropertyList?], under key: String) -> Bool {
        guard schema?.hasSecrets ?? false else { return false }
        return values.contains { $0.map { masked($0, under: key) != $0 } ?? false }
    }

    /// The declaration that the values of a key must satisfy; nil if any value is valid.
    package func declaration(of key: String) -> SettingDeclaration? { schema?.declarations[Name(key)] }

    /// - Parameter fault: Returns the reason the program cannot use a valid value, or nil if it can.
    func resolution(
        of key: String, _ declaration: SettingDeclaration?, isComplete: Bool = false,
        fault: (PropertyList) -> String? = { _ in nil }
    ) -> Resolution {
        var result = Resolution()
        var (hasWinner, isGiven) = (false, false)
        let other = schema?.program?.displaced[key]?.stringValue
        for (index, source) in layers.enumerated() {
            // After the winner, only the first given value can still be an error.
            if hasWinner, !isComplete, isGiven || !layers[index...].contains(where: \.layer.isGiven) { break }
            for var answer in source.answers(to: key, declaration, index, fault) {
                let isFirstGiven = source.layer.isGiven && !isGiven
                answer.isError =
                    answer.fault != nil && !answer.isExposed && (source.layer == .forced || isFirstGiven)
                if source.layer.isGiven { isGiven = true }
                if source.layer < .default { answer.excludedBy = other }
                if answer.isUsable { hasWinner = true }
                result.answers.append(answer)
            }
        }
        if !hasWinner || isComplete, let answer = defaultAnswer(declaration) { result.answers.append(answer) }
        return result
    }

    /// Returns the answer of the default layer for a setting whose default is the value of another one.
    private func defaultAnswer(_ declaration: SettingDeclaration?) -> Resolution.Answer? {
        guard let declaration, declaration.defaultFrom != nil,
            let sources = schema?.defaultSources[Name(declaration.key)],
            let index = layers.lastIndex(where: { $0.layer == .default })
        else { return nil }
        for var source in sources {
            source.defaultFrom = nil
            guard let value = resolution(of: source.key, source).winner?.value else { continue }
            return Resolution.Answer(
                origin: layers[index].origin, stored: value, value: value, fault: nil, layer: index)
        }
        return nil
    }
}

extension LayerStack {
    /// Reads the files that have changed.
    func checkFiles(isExact: Bool = false) { for layer in layers { layer.openDomain?.checkFile(isExact: isExact) } }

    /// The winning values of all keys.
    package func valuesInForce() -> ValuesInForce {
        var found = ValuesInForce(origins: layers.map(\.origin))
        for (index, source) in layers.enumerated().reversed() {
            for entry in source.values { found.set(Name(entry.key), entry.value, layer: index) }
        }
        for key in schema?.declarations.keys.map(\.self) ?? [] { update(&found, key) }
        if hasVariablesOfScope { for key in found.layers.keys.map(\.self) { update(&found, key) } }
        return found
    }

    /// Returns the value of a key that the table of values lacks: that of a variable of a scope.
    func valueOfVariable(_ key: String) -> (value: PropertyList, origin: Origin)? {
        guard hasVariablesOfScope, let winner = self[key].winner else { return nil }
        return winner.value.map { ($0, winner.origin) }
    }

    /// Replaces the value in force of a key.
    func update(_ found: inout ValuesInForce, _ key: Name) {
        guard let scope = schema?.scopes.first(where: { Name($0.key) == key }) else {
            return found.take(self[key.text], for: key)
        }
        var merged = PropertyList.Dictionary()
        var highest: Int?
        for (index, source) in layers.enumerated().reversed() {
            guard case .dictionary(let entries)? = source.value(scope.key) else { continue }
            merged.merge(entries, scope)
            highest = index
        }
        var values: PropertyList.Dictionary = [scope.key: .dictionary(merged)]
        for setting in schema?.schema.ownSettings ?? [] {
            guard let place = setting.storedAt, place.components.first == EntryPath.Component(scope.key) else {
                continue
            }
            let resolution = resolution(of: setting.storedKey, setting.underStoredKey)
            for path in setting.storedPaths { values.remove(at: path) }
            if let value = resolution.winner?.value { try? values.put(value, at: place) }
            found.takeFaults(of: resolution, for: Name(setting.storedKey))
        }
        found.set(key, values[scope.key], layer: highest)
    }

    /// The settings whose forced value is invalid, as errors of a program's start.
    package func forcedMistakes(command: String? = nil) -> [Schema.Arguments.Mistake] {
        guard let schema = schema?.schema else { return [] }
        return schema.settings(of: command).compactMap { setting in
            guard let error = self[setting].error, error.origin.layer == .forced else { return nil }
            return .init(.unusable(error.fault ?? ""), at: "\(setting.key) in \(error.origin)")
        }
    }

    /// The stored layers with the valid values of settings that no higher stored layer overrides.
    func storedLayers(of settings: [SettingDeclaration]) -> [Relations.Layer] {
        var found = layers.map { Relations.Layer($0.layer == .forced ? .forced : .stored, $0.origin.description) }
        for setting in settings {
            let answers = explanation(of: setting.key, setting).answers
            guard let answer = answers.first(where: { $0.isUsable && $0.origin.layer.hasFile }) else { continue }
            found[answer.layer].values[setting.key] = answer.value
        }
        return found.filter { !$0.values.isEmpty }
    }

    /// The values that give way to those of other settings, for people.
    package func displacedValues(_ secrecy: Secrecy) -> [Name: Schema.ValueInForce] {
        var values: [Name: Schema.ValueInForce] = [:]
        for entry in schema?.program?.displaced ?? [:] {
            guard let answer = self[entry.key].answers.first(where: { $0.excludedBy != nil }) else { continue }
            values[Name(entry.key)] = Schema.ValueInForce(
                secrecy.masked(answer.value ?? answer.stored, under: entry.key), layer: answer.origin.layer.shown,
                fault: "gives way to \(answer.excludedBy ?? "")")
        }
        return values
    }

    /// Returns the values of all settings for people. An error is shown with its reason.
    ///
    /// - Parameter secrecy: The values to mask. The schema of these layers masks others.
    package func shownValues(_ secrecy: Secrecy) -> [Name: Schema.ValueInForce] {
        var values: [Name: Schema.ValueInForce] = [:]
        for key in schema?.declarations.keys.map(\.self) ?? [] {
            let resolution = self[key.text]
            guard let answer = resolution.error ?? resolution.winner else { continue }
            values[key] = answer.shown(secrecy.masked(answer.value ?? answer.stored, under: key.text))
        }
        return values
    }

    /// The stored values and the default of each setting, highest priority first.
    package func shownValuesInLayers() -> [Name: [Schema.ValueInForce]] {
        let keys = schema?.declarations.keys.map(\.self) ?? []
        return Dictionary(
            uniqueKeysWithValues: keys.map {
                ($0, explanation(of: $0.text).answers.map { $0.shown($0.value ?? $0.stored) })
            })
    }
}

/// The winning values of a domain, by the bytes of their keys.
package struct ValuesInForce: Sendable {
    package private(set) var entries = PropertyList.Dictionary()
    /// The index of each value's layer.
    private(set) var layers: [Name: Int] = [:]
    /// The keys whose layer has an invalid value now.
    private var formerKeys: Set<Name> = []
    private let origins: [Origin]
    /// The invalid values above the winners.
    var skipped: [(key: String, answer: Resolution.Answer)] = []
    /// The values with which no program starts, by key.
    package private(set) var errors: [Name: Resolution.Answer] = [:]

    init(origins: [Origin] = []) { self.origins = origins }

    package func origin(of key: Name) -> Origin? {
        layers[key].map { formerKeys.contains(key) ? origins[$0].former : origins[$0] }
    }

    mutating func set(_ key: Name, _ value: PropertyList?, layer: Int?, isFormer: Bool = false) {
        (entries[key.text], layers[key]) = (value, layer)
        if isFormer { formerKeys.insert(key) } else if !formerKeys.isEmpty { formerKeys.remove(key) }
    }

    /// Replaces the value of a key with the outcome of a look-up.
    mutating func take(_ resolution: Resolution, for key: Name) {
        let winner = resolution.winner
        set(key, winner?.value, layer: winner?.layer, isFormer: winner?.origin.isFormer ?? false)
        takeFaults(of: resolution, for: key)
    }

    /// Records the invalid values of a look-up.
    mutating func takeFaults(of resolution: Resolution, for key: Name) {
        for answer in resolution.skipped { skipped.append((key.text, answer)) }
        errors[key] = resolution.error
    }

    /// Removes the values of the global domain.
    package mutating func removeGlobal() {
        let global = layers.filter { origins[$0.value].layer.isGlobal }
        for key in global.keys { layers[key] = nil }
        entries.removeAll { global[Name($0.key)] != nil }
    }
}

// MARK: Layers

/// A layer of a domain with its values.
package struct LayerSource: Sendable {
    package let origin: Origin
    /// The file, or nil for values that are not in a file.
    package let file: DomainFile?
    private var contents: Contents
    /// The scope whose values these are; nil for those of the whole domain.
    private var scope: SettingsScope?
    /// Returns the values of a key of the domain that other processes replaced, newest last.
    private var formerValues: @Sendable (Name) -> [FormerValue] = { _ in [] }

    private enum Contents: Sendable {
        /// Values that change as the process runs.
        case open(OpenDomain)
        /// Values as they were read, and whether others can read their file.
        case fixed(PropertyList.Dictionary, isExposed: Bool)
    }

    /// Creates a layer with values that are not in a file.
    package init(_ origin: Origin, _ values: PropertyList.Dictionary) {
        (self.origin, file, contents) = (origin, nil, .fixed(values, isExposed: false))
    }

    /// Creates a layer with the contents of a file.
    package init(_ layer: Layer, _ file: DomainFile, _ contents: DomainContents, on system: SystemServices) {
        origin = Origin(layer, file: file.place(contents.form).description)
        self.file = file
        let isExposed = file.isExposed(contents.status, to: system.environment.user)
        self.contents = .fixed(contents.values, isExposed: isExposed)
    }

    /// - Parameter name: The name of the suite or provider.
    init(_ layer: Layer, named name: String? = nil, _ domain: OpenDomain) {
        origin = Origin(layer, named: name, file: domain.file?.place(on: domain.system).description)
        (file, contents) = (domain.file, .open(domain))
        formerValues = { domain.formerValues(of: $0) }
    }

    package var layer: Layer { origin.layer }

    /// The domain whose values change as the process runs, or nil if the values are fixed.
    var openDomain: OpenDomain? {
        if case .open(let domain) = contents { domain } else { nil }
    }

    package var values: PropertyList.Dictionary {
        switch contents {
        case .open(let domain): values(of: domain.snapshot().values)
        case .fixed(let values, _): values
        }
    }

    /// Returns the values of the layer, given those of the domain.
    private func values(of whole: PropertyList.Dictionary) -> PropertyList.Dictionary {
        scope?.values(in: whole, isGiven: hasLongNames) ?? whole
    }

    /// Whether the layer has the values of a scope under the names of the command line.
    private var hasLongNames: Bool { layer.isGiven || layer == .default }

    package func value(_ key: String) -> PropertyList? {
        switch contents {
        case .open(let domain):
            scope.map { $0.value(key, isGiven: hasLongNames, in: domain.value) } ?? domain.value(key)
        case .fixed(let values, _): values[key] ?? variable(key)
        }
    }

    private func variable(_ key: String) -> PropertyList? {
        hasVariablesOfScope ? scope?.variables[key.nameOfVariable] : nil
    }

    /// Whether there are variables whose keys are not known until they are looked up.
    fileprivate var hasVariablesOfScope: Bool {
        layer == .environment && !(scope?.variables.isEmpty ?? true)
    }

    /// Returns the layer with the values of a scope.
    fileprivate func scoped(to scope: SettingsScope) -> LayerSource {
        var source = self
        source.scope = scope
        if case .fixed(let values, _) = contents { return source.holding(source.values(of: values)) }
        return source
    }

    /// Returns the changes of keys of the domain that concern the layer.
    func relevant(_ changes: [ChangeLog.Change]) -> [ChangeLog.Change] {
        guard let scope else { return changes }
        return changes.filter { scope.isConcerned(by: $0.key) }
    }

    /// Whether others can read the file.
    package var isExposed: Bool {
        switch contents {
        case .open(let domain): domain.isExposed
        case .fixed(_, let isExposed): isExposed
        }
    }

    /// Returns the layer with other values.
    fileprivate func holding(_ values: PropertyList.Dictionary) -> LayerSource {
        var source = self
        source.contents = .fixed(values, isExposed: isExposed)
        return source
    }

    /// Returns the layer with its present values, and their version if they change.
    fileprivate func frozen() -> (source: LayerSource, version: UInt64?) {
        guard case .open(let domain) = contents else { return (self, nil) }
        let isExposed = domain.isExposed
        let (values, former, version) = domain.present
        var source = self
        source.contents = .fixed(source.values(of: values), isExposed: isExposed)
        source.formerValues = { former[$0] ?? [] }
        return (source, version)
    }

    /// The layer without the store's own keys.
    fileprivate var withoutHidden: LayerSource {
        guard case .fixed(var values, _) = contents, values.keys.contains(where: \.isHidden) else { return self }
        values.removeAll { $0.key.isHidden }
        return holding(values)
    }

    /// The layer as it is once its settings are migrated, which a program does before it reads them.
    fileprivate func migrated(by schema: Schema?) -> LayerSource {
        guard let schema, layer.isOfUser else { return self }
        let values = values
        guard schema.needsMigration(values), let migrated = try? schema.migrated(values).values else { return self }
        return holding(migrated)
    }

    /// Returns the value of a setting, or else the one under a former key.
    private func stored(_ declaration: SettingDeclaration) -> PropertyList? {
        guard declaration.storedAt != nil else {
            return declaration.allKeys.lazy.compactMap { value($0) }.first
        }
        // Other layers have the values of a command under their keys.
        if !layer.hasFile, let value = value(declaration.key) { return value }
        return declaration.storedPaths.lazy.compactMap { value(at: $0) }.first
    }

    private func value(at path: EntryPath) -> PropertyList? {
        path.components.first.flatMap { value($0.text) }?[EntryPath(Array(path.components.dropFirst()))]
    }

    /// Returns the value of a key, or else of one of its former keys. An invalid value is followed by the last valid
    /// one that this process read from the layer.
    ///
    /// - Parameters:
    ///   - index: The index of the layer in its stack.
    ///   - fault: Returns the reason the program cannot use a valid value, or nil if it can.
    package func answers(
        to key: String, _ declaration: SettingDeclaration?, _ index: Int = 0,
        _ fault: (PropertyList) -> String? = { _ in nil }
    ) -> [Resolution.Answer] {
        guard let declaration else {
            return value(key).map {
                [Resolution.Answer(origin: origin, stored: $0, value: $0, fault: nil, layer: index)]
            } ?? []
        }
        let present = stored(declaration)
        let obstacle = present == nil ? obstacle(to: declaration) : nil
        guard let stored = present ?? obstacle?.value else { return [] }
        let isExposed = declaration.hasSecrets && isExposed
        func verdict(on stored: PropertyList) -> Verdict {
            let verdict = declaration.verdict(on: stored, isExposed: isExposed)
            guard case .usable(let value) = verdict, let reason = fault(value) else { return verdict }
            return .skipped(reason)
        }
        func answer(_ stored: PropertyList, _ value: PropertyList, _ origin: Origin) -> Resolution.Answer {
            Resolution.Answer(origin: origin, stored: stored, value: value, fault: nil, layer: index)
        }
        switch obstacle.map({ Verdict.skipped("\($0.path) must be a dictionary") }) ?? verdict(on: stored) {
        case .usable(let value): return [answer(stored, value, origin)]
        case .skipped(let reason):
            let invalid = Resolution.Answer(
                origin: origin, stored: stored, value: nil, fault: reason,
                isExposed: isExposed && declaration.containsSecret(stored), layer: index)
            for (key, former, whole) in formerValues(of: declaration) {
                guard case .usable(let value) = verdict(on: former) else { continue }
                openDomain?.keepFormer(whole, of: key)
                return [invalid, answer(former, value, origin.former)]
            }
            return [invalid]
        }
    }

    /// Returns the value in the place of a dictionary that a setting is in, with its path; nil if there is none.
    private func obstacle(to declaration: SettingDeclaration) -> (value: PropertyList, path: EntryPath)? {
        guard scope != nil || declaration.storedAt != nil, !hasLongNames else { return nil }
        let place = place(of: declaration.pathsInFiles[0]).components
        guard var value = valueInDomain(place[0].text) else { return nil }
        for (depth, component) in place.dropFirst().enumerated() {
            guard value.dictionaryValue != nil else { return (value, EntryPath(Array(place[...depth]))) }
            guard let next = value[EntryPath([component])] else { return nil }
            value = next
        }
        return nil
    }

    /// Returns the value of a key of the domain, also in the layer of a scope; nil if that has only its own values.
    private func valueInDomain(_ key: String) -> PropertyList? {
        switch contents {
        case .open(let domain): domain.value(key)
        case .fixed(let values, _): scope == nil ? values[key] : nil
        }
    }

    /// Returns a path in the domain.
    func place(of path: EntryPath) -> EntryPath {
        scope.map { EntryPath($0.path.components + path.components) } ?? path
    }

    /// Returns the former values of a setting, newest first, each with its key in the file and the value of that key.
    private func formerValues(
        of declaration: SettingDeclaration
    ) -> [(key: Name, value: PropertyList, whole: PropertyList)] {
        var result: [(key: Name, value: PropertyList, whole: PropertyList)] = []
        for path in declaration.pathsInFiles {
            let place = place(of: path).components
            // Values from before a deletion do not come back.
            guard let key = place.first?.name, let present = value(at: path) ?? obstacle(to: declaration)?.value else {
                continue
            }
            let rest = EntryPath(Array(place.dropFirst()))
            for former in formerValues(key).reversed() {
                guard let value = former.entry(at: rest) else { break }
                // Another entry of the dictionary may have changed.
                if value != present { result.append((key, value, former.value)) }
            }
        }
        return result
    }
}

extension PropertyList.Dictionary {
    /// Adds the entries of a higher layer to the dictionary of a command.
    fileprivate mutating func merge(_ others: PropertyList.Dictionary, _ scope: SettingDeclaration) {
        for entry in others {
            if let inner = scope.rule.inside(EntryPath.Component(entry.key)), inner.scope != nil,
                case .dictionary(let entries) = entry.value
            {
                var merged = self[entry.key]?.dictionaryValue ?? [:]
                merged.merge(entries, SettingDeclaration(entry.key, inner))
                self[entry.key] = .dictionary(merged)
            } else {
                self[entry.key] = entry.value
            }
        }
    }
}
