package import PropertyLists

/// A preference file as the rim found it.
package struct Observation: Hashable, Sendable {
    package let domain: String
    package let identity: FileIdentity?
    /// The hash of the file's bytes.
    package let hash: Fingerprint?
    package let content: Content
    /// When the file was changed, in milliseconds since 1970.
    package let modified: Int64
    /// The times of the keys that the history dates earlier than the file.
    package let written: [String: Int64]
    /// What the last writer through the library left, if it left that for this very content.
    package let mark: Mark?

    package enum Content: Hashable, Sendable {
        case values(PropertyList.Dictionary)
        case missing
        case empty
        case unreadable
    }

    package init(
        domain: String, identity: FileIdentity?, hash: Fingerprint?, content: Content, modified: Int64,
        mark: Mark? = nil, written: [String: Int64] = [:]
    ) {
        self.domain = domain
        self.identity = identity
        self.hash = hash
        self.content = content
        self.modified = modified
        self.mark = mark
        self.written = written
    }
}

/// Why a writer through the library left a file as it is.
package enum Mark: Hashable, Sendable {
    case write
    case deleted
    case undo
    case restore
    /// After damage, from the generation that had these values.
    case recovered(PropertyList.Dictionary)
}

/// What stays out of the mirror, and how values are cut; made of the schemas that are installed on this host.
package struct DomainPolicy: Sendable {
    /// How the writes of a key are cut.
    package let kind: @Sendable (_ domain: String, _ key: String) -> MergeKind
    /// Whether a key stays on this host.
    package let staysHome: @Sendable (_ domain: String, _ key: String) -> Bool

    package init(
        kind: @escaping @Sendable (String, String) -> MergeKind = { _, _ in .register },
        staysHome: @escaping @Sendable (String, String) -> Bool = { _, _ in false }
    ) {
        self.kind = kind
        self.staysHome = staysHome
    }

    package static let plain = DomainPolicy()
}

/// What becomes of values that are there on both sides when a domain begins to take part.
package enum Seeding: UInt8, Hashable, Sendable {
    /// Local values only fill gaps.
    case merge
    case remote
    case local
}
