import Foundation
import PreferencesFoundation
import PropertyLists
import Testing

/// Checks the expectations of Foundation's own tests of `UserDefaults` against this store. The article on differences
/// from Foundation lists the exceptions.
@Suite struct `The API of UserDefaults` {
    // It is `Sendable` because nothing changes these objects.
    private struct Row: CustomTestStringConvertible, @unchecked Sendable {
        let value: Any
        let read: (Defaults) -> AnyHashable?
        let expected: AnyHashable
        let testDescription: String

        init(_ value: Any, _ name: String, _ expected: AnyHashable, _ read: @escaping (Defaults) -> AnyHashable?) {
            (self.value, self.read, self.expected) = (value, read, expected)
            testDescription = "\(type(of: value)) \(value) as \(name)"
        }

        static func string(_ value: Any, _ text: String) -> Row {
            Row(value, "string", text) { $0.string(forKey: "k") }
        }
        static func integer(_ value: Any, _ number: Int) -> Row {
            Row(value, "integer", number) { $0.integer(forKey: "k") }
        }
        static func float(_ value: Any, _ number: Float) -> Row {
            Row(value, "float", number) { $0.float(forKey: "k") }
        }
        static func double(_ value: Any, _ number: Double) -> Row {
            Row(value, "double", number) { $0.double(forKey: "k") }
        }
        static func bool(_ value: Any, _ flag: Bool) -> Row { Row(value, "bool", flag) { $0.bool(forKey: "k") } }
        static func url(_ value: Any, _ url: URL) -> Row { Row(value, "url", url) { $0.url(forKey: "k") } }
        static func data(_ value: Any, _ data: Data) -> Row { Row(value, "data", data) { $0.data(forKey: "k") } }
    }

    private static let file = URL(filePath: "/hello/world")
    private static let bytes = Data([0, 1, 2, 3, 4])

    private static let rows: [Row] = [
        .integer(NSNumber(value: 5), 5), .string("hello" as NSString, "hello"), .string("hello", "hello"),
        .url(NSURL(fileURLWithPath: "/hello/world"), file), .url(file, file), .data(NSData(data: bytes), bytes),
        .data(bytes, bytes), .bool("YES", true), .integer("1234", 1234), .double("12.34", 12.34), .float("1234", 1234),
        .integer(true, 1), .integer(Float(12.34), 12), .integer(12.34, 12), .float(true, 1), .float(42, 42),
        .float(12.34, 12.34), .double(true, 1), .double(42, 42), .string(true, "1"), .string(42, "42"),
        .string(Float(12.34), "12.34"), .string(12.34, "12.34"), .double(Float(12.34), 12.34),
        .string(NSNumber(value: Float(12.34)), "12.34"), .string(UInt64.max, "18446744073709551615"),
        .string(NSNumber(value: UInt64.max), "18446744073709551615"), .double(CGFloat(12.5), 12.5),
        .string(URL(string: "https://example.com/")! as Any, "https://example.com/"),
    ]

    @Test(arguments: rows) private func `returns what was set or registered, converted`(_ row: Row) {
        let set = Defaults("com.example.a", in: .memory())
        set.set(row.value, forKey: "k")
        #expect(row.read(set) == row.expected)
        let registered = Defaults("com.example.a", in: .memory())
        registered.register(defaults: ["k": row.value])
        #expect(row.read(registered) == row.expected)
        registered.removeObject(forKey: "k")
        #expect(row.read(registered) == row.expected)
    }

    private static var values: [String: Any] {
        [
            "A Date": Date(timeIntervalSinceReferenceDate: 5), "A String": "The String", "An Array": [1, 2, 3],
            "A Dictionary": ["Swift": "Imperative", "Today": Date(timeIntervalSinceReferenceDate: 5)] as [String: Any],
            "Some Data": Data("The Data".utf8), "A Bool": true, "A Double": 5678.1234,
            "A Mixture": [1, 2, "Surprise"] as [Any],
        ]
    }

    private func isSame(_ values: [String: Any]) throws -> Bool {
        try PropertyList(values) == PropertyList(Self.values)
    }

    @Test func `keeps a volatile domain`() throws {
        let defaults = Defaults("com.example.a", in: .memory())
        #expect(!defaults.volatileDomainNames.contains("TestDomain"))
        defaults.setVolatileDomain(Self.values, forName: "TestDomain")
        let values = defaults.volatileDomain(forName: "TestDomain")
        #expect(try isSame(values))
        #expect(values["An Array"] as? [Int] == [1, 2, 3] && values["A Bool"] as? Bool == true)
        #expect(values["Some Data"] as? Data == Data("The Data".utf8))
    }

    @Test func `keeps a persistent domain`() throws {
        let store = Store.memory()
        let (first, second) = (Defaults("com.example.a", in: store), Defaults("com.example.b", in: store))
        first.removePersistentDomain(forName: "org.example.domain")
        #expect(first.persistentDomain(forName: "org.example.domain") == nil)
        first.setPersistentDomain(Self.values, forName: "org.example.domain")
        #expect(try isSame(second.persistentDomain(forName: "org.example.domain") ?? [:]))
        second.removePersistentDomain(forName: "org.example.domain")
        #expect(first.persistentDomain(forName: "org.example.domain") == nil)
    }
}
