// Kills, damage and full disks.
import FoundationEssentials

extension StoreTrials {
    /// Kills a writer at a moment drawn by chance, then looks whether the values are there, and writes.
    func killed() throws -> (damaged: StoreFigure, longest: StoreFigure) {
        var chance = SmallRandom(state: 20_260_101)
        var (damaged, refused, longest) = (0, 0, Int64(0))
        var (store, rounds) = (try filled(), 0)
        while rounds < (peer.driver == nil ? sizes.commandKills : sizes.kills) {
            rounds += 1
            try interruptWriter(of: store, &chance)
            let isDamaged = try store.left(of: "key", Self.count) < Self.count
            let next = try store.write("next", "value").run()
            longest = max(longest, next.nanoseconds)
            if isDamaged { damaged += 1 }
            if next.status != 0 { refused += 1 }
            // Two such waits would take the time of all else.
            if longest > 5_000_000_000 { break }
            if isDamaged || next.status != 0 { store = try filled() }
        }
        let note = refused == 0 ? "" : "next write refused \(refused) times"
        return (.share(damaged, of: rounds, note: note), .time(Double(longest)))
    }

    private func interruptWriter(of store: StoreInFolder, _ chance: inout SmallRandom) throws {
        if let driver = peer.driver {
            let child = try Child(store.command(driver + ["forever", "other"]))
            _ = child.line()
            pause(microseconds: chance.next(below: 20_000))
            child.kill()
            _ = child.wait()
            return
        }
        let usual = try store.write("other", "value").run().nanoseconds / 1000
        let child = try Child(store.write("other", "changed"))
        pause(microseconds: chance.next(below: Int(usual)))
        child.kill()
        _ = child.wait()
    }

    /// Writes over the middle of the file what no format allows, then a value into the store.
    func damagedFile() throws -> StoreFigure {
        let store = try filled()
        let path = store.folder + "/" + (peer.file ?? "")
        var damaged = Data(try contents(of: path))
        let middle = damaged.count / 2
        damaged.replaceSubrange(middle..<middle + 32, with: repeatElement(0xFF, count: 32))
        try damaged.write(to: URL(filePath: path))
        let status = try store.write("next", "value").run().status
        if status != 0, try Data(contents(of: path)) == damaged {
            return .share(0, of: Self.count, note: "write refused")
        }
        return try gone(from: store, status: status)
    }

    /// On a small disk in memory that has no byte left.
    func fullDisk() throws -> StoreFigure {
        let disk = try SmallDisk()
        let store = try filled(in: disk.folder)
        try disk.fill()
        let status = try store.write("next", String(repeating: "v", count: 65_536)).run().status
        return try gone(from: store, status: status)
    }

    private func gone(from store: StoreInFolder, status: Int32) throws -> StoreFigure {
        let left = try store.left(of: "key", Self.count)
        return .share(Self.count - left, of: Self.count, note: status == 0 ? "nothing reported" : "reported")
    }
}
