import Platform
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// Null in files by path, and its refusal in domains.
@Suite struct NullCommandTests {
    private static func machine(_ text: String, at path: FilePath = "/tmp/a.json") throws -> SimulatedMachine {
        let machine = try SimulatedMachine()
        try machine.fileSystem.makeFolders(path.parent)
        try machine.fileSystem.replace(path, with: Array(text.utf8).span.bytes)
        return machine
    }

    @Test func `a JSON file with nulls is edited`() throws {
        let machine = try Self.machine("{\"a\": null, \"b\": 1}\n")
        #expect(try runPrefs(["prefs", "write", "/tmp/a.json", "b", "-int", "2"], on: machine) == Transcript.Outcome())
        #expect(try runPrefs(["prefs", "write", "/tmp/a.json", "c", "-json", "[null]"], on: machine).status == 0)
        let bytes = try #require(try machine.fileSystem.contents(of: "/tmp/a.json"))
        #expect(String(decoding: bytes, as: UTF8.self) == "{\"a\": null, \"b\": 2, \"c\": [null]}\n")
        #expect(try runPrefs(["prefs", "read", "/tmp/a.json", "a"], on: machine).output == "null\n")
    }

    @Test(arguments: [
        ["import", "d", "/tmp/a.json"], ["apply", "--domain", "d", "/tmp/a.json"],
        ["write", "d", "k", "-json", "null"],
        ["convert", "/tmp/a.json", "xml"], ["convert", "-o", "-", "/tmp/a.json", "gnustep"],
    ])
    func `a domain and a format without null reject it`(_ words: [String]) throws {
        let machine = try Self.machine("{\"a\": [null]}")
        let outcome = try runPrefs(["prefs"] + words, on: machine)
        #expect(outcome.status == 3 && outcome.output.isEmpty, "\(outcome.errors)")
        #expect(outcome.errors.contains(words.contains("write") ? ":k: " : ":a:0: "), "\(outcome.errors)")
        #expect(try runPrefs(["prefs", "read", "d"], on: machine).status == 1)
    }

    @Test func `a lossy conversion leaves it out of dictionaries`() throws {
        let machine = try Self.machine("{\"a\": null, \"b\": {\"c\": null, \"d\": \"x\"}}")
        let words = ["prefs", "convert", "--lossy", "-o", "-", "/tmp/a.json", "openstep"]
        #expect(try runPrefs(["prefs", "convert", "--lossy", "/tmp/a.json", "xml"], on: machine).status == 0)
        let text = try Self.machine("{\"a\": null, \"b\": {\"c\": null, \"d\": \"x\"}}")
        #expect(
            try runPrefs(words, on: text).output == "{\n    b = {\n        d = x;\n    };\n}\n")
    }

    @Test func `a domain with null is damaged`() throws {
        let machine = try Self.machine("{\"a\": null}", at: "/home/ada/.config/prefs/d.plist")
        let outcome = try runPrefs(["prefs", "read", "d"], on: machine)
        #expect(outcome.status == 5 && outcome.errors.contains("1:7: null"), "\(outcome.errors)")
    }
}
