public import PropertyLists
internal import Synchronization

/// Every layer that has a value for a key, the one in force first.
public struct Explanation: Sendable, Hashable {
    public struct Entry: Sendable, Hashable {
        public let origin: Origin
        public let value: PropertyList
    }

    public let domain: DomainName
    public let key: String
    public let entries: [Entry]

    /// The value that counts, and where it comes from; nil where no layer has one.
    public var inForce: Entry? { entries.first }
}

extension Defaults {
    /// Where the value of a key comes from, and what it hides.
    public func explain(_ key: String) -> Explanation {
        let sources = refreshed { $0.sources }
        let entries = sources.compactMap { source in
            source.domain.value(key).map { Explanation.Entry(origin: source.origin, value: $0) }
        }
        return Explanation(domain: name, key: key, entries: entries)
    }

    public func explain<Value>(_ setting: Setting<Value>) -> Explanation { explain(setting.key) }
}

extension Explanation: CustomStringConvertible {
    /// A line a layer, the highest first.
    public var description: String {
        entries.map { "\($0.origin): \($0.value)" }.joined(separator: "\n")
    }
}
