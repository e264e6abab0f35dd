package import MirrorEngine
package import Platform
package import Preferences
package import PropertyLists

/// The settings of a mirror on this host: its directory, and the domains that are mirrored.
package struct MirrorConfiguration: Hashable, Sendable {
    package var directory: FilePath
    package var selection = DomainSelection()
    /// The name of this host, as shown to others.
    package var label: String
    package var seed = Seeding.merge
    /// Whether all domains that existed when the selection was made are captured. From then on, the values of a new
    /// domain are changes like any others, and do not only fill gaps.
    package var isSeeded = false
    /// Whether the mirror was selected by its number, so that other markers are ignored.
    package var isChosen = false
    /// The key with which this host signs its files; nil in a mirror without signatures.
    package var signing: SigningKey?

    package init(directory: FilePath, label: String) {
        self.directory = directory
        self.label = label
    }
}

extension MirrorConfiguration {
    /// Whether the settings that a user controls are the same.
    func isSame(as other: MirrorConfiguration) -> Bool {
        var other = other
        other.isSeeded = isSeeded
        return other == self
    }

    static let fileName: FileName = "mirror.plist"

    var encoded: PropertyList {
        var entries: PropertyList.Dictionary = [
            "directory": .data(Data(directory.bytes)), "domains": .array(selection.patterns.map { .string($0) }),
            "files": selection.encodedFiles, "label": .string(label),
            "seed": .integer(PropertyList.Integer(Int(seed.rawValue))),
            "chosen": .boolean(isChosen), "seeded": .boolean(isSeeded),
        ]
        if let signing { entries["signing"] = signing.encoded }
        return .dictionary(entries)
    }

    /// Decodes a configuration. Returns nil for any other value.
    init?(_ value: PropertyList) {
        guard let bytes = value["directory"]?.dataValue, let directory = FilePath(bytes), directory.isAbsolute,
            let label = value["label"]?.stringValue
        else {
            return nil
        }
        self.init(directory: directory.normalized, label: label)
        selection = DomainSelection(
            value["domains"]?.arrayValue?.compactMap(\.stringValue) ?? [], files: value["files"] ?? .dictionary([:]))
        let number = value["seed"]?.integerValue.flatMap { UInt8(exactly: $0) }
        seed = number.flatMap { Seeding(rawValue: $0) } ?? .merge
        isSeeded = value["seeded"]?.booleanValue ?? false
        isChosen = value["chosen"]?.booleanValue ?? false
        if let value = value["signing"] {
            // Without its key, the mirror would accept files of anybody.
            guard let signing = SigningKey(value) else { return nil }
            self.signing = signing
        }
    }

    /// Reads the configuration in a mirror's folder. Returns nil if there is none, and throws if it cannot be read.
    static func read(
        in folder: FilePath, _ fileSystem: any FileSystem
    ) throws(MirrorFailure) -> MirrorConfiguration? {
        let path = folder.appending(Self.fileName)
        let bytes = try MirrorFailure.wrapping { try fileSystem.contents(of: path, limit: 1 << 20) }
        guard let bytes else { return nil }
        guard let value = try? PropertyList(parsing: bytes, as: .xml), let found = MirrorConfiguration(value) else {
            throw MirrorFailure(.damaged(file: path.description))
        }
        return found
    }

    func write(in folder: FilePath, _ fileSystem: any FileSystem) throws(MirrorFailure) {
        try MirrorFailure.wrapping {
            let bytes = Array(try encoded.serialized(as: .xml))
            try fileSystem.replace(folder.appending(Self.fileName), with: bytes)
        }
    }
}

/// The file of a program that is mirrored.
package struct MirroredFile: Hashable, Sendable {
    /// The file as it was selected. If the domain becomes another file, that must be selected again.
    let path: FilePath
    package fileprivate(set) var keys: Keys
    /// Keys that stay on this host, although the schema, or the selection of all keys, would mirror them.
    package fileprivate(set) var keptKeys: Set<Name> = []

    /// The keys that are mirrored.
    package enum Keys: Hashable, Sendable {
        case all
        /// The keys that the schema allows to be mirrored. Without a schema, none.
        case declared
        case some(Set<Name>)
        /// The file was mirrored, and no longer is.
        case none
    }

    package init(at path: FilePath, _ keys: Keys) { (self.path, self.keys) = (path, keys) }

    fileprivate init?(_ value: PropertyList) {
        guard let path = value["path"]?.dataValue.flatMap({ FilePath($0) }) else { return nil }
        let some = value["keys"].flatMap(Self.names).map { Keys.some($0) }
        self.init(at: path, some ?? (value["keys"] == "all" ? .all : value["keys"] == "none" ? .none : .declared))
        keptKeys = value["kept"].flatMap(Self.names) ?? []
    }

    private static func names(_ value: PropertyList) -> Set<Name>? {
        value.arrayValue.map { Set($0.compactMap(\.stringValue).map { Name($0) }) }
    }

    private static func list(_ names: Set<Name>) -> PropertyList { .array(names.sorted().map { .string($0.text) }) }

    fileprivate var encoded: PropertyList {
        let keys: PropertyList =
            switch keys {
            case .all: "all"
            case .declared: "declared"
            case .none: "none"
            case .some(let keys): Self.list(keys)
            }
        var entries: PropertyList.Dictionary = ["path": .data(Data(path.bytes)), "keys": keys]
        if !keptKeys.isEmpty { entries["kept"] = Self.list(keptKeys) }
        return .dictionary(entries)
    }

    fileprivate func leavesOut(_ key: Name) -> Bool {
        if case .some(let keys) = keys, !keys.contains(key) { return true }
        return keptKeys.contains(key)
    }

    fileprivate mutating func leaveOut(_ names: Set<Name>) {
        if case .some(let selected) = keys { keys = .some(selected.subtracting(names)) }
        keptKeys.formUnion(names)
    }
}

/// The domains that are mirrored, as patterns of names. The last matching pattern decides.
package struct DomainSelection: Hashable, Sendable {
    /// The patterns as they were given. A leading exclamation mark excludes.
    package var patterns: [String] { names.map(\.text) }

    private var names: [Name]
    /// The programs' files that are mirrored, by their domains.
    private var files: [Name: MirroredFile] = [:]

    package init(_ patterns: [String] = []) { names = patterns.map { Name($0) } }

    fileprivate init(_ patterns: [String], files: PropertyList) {
        self.init(patterns)
        for entry in files.dictionaryValue ?? [:] { self.files[Name(entry.key)] = MirroredFile(entry.value) }
    }

    fileprivate var encodedFiles: PropertyList {
        .dictionary(
            PropertyList.Dictionary(files.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value.encoded) }))
    }

    /// Returns what is mirrored of a program's file, or nil if it was not selected.
    package func file(of domain: DomainName) -> MirroredFile? {
        files[domain.name].flatMap { $0.keys == .none ? nil : $0 }
    }

    /// Returns the program's file that was or is mirrored as a domain.
    package func formerFile(of domain: DomainName) -> FilePath? { files[domain.name]?.path }

    /// Whether a key of a program's file is not among those that were selected.
    fileprivate func leavesOut(_ key: String, ofFile domain: DomainName) -> Bool {
        files[domain.name]?.leavesOut(Name(key)) ?? false
    }

    /// Selects the file of a program. Keys are added to those that are selected already. Keys that a user has made stay
    /// on this host stay unless they are named.
    package mutating func add(_ file: MirroredFile, of domain: DomainName) {
        add(domain.text)
        var file = file
        file.keptKeys = files[domain.name]?.keptKeys ?? []
        if case .some(let new) = file.keys {
            file.keptKeys.subtract(new)
            if let former = self.file(of: domain), former.path == file.path {
                if case .some(let old) = former.keys {
                    file.keys = .some(old.union(new))
                } else {
                    file.keys = former.keys
                }
            }
        }
        files[domain.name] = file
    }

    /// Makes keys of the file of a program stay on this host.
    package mutating func remove(_ keys: Set<Name>, ofFile domain: DomainName) { files[domain.name]?.leaveOut(keys) }

    /// Whether a domain is mirrored.
    package func includes(_ domain: DomainName) -> Bool { decision(on: domain) ?? false }

    /// Whether a user has excluded a domain that another pattern may include.
    package func excludes(_ domain: DomainName) -> Bool { decision(on: domain) == false }

    /// Returns whether the patterns include or exclude a domain, or nil if none matches. The global domain must be
    /// named explicitly, and the store's own domain is never mirrored.
    private func decision(on domain: DomainName) -> Bool? {
        guard domain != StorePolicy.domain else { return false }
        let last = patterns.last { pattern in
            let glob = pattern.hasPrefix("!") ? String(pattern.dropFirst()) : pattern
            return domain.isGlobal ? glob == DomainName.global.text : Glob(glob).matches(domain.text)
        }
        return last.map { !$0.hasPrefix("!") }
    }

    package mutating func add(_ pattern: String) {
        names.removeAll { $0 == Name(pattern) || $0 == Name("!" + pattern) }
        names.append(Name(pattern))
    }

    /// Removes a pattern, and excludes the domains that it matches if another pattern may include them.
    package mutating func remove(_ pattern: String) {
        names.removeAll { $0 == Name(pattern) || $0 == Name("!" + pattern) }
        files[Name(pattern)]?.keys = .none
        if mayInclude(pattern) { names.append(Name("!" + pattern)) }
        if !patterns.contains(where: { !$0.hasPrefix("!") }) { names = [] }
    }

    /// Whether a domain that a pattern matches may be mirrored: a pattern that includes domains has the same beginning.
    private func mayInclude(_ pattern: String) -> Bool {
        func beginning(_ pattern: String) -> Substring.UTF8View {
            pattern.utf8.prefix { ![UInt8(ascii: "*"), UInt8(ascii: "?"), UInt8(ascii: "[")].contains($0) }
        }
        let own = beginning(pattern)
        if own.count == pattern.utf8.count, let name = try? DomainName(pattern) { return includes(name) }
        return patterns.contains { other in
            let theirs = beginning(other)
            return theirs.first != UInt8(ascii: "!") && (theirs.starts(with: own) || own.starts(with: theirs))
        }
    }
}

extension DomainPolicy {
    /// The policy that the installed schemas declare: how values merge, and which stay on this host.
    ///
    /// A schema with errors is used too: it can still declare secrets.
    init(_ schemas: SchemaCache, _ selection: DomainSelection) {
        let schema = { @Sendable (domain: String) in (try? DomainName(domain)).flatMap { schemas[$0]?.readable } }
        self.init(
            kind: { domain, key in
                if let declared = schema(domain)?.anyDeclaration(of: key)?.mergeKind { return declared }
                let isFile = (try? DomainName(domain)).map { selection.file(of: $0) != nil } ?? false
                return isFile ? .entries : nil
            },
            stay: { domain in
                guard let name = try? DomainName(domain) else { return { _ in nil } }
                let secrecy = schemas.secrecy(of: name)
                return { key in
                    let isDeclared = secrecy.staysLocal(key)
                    if selection.leavesOut(key, ofFile: name) { return isDeclared ? .both : .unselected }
                    return isDeclared ? .declared : nil
                }
            },
            isDeclared: { (try? DomainName($0)).map { schemas[$0] != nil } ?? false },
            versionKey: Schema.versionKey,
            supports: { domain, version in
                guard let schema = schema(domain), let version = try? version.decoded() else { return true }
                return schema.storedVersion(of: [Schema.versionKey: version]) <= schema.version
            })
    }
}

extension SettingDeclaration {
    /// The declared rule of merging, or nil if none is declared.
    fileprivate var mergeKind: MergeKind? {
        switch merge {
        case nil: nil
        case .value: .value
        case .entries: .entries
        case .set: .set
        case .counter: .counter
        case .maximum: .maximum
        case .minimum: .minimum
        case .list: identity.map { .list(identity: $0) } ?? .value
        }
    }
}
