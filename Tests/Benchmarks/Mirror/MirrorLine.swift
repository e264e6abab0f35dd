/// What a mirror may cost in one respect, and how that is found out.
struct MirrorLine: Sendable {
    let title: String
    let figures: @Sendable (MirrorSizes) throws -> [MirrorFigure]
}

extension MirrorLine {
    // The join first: the system counts to a command's memory that of the process which started it, as it was then.
    static let all: [MirrorLine] = [
        join, localSet, publishing, fewOfMany, nothingNew, catchingUp, day, latency, idle, manyHosts,
    ]
}

/// A number that a line came to, what it may be, and whether it is.
struct MirrorFigure {
    let name: String
    let value: String
    let target: String
    let isMet: Bool

    /// How it stands in the table.
    var text: String {
        let verdict = isMet ? Verdict.met : .missed
        return "    " + name.padded(to: 52) + value.padded(to: 16) + target.padded(to: 20) + verdict.rawValue
    }
}

extension MirrorFigure {
    init(_ name: String, nanoseconds: Double, atMost most: Double) {
        self.init(
            name: name, value: duration(nanoseconds), target: "≤ \(duration(most))", isMet: nanoseconds <= most)
    }

    init(_ name: String, bytes: Int, atMost most: Int) {
        self.init(name: name, value: "\(bytes) bytes", target: "≤ \(most) bytes", isMet: bytes <= most)
    }

    init(_ name: String, count: Int, exactly wanted: Int) {
        self.init(name: name, value: "\(count)", target: "\(wanted)", isMet: count == wanted)
    }

    /// How many times as much as something else.
    init(_ name: String, ratio: Double, atMost most: Double) {
        self.init(
            name: name, value: decimal(ratio, digits: 2) + " ×", target: "≤ \(decimal(most, digits: 2)) ×",
            isMet: ratio <= most)
    }
}

/// How much of everything there is: a hasty run does less, and is judged by what that may cost.
struct MirrorSizes: Sendable {
    /// Keys of a large mirror.
    let keys: Int
    /// Keys of a middling domain.
    let domainKeys: Int
    /// Changes that wait to be published.
    let unsaid: Int
    /// Sets of a day.
    let sets: Int
    let packs: Int
    let hosts: Int
    /// Sets that are waited for on another host.
    let rounds: Int
    let idleSeconds: Int
    /// Commands of which the one in the middle counts.
    let commands: Int

    static let whole = MirrorSizes(
        keys: 1_000_000, domainKeys: 100_000, unsaid: 20_000, sets: 1_000_000, packs: 1000, hosts: 1000, rounds: 200,
        idleSeconds: 60, commands: 21)
    static let hasty = MirrorSizes(
        keys: 100_000, domainKeys: 20_000, unsaid: 20_000, sets: 100_000, packs: 200, hosts: 200, rounds: 30,
        idleSeconds: 10, commands: 7)
}
