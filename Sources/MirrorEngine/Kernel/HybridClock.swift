/// The clock of one host. Stamps of others never enter it, so that a wrong host cannot set it forward.
package struct HybridClock: Hashable, Sendable {
    /// The last stamp that was taken from this clock.
    package private(set) var local: Stamp

    package init(local: Stamp = .zero) { self.local = local }

    /// Returns the stamp of a write that was made at this time, later than every stamp returned before.
    package mutating func stamp(at milliseconds: Int64) -> Stamp {
        local = max(Stamp(clamping: milliseconds), local.next)
        return local
    }
}
