/// Something that went wrong where no caller could be told by an error.
public struct Issue: Sendable {
    /// What happened.
    public let kind: Kind
    /// The domain that it is about.
    public let domain: String

    /// What may happen.
    @nonexhaustive
    public enum Kind: Sendable {
        /// What was set could not be written. It is kept, and tried again.
        case unwritten(StoreFailure)
        /// A file could not be read; its values count as missing.
        case unreadable(StoreFailure)
        /// A file is damaged, and a kept version stands in for it.
        case recovered(String)
        /// The value was refused, and nothing was changed.
        case refused(key: String, reason: String)
        /// A stored value is not of the setting's type; the default counts.
        case undecodable(key: String, reason: String)
        /// A stored value breaks a rule of the schema; the next layer counts, and in the end the factory's value.
        case passedOver(key: String, origin: Origin, reason: String)
        /// The schema that is installed for the domain has mistakes, and counts for nothing.
        case badSchema(file: String, reason: String)
    }

    package init(_ kind: Kind, domain: String) {
        self.kind = kind
        self.domain = domain
    }
}

extension Issue: CustomStringConvertible {
    public var description: String {
        switch kind {
        case .unwritten(let failure): "not written yet: \(failure)"
        case .unreadable(let failure): failure.description
        case .recovered(let text): text
        case .refused(let key, let reason): "\(domain): \(key): \(reason); nothing was changed"
        case .undecodable(let key, let reason): "\(domain): \(key): \(reason); the default counts"
        case .passedOver(let key, let origin, let reason):
            "\(domain): \(key) in \(origin): \(reason); it does not count"
        case .badSchema(let file, let reason): "\(file): \(reason); the schema does not count"
        }
    }
}
