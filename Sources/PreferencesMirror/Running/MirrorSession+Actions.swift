package import MirrorEngine
internal import Platform
internal import Preferences

// Sending events to the engine, and carrying out its actions.
extension MirrorSession {
    /// Sends an event to the engine, and carries out the actions durably.
    package mutating func send(_ event: Event) throws(MirrorFailure) {
        try handle(event)
        try flush()
    }

    /// Sends an event to the engine, and carries out the actions. Their results are sent after all of them are
    /// complete.
    ///
    /// Records are on the disk before any action that is visible outside, and otherwise when `flush` has returned. Each
    /// wait for the disk delays changes.
    mutating func handle(_ event: Event) throws(MirrorFailure) { try carryOut([.send(event)]) }

    /// Reads preference files, and sends what they contain to the engine.
    mutating func observe(_ domains: Set<Path>) throws(MirrorFailure) { try carryOut([.observe(domains)]) }

    private mutating func carryOut(_ steps: [Step]) throws(MirrorFailure) {
        var steps = steps
        while !steps.isEmpty {
            switch steps.removeFirst() {
            case .fetch(let addresses): steps = fetch(addresses) + steps
            case .observe(let domains): steps = observeFirst(of: domains) + steps
            case .lock(let domains): steps.insert(.send(lock(domains)), at: 0)
            case .flush: try flush()
            case .send(let event):
                for action in engine.handle(event, at: moment) { steps += try carryOut(action) }
            }
        }
    }

    /// A step that follows from an action.
    private enum Step {
        case send(Event)
        case fetch([PackAddress])
        case observe(Set<Path>)
        /// Lock files and send their contents, with no other step in between.
        case lock([String])
        /// What was read before is released only after its records are written.
        case flush
    }

    private mutating func carryOut(_ action: Action) throws(MirrorFailure) -> [Step] {
        switch action {
        case .append(let record):
            records.append(record)
            if case .captured(let capture) = record {
                for domain in capture.domains { replaced.merge(domain.replaced) { $1 } }
            }
        case .report(let report): if !report.isOfWaiting || !reports.contains(report) { reports.append(report) }
        case .fetch(let addresses): return [.fetch(addresses)]
        case .observe(let domains): return [.observe(Set(domains.map { Path(domain: $0) }))]
        case .lock(let domains): return [.lock(domains)]
        case .unlock: unlock()
        default:
            // Actions that are visible outside must follow their records.
            try flush()
            return carryOutOutside(action).map { [.send($0)] } ?? []
        }
        return []
    }

    /// Reads files of other writers, up to a limit of bytes in memory. New domains in them are mirrored before the
    /// files are joined.
    private mutating func fetch(_ addresses: [PackAddress]) -> [Step] {
        var (fetched, domains, size, rest) = ([PackAddress: Fetch](), Set<Path>(), 0, addresses[...])
        while size < Self.bytesAtOnce, let address = rest.popFirst() {
            // Our own files are read to find damage, so their blobs are read as well.
            let fetch = directory.fetch(
                address, of: id, usesKept: address.writer != writer, unless: engine.status.hasAll)
            fetched[address] = fetch
            count(.fetchedFile)
            guard case .pack(let pack) = fetch else { continue }
            size += pack.size
            if configuration.isSeeded { domains.formUnion(self.domains(in: pack)) }
        }
        let events = selecting(domains) + [.fetched(fetched, isLast: rest.isEmpty)]
        return events.map { .send($0) } + (rest.isEmpty ? [] : [.flush, .fetch(Array(rest))])
    }

    private static let bytesAtOnce = 4 << 20

    /// Reads the first of some preference files.
    private mutating func observeFirst(of domains: Set<Path>) -> [Step] {
        let (event, rest) = readFirst(of: domains)
        return (event.map { [.send($0)] } ?? []) + (rest.isEmpty ? [] : [.flush, .observe(rest)])
    }

    /// Waits until all records are on the disk.
    mutating func flush() throws(MirrorFailure) {
        do throws(SystemFailure) {
            try journal.endAfterLoss()
            if records.isEmpty { return }
            try journal.append(records)
            records = []
        } catch {
            records = []
            throw MirrorFailure(error)
        }
    }

    private mutating func carryOutOutside(_ action: Action) -> Event? {
        switch action {
        case .create(let address, let pack): return create(address, pack)
        case .remove(let names): return remove(names)
        case .removeBlobs(let names): return removeBlobs(names)
        case .removeFolder(let writer, let joined):
            let directory = directory
            var isRemoved = true
            var joined = joined
            // What an expelled host has written since is not joined.
            if let signatures = directory.signatures, signatures.isExpelled(writer) {
                joined.formUnion(signatures.ignored.keys.filter { $0.writer == writer }.map(\.name.hash))
            }
            attempt { () throws(SystemFailure) in isRemoved = try directory.removeFolder(of: writer, joined: joined) }
            if !isRemoved {
                addTrouble("\(directory.folder(of: writer)): not removed, because files have arrived there meanwhile")
            }
        case .write(let application): return write(application)
        case .quarantine(let address): quarantine(address)
        case .mark(let mark): return leave(mark)
        case .append, .report, .fetch, .observe, .lock, .unlock: break
        }
        return nil
    }

    /// Writes a mark beside the preference files. After a failure, the next exchange tries again.
    private mutating func leave(_ mark: UInt64) -> Event? {
        let mark = RestoreMarker(mark: mark, writers: engine.status.numbers)
        let (places, id) = (places, id)
        return attempt { () throws(SystemFailure) in try mark.write(of: id, in: places) } ? .marked : nil
    }

    private mutating func create(_ address: PackAddress, _ pack: EncodedPack) -> Event {
        do {
            try directory.create(address, pack, signedBy: directory.signatures?.end(of: pack, at: address) ?? [])
            count(.wroteFile)
            return .created(address.name)
        } catch {
            addTrouble("\(error)")
            return .notCreated((error as? SystemFailure).map { Report.Waiting($0) } ?? .signature)
        }
    }

    private mutating func remove(_ names: [PackName]) -> Event {
        var removed: [PackName] = []
        let directory = directory
        for name in names {
            let address = PackAddress(writer: writer, name: name)
            if attempt({ () throws(SystemFailure) in try directory.remove(address) }) { removed.append(name) }
        }
        return .removed(removed)
    }

    private mutating func removeBlobs(_ names: [BlobName]) -> Event {
        let (directory, writer) = (directory, writer)
        let removed = names.filter { name in
            attempt({ () throws(SystemFailure) in try directory.remove(name, of: writer) })
        }
        return .removedBlobs(removed)
    }

    @discardableResult
    private mutating func attempt(_ body: () throws(SystemFailure) -> Void) -> Bool {
        do throws(SystemFailure) {
            try body()
            return true
        } catch {
            addTrouble(error.description)
            return false
        }
    }

    /// Copies an invalid file for a user to examine. The number of copies is limited, because a faulty writer may
    /// produce any number.
    private mutating func quarantine(_ address: PackAddress) {
        let place = directory.place(of: address)
        guard let copy = FileName(address.description.split(separator: "/").joined(separator: "-")),
            let size = try? directory.size(of: place), hasRoom(for: copy, size),
            let bytes = try? directory.contents(of: place, limit: size)
        else { return }
        let (files, folder) = (files, quarantine)
        attempt { () throws(SystemFailure) in
            try files.makeFolders(folder)
            try files.replace(folder.appending(copy), with: bytes)
        }
    }

    private var quarantine: FilePath { folder.appending("quarantine") }

    private static let mostCopies = 32
    private static let mostBytesOfCopies = 64 << 20

    /// Whether there is no copy of that name yet, and room for one.
    private func hasRoom(for copy: FileName, _ size: Int) -> Bool {
        let copies = (try? files.names(in: quarantine)) ?? []
        guard !copies.contains(copy), copies.count < Self.mostCopies else { return false }
        let sizes = copies.map { (try? directory.size(of: quarantine.appending($0))) ?? 0 }
        return sizes.reduce(size, +) <= Self.mostBytesOfCopies
    }
}

extension Report {
    /// Whether the report states that something waits. Repeating such a report adds no information.
    var isOfWaiting: Bool {
        switch self {
        case .waiting, .unwritten: true
        default: false
        }
    }
}
