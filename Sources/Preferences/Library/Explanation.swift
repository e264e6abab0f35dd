public import PropertyLists
internal import SettingsSchema
internal import Synchronization

/// Every layer that has a value for a key, the one in force first.
public struct Explanation: Sendable, Hashable {
    /// A layer that has the key.
    public struct Entry: Sendable, Hashable {
        /// Where the value comes from.
        public let origin: Origin
        /// What the layer says.
        public let value: PropertyList
        /// Why the value does not count, where it breaks a rule of the schema.
        public let fault: String?
    }

    /// The domain that was asked.
    public let domain: DomainName
    /// The key that was asked for.
    public let key: String
    /// All layers that have the key, the highest first.
    public let entries: [Entry]

    /// The value that counts, and where it comes from; nil where no layer has one.
    public var inForce: Entry? { entries.first { $0.fault == nil } }
}

extension Defaults {
    /// Where the value of a key comes from, and what it hides.
    public func explain(_ key: String) -> Explanation {
        let sources = refreshed { $0.sources }
        let declaration = schema?.declarations[ExactKey(key)]
        let entries = sources.compactMap { source -> Explanation.Entry? in
            guard let declaration else {
                return source.domain.value(key).map { Explanation.Entry(origin: source.origin, value: $0, fault: nil) }
            }
            return source.explained(by: declaration)
        }
        return Explanation(domain: name, key: key, entries: entries)
    }

    /// All layers that have the setting, the highest first.
    public func explain<Value>(_ setting: Setting<Value>) -> Explanation { explain(setting.key) }
}

extension Explanation: CustomStringConvertible {
    /// A line a layer, the highest first.
    public var description: String {
        entries.map { "\($0.origin): \($0.value)\($0.fault.map { " (does not count: \($0))" } ?? "")" }
            .joined(separator: "\n")
    }
}

extension ResolvedTable.Source {
    /// What the layer has for a declared key, as it is shown: a secret is not.
    fileprivate func explained(by declaration: SettingDeclaration) -> Explanation.Entry? {
        guard let verdict = verdict(on: declaration), let stored = stored(declaration) else { return nil }
        return switch verdict {
        case .usable(let value): Explanation.Entry(origin: origin, value: declaration.masked(value), fault: nil)
        case .passedOver(let reason):
            Explanation.Entry(origin: origin, value: declaration.masked(stored), fault: reason)
        }
    }
}
