import Platform
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// Files whose root is an array or a scalar.
@Suite struct FileRootTests {
    private static let array = "[\n  {\"name\": \"a\"}, // one\n  {\"name\": \"b\"}\n]\n"

    private static func machine(_ text: String, _ name: String = "a.json") throws -> SimulatedMachine {
        let machine = try SimulatedMachine()
        try machine.setWorkingFolder("/tmp")
        let path = FilePath("/tmp").resolving(try #require(FilePath(name)))
        try machine.fileSystem.replace(path, with: Array(text.utf8).span.bytes)
        return machine
    }

    private static func text(_ machine: SimulatedMachine) throws -> String {
        String(decoding: try #require(try machine.fileSystem.contents(of: "/tmp/a.json")), as: UTF8.self)
    }

    private static let gnustep = "(\n    {\n        name = a;\n    },\n    {\n        name = b;\n    }\n)\n"

    static let reading: [(words: String, output: String)] = [
        ("read ./a.json :0:name", "a\n"), ("read ./a.json :-1:name", "b\n"), ("read-type ./a.json :1", "dictionary\n"),
        ("read --format json-plain ./a.json :1", "{\n  \"name\": \"b\"\n}\n"),
        ("read --format gnustep ./a.json", gnustep), ("export --format gnustep ./a.json -", gnustep),
        ("explain ./a.json :0:name", ":0:name\n  * user  \"a\"  /tmp/a.json\n"),
    ]

    @Test(arguments: reading)
    func `an array is read by path`(_ row: (words: String, output: String)) throws {
        let outcome = try Self.machine(Self.array).run("prefs " + row.words)
        #expect(outcome == Transcript.Outcome(output: row.output))
    }

    static let editing: [(words: String, result: String)] = [
        ("write ./a.json :0:name x", "[\n  {\"name\": \"x\"}, // one\n  {\"name\": \"b\"}\n]\n"),
        ("write ./a.json :-1:name x", "[\n  {\"name\": \"a\"}, // one\n  {\"name\": \"x\"}\n]\n"),
        ("write ./a.json : x", "[\n  {\"name\": \"a\"}, // one\n  {\"name\": \"b\"},\n  \"x\"\n]\n"),
        ("write ./a.json :1 --string x", "[\n  {\"name\": \"a\"}, // one\n  \"x\"\n]\n"),
        ("write --insert ./a.json :1 x", "[\n  {\"name\": \"a\"}, // one\n  \"x\",\n  {\"name\": \"b\"}\n]\n"),
        ("delete ./a.json :1", "[\n  {\"name\": \"a\"} // one\n]\n"),
        ("rename ./a.json :0:name :0:id", "[\n  {\"id\": \"a\"}, // one\n  {\"name\": \"b\"}\n]\n"),
        ("copy ./a.json :0:name :1:name", "[\n  {\"name\": \"a\"}, // one\n  {\"name\": \"a\"}\n]\n"),
        ("write ./a.json --int 5", "5\n"), ("write ./a.json --json '[1]'", "[\n  1\n]\n"),
        ("write ./a.json --json '{\"a\": 1}'", "{\n  \"a\": 1\n}\n"),
    ]

    @Test(arguments: editing)
    func `an array is edited by path, and the edit is undone`(_ row: (words: String, result: String)) throws {
        let machine = try Self.machine(Self.array)
        #expect(try machine.run("prefs " + row.words).status == 0)
        #expect(try Self.text(machine) == row.result)
        #expect(try machine.run("prefs undo ./a.json").status == 0)
        #expect(try Self.text(machine) == Self.array)
        #expect(try machine.run("prefs restore ./a.json 3").status == 0)
        #expect(try Self.text(machine) == row.result)
    }

    @Test(arguments: [
        ("write ./a.json name x", ":name: an array has numbered elements"),
        ("write ./a.json :7 x", ":7: there are 2 elements"), ("delete ./a.json :7", "./a.json has no key 7"),
        ("import ./a.json -", "./a.json: the root is an array, which --replace replaces"),
        ("write --insert ./a.json :9 x", "9: the array has 2 elements; nothing was changed"),
    ])
    func `an entry that an array cannot have is an error`(_ words: String, _ message: String) throws {
        let machine = try Self.machine(Self.array)
        let outcome = try machine.run("prefs " + words, input: "{\"a\": 1}")
        #expect(outcome.status != 0 && outcome.errors.hasPrefix("prefs: " + message), "\(outcome)")
        #expect(try Self.text(machine) == Self.array)
    }

    /// The root of TOML is a dictionary.
    @Test(arguments: PropertyList.Format.allCases.filter { $0 != .toml })
    func `an array of each format is converted, read and edited`(_ format: PropertyList.Format) throws {
        let machine = try Self.machine(Self.array)
        #expect(try machine.run("prefs convert ./a.json \(format.rawValue) --from json5").status == 0)
        try machine.fileSystem.rename("/tmp/a.json", to: "/tmp/a")
        #expect(try machine.run("prefs write ./a :0:name x") == Transcript.Outcome())
        #expect(try machine.run("prefs read ./a :0:name") == Transcript.Outcome(output: "x\n"))
        #expect(try machine.run("prefs read ./a :1:name") == Transcript.Outcome(output: "b\n"))
    }

    @Test func `a scalar is read and replaced`() throws {
        let machine = try Self.machine("5 // five\n")
        #expect(try machine.run("prefs read ./a.json") == Transcript.Outcome(output: "5\n"))
        #expect(try machine.run("prefs write ./a.json --int 6") == Transcript.Outcome())
        #expect(try Self.text(machine) == "6 // five\n")
        #expect(try machine.run("prefs write ./a.json a b").errors == "prefs: :a: leads into a value of type integer\n")
        #expect(try machine.run("prefs undo ./a.json").status == 0)
        #expect(try Self.text(machine) == "5 // five\n")
    }

    @Test func `the root of a domain is a dictionary`() throws {
        let machine = try SimulatedMachine()
        #expect(try machine.run("prefs write d : x").status == 3)
        #expect(try machine.run("prefs write d --json '[1]'").status == 3)
    }
}
