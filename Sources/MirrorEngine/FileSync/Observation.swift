package import PropertyLists

/// A preference file as the caller of the engine read it.
package struct Observation: Hashable, Sendable {
    package let domain: String
    package let identity: FileIdentity?
    /// The hash of the file's bytes.
    package let hash: ContentHash?
    package let content: Content
    /// The modification time of the file, in milliseconds since 1970.
    package let modified: Int64
    /// The times of the keys that the history dates earlier than the file.
    package let written: [Name: Int64]
    /// The mark of the last writer that used the library, if it describes this content.
    package let mark: LibraryWrite?
    /// What the library replaced, if another program had written the file since it was last read.
    package let foreign: PropertyList.Dictionary?
    /// Whether the file is that of a program that may write it in parts.
    package var isOfProgram = false

    package enum Content: Hashable, Sendable {
        case values(PropertyList.Dictionary)
        case missing
        case empty
        case unreadable
    }

    package init(
        domain: String, identity: FileIdentity?, hash: ContentHash?, content: Content, modified: Int64,
        mark: LibraryWrite? = nil, foreign: PropertyList.Dictionary? = nil, written: [Name: Int64] = [:]
    ) {
        self.domain = domain
        self.identity = identity
        self.hash = hash
        self.content = content
        self.modified = modified
        self.mark = mark
        self.foreign = foreign
        self.written = written
    }
}

/// The reason a writer that used the library changed a file.
package enum LibraryWrite: Hashable, Sendable {
    case write
    case deleted
    case undo
    case restore
    /// The file was damaged, and recovered from the generation with these values.
    case recovered(PropertyList.Dictionary)
}

/// The keys that are not mirrored, and how values are merged, according to the schemas installed on this host.
package struct DomainPolicy: Sendable {
    /// The rule by which writes of a key are combined, or nil if none is declared.
    package let kind: @Sendable (_ domain: String, _ key: String) -> MergeKind?
    /// Returns for each key of a domain why it stays on this host, or nil if it is mirrored.
    package let stay: @Sendable (_ domain: String) -> (_ key: String) -> Stay?
    /// Whether the schema that declares which keys of a domain stay is there.
    package let isDeclared: @Sendable (_ domain: String) -> Bool
    /// The key with the version of a domain's settings.
    package let versionKey: String?
    /// Whether this host supports a version of a domain's settings.
    package let supports: @Sendable (_ domain: String, _ version: CanonicalValue) -> Bool

    package init(
        kind: @escaping @Sendable (String, String) -> MergeKind? = { _, _ in nil },
        stay: @escaping @Sendable (String) -> (String) -> Stay? = { _ in { _ in nil } },
        isDeclared: @escaping @Sendable (String) -> Bool = { _ in true }, versionKey: String? = nil,
        supports: @escaping @Sendable (String, CanonicalValue) -> Bool = { _, _ in true }
    ) {
        self.kind = kind
        (self.stay, self.isDeclared) = (stay, isDeclared)
        (self.versionKey, self.supports) = (versionKey, supports)
    }

    package static let plain = DomainPolicy()

    /// The reason a key stays on its host.
    package enum Stay: Sendable {
        /// It is left to each host, because a schema declares it, or its name is that of a secret or a command. No host
        /// mirrors it.
        case declared
        /// A user of this host did not select it. That does not concern the other hosts.
        case unselected
        /// Both. What this host has published leaves the mirror.
        case both

        package var isDeclared: Bool { self != .unselected }
        package var isUnselected: Bool { self != .declared }
    }

    package func staysLocal(_ domain: String, _ key: String) -> Bool { stay(domain)(key) != nil }
}

/// The side whose values are used when a domain begins to be mirrored and both sides have a value.
package enum Seeding: UInt8, Hashable, Sendable {
    /// Local values only fill gaps.
    case merge
    case remote
    case local
    /// Local values are kept as open conflicts where the mirror has others, because this store lost its state.
    case found
}
