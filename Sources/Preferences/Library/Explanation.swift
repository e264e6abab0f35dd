public import PropertyLists
internal import SettingsSchema
internal import Synchronization

/// All layers that have a value for a key, highest priority first.
public struct Explanation: Sendable, Hashable {
    /// A layer that has a value for the key.
    public struct Entry: Sendable, Hashable {
        /// The origin of the value.
        public let origin: Origin
        /// The value in the layer.
        public let value: PropertyList
        /// The rule of the schema that the value violates; nil for a valid value.
        public let fault: String?
        /// Whether programs that parse their command line do not start with the value. A `Defaults` ignores it, as any
        /// invalid value.
        public let isError: Bool
    }

    /// The domain.
    public let domain: DomainName
    /// The key.
    public let key: String
    /// All layers that have the key, highest priority first.
    public let entries: [Entry]

    /// The value in effect and its origin, or nil if there is none.
    public var inEffect: Entry? { entries.first { $0.fault == nil } }
}

extension Defaults {
    /// Returns the value of a key in each layer.
    public func explain(_ key: String) -> Explanation {
        let stack = refreshed(\.stack)
        return explanation(of: key, stack, stack.declaration(of: key))
    }

    private func explanation(
        of key: String, _ stack: LayerStack, _ declaration: SettingDeclaration?
    ) -> Explanation {
        let entries = stack.explanation(of: key, declaration).answers.map { answer in
            let value = answer.value ?? answer.stored
            return Explanation.Entry(
                origin: answer.origin, value: declaration?.masked(value) ?? value, fault: answer.fault,
                isError: answer.isError)
        }
        return Explanation(domain: name, key: key, entries: entries)
    }

    /// Returns the value of a setting in each layer.
    public func explain<Value>(_ setting: Setting<Value>) -> Explanation {
        let stack = refreshed(\.stack)
        return explanation(of: setting.key, stack, stack.declaration(of: setting.key) ?? setting.declaration)
    }
}

extension Explanation: CustomStringConvertible {
    /// A line for each layer, highest priority first.
    public var description: String {
        entries.map { entry in
            let fault = entry.fault.map { " (\(entry.isError ? "error" : "ignored"): \($0))" } ?? ""
            return "\(entry.origin): \(entry.value)\(fault)"
        }.joined(separator: "\n")
    }
}
