internal import Digests

/// A summary by which two hosts compare the changes that they know and the states that resulted.
package struct Digest: Hashable, Sendable {
    /// The first half of a hash over all writers, with their last transactions and logs.
    package let tips: [UInt8]
    /// The first half of a hash over all paths that have values, with these values.
    package let state: [UInt8]

    init(tips: [UInt8], state: [UInt8]) {
        self.tips = Array(tips.prefix(16))
        self.state = Array(state.prefix(16))
    }

    /// Decodes the digest of a base. Returns nil if the base has none.
    init?(_ contentHash: ContentHash) {
        guard contentHash != .none else { return nil }
        let bytes = contentHash.bytes
        self.init(tips: Array(bytes.prefix(16)), state: Array(bytes.suffix(16)))
    }

    package var contentHash: ContentHash { ContentHash(tips + state) ?? .none }
}

extension LocalState {
    /// The digest of the current state.
    package var digest: Digest {
        var tips = SHA256()
        var state = SHA256()
        for entry in knowledge.entries {
            var bytes: [UInt8] = []
            bytes.append(entry)
            bytes += (entry.writer == writer ? folder.tip : peers[entry.writer]?.tip)?.bytes ?? []
            tips.update(bytes)
        }
        var bytes: [UInt8] = []
        mergeState.visit { write in
            guard case .value(let value) = write.value else { return }
            bytes.removeAll(keepingCapacity: true)
            bytes.append(run: write.path.bytes)
            bytes.append(run: value.bytes)
            state.update(bytes)
        }
        return Digest(tips: tips.finish(), state: state.finish())
    }
}
