package import PropertyLists

extension Schema {
    /// Whether any setting, or any entry inside one, is sensitive.
    package var hasSecrets: Bool { allSettings.contains { $0.isSensitive || $0.rule.hasSecrets } }

    /// Whether what stands at a path, whose first component is the key, is itself declared as sensitive.
    package func isSensitive(_ path: EntryPath) -> Bool {
        guard let key = path.components.first,
            let setting = allSettings.first(where: { row in
                ([row.key] + row.renamedFrom).contains { $0.hasSameBytes(as: key.text) }
            })
        else { return false }
        guard path.components.count > 1 else { return setting.isSensitive }
        var rule: ValueRule? = setting.rule
        for component in path.components.dropFirst().dropLast() { rule = rule?.inside(component) }
        guard case .entries(let entries)? = rule?.contents, let last = path.components.last else { return false }
        return entries.first { $0.key.hasSameBytes(as: last.text) }?.isSensitive ?? false
    }

    private var allSettings: [SettingDeclaration] { settings + commands.flatMap(\.settings) }
}

extension ValueRule {
    fileprivate var hasSecrets: Bool {
        switch contents {
        case .anything: false
        case .each(let rule): rule.hasSecrets
        case .entries(let entries): entries.contains { $0.isSensitive || $0.rule.hasSecrets }
        }
    }
}
