import Foundation
import PreferencesFoundation
import PropertyLists
import Testing

@Suite struct `Objects of Foundation` {
    // It is `Sendable` because nothing changes these objects.
    private struct Row: CustomTestStringConvertible, @unchecked Sendable {
        let object: Any
        let value: PropertyList
        var testDescription: String { "\(type(of: object)) \(object)" }

        init(_ object: Any, _ value: PropertyList) { (self.object, self.value) = (object, value) }
    }

    private static let rows: [Row] = [
        Row(NSNumber(value: true), true), Row(NSNumber(value: false), false), Row(NSNumber(value: 1), 1),
        Row(NSNumber(value: 0), 0), Row(NSNumber(value: Int8(1)), 1), Row(NSNumber(value: UInt8(0)), 0),
        Row(NSNumber(value: -5), -5), Row(NSNumber(value: UInt64.max), .integer(PropertyList.Integer(UInt64.max))),
        Row(NSNumber(value: Int64.min), .integer(PropertyList.Integer(Int64.min))),
        Row(NSNumber(value: 1.0), 1.0), Row(NSNumber(value: 0.0), 0.0), Row(NSNumber(value: Float(12.34)), 12.34),
        Row(NSDecimalNumber(string: "12.34"), 12.34), Row(NSDecimalNumber(string: "7"), 7),
        Row(NSString(string: "a"), "a"), Row(NSURL(string: "https://example.com/a")!, "https://example.com/a"),
        Row(NSDate(timeIntervalSinceReferenceDate: 5), .date(Date(timeIntervalSinceReferenceDate: 5))),
        Row(NSData(data: Data([1, 2])), .data(Data([1, 2]))), Row(NSNull(), .null),
        Row(NSArray(array: [1, "a", true]), [1, "a", true]),
        Row(NSDictionary(dictionary: ["a": NSNumber(value: 1)]), ["a": 1]),
        Row(["a": NSNumber(value: false), "b": [NSNumber(value: 0)]], ["a": false, "b": [0]]),
        Row(Float(12.34), 12.34), Row(CGFloat(12.5), 12.5), Row(UInt64.max, .integer(PropertyList.Integer(UInt64.max))),
        Row(URL(string: "https://example.com/a")!, "https://example.com/a"), Row(URL(filePath: "/a b"), "/a b"),
        Row(Decimal(string: "0.1")!, 0.1), Row(5 as Int? as Any, 5), Row("abc".prefix(2), "ab"),
    ]

    @Test(arguments: rows) private func `are values by their own type`(_ row: Row) throws {
        #expect(try PropertyList(any: row.object) == row.value)
    }

    @Test private func `that a property list cannot hold are refused with their place`() {
        for (object, message) in [
            ([NSUUID()], "a value of type NSUUID cannot be stored at :0"),
            (
                ["a": ["b": NSDecimalNumber(string: "1234567890123456789012345")]],
                "a value of type Decimal cannot be stored at :a:b"
            ),
            (NSDictionary(dictionary: [NSNumber(value: 1): "a"]), "a value of type NSNumber as a key cannot be stored"),
        ] as [(Any, String)] {
            let failure = #expect(throws: PropertyList.ConversionFailure.self) { try PropertyList(any: object) }
            #expect(failure?.description == message)
        }
    }

    @Test func `of a serialization are registered and returned`() throws {
        let xml = "<plist><dict><key>flag</key><true/><key>count</key><integer>1</integer></dict></plist>"
        let list = try PropertyListSerialization.propertyList(from: Data(xml.utf8), format: nil)
        let json = try JSONSerialization.jsonObject(with: Data(#"{"zero": 0, "no": false, "half": 0.5}"#.utf8))
        let defaults = Defaults("com.example.a", in: .memory())
        defaults.register(defaults: try #require(list as? [String: Any]))
        defaults.register(defaults: try #require(json as? [String: Any]))
        let keys = ["flag", "count", "zero", "no", "half"]
        #expect(keys.map { defaults.propertyList(forKey: $0) } == [true, 1, 0, false, 0.5])
        #expect(defaults.object(forKey: "count") as? NSNumber == 1)
        defaults.set(NSNumber(value: 1), forKey: "flag")
        #expect(defaults.propertyList(forKey: "flag") == 1 && defaults.value(forKey: "flag") as? NSNumber == 1)
        defaults.setValue(["a": NSNumber(value: true)] as NSDictionary, forKey: "flag")
        #expect(defaults.propertyList(forKey: "flag") == ["a": true])
        defaults.setValue(nil, forKey: "flag")
        #expect(defaults.propertyList(forKey: "flag") == true)
    }

    @Test func `are returned as they were given`() throws {
        for row in Self.rows { #expect(try PropertyList(any: row.value.foundationValue) == row.value) }
    }
}
