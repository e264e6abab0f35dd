internal import Platform
internal import Synchronization

/// Tells whoever waits that there is something to look at. Several rings before the look are as good as one.
final class Bell: Sendable {
    private let gate = Mutex(Gate())

    func ring() { gate.withLock(\.self).open() }

    /// What the next ring opens, or the last one has opened.
    var next: Gate { gate.withLock(\.self) }

    /// Begins anew. To be called before a look, so that what comes during it leads to another one.
    func reset() { gate.withLock { $0 = Gate() } }
}
