// What two writers at once lose of each other.
import Glibc

extension StoreTrials {
    private static let writers = ["a", "b"]

    func updatesLostByProcesses(_ driver: [String]) throws -> StoreFigure {
        let store = try StoreInFolder(peer)
        let children = try Self.writers.map {
            try Child(store.command(driver + ["update", $0, "\(sizes.updates)"]))
        }
        let refused = children.reduce(0) { $0 + (Int($1.line() ?? "") ?? 0) }
        for child in children { _ = child.wait() }
        return try lost(in: store, each: sizes.updates, refused: refused)
    }

    /// Two rows of commands, in each of which one follows the other.
    func updatesLostByCommands() throws -> StoreFigure {
        let store = try StoreInFolder(peer)
        var (running, refused) = ([pid_t: (writer: String, next: Int, child: Child)](), 0)
        func start(_ writer: String, _ number: Int) throws {
            let child = try Child(store.write("\(writer)\(number)", "value\(number)"))
            running[child.process] = (writer, number + 1, child)
        }
        for writer in Self.writers { try start(writer, 0) }
        while !running.isEmpty {
            var information = siginfo_t()
            guard waitid(P_ALL, 0, &information, WEXITED | WNOWAIT) == 0 else { throw Failure.system("waitid") }
            guard let ended = running.removeValue(forKey: information._sifields._sigchld.si_pid) else {
                throw Failure("a process ended that nobody waited for")
            }
            if ended.child.wait() != 0 { refused += 1 }
            if ended.next < sizes.commandUpdates { try start(ended.writer, ended.next) }
        }
        return try lost(in: store, each: sizes.commandUpdates, refused: refused)
    }

    private func lost(in store: StoreInFolder, each count: Int, refused: Int) throws -> StoreFigure {
        let left = try Self.writers.reduce(0) { try $0 + store.left(of: $1, count) }
        let whole = count * Self.writers.count
        return .share(whole - left, of: whole, note: left == whole ? "" : "\(refused) of them reported")
    }
}
