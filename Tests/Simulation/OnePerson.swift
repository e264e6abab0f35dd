import MirrorEngine
import PropertyLists

// A month of one person who works on one host at a time. Files take hours to arrive, but arrive before the person moves
// to another host, so all that a program replaces was shown to it.
extension Scenario {
    package static let month = Scenario(name: "a month of one person", ofOnePerson: true)

    /// If a program that does not use the store writes the value from before an application, the file is the same as
    /// one written from an old cache. Only that may be listed, in domain "s".
    package static let monthWithoutStore = Scenario(
        name: "a month with programs without the store", ofOnePerson: true, usesStoreOnly: false)

    private init(name: String, ofOnePerson: Bool, usesStoreOnly: Bool = true) {
        self.init(
            name: name, steps: 75, media: [.cloud], hasForeignSaves: false, hasMisfortunes: false,
            leastLogs: EngineLimits().leastLogs, supersededFor: EngineLimits().supersededFor,
            isOfOnePerson: ofOnePerson, usesStoreOnly: usesStoreOnly, delays: [0, 0, 5, 60, 600, 3600, 7200])
    }
}

extension World {
    /// Lets the person work on one host, and then rest or travel until all files have arrived.
    func spendPartOfDay() {
        let host = pick(hosts)
        // Hosts wake, and their daemons exchange before the person starts a program.
        for other in hosts where other === host || chance(0.3) { other.sync(compacts: chance(0.1)) }
        checkThatPersonSeesAll(on: host)
        var program = OpenProgram(host)
        for _ in 0..<pick([1, 3, 8]) {
            pass(pick([1, 30, 600]))
            use(&program, on: host)
            host.sync()
        }
        for domain in scenario.domains { lastWork[domain] = host.files[domain]?.values ?? [:] }
        pass(pick([8, 12, 16]) * 3600)
    }

    /// Changes one key with the program, which writes the whole file of domain "s", or with a command in domain "t".
    private func use(_ program: inout OpenProgram, on host: SimulatedHost) {
        let usesProgram = chance(0.5)
        func set(_ key: String, to value: PropertyList?) {
            if usesProgram { program.set(key, to: value) } else { host.edit(key, to: value, in: "t") }
        }
        guard chance(0.5) else { return set(pick(["a", "b", "c"]), to: chance(0.2) ? nil : .string(host.newText())) }
        // A switch may be toggled back, before or after an exchange.
        let key = pick(["switch", "other switch"])
        for _ in 0..<pick([1, 1, 2, 3]) {
            set(key, to: .boolean(host.files[usesProgram ? "s" : "t"]?.values[key] != true))
            if chance(0.5) { host.sync() }
        }
    }

    private func checkThatPersonSeesAll(on host: SimulatedHost) {
        for (domain, values) in lastWork where host.files[domain]?.values ?? [:] != values {
            complain("\(host.label): \(domain) is \(host.files[domain]?.values ?? [:]), not \(values)")
        }
        checkConflictsOfPerson(on: host)
        if !host.listed.isEmpty { host.acceptAll() }
    }

    func checkConflictsOfPerson(on host: SimulatedHost) {
        for conflict in host.engine.status.mergeState.conflicts {
            writtenBack += 1
            if scenario.usesStoreOnly || conflict.place.domain != "s" {
                complain("\(host.label): one person has a conflict, \(conflict)")
            }
        }
    }
}

/// A program that has read its file when it was started, and writes the whole file.
private struct OpenProgram {
    private let host: SimulatedHost
    private var memory: PropertyList.Dictionary

    init(_ host: SimulatedHost) {
        self.host = host
        memory = host.files["s"]?.values ?? [:]
    }

    mutating func set(_ key: String, to value: PropertyList?) {
        host.world.record.note(value, over: memory[key], by: host.label)
        memory[key] = value
        host.save("s", mark: host.world.scenario.usesStoreOnly ? .write : nil) { $0 = memory }
    }
}
