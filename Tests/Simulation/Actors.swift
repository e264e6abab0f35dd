import MirrorEngine
import PropertyLists

/// Someone who acts besides the users that edit files.
enum Actor: CaseIterable, Hashable, Sendable {
    /// A program that does not use the store. It changes a key, and writes all others as it has read them.
    case oldCache
    /// A user who accepts or restores a conflict while files of other hosts arrive.
    case resolver
    /// A host that is never seen again, whose folder another one may purge.
    case vanishingAuthor
    /// A user who rebuilds the state of a host while it waits for files.
    case rebuilder
    /// A user who chooses keys that stay on their host for a while.
    case keeper
}

extension Scenario {
    /// The domain that the program with a cache writes.
    static let domainOfCache = "u"
}

extension World {
    func act(_ actor: Actor, on host: SimulatedHost) {
        switch actor {
        case .oldCache: host.useProgramWithCache()
        case .resolver: host.resolve()
        case .vanishingAuthor: if vanished.isEmpty || chance(0.3) { vanish(host) } else { purge(on: host) }
        case .rebuilder: host.rebuild()
        case .keeper: host.keep(pick([[], ["a"], ["c"], ["a", "d"]]))
        }
    }

    /// Removes a host for good. What it has not published is lost with it.
    private func vanish(_ host: SimulatedHost) {
        guard hosts.count > 2 else { return }
        count(.vanished)
        log("\(host.label) vanishes")
        hosts.removeAll { $0 === host }
        vanished.append(host.durable.writer)
    }

    /// Lets a user purge the folder of a host that has vanished.
    private func purge(on host: SimulatedHost) {
        guard host.isDirectoryThere else { return }
        host.sync()
        host.command(.purge(pick(vanished)))
        host.sync()
    }
}

extension SimulatedHost {
    /// Uses a program that alone writes a domain. On one host it often remembers old values, and removes new ones. Were
    /// there several such hosts, old values would come back from others, and a file would not show what a program has
    /// read.
    fileprivate func useProgramWithCache() {
        let domain = Scenario.domainOfCache
        let shown = files[domain]?.values ?? [:]
        if cache == nil || label != "h0" || world.chance(0.5) { cache = shown }
        guard var values = cache else { return }
        let (key, value) = (world.pick(["a", "b", "c", "d"]), PropertyList.string(newText()))
        if values != shown { world.count(.oldCache) }
        world.record.note(value, over: values[key], by: label)
        // By its file, the value replaces what the program has not read.
        for unread in [shown[key]] + (hidden[key] ?? []) { world.record.note(value, over: unread, by: label) }
        for entry in shown where values[entry.key] != entry.value { hidden[entry.key, default: []].append(entry.value) }
        values[key] = value
        cache = values
        save(domain, mark: nil) { $0 = values }
    }

    /// Accepts or restores a conflict.
    fileprivate func resolve() {
        guard let conflict = engine.status.mergeState.conflicts.randomElement(using: &world.generator) else { return }
        let isRestored =
            !conflict.isOfOlder && conflict.value != .left && conflict.place.domain != Scenario.domainOfCache
        guard isRestored, world.chance(0.5) else {
            return command(.accept([conflict]))
        }
        let (domain, entry) = (
            conflict.place.domain, EntryPath(conflict.place.keys.dropFirst().map { .init($0) })
        )
        func file() -> PropertyList { .dictionary(files[domain]?.values ?? [:]) }
        let former = file()[entry]
        // Files of other hosts may arrive before the value is written. Then the command refuses.
        if world.chance(0.5) {
            world.pass(world.pick([1, 10, 100]))
            sync()
        }
        var restored = file()
        guard restored[entry] == former, let key = conflict.place.key else { return }
        restored[entry] = conflict.value.value?.propertyList
        world.count(.restored)
        // Its author may have replaced the value once, so it is not known what has seen it.
        world.record.note(restored[key], over: file()[key], by: "\(label), restoring")
        save(domain, mark: .restore) { $0 = restored.dictionaryValue ?? [:] }
    }

    /// Rebuilds the state from all files in view. Some of them may still wait.
    fileprivate func rebuild() {
        sync()
        guard isDirectoryThere else { return }
        let packs = fetch(view.keys.sorted()).sorted { $0.key < $1.key }.compactMap { _, fetched in
            if case .pack(let pack) = fetched { pack } else { nil }
        }
        if engine.status.isIncomplete { world.count(.rebuilt) }
        command(.rebuild(packs))
        sync()
    }

    /// Keeps these keys on this host from now on, and mirrors all others.
    func keep(_ keys: Set<String>) {
        if !keys.isEmpty { world.count(.kept) }
        world.log("\(label) keeps \(keys.sorted())")
        let former = kept
        kept = keys
        lacksDeclaration = !world.isCalm && world.chance(0.2)
        engine.policy = policy
        for file in files.values {
            for key in former.subtracting(keys) {
                world.record.note(kept: file.values[key]?.texts ?? [])
            }
        }
    }
}
