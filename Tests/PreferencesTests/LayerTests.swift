import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@Suite struct `A look-up` {
    /// A place that can have a value, and how a test sets it.
    struct Place: Sendable, CustomTestStringConvertible {
        let origin: Origin
        let put: @Sendable (StoreBench, PropertyList) throws -> Void

        var testDescription: String { origin.description }
    }

    static let user = "/home/ada/.config/prefs"
    static let host = "00000000000000000000000000000000"

    static func hostPath(_ stem: String, _ bench: StoreBench) throws -> FilePath {
        let identity = try bench.process().environment.hostIdentity(in: bench.simulated.fileSystem)
        return try #require(FilePath("\(user)/ByHost/\(stem).\(identity).plist"))
    }

    static func own(_ layer: Layer, _ stem: String) -> Place {
        let path = "\(user)/\(stem).plist"
        return Place(origin: Origin(layer, file: path)) { bench, value in
            try bench.process().scribble(
                StoreBench.file("any").serialized(["key": value], as: .xml), to: #require(FilePath(path)))
        }
    }

    static func administrator(_ layer: Layer, _ path: String) -> Place {
        Place(origin: Origin(layer, file: path)) { bench, value in
            try bench.administrate(#require(FilePath(path)), ["key": value])
        }
    }

    static func byHost(_ layer: Layer, _ stem: String) -> Place {
        Place(origin: Origin(layer, file: "by host")) { bench, value in
            try bench.process().scribble(
                StoreBench.file("any").serialized(["key": value], as: .xml), to: hostPath(stem, bench))
        }
    }

    /// The files that can have a value, highest priority first.
    static let places: [Place] = [
        administrator(.forced, "/etc/prefs/forced/com.example.app.plist"),
        byHost(.userHost, "com.example.app"),
        own(.user, "com.example.app"),
        own(.suite, "com.example.second"),
        own(.suite, "com.example.first"),
        byHost(.globalHost, ".GlobalPreferences"),
        own(.global, ".GlobalPreferences"),
        administrator(.site, "/etc/xdg/prefs/com.example.app.plist"),
        administrator(.siteGlobal, "/etc/xdg/prefs/.GlobalPreferences.plist"),
    ]

    static func defaults(_ store: Store) -> Defaults {
        let defaults = Defaults("com.example.app", in: store)
        defaults.addSuite(named: "com.example.first")
        defaults.addSuite(named: "com.example.second")
        return defaults
    }

    @Test func `has a row for each layer with files`() {
        #expect(Set(Self.places.map(\.origin.layer)) == Set(Layer.allCases.filter(\.hasFile)).subtracting([.file]))
    }

    @Test(arguments: [false, true])
    func `names the domain of a value that a suite has`(_ isInMemory: Bool) throws {
        let store = try isInMemory ? Store.memory() : StoreBench().store()
        Defaults("com.example.first", in: store).set("first", forKey: "key")
        let origin = Self.defaults(store).origin(forKey: "key")
        #expect(origin?.layer == .suite)
        #expect(origin?.name == "com.example.first")
        #expect(origin?.description.hasPrefix("suite com.example.first") == true)
    }

    @Test(arguments: [false, true])
    func `finds a value of the global domain itself in its layer`(_ isInMemory: Bool) throws {
        let defaults = Defaults(.global, in: try isInMemory ? .memory() : StoreBench().store())
        defaults.set("value", forKey: "key")
        #expect(defaults.explain("key").entries.map(\.origin.layer) == [.global])
    }

    @Test(arguments: places.indices)
    func `uses the first file that has a value`(_ first: Int) throws {
        let bench = try StoreBench()
        for index in Self.places.indices[first...] { try Self.places[index].put(bench, .string("\(index)")) }
        let defaults = Self.defaults(bench.store())
        #expect(defaults.string(forKey: "key") == "\(first)")
        #expect(defaults.origin(forKey: "key")?.layer == Self.places[first].origin.layer)
        #expect(defaults.dictionaryRepresentation()["key"] as? String == "\(first)")
        let explanation = defaults.explain("key").entries
        #expect(explanation.map(\.value) == Self.places.indices[first...].map { .string("\($0)") })
        #expect(explanation.map(\.origin.layer) == Self.places[first...].map(\.origin.layer))
    }

    @Test func `asks arguments and environment before stored values, and registered values last`() throws {
        let bench = try StoreBench()
        let store = bench.store(arguments: ["-a", "argument"], variables: ["B": "variable", "A": "hidden"])
        let defaults = Defaults(
            "com.example.app", in: store, environment: ["A": "a", "B": "b"], defaults: ["c": "default", "d": "default"])
        for key in ["a", "b", "c"] { defaults.set("stored", forKey: key) }
        defaults.register(defaults: ["c": "registered", "d": "registered", "e": 1])
        #expect(
            ["a", "b", "c", "d"].map { defaults.string(forKey: $0) } == [
                "argument", "variable", "stored", "default",
            ])
        #expect(
            ["a", "b", "c", "d", "e", "f"].map { defaults.origin(forKey: $0)?.layer }
                == [.arguments, .environment, .user, .default, .registered, nil])
        #expect(defaults.explain("a").entries.map(\.origin.layer) == [.arguments, .environment, .user])
    }

    @Test func `uses the next layer when a value is removed`() throws {
        let bench = try StoreBench()
        try bench.administrate("/etc/xdg/prefs/com.example.app.plist", ["key": "site"])
        let defaults = Defaults("com.example.app", in: bench.store())
        defaults.set("user", forKey: "key")
        #expect(defaults.string(forKey: "key") == "user")
        defaults.removeObject(forKey: "key")
        #expect(defaults.string(forKey: "key") == "site")
    }

    @Test(arguments: [
        (FilePermissions(rawValue: 0o644), UInt32(0), true), (FilePermissions(rawValue: 0o666), 0, false),
        (FilePermissions(rawValue: 0o664), 0, false), (FilePermissions(rawValue: 0o644), 1000, false),
    ])
    func `uses a forced value only if only the administrator can have set it`(
        _ permissions: FilePermissions, _ owner: UInt32, _ counts: Bool
    ) throws {
        let bench = try StoreBench()
        let path: FilePath = "/etc/prefs/forced/com.example.app.plist"
        try bench.administrate(path, ["key": "forced"], permissions: permissions)
        try bench.simulated.disk.process().open(path, .reading)?.setOwner(owner, group: owner)
        let defaults = Defaults("com.example.app", in: bench.store())
        defaults.set("user", forKey: "key")
        #expect(defaults.string(forKey: "key") == (counts ? "forced" : "user"))
        #expect(defaults.objectIsForced(forKey: "key") == counts)
    }

    @Test func `finds the user's own values under the global domain's name`() throws {
        let bench = try StoreBench()
        let store = bench.store()
        Defaults(.global, in: store).set("everywhere", forKey: "key")
        #expect(Defaults("com.example.app", in: store).string(forKey: "key") == "everywhere")
        #expect(Defaults("com.example.app", in: store).origin(forKey: "key")?.layer == .global)
    }

    /// The same values, with and without syntax that only GNUstep supports.
    @Test(arguments: [Store.Kind.gnustep, .native], ["{ a = \"\\351\"; }", "{ a = \"\\351\"; n = <*I5>; }"])
    func `reads text as GNUstep's format`(_ kind: Store.Kind, _ text: String) throws {
        let bench = try StoreBench()
        let file = try #require(try bench.store(kind).shared.places.get()).user.file(of: "com.example.app")
        try bench.process().scribble(Array(text.utf8), to: file.path)
        #expect(Defaults("com.example.app", in: bench.store(kind)).string(forKey: "a") == "é")
    }

    @Test(arguments: [
        (Store.Kind.foundation, "/home/ada/.config/com.example.app.plist"),
        (.folder("/home/ada/mine"), "/home/ada/mine/com.example.app.plist"),
        (.gnustep, "/home/ada/GNUstep/Defaults/com.example.app.plist"),
    ])
    func `reads the files of other stores`(_ kind: Store.Kind, _ path: String) throws {
        let bench = try StoreBench()
        let file = try #require(FilePath(path))
        try bench.process().scribble(StoreBench.file("any").serialized(["key": "there"], as: .xml), to: file)
        let defaults = Defaults("com.example.app", in: bench.store(kind))
        #expect(defaults.string(forKey: "key") == "there")
        #expect(defaults.origin(forKey: "key")?.file == path)
        defaults.set("changed", forKey: "key")
        #expect(defaults.synchronize() == (kind != .gnustep))
        let text = try bench.simulated.fileSystem.contents(of: file).map { String(decoding: $0, as: UTF8.self) }
        #expect(text?.contains("changed") == (kind != .gnustep))
    }
}
