package import MirrorEngine
import PropertyLists
import TestSupport

/// A short sequence of steps that fails if one rule of the mirror is broken.
package enum Script: String, CaseIterable, Sendable {
    case noStampBump, noValueHash, noNewNumber, outboxClearedEarly, noIntent, applyWithoutCapture
    case stateForFile, noChain, chainByLast, viewWithoutPatching, stateFilteredByDomain

    /// The rule without which the script fails.
    package var rule: Rule {
        switch self {
        case .noStampBump: .bumpsStamps
        case .noValueHash: .comparesValues
        case .noNewNumber: .takesNewNumber
        case .outboxClearedEarly: .clearsOutboxAfterCreation
        case .noIntent: .recordsIntent
        case .applyWithoutCapture: .capturesBeforeApplying
        case .stateForFile: .followsFile
        case .noChain: .inheritsSeen
        case .chainByLast: .chainsByFirst
        case .viewWithoutPatching: .patchesViews
        case .stateFilteredByDomain: .keepsEveryDomain
        }
    }

    /// Whether the script succeeds.
    package var endsWell: Bool {
        switch self {
        case .noStampBump: farAheadClock()
        case .noValueHash: forkReadInTwoOrders()
        case .noNewNumber: cloneThatWrites()
        case .outboxClearedEarly: everyKill(editsAfter: false)
        case .noIntent: everyKill(editsAfter: true)
        case .applyWithoutCapture: saveBeforeApply()
        case .stateForFile: saveOverWhatWasNotShown()
        case .noChain: chainOfThatOnlyTheEndArrives()
        case .chainByLast: longBranchBehindBase()
        case .viewWithoutPatching: twoEntriesOfOneDictionary()
        case .stateFilteredByDomain: domainThatComesLater()
        }
    }
}

// MARK: Time and order

extension Script {
    /// A write that replaces a value from the future remains in force.
    private func farAheadClock() -> Bool {
        let bench = Bench()
        let (ahead, right) = (bench.host("ahead"), bench.host("right"))
        ahead.skew = 1_000_000
        ahead.set("a", to: "of the future")
        bench.comeToRest()
        right.set("a", to: "of today")
        let hasOwnWrite = right.value("a") == "of today"
        bench.comeToRest()
        return hasOwnWrite && right.value("a") == "of today" && bench.isSound
    }

    /// Two values with the same transaction ID: all hosts choose the same one, regardless of the order in which they
    /// read them.
    private func forkReadInTwoOrders() -> Bool {
        let bench = Bench()
        let origin = bench.host("origin")
        let clone = bench.clone(origin, "clone")
        origin.set("a", to: "of the origin")
        clone.set("a", to: "of the clone")
        for host in [origin, clone] { host.publishNow() }
        bench.settle()
        let logs = bench.world.files.keys.filter { $0.name.kind == .log }.sorted()
        let readers = [logs, logs.reversed()].map { order in
            let reader = bench.host("reader")
            for log in order {
                reader.view = [log: .whole]
                reader.pullNow()
            }
            return reader.value("a")
        }
        return logs.count == 2 && readers[0] == readers[1]
    }

    /// A branch that follows a log that a base replaced is still joined.
    private func longBranchBehindBase() -> Bool {
        let bench = Bench()
        let origin = bench.host("origin")
        origin.set("a", to: "first")
        origin.publishNow()
        let clone = bench.clone(origin, "clone")
        origin.set("b", to: "of the origin")
        origin.publishNow()
        origin.attempt { try origin.compact() }
        origin.publishNow()
        clone.set("c", to: "of the clone")
        clone.set("d", to: "of the clone, too")
        clone.publishNow()
        bench.settle()
        let reader = bench.host("reader")
        reader.pullNow()
        let expected: [PropertyList?] = ["first", "of the origin", "of the clone", "of the clone, too"]
        return ["a", "b", "c", "d"].map { reader.value($0) } == expected
    }
}

// MARK: Identity and publishing

extension Script {
    private func cloneThatWrites() -> Bool {
        let bench = Bench()
        let origin = bench.host("origin")
        origin.sync()
        let clone = bench.clone(origin, "clone")
        origin.set("a", to: "of the origin")
        clone.set("b", to: "of the clone")
        bench.comeToRest()
        return bench.isSound && origin.value("b") == "of the clone" && clone.value("a") == "of the origin"
    }

    /// Crashes at each step of a sync in turn. In the end, all hosts have the writes, and the writer has not taken a
    /// new number.
    private func everyKill(editsAfter: Bool) -> Bool {
        var step = 1
        while true {
            let bench = Bench()
            let (writer, reader) = (bench.host("writer"), bench.host("reader"))
            writer.edit("a", to: "before")
            writer.breaksAt = writer.stepCount + step
            writer.sync()
            let hasDied = writer.stepCount == writer.breaksAt
            if editsAfter { writer.edit("b", to: "after") }
            bench.comeToRest()
            let isAlone = !writer.reports.contains { if case .tookNewNumber = $0 { true } else { false } }
            guard bench.isSound, isAlone, reader.value("a") == "before" else { return false }
            guard hasDied else { return step > 5 }
            step += 1
        }
    }
}

// MARK: Preference files

extension Script {
    /// A program saves a file between its capture and a write of the mirror.
    private func saveBeforeApply() -> Bool {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        near.set("a", to: "there before")
        bench.comeToRest()
        far.set("b", to: "from afar")
        far.publishNow()
        near.interference = { near.edit("a", to: "saved meanwhile") }
        bench.comeToRest()
        return bench.isSound && far.value("a") == "saved meanwhile" && near.value("b") == "from afar"
    }

    /// A program overwrites a key for which the mirror has a newer value that is not in the file yet. That value is
    /// listed as a conflict.
    private func saveOverWhatWasNotShown() -> Bool {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        near.set("a", to: "there before")
        bench.comeToRest()
        far.set("a", to: "from afar")
        far.publishNow()
        bench.settle()
        near.interference = { near.edit("a", to: "without a look") }
        bench.comeToRest()
        return near.value("a") == "without a look" && far.hasJournal(of: "from afar")
    }

    /// A value is replaced in several steps, each by a user who had seen the previous value, and its host receives only
    /// the last step. This is not a conflict.
    private func chainOfThatOnlyTheEndArrives() -> Bool {
        let bench = Bench()
        let (first, second, third) = (bench.host("first"), bench.host("second"), bench.host("third"))
        bench.comeToRest()
        for (host, next, value) in [(first, second, "one"), (second, third, "two"), (third, third, "three")] {
            host.set("a", to: .string(value))
            host.publishNow()
            bench.world.pass(5)
            next.pullNow()
        }
        first.view = first.view.filter { $0.key.writer != second.durable.writer }
        first.pullNow()
        return first.value("a") == "three" && first.durable.conflicts.entries.isEmpty
    }

    private func twoEntriesOfOneDictionary() -> Bool {
        let bench = Bench()
        let (left, right) = (bench.host("left"), bench.host("right"))
        left.set("c", to: ["x": "one"])
        bench.comeToRest()
        left.set("c", to: ["x": "one", "y": "of the left"])
        right.set("c", to: ["x": "one", "z": "of the right"])
        bench.comeToRest()
        return bench.isSound && left.value("c") == ["x": "one", "y": "of the left", "z": "of the right"]
    }

    private func domainThatComesLater() -> Bool {
        let bench = Bench()
        let (early, late) = (bench.host("early"), bench.host("late"))
        late.command(.remove(domain: "t"))
        early.set("a", to: "there long before", in: "t")
        bench.comeToRest()
        let wasLeftAlone = late.files["t"] == nil
        late.command(.add(domain: "t"))
        bench.comeToRest()
        return wasLeftAlone && late.files["t"]?.values["a"] == "there long before" && bench.isSound
    }
}
