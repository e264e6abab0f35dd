/// An observation that goes on as long as it is held.
public final class SettingsObservation: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }

    /// Ends the observation. A call that has begun may still be going on when this returns.
    public func cancel() { end() }
}
