import Glibc
import Platform
import Preferences
import Synchronization

/// Does with our library, in a process of its own, what Tests/Peers/Sources/UserDefaultsPeer does with Foundation's, in
/// the same modes: `Benchmarks store-driver DOMAIN MODE [ARGUMENT …]`.
struct StoreDriver {
    private let defaults: Defaults
    private var arguments: ArraySlice<String>

    init(_ arguments: some Sequence<String>) throws {
        self.arguments = Array(arguments)[...]
        defaults = Defaults(try DomainName(self.arguments.popFirst() ?? ""))
    }

    private mutating func text() throws -> String {
        guard let text = arguments.popFirst() else { throw Failure("wrong arguments of the driver") }
        return text
    }

    private mutating func number() throws -> Int {
        guard let number = Int(try text()) else { throw Failure("wrong arguments of the driver") }
        return number
    }

    /// Whether it went well.
    mutating func run() throws -> Bool {
        switch try text() {
        case "update": return update(try text(), try number())
        case "forever": return writeForever(try text())
        case "await":
            Self.say(awaitValue(try text(), try text(), seconds: try number()))
        case "get": Self.say("\(try get(try number()))")
        case "set-get": Self.say("\(try setAndGet(try number()))")
        case "persist": Self.say("\(persist(try number()))")
        default: throw Failure("the driver has no such mode")
        }
        return true
    }

    private func fill(_ count: Int) -> [String] {
        let keys = (0..<count).map { "key\($0)" }
        for (number, key) in keys.enumerated() { defaults.set("value \(number)", forKey: key) }
        defaults.synchronize()
        return keys
    }

    private static func say(_ line: String) { _ = try? SystemTerminal().write(line + "\n") }
}

// MARK: Writing

extension StoreDriver {
    private func update(_ prefix: String, _ count: Int) -> Bool {
        var failures = 0
        for number in 0..<count {
            defaults.set("value \(number)", forKey: "\(prefix)\(number)")
            if !defaults.synchronize() { failures += 1 }
        }
        Self.say("\(failures)")
        return true
    }

    private func writeForever(_ key: String) -> Bool {
        for number in 1... {
            defaults.set("\(number)", forKey: key)
            guard defaults.synchronize() else { return false }
            Self.say("\(number)")
        }
        return true
    }
}

// MARK: Looking

extension StoreDriver {
    /// When the value was seen by an observer, in nanoseconds since 1970.
    private func awaitValue(_ key: String, _ value: String, seconds: Int) -> String {
        let seen = Mutex<Int64?>(nil)
        let gate = Gate()
        let observation = defaults.observe { changes in
            guard changes.changes.contains(where: { $0.key == key && $0.newValue == .string(value) }) else { return }
            seen.withLock { $0 = SystemClock().wall.nanoseconds }
            gate.open()
        }
        Self.say("ready")
        _ = gate.wait(until: SystemClock().now.advanced(by: .seconds(seconds)))
        observation.cancel()
        return seen.withLock { $0.map { "\($0)" } } ?? "never"
    }
}

// MARK: Measuring

extension StoreDriver {
    private func get(_ count: Int) throws -> Double {
        let keys = fill(count)
        var turn = 0
        return try Measurement.of {
            turn = (turn + 1) % count
            return defaults.string(forKey: keys[turn])?.utf8.count ?? 0
        }.nanoseconds
    }

    private func setAndGet(_ count: Int) throws -> Double {
        let keys = fill(count)
        var turn = 0
        return try Measurement.of {
            turn = (turn + 1) % count
            defaults.set(turn, forKey: keys[turn])
            return defaults.integer(forKey: keys[turn]) == turn ? 1 : 0
        }.nanoseconds
    }

    /// By the clock on the wall, for the disk's time counts: of 200 the one in the middle.
    private func persist(_ count: Int) -> Int64 {
        let keys = fill(count)
        let times = (0..<200).map { round in
            let start = SystemClock().now
            defaults.set("round \(round)", forKey: keys[round % count])
            defaults.synchronize()
            return start.duration(to: SystemClock().now).nanoseconds
        }
        return times.sorted()[times.count / 2]
    }
}
