// Files that were read, and files that could not be read.
extension Engine {
    mutating func take(_ files: [PackAddress: Fetch], isLast: Bool, at moment: Moment) {
        guard standing.isOpen else { return }
        for (address, fetch) in files.sorted(by: { $0.key < $1.key }) {
            switch fetch {
            case .pack(let pack) where pack.address == address && pack.mirror == local.mirror:
                faulty[address] = nil
                if address.writer != local.writer {
                    let since = waiting[address]?.since ?? waitedSince(address, at: moment.now)
                    waiting[address] = WaitingFile(pack, since: since ?? moment.now)
                } else if isUnknown(address.name), Rule.reincarnates.isKept {
                    reincarnate(at: moment)
                }
            case .pack: noteFault(address, .contradiction("name or mirror"), at: moment.now)
            case .faulty(let fault) where fault.isOfNewerVersion && address.writer == local.writer:
                // The file is valid, so a copy of this store that has a newer version created it.
                if isUnknown(address.name), Rule.reincarnates.isKept { reincarnate(at: moment) }
            case .faulty(let fault) where local.folder.created[address.name] != nil && address.writer == local.writer:
                if case .missingBlobs(let references) = fault {
                    heal([], blobs: references.map(\.name), at: moment.now)
                } else {
                    heal([address.name], at: moment.now)
                }
            case .faulty(let fault): noteFault(address, fault, at: moment.now)
            case .unreadable: note(address, at: moment.now)
            }
        }
        joinWaiting(isLast: isLast, at: moment)
    }

    private mutating func noteFault(_ address: PackAddress, _ fault: PackFault, at now: Int64) {
        switch fault {
        case .missingBlobs:
            let since = note(address, .lacksBlobs, at: now)
            guard now - since >= limits.waitsFor, reportedMissingBlobs.insert(address).inserted else { return }
            report(.missingBlobs(address))
        case _ where fault.isOfNewerVersion:
            // The file is valid, and a newer version can read it.
            if faulty[address] == nil, formerWaits.files[address]?.isTold != true { report(.tooNew(address)) }
            note(address, .tooNew, at: now)
        default:
            let since = note(address, at: now)
            guard now - since >= limits.waitsFor, quarantined.insert(address).inserted else { return }
            act(.quarantine(address))
            report(.quarantined(address, fault))
        }
    }

    /// Records that a file cannot be joined. Returns the time at which it was first found faulty.
    @discardableResult
    private mutating func note(
        _ address: PackAddress, _ kind: FaultyFile.Kind = .damaged, at now: Int64
    ) -> Int64 {
        let formerWaits = waitedSince(address, at: now).map { FaultyFile(nil, kind, size: 0, at: $0) }
        let file = FaultyFile(faulty[address] ?? formerWaits, kind, size: sizes[address] ?? 0, at: now)
        faulty[address] = file
        return file.since
    }

    mutating func reincarnate(at moment: Moment) {
        let former = local.writer
        let inView = local.intent.map { folders[former]?.contains($0.pack.name) ?? false } ?? false
        if isOwnFileMissing { commit(.lostFiles(at: moment.now)) }
        commit(.reincarnated(former.next(random: moment.random), intentIsInView: inView))
        report(.reincarnated(former: former, new: local.writer))
        let files = (folders[former] ?? []).map { PackAddress(writer: former, name: $0) }
        act(.fetch(files.sorted(by: PackAddress.isReadBefore)))
    }
}

extension PackFault {
    /// Whether the file is valid, but requires a newer version.
    fileprivate var isOfNewerVersion: Bool {
        switch self {
        case .newerVersion, .unknownField: true
        default: false
        }
    }
}
