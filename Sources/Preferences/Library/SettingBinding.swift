/// A binding to a value that can be read and written.
public struct SettingBinding<Value: Sendable>: Sendable {
    /// Returns the value in effect.
    public let get: @Sendable () -> Value
    /// Sets the user's own value.
    public let set: @Sendable (Value) -> Void

    /// Creates a binding from two functions.
    public init(get: @escaping @Sendable () -> Value, set: @escaping @Sendable (Value) -> Void) {
        self.get = get
        self.set = set
    }

    /// The value in effect.
    public var value: Value {
        get { get() }
        nonmutating set { set(newValue) }
    }
}
