internal import Platform
internal import PropertyLists
internal import SettingsSchema

/// A dictionary in a domain, as the settings of a part of the program.
///
/// Files have the value of a key in the dictionary. The command line and the environment have it under a longer name:
/// `--http-timeout` and `SERVICE_HTTP_TIMEOUT` for `timeout` in the scope `http` of `com.example.service`.
struct SettingsScope: Sendable {
    /// The path of the dictionary.
    let path: EntryPath
    /// The variables of the scope, by the part of the name that stands for the key.
    let variables: PropertyList.Dictionary
    /// The keys of the other settings of the domain, which are not those of the scope even if they begin alike.
    private let others: Set<Name>

    init(_ path: EntryPath, in domain: DomainName, _ schema: EffectiveSchema?, _ environment: EnvironmentVariables) {
        self.path = path
        let prefix = path.keyPrefix
        others = Set((schema?.schema.settings ?? []).filter { $0.storedAt == nil }.map { Name($0.key) })
        guard let start = prefix.variable(in: domain.text) else {
            variables = [:]
            return
        }
        let found = environment.all.filter { $0.name.hasPrefix(start) && !$0.value.isEmpty }
        variables = PropertyList.Dictionary(found.map { (String($0.name.dropFirst(start.count)), .string($0.value)) })
    }

    /// The key in the domain of the first dictionary.
    private var first: String { path.components.first?.text ?? "" }

    /// Returns the value of a key, given those of the domain.
    ///
    /// - Parameter isGiven: Whether the values are under the names of the command line.
    func value(_ key: String, isGiven: Bool, in whole: (String) -> PropertyList?) -> PropertyList? {
        if isGiven, let value = flat(key, in: whole) { return value }
        return whole(first)?[EntryPath(path.components.dropFirst() + [EntryPath.Component(key)])]
    }

    private func flat(_ key: String, in whole: (String) -> PropertyList?) -> PropertyList? {
        let name = path.keyPrefix + key
        // A program that does not parse its command line has the second dash in the key.
        return others.contains(Name(name)) ? nil : whole(name) ?? whole("-" + name)
    }

    /// Returns the values of the scope, given those of the domain.
    func values(in whole: PropertyList.Dictionary, isGiven: Bool) -> PropertyList.Dictionary {
        var values = path.values(in: whole)
        guard isGiven else { return values }
        let prefix = path.keyPrefix
        for entry in whole where !others.contains(Name(entry.key)) {
            let name = entry.key.hasPrefix("-") ? String(entry.key.dropFirst()) : entry.key
            if name.hasPrefix(prefix), name != prefix { values[String(name.dropFirst(prefix.count))] = entry.value }
        }
        return values
    }

    /// Returns whether a change of a key of the domain concerns the scope.
    func isConcerned(by key: String) -> Bool {
        key.hasSameBytes(as: first) || key.hasPrefix(path.keyPrefix) || key.hasPrefix("-" + path.keyPrefix)
    }
}

// The path of a scope's dictionary; empty for the whole domain.
extension EntryPath {
    /// Returns the values of a scope, given those of the domain.
    func values(in whole: PropertyList.Dictionary) -> PropertyList.Dictionary {
        components.isEmpty ? whole : whole.value(at: self)?.dictionaryValue ?? [:]
    }

    /// Changes the values of a scope, given those of the domain. Throws if another value is in the place of the scope's
    /// dictionary.
    func change<Result>(
        _ whole: inout PropertyList.Dictionary, _ body: (inout PropertyList.Dictionary) throws -> Result
    ) throws -> Result {
        if components.isEmpty { return try body(&whole) }
        let former = values(in: whole)
        var values = former
        let result = try body(&values)
        if values == former { return result }
        if values.isEmpty {
            whole.remove(at: self)
        } else if let other = whole.value(at: self)?.kind, other != .dictionary {
            throw EntryPath.Failure(problem: .notAContainer(other), place: description)
        } else {
            try whole.put(.dictionary(values), at: self)
        }
        return result
    }

    /// Returns the edits of the domain for those of a scope.
    func edits(_ edits: [ValueEdit]) -> [ValueEdit] {
        components.isEmpty ? edits : edits.map { ValueEdit(EntryPath(components + $0.path.components), $0.value) }
    }

    /// Returns the name of a key of a scope in messages: its path for one in a dictionary.
    func name(of key: String) -> String {
        components.isEmpty ? key : "\(appending(EntryPath.Component(key)))"
    }
}
