package import PropertyLists

/// The rules about which settings exclude or require each other, applied to the values of layers.
///
/// A setting counts if a layer above the defaults has a value for it, and that value is not the Boolean false. Of two
/// settings that exclude each other, the one in the higher layer is used and the other one gives way. Within one layer
/// they are an error, and so is a given value that a forced one excludes.
package struct Relations: Sendable {
    /// The values of a layer above the defaults.
    package struct Layer: Sendable {
        package enum Kind: Hashable, Sendable { case forced, arguments, environment, stored }

        package let kind: Kind
        /// The layer in messages.
        package let name: String
        package var values: PropertyList.Dictionary

        package init(_ kind: Kind, _ name: String = "", _ values: PropertyList.Dictionary = [:]) {
            (self.kind, self.name, self.values) = (kind, name, values)
        }
    }

    /// A broken rule.
    struct Problem {
        let key: String
        let reason: Schema.Problem.Reason
        /// The layer with the value of the key; nil if it has none.
        let layer: Layer?
        /// Whether the value conflicts with one that the administrator forces.
        var isForced = false
    }

    /// A value that is not used, because the value of another key in a higher layer excludes it.
    struct Displacement {
        let key: String
        let other: String
        /// The layer with the value of the key; nil for a key without one.
        let layer: Layer?
    }

    private(set) var problems: [Problem] = []
    private(set) var displaced: [Displacement] = []
    private let settings: [SettingDeclaration]
    private let layers: [Layer]
    /// For each setting, the index of the layer that gives it its value.
    private let places: [Int?]
    /// For each setting, whether its value counts and is used.
    private var isInForce: [Bool]

    /// - Parameter layers: The layers above the defaults, highest priority first.
    init(_ settings: [SettingDeclaration], in layers: [Layer]) {
        (self.settings, self.layers) = (settings, layers)
        places = settings.map { setting in layers.firstIndex { $0.values[setting.key] != nil } }
        isInForce = settings.map { _ in false }
        let others = settings.excludedPositions
        for place in layers.indices { use(place, others) }
        displaceAbsent(others)
        check()
    }

    private func counts(_ index: Int) -> Bool {
        places[index].map { layers[$0].counts(settings[index].key) } ?? false
    }

    /// Uses the values of a layer that no value of a higher one excludes.
    private mutating func use(_ place: Int, _ others: [[Int]]) {
        var used: [Int] = []
        for index in settings.indices where places[index] == place && counts(index) {
            // Only values of higher layers are in force so far.
            guard let other = others[index].first(where: { isInForce[$0] }) else {
                used.append(index)
                continue
            }
            let isGiven = layers[place].kind == .arguments || layers[place].kind == .environment
            displace(index, by: other)
            guard isGiven, places[other].map({ layers[$0].kind == .forced }) ?? false else { continue }
            problems.append(
                Problem(
                    key: settings[index].key, reason: .conflict(with: settings[other].key), layer: layers[place],
                    isForced: true))
        }
        for index in used { isInForce[index] = true }
    }

    private mutating func displace(_ index: Int, by other: Int) {
        displaced.append(
            Displacement(key: settings[index].key, other: settings[other].key, layer: places[index].map { layers[$0] }))
    }

    /// Lets settings without a value give way too, in case one is stored while the program runs.
    private mutating func displaceAbsent(_ others: [[Int]]) {
        for index in settings.indices where places[index] == nil {
            let other = others[index].first { other in
                isInForce[other] && places[other].map { layers[$0].kind != .stored } ?? false
            }
            if let other { displace(index, by: other) }
        }
    }

    // MARK: Checks

    private mutating func check() {
        var (conflicts, groups): (Set<Set<Name>>, Set<Set<Name>>) = ([], [])
        for (index, setting) in settings.enumerated() {
            let isDisplaced = displaced.contains { $0.key.hasSameBytes(as: setting.key) }
            if setting.requiresValue, places[index] == nil || isDisplaced { report(index, .missing) }
            if isInForce[index] {
                for other in setting.conflicts where isUsed(other) {
                    if conflicts.insert([Name(setting.key), Name(other)]).inserted {
                        report(index, .conflict(with: other))
                    }
                }
                for other in setting.requires where !isUsed(other) { report(index, .requires(other)) }
            }
            for group in setting.wholeGroups where group.keys.count > 1 {
                let isNew = groups.insert(Set(group.keys.map { Name($0) } + [Name(group.number.rawValue)])).inserted
                guard isNew, !group.number.holds(group.keys.count(where: isUsed)) else { continue }
                report(index, .group(group.number, of: group.keys))
            }
        }
    }

    private func isUsed(_ key: String) -> Bool {
        settings.firstIndex { $0.key.hasSameBytes(as: key) }.map { isInForce[$0] } ?? false
    }

    private mutating func report(_ index: Int, _ reason: Schema.Problem.Reason) {
        problems.append(
            Problem(
                key: settings[index].key, reason: reason,
                layer: isInForce[index] ? places[index].map { layers[$0] } : nil)
        )
    }
}

extension [SettingDeclaration] {
    /// Whether a rule about values depends on those of other settings or layers.
    var haveRelations: Bool {
        contains { $0.requiresValue || $0.isRelated }
    }

    /// For each setting, the positions of those that must not be in force with it.
    package var excludedPositions: [[Int]] {
        var result = [[Int]](repeating: [], count: count)
        guard contains(where: \.isExclusive) else { return result }
        var positions: [Name: Int] = [:]
        for (index, setting) in enumerated() where positions[Name(setting.key)] == nil {
            positions[Name(setting.key)] = index
        }
        var pairs: Set<[Int]> = []
        func exclude(_ index: Int, _ other: Int) {
            guard index != other, pairs.insert([Swift.min(index, other), Swift.max(index, other)]).inserted else {
                return
            }
            result[index].append(other)
            result[other].append(index)
        }
        // Each setting of a group can repeat the group.
        var groups: Set<Set<Int>> = []
        for (index, setting) in enumerated() {
            for other in setting.conflicts.compactMap({ positions[Name($0)] }) { exclude(index, other) }
            for group in setting.wholeGroups where group.number.isExclusive {
                let members = group.keys.compactMap { positions[Name($0)] }
                guard groups.insert(Set(members)).inserted else { continue }
                for member in members { for other in members { exclude(member, other) } }
            }
        }
        return result
    }
}

extension Schema {
    /// Whether a rule about values of the program or of a command depends on those of other settings.
    package var hasRelations: Bool { allSettings.haveRelations }

    /// Whether settings of the program or of a command exclude each other.
    package var hasExclusions: Bool { allSettings.contains(where: \.isExclusive) }

    /// Returns the broken rules about which settings of the program, and of each of its commands, must or must not have
    /// values. Settings are named by their stored keys.
    ///
    /// A value that a command requires can still be given on its command line, so it is not missing.
    ///
    /// - Parameters:
    ///   - layers: The layers above the defaults with the values as they are stored, highest priority first.
    ///   - isComplete: Whether settings that need a value have it, or else are errors.
    package func relationProblems(in layers: [Relations.Layer], isComplete: Bool = true) -> [Problem] {
        var problems: [Problem] = []
        for command in [nil] + allCommands.map(\.name) {
            let settings = settings(of: command)
            guard settings.haveRelations else { continue }
            let layers = layers.map { $0.ofSettings(settings) }
            for problem in Relations(settings, in: layers).problems {
                switch problem.reason {
                case .missing where command != nil || !isComplete: continue
                case .requires where !isComplete: continue
                case .group(_, let keys) where command != nil || !isComplete:
                    guard keys.contains(where: { key in layers.contains { $0.counts(key) } }) else { continue }
                default: break
                }
                let found = settings.underStoredKeys(problem)
                if !problems.contains(found) { problems.append(found) }
            }
        }
        return problems
    }
}

extension Relations.Layer {
    fileprivate func counts(_ key: String) -> Bool { values[key].map { $0 != .boolean(false) } ?? false }

    /// Returns the layer with the values of settings under their keys, and not where they are stored.
    fileprivate func ofSettings(_ settings: [SettingDeclaration]) -> Self {
        let found = settings.compactMap { setting in
            values.value(at: setting.storedPaths[0]).map { (setting.key, $0) }
        }
        return Self(kind, name, PropertyList.Dictionary(found))
    }
}

extension [SettingDeclaration] {
    /// Returns a broken rule with the places of the values.
    fileprivate func underStoredKeys(_ problem: Relations.Problem) -> Schema.Problem {
        let stored = { (key: String) in declaration(of: key)?.storedKey ?? key }
        let reason: Schema.Problem.Reason =
            switch problem.reason {
            case .conflict(let other): .conflict(with: stored(other))
            case .requires(let other): .requires(stored(other))
            case .group(let number, let keys): .group(number, of: keys.map(stored))
            default: problem.reason
            }
        let path = declaration(of: problem.key)?.storedPaths[0] ?? [EntryPath.Component(problem.key)]
        return Schema.Problem(path: path, reason: reason)
    }
}

extension Schema {
    /// Returns the stored keys of a command that values with stored keys exclude. Saving the values removes theirs.
    package func keysExcluded(by values: PropertyList.Dictionary, of command: String?) -> [String] {
        let settings = settings(of: command)
        let others = settings.excludedPositions
        var keys: [String] = []
        for (index, setting) in settings.enumerated() {
            guard let value = values[setting.storedKey], value != .boolean(false) else { continue }
            for other in others[index].map({ settings[$0].storedKey })
            where values[other] == nil && !keys.contains(exactly: other) {
                keys.append(other)
            }
        }
        return keys
    }
}
