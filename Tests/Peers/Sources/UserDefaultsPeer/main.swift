// Runs the operations of `Benchmarks store` with Foundation's UserDefaults, in a separate process:
//
//     UserDefaultsPeer DOMAIN MODE [ARGUMENT …]
//
//     write KEY VALUE        sets and synchronizes; status 1 if synchronize() returns false
//     read KEY               prints the value, or fails
//     list                   prints the keys
//     fill PREFIX COUNT      sets that many keys, PREFIX0 and so on, and synchronizes once
//     update PREFIX COUNT    the same, but synchronizes after each, and prints the number of failures
//     forever KEY            sets the key to 1, 2, 3 … and prints each number when it is synchronized
//     get COUNT              prints the nanoseconds of a get among that many keys
//     set-get COUNT          … of a set and a get

import Foundation

struct Misuse: Error {}

struct Peer {
    let domain: String
    let defaults: UserDefaults
    var arguments: ArraySlice<String>

    init(_ arguments: [String]) throws {
        self.arguments = arguments.dropFirst()
        guard let domain = self.arguments.popFirst(), let defaults = UserDefaults(suiteName: domain) else {
            throw Misuse()
        }
        (self.domain, self.defaults) = (domain, defaults)
    }

    mutating func text() throws -> String {
        guard let text = arguments.popFirst() else { throw Misuse() }
        return text
    }

    mutating func number() throws -> Int {
        guard let number = Int(try text()) else { throw Misuse() }
        return number
    }

    /// Returns whether it succeeded.
    mutating func run() throws -> Bool {
        switch try text() {
        case "write":
            let key = try text()
            defaults.set(try text(), forKey: key)
            return defaults.synchronize()
        case "read":
            guard let value = defaults.string(forKey: try text()) else { return false }
            say(value)
        case "list": for key in keys() { say(key) }
        case "fill": return fill(try text(), try number())
        case "update": return update(try text(), try number())
        case "forever": return writeForever(try text())
        case "get": say(try get(try number()))
        case "set-get": say(try setAndGet(try number()))
        default: throw Misuse()
        }
        return true
    }

    func keys() -> [String] { defaults.persistentDomain(forName: domain).map { Array($0.keys) } ?? [] }
}

// MARK: Writing

extension Peer {
    func fill(_ prefix: String, _ count: Int) -> Bool {
        for number in 0..<count { defaults.set("value \(number)", forKey: "\(prefix)\(number)") }
        return defaults.synchronize()
    }

    func update(_ prefix: String, _ count: Int) -> Bool {
        var failures = 0
        for number in 0..<count {
            defaults.set("value \(number)", forKey: "\(prefix)\(number)")
            if !defaults.synchronize() { failures += 1 }
        }
        say("\(failures)")
        return true
    }

    func writeForever(_ key: String) -> Bool {
        for number in 1... {
            defaults.set("\(number)", forKey: key)
            guard defaults.synchronize() else { return false }
            say("\(number)")
        }
        return true
    }
}

// MARK: Measuring

extension Peer {
    func get(_ count: Int) throws -> String {
        _ = fill("key", count)
        let keys = (0..<count).map { "key\($0)" }
        var turn = 0
        return try nanoseconds {
            turn = (turn + 1) % count
            return defaults.string(forKey: keys[turn])?.utf8.count ?? 0
        }
    }

    func setAndGet(_ count: Int) throws -> String {
        _ = fill("key", count)
        let keys = (0..<count).map { "key\($0)" }
        var turn = 0
        return try nanoseconds {
            turn = (turn + 1) % count
            defaults.set(turn, forKey: keys[turn])
            return defaults.integer(forKey: keys[turn]) == turn ? 1 : 0
        }
    }

    func nanoseconds(_ work: () -> Int) throws -> String {
        "\(try Measurement.of(work).nanoseconds)"
    }
}

/// Prints a line immediately, because `print` would buffer it.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

do {
    var peer = try Peer(CommandLine.arguments)
    exit(try peer.run() ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("wrong arguments; the source lists the valid ones\n".utf8))
    exit(2)
}
