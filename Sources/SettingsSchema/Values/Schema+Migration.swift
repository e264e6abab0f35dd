package import PropertyLists

extension Schema {
    /// A migrated domain, and the steps that were performed.
    package struct Migrated: Hashable, Sendable {
        package var values: PropertyList.Dictionary
        package var steps: [MigrationStep] = []
    }

    /// A step of a migration.
    package enum MigrationStep: Hashable, Sendable {
        case renamed(old: String, new: String)
        /// The old value was removed because the new key already had one.
        case dropped(old: String, inFavourOf: String)
        case removed(String)
        case converted(String, to: ValueType)
        /// The value of an earlier version is not moved to a command, because the command has one.
        case notClaimed(String, EntryPath)
        /// The value of an earlier version is sensitive, and the setting of the command is not.
        case notClaimedSecret(String, EntryPath)
        /// The value cannot be converted to the type, and is unchanged.
        case notConverted(String, to: ValueType)
        case version(from: Int, to: Int)

        /// Whether a value was not moved to the command that was named.
        package var isRefusal: Bool {
            switch self {
            case .notClaimed, .notClaimedSecret: true
            default: false
            }
        }
    }

    /// Migrates the values of a domain: runs the migration of each version in order, then renames former keys.
    ///
    /// The result records its version, so that no migration runs twice.
    package func migrated(_ values: PropertyList.Dictionary) throws(NewerVersion) -> Migrated {
        let stored = storedVersion(of: values)
        guard stored <= version else { throw NewerVersion(domain: domain, stored: stored, known: version) }
        var result = Migrated(values: values)
        let due = migrations.filter { $0.from >= stored && $0.from < version }.sorted { $0.from < $1.from }
        for migration in due { result.run(migration, in: [EntryPath()] + scopePaths) }
        for setting in allSettings {
            for path in setting.storedPaths.dropFirst() { result.move(path, to: setting.storedPaths[0]) }
        }
        guard stored < version else { return result }
        result.values[Self.versionKey] = .integer(PropertyList.Integer(version))
        result.steps.append(.version(from: stored, to: version))
        return result
    }
}

extension Schema.Migrated {
    /// Runs a migration in the domain and in the dictionaries of commands. A key means the same in all of them.
    fileprivate mutating func run(_ migration: Schema.Migration, in scopes: [EntryPath]) {
        for scope in scopes {
            for rename in migration.renames { move(scope.key(rename.old), to: scope.key(rename.new)) }
            for path in migration.removals.map(scope.key) where values.value(at: path) != nil {
                values.remove(at: path)
                steps.append(.removed(path.storedKey))
            }
            for conversion in migration.conversions { convert(scope.key(conversion.key), to: conversion.type) }
        }
    }

    /// Moves a value within the domain, or within the dictionary of a command.
    fileprivate mutating func move(_ old: EntryPath, to new: EntryPath) {
        guard let value = values.value(at: old) else { return }
        values.remove(at: old)
        guard values.value(at: new) == nil, (try? values.put(value, at: new)) != nil else {
            return steps.append(.dropped(old: old.storedKey, inFavourOf: new.storedKey))
        }
        steps.append(.renamed(old: old.storedKey, new: new.storedKey))
    }

    private mutating func convert(_ path: EntryPath, to type: ValueType) {
        guard let value = values.value(at: path), value.kind.rawValue != type.rawValue else { return }
        guard let converted = value.converted(to: type), (try? values.put(converted, at: path)) != nil else {
            return steps.append(.notConverted(path.storedKey, to: type))
        }
        steps.append(.converted(path.storedKey, to: type))
    }
}

extension EntryPath {
    /// Returns the path of a key in the dictionary at this path.
    fileprivate func key(_ key: String) -> EntryPath { appending(Component(key)) }
}

extension PropertyList {
    /// Returns the value converted to another type, or nil if that is not possible.
    package func converted(to type: ValueType) -> PropertyList? {
        switch (self, type) {
        case (_, .any): return self
        case (.real(let number), .integer):
            guard let whole = Int64(exactly: number) else { return nil }
            return .integer(Integer(whole))
        case (.integer(let number), .real): return .real(number.asDouble)
        case (.boolean(let flag), .integer): return .integer(flag ? 1 : 0)
        case (.integer(let number), .boolean): return number == 0 ? .boolean(false) : number == 1 ? .boolean(true) : nil
        case (.array, _), (.dictionary, _): return nil
        case (_, .string): return .string(plainText)
        case (_, .array): return .array([self])
        case (.string(let text), _): return try? ValueRule(type).value(ofText: text)
        default: return nil
        }
    }
}

extension Schema.MigrationStep: CustomStringConvertible {
    package var description: String {
        switch self {
        case .renamed(let old, let new): "\(old) is now \(new)"
        case .dropped(let old, let new): "\(old) was removed because \(new) already has a value"
        case .removed(let key): "\(key) was removed"
        case .converted(let key, let type): "\(key) is now \(type.noun)"
        case .notConverted(let key, let type): "\(key) could not be converted to \(type.noun) and is unchanged"
        case .notClaimed(let key, let path): "\(key) is unchanged because \(path) already has a value"
        case .notClaimedSecret(let key, let path): "\(key) is unchanged because it is sensitive, and \(path) is not"
        case .version(let old, let new): "migrated from version \(old) to version \(new)"
        }
    }
}

extension Schema {
    /// The key in the user's file that stores the version of its settings.
    package static let versionKey = "$schemaVersion"

    /// The settings in a domain are of a newer version than this schema knows. They can be read but not written.
    package struct NewerVersion: Error, Hashable, Sendable {
        package let domain: String
        package let stored: Int
        package let known: Int

        package init(domain: String, stored: Int, known: Int) {
            (self.domain, self.stored, self.known) = (domain, stored, known)
        }
    }

    /// Returns the version of the settings in a domain. Without a stored version it is 1, or the current one if the
    /// domain is empty.
    package func storedVersion(of values: PropertyList.Dictionary) -> Int {
        if let stored = values[Self.versionKey]?.count, stored >= 1 { return stored }
        return values.isEmpty ? version : 1
    }

    /// Returns whether a domain must be migrated before it is written. Renamed keys alone do not require it.
    package func needsMigration(_ values: PropertyList.Dictionary) -> Bool { storedVersion(of: values) < version }
}

extension Schema.NewerVersion: CustomStringConvertible {
    package var description: String {
        "\(domain) has settings of version \(stored), but this program supports versions up to \(known) only; they are not changed"
    }
}
