/// What our own store must come to, in the figures of the same run.
struct StoreTargets {
    /// What the contenders showed, by name and fact.
    let figures: [String: [StoreFact: StoreFigure]]
    /// A temporary file, fsync, rename, fsync of the folder, in nanoseconds.
    let bareReplacement: Double

    /// Prints a line for each and returns whether all are met.
    func judge() -> Bool {
        var isMet = true
        for fact in StoreFact.allCases {
            guard let target = target(of: fact) else { continue }
            let verdict = figures[StorePeer.ownName]?[fact].map(target.isMet) ?? false
            Console.show("\(fact.title): \(target.text): \((verdict ? Verdict.met : .missed).rawValue)")
            if !verdict { isMet = false }
        }
        return isMet
    }

    private struct Target {
        let text: String
        let isMet: (StoreFigure) -> Bool
    }

    private func target(of fact: StoreFact) -> Target? {
        switch fact {
        case .lostUpdates, .killed, .fullDisk, .damagedFile: none
        case .nextWrite: atMost(100e6, "100 ms")
        case .start, .memory: nil
        case .read: peer(fact, 1)
        case .write: peer(fact, 1.3)
        case .persist: atMost(1.5 * bareReplacement, "1.5 times a bare replacement, \(duration(1.5 * bareReplacement))")
        case .get: atMost(100, "100 ns")
        case .setAndGet: atMost(1000, "1 µs")
        case .seenElsewhere: atMost(5e6, "5 ms")
        case .seenLate: atMost(20e6, "20 ms")
        case .coldKey: atMost(1.5, "1.5 times one key of 10")
        }
    }

    private var none: Target {
        Target(text: "none") { figure in
            if case .share(0, _, _) = figure { true } else { false }
        }
    }

    private func atMost(_ most: Double, _ text: String) -> Target {
        Target(text: "at most \(text)") { figure in
            switch figure {
            case .time(let value), .ratio(let value): value <= most
            default: false
            }
        }
    }

    /// As a multiple of what git takes.
    private func peer(_ fact: StoreFact, _ most: Double) -> Target? {
        guard case .time(let time)? = figures["git config"]?[fact] else { return nil }
        return atMost(most * time, "\(decimal(most, digits: 1)) times git config, \(duration(most * time))")
    }
}
