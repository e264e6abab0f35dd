import MirrorEngine
import PropertyLists
import TestSupport
import Testing

@testable import Simulation

@Suite struct `The sync of preference files` {
    /// Returns two hosts with the same 30 keys.
    private func pair() -> (bench: Bench, near: SimulatedHost, far: SimulatedHost) {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        near.save("s") { values in for number in 0..<30 { values["k\(number)"] = .integer(.init(number)) } }
        bench.comeToRest()
        return (bench, near, far)
    }

    static let doubts: [(HoldReason, @Sendable (inout PreferenceFile) -> Void)] = [
        (.missing, { ($0.content, $0.values) = (.missing, [:]) }),
        (.empty, { ($0.content, $0.values) = (.empty, [:]) }),
        (.unreadable, { $0.content = .unreadable }),
        (.emptied, { $0.values.removeAll { $0.key.count > 2 || $0.key == "k9" } }),
    ]

    @Test(arguments: doubts.indices)
    func `holds a domain whose file is suspicious`(_ index: Int) {
        let (held, damage) = Self.doubts[index]
        for takesFile in [true, false] where !(takesFile && held == .unreadable) {
            let (bench, near, far) = pair()
            near.damage("s", damage)
            far.set("new", to: 1)
            bench.comeToRest()
            #expect(near.engine.status.trackedFile(of: Path(domain: "s"))?.held == held)
            #expect(far.files["s"]?.values.count == 31)
            near.command(.release(domain: "s", takesFile: takesFile))
            bench.comeToRest()
            let kept = held == .emptied ? 9 : 0
            #expect(far.files["s"]?.values.count == (takesFile ? kept + 1 : 31), "\(held) \(takesFile)")
            #expect(near.files["s"]?.values == far.files["s"]?.values)
        }
    }

    @Test func `accepts a file whose writer gives the reason`() {
        let (bench, near, far) = pair()
        near.damage("s", mark: .write) { $0.values = ["k1": 1] }
        bench.comeToRest()
        #expect(far.files["s"]?.values == ["k1": 1])
        near.damage("s", mark: .deleted) { ($0.content, $0.values) = (.missing, [:]) }
        bench.comeToRest()
        #expect(far.files["s"]?.values.isEmpty == true)
    }

    @Test func `treats an unexpectedly restored file as damage, and one restored value as an edit`() throws {
        let (bench, near, far) = pair()
        let former = try #require(near.files["s"])
        for value in 1...3 {
            near.edit("k1", to: .integer(.init(100 + Int64(value))), mark: nil)
            near.edit("k2", to: .integer(.init(200 + Int64(value))), mark: nil)
            bench.comeToRest()
        }
        near.damage("s") { file in (file.values, file.hash) = (former.values, former.hash) }
        bench.comeToRest()
        #expect(near.engine.status.trackedFile(of: Path(domain: "s"))?.held == .rolledBack)
        #expect(far.files["s"]?.values["k1"] == 103)
        near.command(.release(domain: "s", takesFile: false))
        bench.comeToRest()
        #expect(near.files["s"]?.values["k1"] == 103 && bench.isSound)
    }

    @Test func `compares recovered values with the version that they come from`() {
        let (bench, near, far) = pair()
        far.set("k1", to: "newer")
        bench.comeToRest()
        var recovered = near.files["s"]?.values ?? [:]
        recovered["k1"] = 1
        let origin = recovered
        recovered["k2"] = "edited at once"
        near.damage("s", mark: .recovered(origin)) { $0.values = recovered }
        bench.comeToRest()
        #expect(far.files["s"]?.values["k1"] == "newer")
        #expect(far.files["s"]?.values["k2"] == "edited at once")
        #expect(bench.isSound)
    }

    @Test(
        arguments: [
            (Seeding.merge, "far", "near", "far only"), (.remote, "far", nil, "far only"),
            (.local, "near", "near", "far only"),
        ] as [(Seeding, String, String?, String)])
    func `starts as the seed requires`(_ seeding: Seeding, _ both: String, _ nearOnly: String?, _ farOnly: String) {
        let bench = Bench { $0.seeding = seeding }
        let far = bench.host("far")
        far.sync()
        far.save("s") { $0 = ["both": "far", "far": "far only", "deleted": 1] }
        far.sync()
        far.set("deleted", to: nil)
        far.sync()
        let near = bench.host("near")
        near.save("s") { $0 = ["both": "near", "near": "near", "deleted": 2] }
        near.pullNow()
        bench.comeToRest()
        #expect(near.files["s"]?.values["both"] == .string(both))
        #expect(near.files["s"]?.values["near"] == nearOnly.map(PropertyList.string))
        #expect(near.files["s"]?.values["far"] == .string(farOnly))
        #expect(near.files["s"]?.values["deleted"] == (seeding == .local ? 2 : nil))
        #expect(near.files["s"]?.values == far.files["s"]?.values)
    }

    @Test func `holds a domain whose file could not be read from the start, and reports it once`() {
        for isReleased in [false, true] {
            let bench = Bench()
            let far = bench.host("far")
            far.save("s") { $0 = ["far": 1] }
            far.sync()
            let near = bench.host("near")
            near.damage("s", mark: nil) { $0.content = .unreadable }
            bench.comeToRest()
            let trackedFile = near.engine.status.trackedFile(of: Path(domain: "s"))
            #expect(trackedFile?.held == .unreadable && trackedFile?.isCaptured == false)
            #expect(near.reports.filter { $0 == .held(domain: "s", .unreadable) }.count == 1)
            let expected: PropertyList.Dictionary = isReleased ? ["far": 1] : ["far": 1, "near": 1]
            if isReleased {
                near.command(.release(domain: "s", takesFile: false))
            } else {
                near.save("s", mark: nil) { $0 = ["near": 1] }
            }
            bench.comeToRest()
            #expect(near.engine.status.trackedFile(of: Path(domain: "s"))?.held == nil)
            #expect(near.files["s"]?.values == expected && far.files["s"]?.values == expected)
        }
    }

    @Test func `remembers values that a file's format cannot hold, and does not publish them as changes`() {
        let (bench, near, far) = pair()
        near.distortion = { values in if case .uid? = values["u"] { values["u"] = "no uid" } }
        far.set("u", to: .uid(7))
        bench.comeToRest()
        #expect(near.files["s"]?.values["u"] == "no uid")
        #expect(far.files["s"]?.values["u"] == .uid(7))
        #expect(near.engine.status.trackedFile(of: Path(domain: "s"))?.exceptions.values.map(\.reason) == [.format])
        far.set("u", to: .uid(8))
        near.set("k1", to: "other")
        bench.comeToRest()
        #expect(far.files["s"]?.values["u"] == .uid(8))
        near.set("u", to: "chosen")
        bench.comeToRest()
        #expect(far.files["s"]?.values["u"] == "chosen" && bench.isSound)
    }

    @Test func `does not publish local keys, and withdraws those that were published before`() {
        let bench = Bench { $0.staysLocal = { _, key in key == "secret" } }
        let (near, far) = (bench.host("near"), bench.host("far"))
        near.set("secret", to: "mine")
        far.set("secret", to: "yours")
        bench.comeToRest()
        #expect(near.engine.status.mergeState.count == 0)
        #expect(near.files["s"]?.values == ["secret": "mine"] && far.files["s"]?.values == ["secret": "yours"])
        // A third host without the schema sends it.
        let bench2 = Bench()
        let (sender, other) = (bench2.host("sender"), bench2.host("other"))
        sender.set("secret", to: "sent")
        bench2.comeToRest()
        sender.setPolicy(DomainPolicy(stay: { _ in { $0 == "secret" ? .declared : nil } }))
        sender.set("k", to: 1)
        bench2.comeToRest()
        #expect(other.engine.status.mergeState.atoms(at: Path(domain: "s", key: "secret")).map(\.value) == [.left])
        #expect(other.files["s"]?.values == ["secret": "sent", "k": 1])
        #expect(sender.files["s"]?.values == ["secret": "sent", "k": 1])
    }

    @Test func `withdraws keys that became local, even beyond a limit`() {
        let bench = Bench()
        let (sender, other) = (bench.host("sender"), bench.host("other"))
        sender.set("secret", to: "sent")
        bench.comeToRest()
        sender.setPolicy(DomainPolicy(stay: { _ in { $0 == "secret" ? .declared : nil } }))
        sender.set("secret", to: [String(repeating: "k", count: CanonicalValue.longestKey + 1): 1])
        bench.comeToRest()
        #expect(other.engine.status.mergeState.atoms(at: Path(domain: "s", key: "secret")).map(\.value) == [.left])
    }

    @Test func `does not write values of other hosts for a local key`() {
        let bench = Bench()
        let (sender, keeper) = (bench.host("sender"), bench.host("keeper"))
        keeper.setPolicy(DomainPolicy(stay: { _ in { $0 == "secret" ? .declared : nil } }))
        keeper.set("k", to: 1)
        sender.set("secret", to: "sent")
        bench.comeToRest()
        #expect(keeper.files["s"]?.values == ["k": 1])
        #expect(sender.files["s"]?.values == ["k": 1, "secret": "sent"])
        keeper.actionCount = 0
        keeper.sync()
        #expect(keeper.actionCount == 0)
    }

    @Test func `leaves out a value beyond a limit, and captures the others`() {
        let (bench, near, far) = pair()
        near.save("s") { values in
            values[String(repeating: "k", count: 1025)] = 1
            values["small"] = 2
        }
        bench.comeToRest()
        #expect(far.files["s"]?.values["small"] == 2 && far.files["s"]?.values.count == 31)
        #expect(near.files["s"]?.values.count == 32)
    }

    @Test func `publishes a change of two files as one, and writes it as one`() {
        let (bench, near, far) = pair()
        near.edit("a", to: 1, in: "s")
        near.edit("b", to: 2, in: "t")
        near.attempt { try near.capture() }
        #expect(near.engine.status.outbox.last?.changes.map(\.path.description) == [":s:a", ":t:b"])
        bench.comeToRest()
        #expect(far.files["s"]?.values["a"] == 1 && far.files["t"]?.values["b"] == 2)
    }

    @Test func `loses nothing, whatever is saved meanwhile and wherever the host dies`() {
        for saved in ["a", "b", nil] as [String?] {
            var step = 1
            while true {
                let bench = Bench()
                let (near, far) = (bench.host("near"), bench.host("far"))
                near.set("a", to: "before")
                bench.comeToRest()
                far.set("a", to: "from afar")
                far.publishNow()
                bench.settle()
                if let saved { near.interference = { near.edit(saved, to: "meanwhile") } }
                near.breaksAt = near.stepCount + step
                near.sync()
                let hasDied = near.stepCount == near.breaksAt
                bench.comeToRest()
                #expect(bench.isSound, "saved \(saved ?? "nothing"), died at \(step)")
                if saved != "a" { #expect(near.value("a") == "from afar", "died at \(step)") }
                guard hasDied else { break }
                step += 1
            }
            #expect(step > 8)
        }
    }

    @Test func `keeps a value that a save reverted without having read it`() {
        let (bench, near, far) = pair()
        far.set("k1", to: "from afar")
        bench.comeToRest()
        near.edit("k1", to: 1, mark: nil)
        bench.comeToRest()
        #expect(far.files["s"]?.values["k1"] == 1)
        #expect(near.engine.status.mergeState.conflicts.map(\.winner?.reason) == [.reverted])
        #expect(bench.allList("from afar") && bench.isSound)
    }
}

extension SimulatedHost {
    /// Changes a file without the mirror.
    func damage(_ domain: String, mark: LibraryWrite? = nil, _ change: (inout PreferenceFile) -> Void) {
        save(domain, mark: mark) { _ in }
        guard var file = files[domain] else { return }
        change(&file)
        files[domain] = file
    }
}
