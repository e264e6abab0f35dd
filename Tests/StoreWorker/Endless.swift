import Glibc
import Platform
import Preferences
import PropertyLists
import Synchronization

// Tasks that run until the process is killed.

extension Worker {
    /// A number with bytes that repeat it, so that a mixture of two versions is detected.
    static func state(_ number: Int) -> PropertyList {
        .dictionary([
            "number": .integer(PropertyList.Integer(number)),
            "payload": .data(Data(repeating: UInt8(truncatingIfNeeded: number), count: 4_000)),
        ])
    }

    static func number(in state: PropertyList?) -> Int {
        state?["number"]?.integerValue.flatMap { Int(exactly: $0) } ?? 0
    }

    /// `endless DOMAIN`: writes increasing numbers, and prints each one after it is written.
    func writeEndlessly() throws {
        let defaults = try defaults()
        var number = Self.number(in: defaults.propertyList(forKey: "state"))
        while true {
            number += 1
            let state = Self.state(number)
            try defaults.transaction { $0["state"] = state }
            say("\(number)")
        }
    }

    /// `endless-flush DOMAIN`: the same with sets and flushes.
    func flushEndlessly() throws {
        let defaults = try defaults()
        var number = Self.number(in: defaults.propertyList(forKey: "state"))
        while true {
            number += 1
            defaults.set(Self.state(number), forKey: "state")
            try defaults.flush()
            say("\(number)")
        }
    }

    /// `endless-pair DOMAIN DOMAIN`: writes increasing numbers to two domains in one transaction.
    func writePairsEndlessly() throws {
        let (system, files) = (try system, [try file(0), try file(1)])
        let writer = DomainWriter(system, WriteAuthor(.write, by: system))
        var number = Self.number(in: try files[0].contents(on: system).values["state"])
        while true {
            number += 1
            let state = Self.state(number)
            try writer.commit(files.map { file in DomainEdit(file) { $0.values["state"] = state } })
            say("\(number)")
        }
    }

    /// `endless-folder DOMAIN`: writes increasing numbers to three files of a domain that is a folder.
    func writeFolderEndlessly() throws {
        let (system, file) = (try system, try file(0))
        let writer = DomainWriter(system, WriteAuthor(.write, by: system))
        var number = Self.number(in: try file.contents(on: system).values["state"])
        while true {
            number += 1
            let state = Self.state(number)
            try writer.commit([
                DomainEdit(file) { draft in
                    draft.form = .folder
                    for key in ["state", "second", "third"] { draft.values[key] = state }
                }
            ])
            say("\(number)")
        }
    }

    /// `hold DOMAIN`: takes the lock of the domain, reports it, and holds it until a line arrives.
    func hold() throws {
        let system = try system
        try DomainWriter(system, WriteAuthor(.write, by: system)).commit([
            DomainEdit(try file(0)) { draft in
                say("held")
                waitForWord()
                draft.values["held"] = true
            }
        ])
        say("released")
        waitForWord()
    }

    /// `observe DOMAIN KEY`: prints how changes are detected, then for each new value of a number: the value, the time
    /// at which it was seen, and whether this process wrote it.
    func observe() throws {
        let (defaults, system, key) = (try defaults(), try system, try argument(1))
        let observation = defaults.observe { changes in
            let now = system.clock.now.nanoseconds
            for change in changes.changes where change.key == key {
                say("\(change.newValue?.integerValue.map(\.description) ?? "none") \(now) \(change.isOwn)")
            }
        }
        let watch = system.watcher.watch(try file(0).path.parent) { _ in }
        say(watch.method == .notification ? "notified" : "polling")
        watch.cancel()
        waitForWord()
        observation.cancel()
    }

    /// `daemon DOMAIN FILE`: reads a configuration file in front of its store. Prints each number that comes into
    /// force, and stores it. A line ends it, after all is stored.
    func serve() throws {
        let defaults = try Defaults(
            DomainName(argument(0)), in: store(), layers: [.file(try argument(1), isRequired: true), .user])
        let number = Setting("number", default: -1).range(1...)
        say("\(defaults[number])")
        let last = Mutex(defaults[number])
        let observation = defaults.observe { [defaults] _ in
            let value = defaults[number]
            let isNew = last.withLock { last in
                defer { last = value }
                return last != value
            }
            guard isNew else { return }
            defaults.set(value, forKey: "seen")
            say("\(value)")
        }
        waitForWord()
        observation.cancel()
        try defaults.flush()
        say("ended")
    }

    func end(status: Int32) -> Never { exit(status) }
}
