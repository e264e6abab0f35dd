/// A key with the type of its value and the value that holds where nobody has chosen one.
public struct Setting<Value: Codable & Sendable>: Sendable {
    public let key: String
    public let defaultValue: Value

    public init(_ key: String, default defaultValue: Value) {
        self.key = key
        self.defaultValue = defaultValue
    }
}
