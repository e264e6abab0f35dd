import Foundation
import PropertyLists
import TestSupport
import Testing

/// Compares `KeyedArchive` with Foundation's NSKeyedArchiver.
@Suite struct KeyedArchivePeerTests {
    /// An object graph that Foundation archives, and its value here.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let value: String
        let make: @Sendable () -> Any

        init(_ name: String, _ value: String, _ make: @escaping @Sendable () -> Any) {
            (self.name, self.value, self.make) = (name, value, make)
        }

        var testDescription: String { name }
    }

    @Test(arguments: graphs)
    func `we read the graphs that Foundation archives`(_ row: Row) throws {
        let data = try NSKeyedArchiver.archivedData(withRootObject: row.make(), requiringSecureCoding: false)
        let archive = try KeyedArchive(PropertyList(parsing: data))
        #expect(archive.roots == ["root"])
        #expect(archive.value == (try ValueNotation.value(row.value)))
        #expect(archive.value(of: "root") == archive.value && archive.value(of: "other") == nil)
    }

    /// Foundation finds the number 1 equal to `true` and archives one object for both, so no graph has both.
    static let graphs: [Row] = [
        Row("a string", #""Zoë 😀""#) { "Zoë 😀" as NSString },
        Row("a mutable string", #""m""#) { NSMutableString(string: "m") },
        Row("an integer", "-7") { NSNumber(value: -7) },
        Row("the greatest integer", "18446744073709551615") { NSNumber(value: UInt64.max) },
        Row("a boolean", "true") { NSNumber(value: true) },
        Row("a real", "1.5") { NSNumber(value: 1.5) },
        Row("a date", "@(3.5)") { NSDate(timeIntervalSinceReferenceDate: 3.5) },
        Row("data", "<01 02>") { NSData(data: Data([1, 2])) },
        Row("mutable data", "<01>") { NSMutableData(data: Data([1])) },
        Row("an array", #"["a", 7, 2.5, @(5), <00>, ["a"]]"#) {
            ["a", 7, 2.5, Date(timeIntervalSinceReferenceDate: 5), Data([0]), ["a"]] as NSArray
        },
        Row("a mutable array", "[3, 3]") { NSMutableArray(array: [3, 3]) },
        Row("a dictionary", #"{a: {b: ["c"]}, "$$ref": 1, "$x": 2, "": 3}"#) {
            ["a": ["b": ["c"]], "$ref": 1, "$x": 2, "": 3] as NSDictionary
        },
        Row("a mutable dictionary", "{a: 1}") { NSMutableDictionary(dictionary: ["a": 1]) },
        Row(
            "a dictionary whose keys are not strings",
            #"{"$class": "NSDictionary", "NS.keys": [5], "NS.objects": ["x"]}"#
        ) { [5: "x"] as NSDictionary },
        Row("a set", "[4]") { NSSet(array: [4]) },
        Row("a mutable set", "[]") { NSMutableSet() },
        Row("an ordered set", #"["b", "a"]"#) { NSOrderedSet(array: ["b", "a"]) },
        Row("a mutable ordered set", #"[["b"], "a"]"#) { NSMutableOrderedSet(array: [["b"], "a"]) },
        Row("a URL", #""https://a/b?c#d""#) { NSURL(string: "https://a/b?c#d") ?? NSNull() },
        Row("a relative URL", #""https://a/x/c?d""#) {
            URL(string: "https://a/x/b").flatMap { NSURL(string: "c?d", relativeTo: $0) } ?? NSNull()
        },
        Row("a UUID", #""68753A44-4D6F-1226-9C60-0050E4C00067""#) {
            NSUUID(uuidString: "68753A44-4D6F-1226-9C60-0050E4C00067") ?? NSNull()
        },
        Row("nulls", #"[{"$null": true}, [], {"$null": true}]"#) { [NSNull(), [] as NSArray, NSNull()] as NSArray },
        Row("an index set", "[{location: 3, length: 4}]") {
            NSIndexSet(indexesIn: NSRange(location: 3, length: 4))
        },
        Row("an index set of two ranges", "[{location: 3, length: 4}, {location: 900, length: 300}]") {
            let set = NSMutableIndexSet(indexesIn: NSRange(location: 3, length: 4))
            set.add(in: NSRange(location: 900, length: 300))
            return set
        },
        Row("a point", "{x: 1.5, y: -2.0}") { NSValue(point: NSPoint(x: 1.5, y: -2)) },
        Row("a size", "{width: 1.0, height: 2.0}") { NSValue(size: NSSize(width: 1, height: 2)) },
        Row("a rectangle", "{x: 1.0, y: 2.0, width: 3.0, height: 4.0}") {
            NSValue(rect: NSRect(x: 1, y: 2, width: 3, height: 4))
        },
        Row("a range", "{location: 1, length: 2}") { NSValue(range: NSRange(location: 1, length: 2)) },
        Row("a text without attributes", #""hello""#) { NSAttributedString(string: "hello") },
        Row(
            "a text with attributes",
            #"""
            {string: "hello", attributes: [
                {location: 0, length: 2, attributes: {k: "v"}},
                {location: 4, length: 1, attributes: {"$ref": ":attributes:0:attributes"}}
            ]}
            """#
        ) {
            let text = NSMutableAttributedString(string: "hello")
            for range in [NSRange(location: 0, length: 2), NSRange(location: 4, length: 1)] {
                text.addAttribute(NSAttributedString.Key("k"), value: "v", range: range)
            }
            return text
        },
        Row("a shared array", #"[["x"], {"$ref": ":0"}, {a: {"$ref": ":0"}}]"#) {
            let shared = NSMutableArray(array: ["x"])
            return [shared, shared, ["a": shared]] as NSArray
        },
        Row("a locale", #"{"$class": "NSLocale", "NS.identifier": "en"}"#) { NSLocale(localeIdentifier: "en") },
        Row(
            "an object with a cycle",
            #"""
            {"$class": "PropertyListsTests.Person", name: "Ada", age: 36, flag: true, friend:
                {"$class": "PropertyListsTests.Person", name: "Zoë", age: 7, flag: true, friend: {"$ref": ""}}}
            """#
        ) {
            let (ada, zoe) = (Person("Ada", 36), Person("Zoë", 7))
            (ada.friend, zoe.friend) = (zoe, ada)
            return ada
        },
        Row(
            "ten arrays inside one another",
            String(repeating: "[", count: 10) + String(repeating: "]", count: 10)
        ) {
            (1..<10).reduce([] as NSArray) { inner, _ in [inner] as NSArray }
        },
    ]

    @Test func `we read several roots`() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: false)
        let shared = NSMutableArray(array: ["x"])
        archiver.encode(shared, forKey: "one")
        archiver.encode(["again": shared], forKey: "two")
        archiver.encode(3, forKey: "three")
        let archive = try KeyedArchive(PropertyList(parsing: archiver.encodedData))
        #expect(Set(archive.roots) == ["one", "two", "three"])
        #expect(archive.value(of: "three") == 3)
        let references = [archive.value["one"], archive.value["two"]?["again"]]
        #expect(references.contains(["x"]))
        #expect(references.contains(["$ref": ":one"]) || references.contains(["$ref": ":two:again"]))
    }

    @Test func `we open archives inside data`() throws {
        let inner = try NSKeyedArchiver.archivedData(
            withRootObject: [["x"] as NSArray], requiringSecureCoding: false)
        let shared = NSMutableArray(array: ["y"])
        let outer = try NSKeyedArchiver.archivedData(
            withRootObject: [shared, shared, inner] as NSArray, requiringSecureCoding: false)
        let value: PropertyList = ["other": .data(Data([1, 2, 3])), "window:1": .data(outer)]
        let opened = try KeyedArchive.openAll(in: value)
        #expect(
            opened.value == [
                "other": .data(Data([1, 2, 3])), "window:1": [["y"], ["$ref": #":window\:1:0"#], [["x"]]],
            ])
        #expect(opened.failures == [])
    }
}

/// A class of a program, whose objects may refer to one another.
final class Person: NSObject, NSCoding {
    let name: String
    let age: Int
    var friend: Person?

    init(_ name: String, _ age: Int) { (self.name, self.age) = (name, age) }

    init?(coder: NSCoder) {
        name = coder.decodeObject(forKey: "name") as? String ?? ""
        age = coder.decodeInteger(forKey: "age")
        super.init()
        friend = coder.decodeObject(forKey: "friend") as? Person
    }

    func encode(with coder: NSCoder) {
        coder.encode(name as NSString, forKey: "name")
        coder.encode(age, forKey: "age")
        coder.encode(true, forKey: "flag")
        coder.encode(nil, forKey: "nothing")
        coder.encode(friend, forKey: "friend")
    }

    override func isEqual(_ other: Any?) -> Bool {
        guard let other = other as? Person else { return false }
        return name == other.name && age == other.age && friend?.name == other.friend?.name
            && friend?.friend?.name == other.friend?.friend?.name
    }

    override var hash: Int { name.hashValue }
}
