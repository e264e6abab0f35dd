import Platform
import Preferences
import PropertyLists

/// Our library as a driver, in the modes of Tests/Peers/Sources/UserDefaultsPeer:
/// `Benchmarks store-driver DOMAIN MODE [ARGUMENT …]`.
struct StoreDriver {
    private let defaults: Defaults
    private var arguments: ArraySlice<String>

    private init(defaults: Defaults, arguments: ArraySlice<String>) {
        (self.defaults, self.arguments) = (defaults, arguments)
    }

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

    /// Returns whether it succeeded.
    mutating func run() throws -> Bool {
        switch try text() {
        case "update": return update(try text(), try number())
        case "forever": return writeForever(try text())
        case "get": Self.say("\(try get(try number()))")
        case "get-scope": Self.say("\(try Self(defaults: defaults.scoped("part"), arguments: []).get(try number()))")
        case "get-snapshot": Self.say("\(try getFromSnapshot(try number()))")
        case "set-get": Self.say("\(try setAndGet(try number()))")
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

    private func getFromSnapshot(_ count: Int) throws -> Double {
        let keys = fill(count)
        let snapshot = defaults.snapshot()
        var turn = 0
        return try Measurement.of {
            turn = (turn + 1) % count
            return snapshot[keys[turn]]?.stringValue?.utf8.count ?? 0
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
}
