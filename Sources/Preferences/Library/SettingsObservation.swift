/// An observation that continues as long as it is retained.
public final class SettingsObservation: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }

    /// Ends the observation. A call in progress may continue after this returns.
    public func cancel() { end() }
}
