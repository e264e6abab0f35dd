/// A clock that stamps a write above all that it overwrites, and that one wrong host cannot set forward for the others.
package struct HybridClock: Hashable, Sendable {
    /// The greatest stamp that was given or taken over.
    package private(set) var local: Stamp

    package init(local: Stamp = .zero) { self.local = local }

    /// How far ahead of the wall clock others may push this one.
    package static let tolerance: Int64 = 600_000

    /// What a transaction's writes are stamped with.
    package struct Stamps: Hashable, Sendable {
        /// The stamp of the transaction.
        package let common: Stamp
        /// The stamps of the writes, in their order: the common one but where something from the future is overwritten.
        package let writes: [Stamp]
    }

    /// Stamps a transaction whose writes overlap atoms of which the greatest stamps are `overlaps`.
    package mutating func stamp(
        at milliseconds: Int64, now: Int64, over overlaps: [Stamp?]
    ) -> Stamps {
        let limit = Self.limit(now)
        let near = overlaps.compactMap { $0 }.filter { $0 < limit }.max()
        let common = max(Stamp(clamping: milliseconds), local.next, near?.next ?? .zero)
        let writes = overlaps.map { overlap in
            guard let overlap, overlap >= common else { return common }
            return overlap.next
        }
        local = max(local, min(common, limit))
        return Stamps(common: common, writes: writes)
    }

    /// Takes over the stamp of another's write, within limits.
    package mutating func observe(_ remote: Stamp, now: Int64) {
        local = max(local, min(remote, Self.limit(now)))
    }

    private static func limit(_ now: Int64) -> Stamp {
        Stamp(clamping: now.addingReportingOverflow(tolerance).partialValue)
    }
}
