internal import Synchronization

/// Tells whoever waits that there is something to look at. Several rings before the look are as good as one.
package final class Bell: Sendable {
    private let gate = Mutex(Gate())

    package init() {}

    package func ring() { gate.withLock(\.self).open() }

    /// What the next ring opens, or the last one has opened.
    package var next: Gate { gate.withLock(\.self) }

    /// Begins anew. To be called before a look, so that what comes during it leads to another one.
    package func reset() { gate.withLock { $0 = Gate() } }
}
