/// What a store is asked to show: a row of the table.
enum StoreFact: CaseIterable {
    case lostUpdates, killed, nextWrite, fullDisk, damagedFile
    case start, read, write, memory
    case persist, get, setAndGet
    case seenElsewhere, seenLate
    case coldKey

    var title: String {
        switch self {
        case .lostUpdates: "parallel updates of 2 processes, lost"
        case .killed: "kill -9 in mid-write, damaged files"
        case .nextWrite: "the longest write after a kill -9"
        case .fullDisk: "disk full, then a write, values gone"
        case .damagedFile: "file damaged in its middle, then a write, values gone"
        case .start: "one command, start and end"
        case .read: "one command, read"
        case .write: "one command, write"
        case .memory: "one command, most memory while it reads"
        case .persist: "set with persistence, 100 keys"
        case .get: "get, 100 keys"
        case .setAndGet: "set then get, 1000 keys"
        case .seenElsewhere: "another process sees a change"
        case .seenLate: "the same, 99 of 100"
        case .coldKey: "one key of 100 000 read cold, as a multiple of one key of 10"
        }
    }
}

/// What a store showed: a cell of the table.
enum StoreFigure: CustomStringConvertible {
    /// Nanoseconds.
    case time(Double)
    /// So many of so many, and what is to be said about them.
    case share(Int, of: Int, note: String = "")
    case never(note: String = "")
    /// A multiple of something else.
    case ratio(Double)
    /// Of 1024 bytes.
    case kilobytes(Int)

    var description: String {
        switch self {
        case .time(let nanoseconds): duration(nanoseconds)
        case .share(_, _, let note): amount + remark(note)
        case .ratio(let ratio): decimal(ratio, digits: 2) + " ×"
        case .kilobytes(let count): "\(count) KiB"
        case .never(let note): amount + remark(note)
        }
    }

    /// Without what is to be said about it.
    var amount: String {
        switch self {
        case .share(let part, let whole, _): "\(part) of \(whole)"
        case .never: "never"
        case .time, .ratio, .kilobytes: description
        }
    }

    private func remark(_ note: String) -> String { note.isEmpty ? "" : ", " + note }
}

/// A time in the unit that suits it.
func duration(_ nanoseconds: Double) -> String {
    switch nanoseconds {
    case 1e9...: decimal(nanoseconds / 1e9, digits: 1) + " s"
    case 1e6...: decimal(nanoseconds / 1e6, digits: 2) + " ms"
    case 1e3...: decimal(nanoseconds / 1e3, digits: 2) + " µs"
    default: decimal(nanoseconds, digits: 0) + " ns"
    }
}

/// How much of everything is done: a hasty run does less, and says what it did.
struct StoreSizes {
    /// Updates of each of two processes that keep running.
    let updates: Int
    /// Updates of each of two rows of commands.
    let commandUpdates: Int
    let kills: Int
    /// The same of commands, which take longer to come to their writing.
    let commandKills: Int
    /// Commands of which the one in the middle counts.
    let commands: Int
    /// How often another process's change is waited for.
    let sightings: Int

    static let whole = StoreSizes(
        updates: 1000, commandUpdates: 300, kills: 200, commandKills: 60, commands: 51, sightings: 200)
    static let hasty = StoreSizes(
        updates: 200, commandUpdates: 50, kills: 20, commandKills: 10, commands: 15, sightings: 20)
}
