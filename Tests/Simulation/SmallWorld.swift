import MirrorEngine
import PropertyLists

/// A few hosts that mirror one key and an entry inside it, as a value that each step of an exhaustive search copies.
struct SmallWorld {
    /// A user's write, and the value that their file showed before.
    struct UserWrite {
        let inside: Bool
        let deletes: Bool
        /// The host that made the write, and the time.
        let author: Int
        let time: Int64
        /// The writes that it visibly replaced, directly or step by step.
        let seen: Set<Int>
        /// Its identifier, or nil if the mirror already had the value.
        var id: WriteID?
    }

    private(set) var hosts: [SmallHost]
    private(set) var writes: [UserWrite] = []
    /// The rule by which the key is merged, and what users wrote by it, or nil.
    private(set) var merged: MergedWrites?
    /// The writes of each identifier. There are several if a whole file was captured.
    private var numbers: [WriteID: [Int]] = [:]
    private var packs: [PackAddress: Pack] = [:]
    private var order: [PackAddress] = []
    private var random: UInt64 = 1

    init(hosts count: Int, kind: MergeKind? = nil) {
        hosts = (0..<count).map { SmallHost(number: $0) }
        merged = kind.map { MergedWrites(kind: $0, hosts: count) }
        if let kind {
            for index in hosts.indices { hosts[index].engine.policy = DomainPolicy(kind: { _, _ in kind }) }
        }
        for index in hosts.indices {
            send(index, .command(.add(domain: SmallHost.domain)))
            exchange(index)
        }
    }
}

// MARK: Steps

extension SmallWorld {
    /// The possible places of a new write in the total order: after the write that its file shows and after its host's
    /// last one.
    func positions(on index: Int) -> [Int] {
        let times = writes.map(\.time).sorted()
        let least = (hosts[index].shown.map { writes[$0].time } + [hosts[index].lastTime]).max() ?? .min
        return (0...times.count).filter { place in place == 0 ? least == .min : times[place - 1] >= least }
    }

    private func time(at place: Int) -> Int64 {
        let times = writes.map(\.time).sorted()
        let before = place == 0 ? SmallHost.epoch : times[place - 1]
        return place == times.count ? before + 1 << 33 : (before + times[place]) / 2
    }

    func hasNews(from other: Int, for index: Int) -> Bool {
        canPublish(other) || !hosts[other].created.isSubset(of: hosts[index].view)
    }

    func canPublish(_ index: Int) -> Bool { !hosts[index].engine.status.outbox.isEmpty }

    /// Whether the host has published a log.
    func hasPublished(_ index: Int) -> Bool { hosts[index].created.contains { $0.name.kind == .log } }

    /// The files of the other host that a host has not seen, oldest first.
    func unseen(from other: Int, by index: Int) -> [PackAddress] {
        order.filter { hosts[other].created.contains($0) && !hosts[index].view.contains($0) }
    }

    /// Whether a user can write by the rule: a part of the value, or all of it.
    func canWrite(_ index: Int, inside: Bool, deletes: Bool) -> Bool {
        guard let merged else { return !deletes || hosts[index].has(inside: inside) }
        return merged.change(of: hosts[index].value, inside: inside, deletes: deletes) != nil
    }

    mutating func carryOut(_ step: ExhaustiveSearch.Step) {
        switch step {
        case .write(let host, let inside, let deletes, let position) where merged != nil:
            guard let change = merged?.change(of: hosts[host].value, inside: inside, deletes: deletes) else { return }
            let time = time(at: position)
            writes.append(UserWrite(inside: inside, deletes: deletes, author: host, time: time, seen: []))
            merged?.note(change.what, by: host)
            hosts[host].set(change.value, at: time)
            exchange(host)
        case .write(let host, let inside, let deletes, let position):
            write(host, inside: inside, deletes: deletes, time: time(at: position))
        case .fetch(let host, let from):
            publish(from)
            merged?.noteFetch(by: host, of: from)
            hosts[host].view.formUnion(hosts[from].created)
            exchange(host)
        case .clone(let host): hosts.append(hosts[host])
        case .loseState(let host):
            hosts[host].loseState()
            exchange(host)
        case .restore(let host, let state):
            if state { hosts[host].restoreState() } else { hosts[host].restoreFile() }
            exchange(host)
        case .publish(let host, let compacts): publish(host, base: compacts)
        case .fetchOne(let host, let from):
            if let file = unseen(from: from, by: host).first { hosts[host].view.insert(file) }
            exchange(host)
        }
    }

    private mutating func write(_ index: Int, inside: Bool, deletes: Bool, time: Int64) {
        let number = writes.count
        var chain: Set<Int> = []
        for shown in hosts[index].shown {
            // The user has seen the write of the whole dictionary, so it remains.
            let isReplaced = !inside || writes[shown].inside
            let former = writes[shown].seen.union(isReplaced ? [shown] : [])
            chain.formUnion(isReplaced ? former : former.filter { writes[$0].inside })
        }
        writes.append(UserWrite(inside: inside, deletes: deletes, author: index, time: time, seen: chain))
        hosts[index].edit(inside: inside, to: deletes ? nil : "\(number)", at: time)
        exchange(index)
    }
}

// MARK: The engine

extension SmallWorld {
    /// Captures the file, joins the visible files, and writes the file.
    private mutating func exchange(_ index: Int) {
        send(index, .foundMark(hosts[index].mark))
        send(index, .directory(.marked([SimulatedHost.mirror])))
        let listing = listing(for: index)
        if hosts[index].wasRestored || hosts[index].engine.status.shouldPullFirst(listing) {
            send(index, .listed(listing))
        }
        send(index, .observed([hosts[index].observation]))
        send(index, .listed(listing))
        send(index, .exchangeEnded)
        guard !hosts[index].isHeld else { return }
        let cells = hosts[index].engine.status.mergeState.cells(under: SmallHost.key)
        hosts[index].shown = cells.flatMap { cell in
            // A user does not distinguish equal values.
            let winner = cell.winner
            return cell.live.filter { $0.value == winner?.value }.flatMap { numbers[$0.name.id] ?? [] }
        }
    }

    private mutating func publish(_ index: Int, base: Bool = false) {
        send(index, .publish)
        if base { send(index, .compact) }
    }

    private func listing(for index: Int) -> Listing {
        var folders: [WriterID: [String: Int]] = [:]
        for address in hosts[index].view {
            folders[address.writer, default: [:]][address.name.description] = packs[address]?.size ?? 0
        }
        return Listing(folders: folders)
    }

    private mutating func send(_ index: Int, _ event: Event) {
        var events = [event]
        while !events.isEmpty {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let moment = Moment(now: hosts[index].now, random: random)
            for action in hosts[index].engine.handle(events.removeFirst(), at: moment) {
                if let answer = carryOut(action, on: index) { events.append(answer) }
            }
        }
    }

    private mutating func carryOut(_ action: Action, on index: Int) -> Event? {
        switch action {
        case .append(.captured(let capture)):
            for change in capture.transactions.flatMap(\.changes) { name(change) }
        case .create(let address, let pack):
            if packs[address] == nil {
                packs[address] = try? Pack(decoding: pack.bytes)
                order.append(address)
            }
            hosts[index].created.insert(address)
            hosts[index].view.insert(address)
            return .created(address.name)
        case .fetch(let addresses):
            let status = hosts[index].engine.status
            let fetched = addresses.map { address in
                (address, packs[address].map { Fetch.pack($0.skippingValues(of: status)) } ?? .unreadable)
            }
            return .fetched(Dictionary(fetched) { $1 })
        case .observe: return .observed([hosts[index].observation])
        case .lock: return .locked([hosts[index].observation])
        case .write(let application):
            hosts[index].apply(application)
            return .written(.done([hosts[index].observation]))
        case .mark(let mark):
            hosts[index].leave(mark)
            return .marked
        case .remove(let names):
            let writer = hosts[index].engine.status.writer
            for name in names { hosts[index].created.remove(PackAddress(writer: writer, name: name)) }
            return .removed(names)
        case .removeBlobs(let names): return .removedBlobs(names)
        case .append, .removeFolder, .unlock, .quarantine, .report: break
        }
        return nil
    }

    /// Maps a captured change to the users' writes with its texts, or to the last one if it has no text.
    private mutating func name(_ change: Change) {
        guard let last = writes.indices.last else { return }
        let texts = change.value?.value?.propertyList.texts.compactMap { Int($0) } ?? []
        numbers[change.id] = texts.isEmpty ? [last] : texts
        for number in numbers[change.id] ?? [] where writes[number].id == nil { writes[number].id = change.id }
    }
}

// MARK: The end of an execution

extension SmallWorld {
    /// Exchanges until there is nothing left to publish.
    mutating func exchangeAll(usesBases: Bool) {
        for round in 0..<6 {
            let before = order.count
            for index in hosts.indices { publish(index, base: usesBases && round == 0) }
            for index in hosts.indices {
                // Bases are read before the logs that they replace.
                hosts[index].view.formUnion(order.filter { !usesBases || round > 0 || $0.name.kind != .log })
                exchange(index)
            }
            if round > 1, order.count == before { return }
        }
    }

    /// The violation of the rule, or nil.
    var wrong: String? {
        let views = hosts.map { Name("\($0.engine.status.mergeState.value(at: SmallHost.key)?.bytes ?? [])") }
        if Set(views).count > 1 { return "hosts differ" }
        let lists = hosts.map { $0.listed }
        if Set(lists).count > 1 { return "hosts list different conflicts: \(lists)" }
        if let merged {
            let value = hosts[0].engine.status.mergeState.value(at: SmallHost.key)?.propertyList
            if value != merged.expected { return "\(value as Any), not \(merged.expected as Any)" }
            // The order of a set means nothing.
            let inFiles = hosts.map(\.value).map { $0?.asSet ?? $0 }
            if let other = zip(hosts, inFiles).first(where: { $1 != value })?.0 {
                return "a file has \(other.value as Any)"
            }
            return lists[0].isEmpty ? nil : "a conflict"
        }
        var accounted = Set(writes.indices.filter { writes[$0].id == nil })
        // What a user has replaced after seeing it, directly or step by step.
        for write in writes where write.id != nil { accounted.formUnion(write.seen) }
        accounted.formUnion(hosts.flatMap(\.texts))
        accounted.formUnion(
            hosts[0].engine.status.mergeState.conflicts.flatMap { conflict in
                conflict.losers.flatMap { numbers[$0.name.id] ?? [] }
            })
        // The file of a held domain shows something else.
        for cell in hosts[0].engine.status.mergeState.cells(under: SmallHost.key) {
            accounted.formUnion(cell.winner.flatMap { numbers[$0.name.id] } ?? [])
        }
        // A write that only a lost or restored state had, and that was not published, is lost with it.
        for (number, write) in writes.enumerated() where hosts[write.author].hasOlderState {
            if !isPublished(write) { accounted.insert(number) }
        }
        for (number, write) in writes.enumerated() where write.deletes && !accounted.contains(number) {
            // A deletion has taken effect if its value is missing.
            let path = SmallHost.key.appending(write.inside ? "c" : "w")
            if hosts[0].engine.status.mergeState.value(at: path) == nil { accounted.insert(number) }
        }
        return writes.indices.first { !accounted.contains($0) }.map { "write \($0) is lost" }
    }

    /// The number of open conflicts although the user whose value is in force had seen the lost one.
    var needless: Int {
        hosts[0].engine.status.mergeState.conflicts.count { conflict in
            let winners = conflict.winner.flatMap { numbers[$0.name.id] } ?? []
            let lost = conflict.losers.flatMap { numbers[$0.name.id] ?? [] }
            return !lost.isEmpty && lost.allSatisfy { number in winners.contains { writes[$0].seen.contains(number) } }
        }
    }

    /// Whether a file of the mirror contains a write.
    private func isPublished(_ write: UserWrite) -> Bool {
        packs.values.contains { pack in
            switch pack.content {
            case .log(let log): log.transactions.contains { $0.changes.contains { $0.id == write.id } }
            case .base(let base): base.state.live.atoms.contains { $0.name.id == write.id }
            case .note: false
            }
        }
    }
}

/// A host of a small world. Its user's edits are captured immediately.
struct SmallHost {
    static let domain = "s"
    static let key = Path(domain: domain, key: "k")
    static let epoch: Int64 = 1_000_000_000_000

    let number: Int
    var engine: Engine
    /// The visible files of the mirror, and the files that this host created.
    var view: Set<PackAddress> = []
    var created: Set<PackAddress> = []
    /// The users' writes that its file shows.
    var shown: [Int] = []
    private(set) var mark: UInt64?
    private var markedBy: WriterID?
    private(set) var now = epoch
    /// The time of its user's last write.
    private(set) var lastTime = Int64.min
    /// Whether it lost its state, or its file or state was restored from a backup.
    private(set) var wasRestored = false
    /// Whether its state was lost or came back from a backup.
    private(set) var hasOlderState = false
    private var file = PropertyList.Dictionary()
    private var modified = epoch
    private var generation: UInt64 = 1
    private var backup: Backup?

    /// Its state before its user's last write.
    private struct Backup {
        let engine: Engine
        let file: PropertyList.Dictionary
        let modified: Int64
        let mark: UInt64?
    }

    init(number: Int) {
        self.number = number
        let writer = WriterID(number: UInt64(number + 1) << 32)
        let state = LocalState(mirror: SimulatedHost.mirror, writer: writer)
        engine = Engine(state, profile: SimulatedHost.profile, seed: .local)
    }

    /// The names of the conflicts that it lists.
    var listed: [String] { engine.status.mergeState.conflicts.map { $0.name(in: SimulatedHost.mirror) } }

    /// Whether the user can delete the key, or the entry inside it. Deleting the last entry would write the key.
    func has(inside: Bool) -> Bool {
        guard let entries = file["k"]?.dictionaryValue else { return false }
        return !inside || entries["c"] != nil && entries.count > 1
    }

    /// The value of the key in its file.
    var value: PropertyList? { file["k"] }

    /// A user writes the key.
    mutating func set(_ value: PropertyList?, at time: Int64) {
        (now, lastTime, modified) = (time, time, time)
        file["k"] = value
        generation += 1
    }

    func hasValue(inside: Bool) -> Bool { inside ? file["k"]?["c"] != nil : file["k"] != nil }

    var observation: Observation {
        let identity = FileIdentity(device: 1, inode: generation, size: 1, modified: modified, changed: now)
        return Observation(
            domain: Self.domain, identity: identity, hash: ContentHash(of: Array("\(generation)".utf8)),
            content: .values(file), modified: modified, mark: .write)
    }

    /// A user writes the key or the entry inside it, which must be one write for the mirror.
    mutating func edit(inside: Bool, to text: String?, at time: Int64) {
        backup = Backup(engine: engine, file: file, modified: modified, mark: mark)
        (now, lastTime, modified) = (time, time, time)
        if inside {
            var entries = file["k"]?.dictionaryValue ?? [:]
            entries["c"] = text.map(PropertyList.string)
            file["k"] = .dictionary(entries)
        } else {
            file["k"] = text.map { ["w": .string($0)] }
        }
        generation += 1
        engine.policy = DomainPolicy(kind: { _, _ in inside ? .entries : .value })
    }

    mutating func apply(_ application: Application) {
        for change in application.domains {
            for (path, replacement) in change.changes { file[path.key ?? ""] = replacement.new?.propertyList }
        }
        generation += 1
        modified = now
    }

    mutating func leave(_ mark: UInt64) { (self.mark, markedBy) = (mark, engine.status.writer) }

    var hasBackup: Bool { backup != nil }

    /// Whether the mirror neither captures nor writes the file until the user decides.
    var isHeld: Bool { engine.status.trackedFile(of: Path(domain: Self.domain))?.held != nil }

    /// The users' writes that are in the file.
    var texts: [Int] { PropertyList.dictionary(file).texts.compactMap { Int($0) } }

    mutating func restoreFile() {
        guard let backup else { return }
        (file, modified, mark) = (backup.file, backup.modified, backup.mark)
        generation += 1
        wasRestored = true
    }

    mutating func restoreState() {
        guard let backup else { return }
        engine = backup.engine
        (wasRestored, hasOlderState) = (true, true)
    }

    mutating func loseState() {
        let writer = WriterID(number: engine.status.writer.number + 1 << 16)
        var state = LocalState(
            mirror: SimulatedHost.mirror, writer: writer, formerWriters: Set([markedBy].compactMap { $0 }))
        state.apply(.configured(domain: Self.domain, isMirrored: true))
        engine = Engine(state, profile: SimulatedHost.profile, seed: .found)
        (wasRestored, hasOlderState) = (true, true)
    }
}

/// What users of a small world have written by a rule, and which writes their hosts knew.
struct MergedWrites {
    enum What {
        /// The value was removed, or an array emptied.
        case whole
        case adds(PropertyList)
        case removes(PropertyList)
        case counts(Int)
        case competes(Int)
    }

    let kind: MergeKind
    private var writes: [(what: What, author: Int, known: Set<Int>)] = []
    /// The writes that each host knows.
    private var known: [Set<Int>]

    init(kind: MergeKind, hosts: Int) {
        self.kind = kind
        known = Array(repeating: [], count: hosts)
    }

    /// Returns the next change of a value, or nil if there is none.
    func change(of value: PropertyList?, inside: Bool, deletes: Bool) -> (value: PropertyList?, what: What)? {
        guard inside else {
            // A set is emptied, and any other value is removed.
            let new: PropertyList? = kind == .set ? [] : nil
            return deletes && value != nil && value != new ? (new, .whole) : nil
        }
        let number = writes.count
        switch kind {
        case .set:
            let elements = value?.arrayValue ?? []
            if deletes {
                guard elements.count > 1 else { return nil }
                return (.array(Array(elements.dropFirst())), .removes(elements[0]))
            }
            // Hosts often add the same element.
            let element = ["a", "b"].map(PropertyList.string).first { !elements.contains($0) }
            return element.map { (.array(elements + [$0]), .adds($0)) }
        case .counter:
            guard !deletes else { return nil }
            let addend = 1 << (4 * number)
            return (.integer(PropertyList.Integer((value?.number ?? 0) + addend)), .counts(addend))
        default:
            guard !deletes else { return nil }
            let candidate = [30, 10, 40, 20][number % 4]
            return (.integer(PropertyList.Integer(candidate)), .competes(candidate))
        }
    }

    mutating func note(_ what: What, by host: Int) {
        writes.append((what, host, known[host]))
        known[host].insert(writes.count - 1)
    }

    /// A host reads all files of another, which have the writes of that one.
    mutating func noteFetch(by host: Int, of other: Int) {
        known[host].formUnion(writes.indices.filter { writes[$0].author == other })
    }

    /// The value that all hosts must have in the end.
    var expected: PropertyList? {
        let live = writes.indices.filter { number in
            !writes.contains { other in
                guard other.known.contains(number) else { return false }
                switch (other.what, writes[number].what) {
                case (.whole, _), (.competes, _): return true
                case (.removes(let removed), .adds(let added)): return removed == added
                default: return false
                }
            }
        }.map { writes[$0].what }
        let hasWhole = live.contains { if case .whole = $0 { true } else { false } }
        switch kind {
        case .set:
            let elements = Set(live.compactMap { if case .adds(let element) = $0 { element } else { nil } })
            return elements.isEmpty && !hasWhole
                ? nil : .array(elements.sorted { $0.stringValue ?? "" < $1.stringValue ?? "" })
        case .counter:
            let addends = live.compactMap { if case .counts(let number) = $0 { number } else { nil } }
            return addends.isEmpty ? nil : .integer(PropertyList.Integer(addends.reduce(0, +)))
        default:
            let all = live.compactMap { if case .competes(let number) = $0 { number } else { nil } }
            return (kind == .maximum ? all.max() : all.min()).map { PropertyList.integer(PropertyList.Integer($0)) }
        }
    }
}

extension PropertyList {
    fileprivate var number: Int? { if case .integer(let number) = self { Int(exactly: number) } else { nil } }
}
