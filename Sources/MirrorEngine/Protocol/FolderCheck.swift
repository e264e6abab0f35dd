internal import PropertyLists

/// A check that the files of a mirror are consistent with each other and with the state of this store.
///
/// It receives every file in view, one after the other, and keeps little more than the state in memory.
package struct FolderCheck: Sendable {
    private let local: LocalState
    private let listing: Listing
    private var findings: Set<Finding> = []
    private var writers: [WriterID: Chain] = [:]
    /// The state computed from the files alone.
    private var rebuilt = SharedState()
    /// The state after joining the valid files that were not joined yet.
    private var expected: SharedState

    /// A problem that the check found.
    package enum Finding: Hashable, Sendable {
        /// A path in the directory that does not belong to a mirror.
        case stray(String, Stray)
        case faulty(PackAddress, PackFault)
        /// A file without content. Programs that sync files create it and fetch the content later.
        case empty(PackAddress)
        case unreadable(PackAddress)
        /// A folder that cannot be listed.
        case closed(WriterID)
        /// A file of our own that is missing.
        case missing(PackName)
        case missingBlob(BlobName)
        /// A file in our own folder that we did not create.
        case foreign(PackName)
        /// Transactions that are in no file.
        case gap(WriterID, ClosedRange<UInt64>)
        /// A change that a file refers to and no file contains.
        case missingChange(TransactionID)
        /// A valid file that was not joined yet.
        case notJoined(PackAddress)
        /// Domains with values that are in files and not in the state.
        case stateLacks([String])
        /// Domains with values that are in the state and in no file.
        case filesLack([String])
        /// Two copies of a store have published under this number.
        case fork(WriterID)
    }

    /// The probable origin of a file whose name does not belong to a mirror.
    package enum Stray: Hashable, Sendable {
        /// A copy that a sync program made of a file that was changed on two sides.
        case conflictCopy
        /// A file that a sync program is fetching, or will fetch on demand.
        case placeholder
        case foreign

        /// Recognizes the names that Syncthing, Dropbox, Nextcloud, Seafile, Resilio, iCloud and browsers use.
        init(name: some StringProtocol) {
            let name = name.lowercased()
            let (prefixes, suffixes) = (
                [".syncthing.", "~syncthing~"],
                [".nextcloud", ".owncloud", ".icloud", ".rsls", ".!sync", ".partial", ".part", ".crdownload"]
            )
            if prefixes.contains(where: name.hasPrefix) || suffixes.contains(where: name.hasSuffix) {
                self = .placeholder
            } else if name.contains("conflict") || Self.isNumbered(name) {
                self = .conflictCopy
            } else {
                self = .foreign
            }
        }

        /// Whether a name has a number in parentheses, like `name (1).log`.
        private static func isNumbered(_ name: String) -> Bool {
            name.split(separator: "(").dropFirst().contains { part in
                let digits = part.prefix(while: \.isNumber)
                return !digits.isEmpty && part.dropFirst(digits.count).first == ")"
            }
        }
    }

    init(_ local: LocalState, _ listing: Listing) {
        self.local = local
        self.listing = listing
        expected = local.shared
        checkNames()
    }
}

// MARK: Names

extension FolderCheck {
    private mutating func checkNames() {
        findings.formUnion(listing.closed.map { .closed($0) })
        var strays = listing.strays
        for (writer, names) in listing.folders {
            for name in names.keys where PackName(name) == nil && BlobName(name) == nil {
                strays.insert("w/\(writer)/\(name)")
            }
        }
        for path in strays {
            let name = path.split(separator: "/").last ?? ""
            let stray = Stray(name: name)
            if stray == .placeholder || !Self.isPassing(name) { findings.insert(.stray(path, stray)) }
        }
        let own = Set((listing.folders[local.writer] ?? [:]).keys.compactMap { PackName($0) })
        for name in local.folder.created.keys where local.folder.needs(name) && !own.contains(name) {
            findings.insert(.missing(name))
        }
        for (name, blob) in local.folder.blobs where blob.unneededSince == nil {
            if listing.folders[local.writer]?[name.description] != blob.size { findings.insert(.missingBlob(name)) }
        }
        for name in own where name.kind != .note && local.folder.created[name] == nil {
            if local.intent?.pack.name != name { findings.insert(.foreign(name)) }
        }
    }

    /// Whether a name is that of a temporary file, or of a file that was removed while open and that NFS or FUSE keeps
    /// under another name.
    package static func isPassing(_ name: some StringProtocol) -> Bool {
        name.hasPrefix("~") && name.hasSuffix(".tmp") || name.hasPrefix(".nfs") || name.hasPrefix(".fuse_hidden")
    }
}

// MARK: Files

extension FolderCheck {
    package mutating func add(_ address: PackAddress, _ fetch: Fetch, isEmpty: Bool = false) {
        switch fetch {
        case .faulty where isEmpty: findings.insert(.empty(address))
        case .faulty(let fault): findings.insert(.faulty(address, fault))
        case .unreadable: findings.insert(.unreadable(address))
        case .pack(let pack) where pack.address != address:
            findings.insert(.faulty(address, .contradiction("name")))
        case .pack(let pack) where pack.mirror != local.mirror:
            findings.insert(.faulty(address, .otherMirror))
        case .pack(let pack): add(pack)
        }
    }

    private mutating func add(_ pack: Pack) {
        let address = pack.address
        if address.writer != local.writer, !(local.peers[address.writer]?.joined.contains(pack.hash.prefix) ?? false) {
            findings.insert(.notJoined(address))
            expected.join(pack)
        }
        writers[address.writer, default: Chain()].add(pack)
        rebuilt.join(pack)
    }

    /// Returns all findings, in an order that is the same for the same files.
    package func finish() -> [Finding] {
        var findings = findings
        for (writer, chain) in writers {
            findings.formUnion(chain.gaps.map { .gap(writer, $0) })
            findings.formUnion(chain.knownChanges.filter(isMissingChange).map { .missingChange($0) })
        }
        findings.formUnion(expected.forks.keys.map { .fork($0) })
        findings.formUnion(differences)
        return findings.map { (String(describing: $0), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// Whether a change that a file refers to is missing from a folder that is in view.
    private func isMissingChange(_ transactionID: TransactionID) -> Bool {
        guard let chain = writers[transactionID.writer] else { return false }
        return transactionID.sequence > chain.reach && transactionID.writer != local.writer
    }

    private var differences: [Finding] {
        let lacks = Self.domains(in: rebuilt, beyond: expected)
        let extra = Self.domains(in: expected, beyond: rebuilt).filter { domain in
            // The files of a writer whose folder is not in view are not examined.
            !listing.closed.contains {
                expected.live.under(Path(domain: domain)).compactMap(\.name.dot?.writer).contains($0)
            }
        }
        return (lacks.isEmpty ? [] : [.stateLacks(lacks)]) + (extra.isEmpty ? [] : [.filesLack(extra)])
    }

    /// Returns the domains in which one state has a published value that another state neither has nor knows to be
    /// replaced.
    private static func domains(in state: SharedState, beyond other: SharedState) -> [String] {
        var (joined, domains) = (other, Set<Name>())
        joined.join(state)
        let known = Set(other.live.atoms.map(\.name))
        joined.live.visit { atom in
            if atom.name.dot != nil, !known.contains(atom.name) { domains.insert(Name(atom.path.domain)) }
        }
        return domains.sorted().map(\.text)
    }
}

extension SharedState {
    /// Joins a file, if it has values.
    package mutating func join(_ pack: Pack) {
        switch pack.content {
        case .log(let log):
            join(
                log.transactions, from: log.first, of: log.writer, tag: FileTag(pack.hash),
                isContiguous: log.first <= vector[log.writer] + 1)
        case .base(let base): join(base.state(hash: pack.hash))
        case .note: break
        }
    }
}

/// The files of one writer, and the transactions that none of them contains.
private struct Chain: Sendable {
    private var spans: [ClosedRange<UInt64>] = []
    private var baseReach: UInt64 = 0
    /// The last transaction that a file contains.
    private(set) var reach: UInt64 = 0
    /// The greatest known transactions in the files.
    private var knowledge = VersionVector()

    mutating func add(_ pack: Pack) {
        switch pack.content {
        case .log(let log):
            spans.append(log.first...log.last)
            reach = max(reach, log.last)
        case .base(let base):
            baseReach = max(baseReach, base.last)
            reach = max(reach, base.last)
        case .note: break
        }
        knowledge.merge(pack.knowledge)
    }

    var knownChanges: [TransactionID] {
        knowledge.sorted.map { TransactionID(writer: $0.writer, sequence: $0.entry.sequence) }
    }

    var gaps: [ClosedRange<UInt64>] {
        var (gaps, reach) = ([ClosedRange<UInt64>](), baseReach)
        for span in spans.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if span.lowerBound > reach + 1 { gaps.append(reach + 1...span.lowerBound - 1) }
            reach = max(reach, span.upperBound)
        }
        return gaps
    }
}
