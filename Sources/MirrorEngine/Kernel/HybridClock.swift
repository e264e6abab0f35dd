/// The clock of one host. Stamps of other hosts never enter it, so a host whose clock is fast cannot advance it.
package struct HybridClock: Hashable, Sendable {
    /// The last stamp taken from this clock.
    package private(set) var local: Stamp

    package init(local: Stamp = .zero) { self.local = local }

    /// Returns the stamp of a write made at this time, later than all stamps returned before.
    package mutating func stamp(at milliseconds: Int64) -> Stamp {
        local = max(Stamp(clamping: milliseconds), local.next)
        return local
    }
}
