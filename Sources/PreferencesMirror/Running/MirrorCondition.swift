package import MirrorEngine
internal import Platform

/// The status of a mirror in one word. If several apply, the greatest is reported.
package enum MirrorCondition: Int, Hashable, Sendable, Comparable, CaseIterable {
    case inSync, conflicts, waiting, paused, left, readOnly, overQuota, halted, unavailable

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension MirrorSession {
    /// Returns the status of the mirror as of the last exchange.
    package func condition(after reports: [Report]) -> MirrorCondition {
        var condition = MirrorCondition.inSync
        func note(_ other: MirrorCondition) { condition = max(condition, other) }
        switch directoryStatus {
        case .unavailable, .unknown: note(.unavailable)
        case .split, .swapped: note(.halted)
        case .paused, .detached: note(.paused)
        case .left: note(.left)
        case .present: break
        }
        if engine.local.trackedFiles.values.contains(where: { $0.isMirrored && $0.held != nil }) { note(.halted) }
        for report in reports {
            switch report {
            case .waiting(.quota), .waiting(.writers): note(.overQuota)
            case .waiting(.permission): note(.readOnly)
            case .waiting: note(.waiting)
            default: break
            }
        }
        let isIncomplete =
            !engine.faulty.isEmpty || engine.hasWaitingFiles || engine.hasLosses || !closedFolders.isEmpty
        let lacksHosts = engine.local.peers.keys.contains {
            engine.local.isMissing($0) || engine.local.lacksChanges(of: $0)
        }
        let hasUnmirrored = engine.local.trackedFiles.values.contains { $0.isMirrored && !$0.unmirrored.isEmpty }
        if isIncomplete || lacksHosts || hasUnmirrored || !leftOut.isEmpty || hasUnfinished || !pendingDomains.isEmpty {
            note(.waiting)
        }
        if conflicts.hasOpen { note(.conflicts) }
        return condition
    }
}

extension LocalState {
    /// Whether files of a host are missing that came before others, so that some of its changes are unknown, and no
    /// user has decided about that host.
    func lacksChanges(of writer: WriterID) -> Bool {
        guard let peer = peers[writer], peer.vanishedAt == nil, !peer.beyond.isEmpty else { return false }
        return writer != self.writer && !formerWriters.contains(writer) && !retired.contains(writer)
    }
}
