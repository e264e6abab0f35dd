package import PropertyLists

extension Schema {
    /// Whether any setting, or any entry inside one, is sensitive.
    package var hasSecrets: Bool { allSettings.contains(where: \.hasSecrets) }

    /// Whether what stands at a path, whose first component is the key, is itself declared as sensitive.
    ///
    /// - Parameter value: What stands there. Where entries are declared and something else is found, nobody can tell
    ///   what of it is a secret, so all of it is.
    package func isSensitive(_ path: EntryPath, holding value: PropertyList? = nil) -> Bool {
        guard let key = path.components.first else { return false }
        return settings(under: key.text).contains { $0.isSensitive(at: path.components.dropFirst(), holding: value) }
    }

    /// Whether the value of a key would tell a secret if it were shown as it is.
    package func tellsSecret(_ value: PropertyList, under key: String) -> Bool {
        settings(under: key).contains { $0.tellsSecret(value) }
    }

    /// Whether a mirror leaves the value of a key on its host.
    package func staysHere(_ key: String) -> Bool { settings(under: key).contains(where: \.staysHere) }

    /// The settings whose values may be found under a key. Several commands may have one of the same name.
    private func settings(under key: String) -> some Sequence<SettingDeclaration> {
        allSettings.lazy.filter { $0.allKeys.contains { $0.hasSameBytes(as: key) } }
    }

    /// The settings of the whole program and those of all its commands.
    package var allSettings: [SettingDeclaration] { settings + commands.flatMap(\.settings) }
}

extension SettingDeclaration {
    /// The keys under which the value may be found, the present one first.
    package var allKeys: [String] { [key] + renamedFrom }

    /// Whether the value is a secret, or has one in it.
    package var hasSecrets: Bool { isSensitive || rule.hasEntry(where: \.hasSecrets) }

    /// Whether a mirror leaves the value on its host: a secret, or what the schema says is not mirrored, or has such
    /// inside.
    package var staysHere: Bool { isSensitive || !isMirrored || rule.hasEntry(where: \.staysHere) }

    /// The value with dots in place of each secret.
    package func masked(_ value: PropertyList) -> PropertyList {
        isSensitive ? .string(mask) : hasSecrets ? rule.masked(value) : value
    }

    /// Whether a value would tell a secret if it were shown as it is.
    package func tellsSecret(_ value: PropertyList) -> Bool { hasSecrets && masked(value) != value }

    /// Whether what stands behind the key in a path is a secret, has one in it, or lies in one.
    func hasSecrets(at components: some Collection<EntryPath.Component>) -> Bool {
        guard !isSensitive, let next = components.first else { return hasSecrets }
        return inside(next)?.hasSecrets(at: components.dropFirst()) ?? false
    }

    /// Whether what stands at the rest of a path is itself declared as sensitive.
    fileprivate func isSensitive(
        at components: some Collection<EntryPath.Component>, holding value: PropertyList?
    ) -> Bool {
        guard let next = components.first else { return isSensitive || value.map { rule.isOpaque($0) } ?? false }
        return inside(next)?.isSensitive(at: components.dropFirst(), holding: value) ?? false
    }

    /// The declaration of what stands under a component of a path; nil where none is declared.
    fileprivate func inside(_ component: EntryPath.Component) -> SettingDeclaration? {
        switch rule.contents {
        case .anything: nil
        case .each(let rule): SettingDeclaration(component.text, rule)
        case .entries(let rows): rows.first { $0.key.hasSameBytes(as: component.text) }
        }
    }
}

extension ValueRule {
    /// Whether any entry that is declared inside, at any depth, has a trait which it shows for those inside itself.
    fileprivate func hasEntry(where hasTrait: (SettingDeclaration) -> Bool) -> Bool {
        switch contents {
        case .anything: false
        case .each(let rule): rule.hasEntry(where: hasTrait)
        case .entries(let rows): rows.contains(where: hasTrait)
        }
    }

    /// Whether a value is not of the kind in which the entries of this rule could be told from one another.
    fileprivate func isOpaque(_ value: PropertyList) -> Bool {
        switch (contents, value) {
        case (.anything, _), (.each, .array), (.each, .dictionary), (.entries, .dictionary): false
        default: hasEntry(where: \.hasSecrets)
        }
    }

    fileprivate func masked(_ value: PropertyList) -> PropertyList {
        if isOpaque(value) { return .string(mask) }
        switch (contents, value) {
        case (.each(let rule), .array(let elements)): return .array(elements.map(rule.masked))
        case (.each(let rule), .dictionary(let entries)):
            return .dictionary(PropertyList.Dictionary(entries.map { ($0.key, rule.masked($0.value)) }))
        case (.entries(let rows), .dictionary(let entries)):
            let shown = entries.map { entry in
                (entry.key, rows.first { $0.key.hasSameBytes(as: entry.key) }?.masked(entry.value) ?? entry.value)
            }
            return .dictionary(PropertyList.Dictionary(shown))
        default: return value
        }
    }

    /// The value as a message shows it, its secrets masked.
    func shownText(of value: PropertyList) -> String { masked(value).shownText }
}
