/// The files of other writers: which are in view, which wait for others before them, and which are faulty.
struct Inbox: Sendable {
    /// The files in view, as last listed.
    private(set) var folders: [WriterID: Set<PackName>] = [:]
    /// The writers whose folders could not be listed.
    private(set) var closed: Set<WriterID> = []
    /// Whether files of other writers exist that may become valid and were not listed.
    private var lacksFiles = false
    /// Files that were read and wait for files before them.
    private var waiting: [PackAddress: WaitingFile] = [:]
    /// The waiting files that were requested again since the directory was last listed.
    private var askedAgain: Set<PackAddress> = []
    /// Files that could not be joined as they were.
    private(set) var faulty: [PackAddress: FaultyFile] = [:]
    /// The sizes of faulty files when the directory was last listed.
    private var sizes: [PackAddress: Int] = [:]
    /// Files that were reported as damaged, or as waiting for blobs.
    private var reported: Set<PackAddress> = []
    /// The waits that former engines recorded.
    private var formerWaits = PendingWaits()

    /// Whether no file waits for files before it.
    var isAtRest: Bool { waiting.isEmpty }

    private func isInView(_ address: PackAddress) -> Bool { folders[address.writer]?.contains(address.name) ?? false }
}

// MARK: The listing

extension Inbox {
    /// Takes the files in view.
    mutating func take(_ listing: Listing, in context: inout EngineContext) {
        let ignored = context.ignoredWriters(listing)
        if !ignored.isEmpty { context.report(.waiting(.writers)) }
        folders = listing.folders.filter { !ignored.contains($0.key) }
            .mapValues { files in Set(files.keys.compactMap { PackName($0) }) }
        (closed, lacksFiles) = (listing.closed, listing.lacksFiles)
        faulty = faulty.filter { isInView($0.key) }
        waiting = waiting.filter { $0.value.pack != nil || isInView($0.key) }
        askedAgain = []
        sizes = Dictionary(faulty.keys.map { ($0, listing.size(of: $0)) }) { $1 }
    }

    /// Returns the files in view that must be fetched: those that are new, and faulty ones that may have changed.
    func wanted(_ listing: Listing, at now: Int64, _ local: LocalState) -> [PackAddress] {
        var wanted: [PackAddress] = []
        for (writer, names) in folders {
            if writer == local.writer {
                wanted += names.filter(local.isForeign).map { PackAddress(writer: writer, name: $0) }
                continue
            }
            let joined = local.peers[writer]?.joined ?? []
            wanted += names.filter { !joined.contains($0.hash) }.map { PackAddress(writer: writer, name: $0) }
                .filter { waiting[$0] == nil }
                .filter { faulty[$0]?.isWorthReading(size: listing.size(of: $0), at: now) ?? true }
        }
        return wanted
    }

    /// Records which folders went out of view or came back, and which files are gone.
    func recordPeers(at now: Int64, in context: inout EngineContext) {
        let own = context.local.writer
        for (writer, peer) in context.local.peers.sorted(by: { $0.key < $1.key }) where writer != own {
            guard let names = folders[writer] else {
                if !peer.wasInView {
                    continue
                } else if peer.vanishedAt == nil {
                    context.commit(.vanished(writer, at: now))
                    if context.local.isMissing(writer) { context.report(.vanished(writer)) }
                } else if let since = peer.vanishedAt, now - since >= context.limits.vanishedFor, !peer.isKept {
                    context.commit(.kept(writer))
                }
                continue
            }
            if peer.vanishedAt != nil { context.commit(.returned(writer)) }
            // A folder that cannot be listed is unchanged.
            if closed.contains(writer) { continue }
            let gone = peer.joined.subtracting(names.map(\.hash))
            if !gone.isEmpty { context.commit(.forgot(writer, gone)) }
        }
    }
}

extension EngineContext {
    /// Returns the new writers beyond the limit. There is a limit because our files name every known writer.
    func ignoredWriters(_ listing: Listing) -> Set<WriterID> {
        let new = listing.folders.keys.filter { $0 != local.writer && local.peers[$0] == nil }
        let room = max(0, limits.writers - local.peers.count)
        return new.count > room ? Set(new.sorted().dropFirst(room)) : []
    }
}

extension LocalState {
    /// Whether a host's folder is gone, and no user has decided about that host.
    func isMissing(_ writer: WriterID) -> Bool {
        guard let peer = peers[writer], peer.vanishedAt != nil else { return false }
        return writer != self.writer && !formerWriters.contains(writer) && retired[writer] == nil
            && !(peer.note?.hasLeft ?? false) && !peer.isKept
    }

    /// Whether files of a host are missing that came before others, so that some of its changes are unknown, and no
    /// user has decided about that host.
    func lacksChanges(of writer: WriterID) -> Bool {
        guard let peer = peers[writer], peer.vanishedAt == nil, !peer.beyond.isEmpty else { return false }
        return writer != self.writer && !formerWriters.contains(writer) && retired[writer] == nil
    }
}

extension PackAddress {
    /// Sorts bases first and the newest of them before the others, because they make most other files unnecessary.
    package static func isReadBefore(_ left: PackAddress, _ right: PackAddress) -> Bool {
        if left.name.kind != right.name.kind { return left.name.kind.rawValue < right.name.kind.rawValue }
        if left.name.kind == .base, left.name.number != right.name.number {
            return left.name.number > right.name.number
        }
        return left < right
    }
}

// MARK: Files that were read

extension Inbox {
    /// Records that a file of our own is valid.
    mutating func clearFault(_ address: PackAddress) { faulty[address] = nil }

    /// Keeps a file until the files before it were joined.
    mutating func keep(_ pack: Pack, at now: Int64) {
        let address = pack.address
        faulty[address] = nil
        waiting[address] = WaitingFile(pack, since: waiting[address]?.since ?? waitedSince(address, at: now) ?? now)
    }

    /// Returns the waiting files in the order in which they are joined.
    var waitingFiles: [PackAddress] { waiting.keys.sorted(by: PackAddress.isReadBefore) }

    /// The result of taking a waiting file.
    enum Taken {
        case notDue
        /// The file is due, and its contents must be read again; nil if that was requested already.
        case dropped(PackAddress?)
        case pack(Pack)
    }

    /// Takes a waiting file if all files that it follows were joined, or if it has waited long enough.
    mutating func takeDue(_ address: PackAddress, at now: Int64, _ context: EngineContext) -> Taken {
        guard let file = waiting[address], isDue(file, of: address.writer, at: now, context) else { return .notDue }
        guard let pack = file.pack else { return .dropped(askedAgain.insert(address).inserted ? address : nil) }
        waiting[address] = nil
        return .pack(pack)
    }

    private func isDue(_ file: WaitingFile, of writer: WriterID, at now: Int64, _ context: EngineContext) -> Bool {
        guard let first = file.first, Rule.followsLogs.isKept else { return true }
        return first <= context.local.shared.vector[writer] + 1 || now - file.since >= context.limits.waitsFor
    }

    /// Drops the contents of waiting files beyond a limit. When such a file is due, it is read again.
    mutating func dropWaiting(beyond limit: Int) {
        var bytes = 0
        for address in waitingFiles {
            bytes += waiting[address]?.pack?.size ?? 0
            if bytes > limit { waiting[address]?.pack = nil }
        }
    }

    /// Makes the waiting files of a writer due, although files before them are missing.
    mutating func stopWaiting(for writer: WriterID, at now: Int64, _ limits: EngineLimits) {
        for address in waiting.keys where address.writer == writer {
            waiting[address]?.since = now - limits.waitsFor
        }
    }

    /// Whether a writer has files in view, and all of them were joined.
    func hasOnlyJoined(_ writer: WriterID, _ local: LocalState) -> Bool {
        guard let names = folders[writer], !names.isEmpty else { return false }
        return names.allSatisfy { local.peers[writer]?.joined.contains($0.hash) ?? false }
    }

    /// Whether all files in view were joined.
    func hasReadAll(_ local: LocalState) -> Bool {
        closed.isEmpty && !lacksFiles
            && folders.allSatisfy { writer, names in
                if writer == local.writer { return !names.contains(where: local.isForeign) }
                return names.isEmpty || hasOnlyJoined(writer, local)
            }
    }

    /// Returns the files of a writer that could not be read, or whose contents were dropped.
    func unread(of writer: WriterID) -> [PackAddress] {
        let dropped = waiting.filter { $0.value.pack == nil }.map(\.key)
        return (dropped + faulty.keys).filter { $0.writer == writer }.sorted()
    }
}

// MARK: Faulty files

extension Inbox {
    /// Records that a file cannot be joined, and reports it when it has waited long enough.
    mutating func note(_ fault: PackFault, at address: PackAddress, now: Int64, in context: inout EngineContext) {
        switch fault {
        case .missingBlobs:
            let since = note(address, .lacksBlobs, at: now)
            guard now - since >= context.limits.waitsFor, reported.insert(address).inserted else { return }
            context.report(.missingBlobs(address))
        case _ where fault.isOfNewerVersion:
            // The file is valid, and a newer version can read it.
            if faulty[address] == nil, formerWaits.files[address]?.isReported != true {
                context.report(.tooNew(address))
            }
            note(address, .tooNew, at: now)
        default:
            let since = note(address, at: now)
            guard now - since >= context.limits.waitsFor, reported.insert(address).inserted else { return }
            context.act(.quarantine(address))
            context.report(.quarantined(address, fault))
        }
    }

    /// Records that a file cannot be joined. Returns the time at which it was first found faulty.
    @discardableResult
    mutating func note(_ address: PackAddress, _ kind: FaultyFile.Kind = .damaged, at now: Int64) -> Int64 {
        let former = faulty[address] ?? waitedSince(address, at: now).map { FaultyFile(nil, kind, size: 0, at: $0) }
        let file = FaultyFile(former, kind, size: sizes[address] ?? 0, at: now)
        faulty[address] = file
        return file.since
    }
}

// MARK: Waits that outlast a process

extension Inbox {
    /// The waits that the next engine should continue.
    var pendingWaits: PendingWaits {
        // Before the first listing, the former waits are complete.
        guard !folders.isEmpty else { return formerWaits }
        var waits = PendingWaits()
        let times = waiting.mapValues(\.since).merging(faulty.mapValues(\.since)) { min($0, $1) }
        for (address, since) in times where isInView(address) {
            let isReported = reported.contains(address) || faulty[address]?.kind == .tooNew
            waits.files[address] = PendingWaits.Wait(since: since, isReported: isReported)
        }
        return waits
    }

    /// Continues the waits of a former engine.
    mutating func resume(_ waits: PendingWaits) {
        formerWaits = waits
        reported.formUnion(waits.files.filter(\.value.isReported).keys)
    }

    /// Returns the time at which former engines began to wait for a file. A time in the future is replaced by the
    /// present.
    private func waitedSince(_ address: PackAddress, at now: Int64) -> Int64? {
        formerWaits.files[address].map { min(max($0.since, 0), now) }
    }
}

/// A file of another writer that cannot be joined as it is: incomplete, damaged, unreadable, or too new.
package struct FaultyFile: Hashable, Sendable {
    /// The time at which the file was first found faulty.
    let since: Int64
    private var lastRead: Int64
    /// The size of the file, or 0 if it is unknown.
    private var size: Int
    let kind: Kind

    enum Kind: Hashable, Sendable {
        case damaged
        /// Valid, but requires a newer version.
        case tooNew
        /// Valid, but blobs are missing. Their arrival does not change this file.
        case lacksBlobs
    }

    /// The longest interval between two attempts to read the file, in milliseconds. It is shorter for missing blobs,
    /// which can arrive at any time.
    private static let longest: Int64 = 600_000
    private static let longestWithoutBlobs: Int64 = 60_000

    init(_ former: FaultyFile?, _ kind: Kind, size: Int, at now: Int64) {
        since = former?.since ?? now
        lastRead = now
        self.size = size
        self.kind = kind
    }

    /// Whether the file may have changed: its size differs, or half of the time that it was known when last read
    /// has passed since. A file that becomes complete is read soon, and one that does not is read less and less often.
    func isWorthReading(size: Int, at now: Int64) -> Bool {
        if size != self.size { return true }
        let longest = kind == .lacksBlobs ? Self.longestWithoutBlobs : Self.longest
        return kind != .tooNew && (now < lastRead || now - lastRead >= min((lastRead - since) / 2, longest))
    }
}

/// A file that was read and waits for files before it.
struct WaitingFile: Sendable {
    /// The time at which it was first read.
    var since: Int64
    /// The first transaction of a log, or nil if the file is not a log.
    let first: UInt64?
    /// The contents, or nil if there was no room to keep them. The file is then read again when it is due.
    var pack: Pack?

    init(_ pack: Pack, since: Int64) {
        self.since = since
        if case .log(let log) = pack.content { first = log.first } else { first = nil }
        self.pack = pack
    }
}
