internal import MirrorEngine
import PropertyLists
import TestSupport

/// A short sequence of steps that fails if one rule of the mirror is broken.
package enum Script: String, CaseIterable, Sendable {
    case noStampBump, noNewNumber, outboxClearedEarly, noIntent, applyWithoutCapture, stateForFile

    /// Whether the script succeeds.
    package var endsWell: Bool {
        switch self {
        case .noStampBump: farAheadClock()
        case .noNewNumber: cloneThatWrites()
        case .outboxClearedEarly: everyKill(editsAfter: false)
        case .noIntent: everyKill(editsAfter: true)
        case .applyWithoutCapture: saveBeforeApply()
        case .stateForFile: saveOverWhatWasNotShown()
        }
    }
}

// MARK: Time and order

extension Script {
    /// A write that replaces a value from the future remains in force, and wins over what that value had beaten.
    private func farAheadClock() -> Bool {
        let bench = Bench()
        let (ahead, right, between) = (bench.host("ahead"), bench.host("right"), bench.host("between"))
        bench.comeToRest()
        (ahead.skew, between.skew) = (1_000_000, 500_000)
        between.set("a", to: "of tomorrow")
        ahead.set("a", to: "of the future")
        ahead.publishNow()
        bench.settle()
        right.sync()
        right.set("a", to: "of today")
        let hasOwnWrite = right.value("a") == "of today"
        bench.comeToRest()
        return hasOwnWrite && between.value("a") == "of today" && right.lists("of tomorrow") && bench.isSound
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
        return near.value("a") == "without a look" && far.lists("from afar")
    }
}
