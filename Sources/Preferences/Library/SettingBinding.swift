/// A value that can be read and written where it is.
public struct SettingBinding<Value: Sendable>: Sendable {
    /// Returns the value in force.
    public let get: @Sendable () -> Value
    /// Sets the user's own value.
    public let set: @Sendable (Value) -> Void

    /// Binds whatever the two functions read and write.
    public init(get: @escaping @Sendable () -> Value, set: @escaping @Sendable (Value) -> Void) {
        self.get = get
        self.set = set
    }

    /// The value in force.
    public var value: Value {
        get { get() }
        nonmutating set { set(newValue) }
    }
}
