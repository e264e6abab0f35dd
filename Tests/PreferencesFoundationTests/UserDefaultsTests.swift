import Foundation
import PreferencesFoundation
import TestSupport
import Testing

/// What Foundation's tests of `UserDefaults` expect, checked with `Defaults`.
@Suite struct `The facts of TestUserDefaults` {
    @Test func `hold, except for those in the article`() throws {
        let facts = [
            RegisteredFacts.all, ObjectFacts.all, NumberFacts.integers, NumberFacts.floats, NumberFacts.doubles,
            NumberFacts.strings, DomainFacts.all,
        ]
        let problems = try ListedDifferences(suite: "TestUserDefaults").problems(with: facts.flatMap(\.self))
        #expect(problems == [])
    }
}

private typealias UserDefaults = Defaults

private let store = Store.memory()

/// Returns an empty domain with a name that nothing else uses.
private func fresh() -> UserDefaults { Defaults(DomainName(stringLiteral: "facts.\(UUID())"), in: store) }

/// Returns a domain that has `value` for `key` only as a registered default.
private func registered(_ value: Any, for key: String) -> UserDefaults {
    let store = fresh()
    store.register(defaults: [key: value])
    store.removeObject(forKey: key)
    return store
}

/// Returns a domain that `fill` has written to.
private func filled(_ fill: (UserDefaults) -> Void) -> UserDefaults {
    let store = fresh()
    fill(store)
    return store
}

private let place = URL(fileURLWithPath: "/pantry/upper/shelf")
private let octets: [UInt8] = [250, 0, 17, 128]
private let trueTexts = ["YES", "yes", "true"]

/// What a registered default gives when nothing is stored for its key.
private enum RegisteredFacts {
    static let all: [Fact] = [
        Fact("test_getRegisteredDefaultItem") {
            try equal(registered(NSNumber(value: 71), for: "reg.number").integer(forKey: "reg.number"), 71)
        },
        Fact("test_getRegisteredDefaultItem_NSString") {
            try equal(registered(NSString("pear"), for: "reg.nsstring").string(forKey: "reg.nsstring"), "pear")
        },
        Fact("test_getRegisteredDefaultItem_String") {
            try equal(registered("plum", for: "reg.string").string(forKey: "reg.string"), "plum")
        },
        Fact("test_getRegisteredDefaultItem_NSURL") {
            let object = NSURL(fileURLWithPath: place.path)
            try equal(registered(object, for: "reg.nsurl").url(forKey: "reg.nsurl"), place)
        },
        Fact("test_getRegisteredDefaultItem_URL") {
            try equal(registered(place, for: "reg.url").url(forKey: "reg.url"), place)
        },
        Fact("test_getRegisteredDefaultItem_NSData") {
            let object = NSData(bytes: octets, length: octets.count)
            try equal(registered(object, for: "reg.nsdata").data(forKey: "reg.nsdata"), Data(octets))
        },
        Fact("test_getRegisteredDefaultItem_Data") {
            try equal(registered(Data(octets), for: "reg.data").data(forKey: "reg.data"), Data(octets))
        },
        Fact("test_getRegisteredDefaultItem_BoolFromString") {
            for text in trueTexts { try isTrue(registered(text, for: "reg.bool").bool(forKey: "reg.bool")) }
        },
        Fact("test_getRegisteredDefaultItem_IntFromString") {
            try equal(registered("8086", for: "reg.int").integer(forKey: "reg.int"), 8086)
        },
        Fact("test_getRegisteredDefaultItem_DoubleFromString") {
            try equal(registered("7.3", for: "reg.double").double(forKey: "reg.double"), 7.3)
        },
    ]
}

/// What a stored object gives back.
private enum ObjectFacts {
    static let all: [Fact] = [
        Fact("test_createUserDefaults") {
            try equal(filled { $0.set(9, forKey: "first") }.integer(forKey: "first"), 9)
        },
        Fact("test_setValue_NSString") {
            try equal(filled { $0.set(NSString("pear"), forKey: "k") }.string(forKey: "k"), "pear")
        },
        Fact("test_setValue_String") {
            try equal(filled { $0.set("plum", forKey: "k") }.string(forKey: "k"), "plum")
        },
        Fact("test_setValue_NSURL") {
            let store = filled { $0.set(NSURL(fileURLWithPath: place.path), forKey: "k") }
            try equal(store.url(forKey: "k"), place)
        },
        Fact("test_setValue_URL") {
            try equal(filled { $0.set(place, forKey: "k") }.url(forKey: "k"), place)
        },
        Fact("test_setValue_NSData") {
            let store = filled { $0.set(NSData(bytes: octets, length: octets.count), forKey: "k") }
            try equal(store.data(forKey: "k"), Data(octets))
        },
        Fact("test_setValue_Data") {
            try equal(filled { $0.set(Data(octets), forKey: "k") }.data(forKey: "k"), Data(octets))
        },
        Fact("test_setValue_BoolFromString") {
            for text in trueTexts { try isTrue(filled { $0.set(text, forKey: "k") }.bool(forKey: "k")) }
        },
    ]
}

/// What a stored value gives when it is read as another type.
private enum NumberFacts {
    static let integers: [Fact] = [
        Fact("test_setValue_IntFromBool") {
            try equal(filled { $0.set(true, forKey: "k") }.integer(forKey: "k"), 1)
        },
        Fact("test_setValue_IntFromFloat") {
            try equal(filled { $0.set(Float(7.3), forKey: "k") }.integer(forKey: "k"), 7)
        },
        Fact("test_setValue_IntFromDouble") {
            try equal(filled { $0.set(7.3, forKey: "k") }.integer(forKey: "k"), 7)
        },
        Fact("test_setValue_IntFromString") {
            try equal(filled { $0.set("8086", forKey: "k") }.integer(forKey: "k"), 8086)
        },
    ]

    static let floats: [Fact] = [
        Fact("test_setValue_FloatFromBool") {
            try equal(filled { $0.set(true, forKey: "k") }.float(forKey: "k"), 1)
        },
        Fact("test_setValue_FloatFromInt") {
            try equal(filled { $0.set(65, forKey: "k") }.float(forKey: "k"), 65)
        },
        Fact("test_setValue_FloatFromDouble") {
            try equal(filled { $0.set(7.3, forKey: "k") }.float(forKey: "k"), Float(7.3))
        },
        Fact("test_setValue_FloatFromString") {
            try equal(filled { $0.set("8086", forKey: "k") }.float(forKey: "k"), 8086)
        },
    ]

    static let doubles: [Fact] = [
        Fact("test_setValue_DoubleFromBool") {
            try equal(filled { $0.set(true, forKey: "k") }.double(forKey: "k"), 1)
        },
        Fact("test_setValue_DoubleFromInt") {
            try equal(filled { $0.set(65, forKey: "k") }.double(forKey: "k"), 65)
        },
        Fact("test_setValue_DoubleFromFloat") {
            try equal(filled { $0.set(Float(7.3), forKey: "k") }.double(forKey: "k"), Double(Float(7.3)))
        },
        Fact("test_setValue_DoubleFromString") {
            try equal(filled { $0.set("7.3", forKey: "k") }.double(forKey: "k"), 7.3)
        },
    ]

    static let strings: [Fact] = [
        Fact("test_setValue_StringFromBool") {
            try equal(filled { $0.set(true, forKey: "k") }.string(forKey: "k"), "1")
        },
        Fact("test_setValue_StringFromInt") {
            try equal(filled { $0.set(65, forKey: "k") }.string(forKey: "k"), "65")
        },
        Fact("test_setValue_StringFromFloat") {
            try equal(filled { $0.set(Float(7.3), forKey: "k") }.string(forKey: "k"), "7.3")
        },
        Fact("test_setValue_StringFromDouble") {
            try equal(filled { $0.set(7.3, forKey: "k") }.string(forKey: "k"), "7.3")
        },
    ]
}

private let moment = Date(timeIntervalSinceReferenceDate: 700_000_000.123456)
private var shelf: [String: AnyHashable] { ["red": "apple", "green": "lime", "blue": "blue", "since": moment] }
private var mixed: [AnyHashable] { [4, 8, 15, "sixteen"] }

/// What the volatile and the persistent domains keep.
private enum DomainFacts {
    static let all: [Fact] = [
        Fact("test_volatileDomains") {
            let domain = "facts.volatile"
            let content: [String: Any] = [
                "date": moment, "text": "pear", "list": [4, 8, 15], "table": shelf,
                "bytes": Data([250, 0, 17]), "flag": true,
            ]
            let store = fresh()
            try isTrue(!store.volatileDomainNames.contains(domain))
            store.setVolatileDomain(content, forName: domain)
            let found = store.volatileDomain(forName: domain)
            try equal(found.count, content.count)
            try equal(found["date"] as? Date, moment)
            try equal(found["text"] as? String, "pear")
            try equal(found["list"] as? [Int], [4, 8, 15])
            try equal(found["table"] as? [String: AnyHashable], shelf)
            try equal(found["bytes"] as? Data, Data([250, 0, 17]))
            try equal(found["flag"] as? Bool, true)
        },
        Fact("test_persistentDomain") {
            let domain = "facts.persistent"
            let content: [String: Any] = [
                "whole": 8086, "part": 4004.75, "text": "pear", "list": mixed,
                "table": shelf,
            ]
            let writer = fresh()
            writer.removePersistentDomain(forName: domain)
            try equal(writer.persistentDomain(forName: domain)?.count ?? 0, 0)
            writer.setPersistentDomain(content, forName: domain)

            let reader = fresh()
            guard let found = reader.persistentDomain(forName: domain) else {
                return try isTrue(false)
            }
            try equal(found.count, content.count)
            try equal(found["whole"] as? Int, 8086)
            try equal(found["part"] as? Double, 4004.75)
            try equal(found["text"] as? String, "pear")
            try equal(found["list"] as? [AnyHashable], mixed)
            try equal(found["table"] as? [String: AnyHashable], shelf)

            reader.removePersistentDomain(forName: domain)
            try equal(fresh().persistentDomain(forName: domain)?.count ?? 0, 0)
        },
    ]
}
