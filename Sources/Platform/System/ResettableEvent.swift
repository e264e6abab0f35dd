internal import Synchronization

/// A resettable signal. Several rings before a reset have the effect of one.
package final class ResettableEvent: Sendable {
    private let gate = Mutex(Gate())

    package init() {}

    package func ring() { gate.withLock(\.self).open() }

    /// The gate that the next ring opens, or that the last ring has opened.
    package var next: Gate { gate.withLock(\.self) }

    /// Resets the signal. Call this before checking for work, so that a ring during the check causes another check.
    package func reset() { gate.withLock { $0 = Gate() } }
}
