import Platform
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@Suite struct LintTests {
    private static let binary: [UInt8] = {
        let value: PropertyList = ["a": 1, "b": ["x", "y"]]
        return (try? Array(value.serialized(as: .binary))) ?? []
    }()

    /// A file whose trailer gives a count of zero objects.
    private static let damaged: [UInt8] = {
        var bytes = binary
        bytes.replaceSubrange((bytes.count - 24)..<(bytes.count - 16), with: repeatElement(0, count: 8))
        return bytes
    }()

    @Test func `an error in a binary file is reported with its offset`() throws {
        let machine = try SimulatedMachine()
        let files = machine.fileSystem
        try files.replace("/tmp/good.plist", with: Self.binary.span.bytes)
        try files.replace("/tmp/short.plist", with: Array(Self.binary.dropLast(5)).span.bytes)
        try files.replace("/tmp/damaged.plist", with: Self.damaged.span.bytes)
        let outcome = try runPrefs(
            ["prefs", "lint", "/tmp/good.plist", "/tmp/short.plist", "/tmp/damaged.plist"], on: machine)
        let lines = outcome.output.split(separator: "\n")
        #expect(outcome.status == 5 && outcome.errors.isEmpty)
        #expect(lines.count == 3 && lines[0] == "/tmp/good.plist: OK")
        #expect(lines[1].wholeMatch(of: /\/tmp\/short.plist: byte \d+: .+/) != nil, "\(lines[1])")
        #expect(lines[2].wholeMatch(of: /\/tmp\/damaged.plist: byte \d+: .+/) != nil, "\(lines[2])")
    }

    @Test(arguments: ["xml", "json", "openstep", "gnustep"])
    func `a valid file is invalid in another format`(_ format: String) throws {
        let machine = try SimulatedMachine()
        try machine.fileSystem.replace("/tmp/f", with: Self.binary.span.bytes)
        #expect(try runPrefs(["prefs", "lint", "--from", "binary", "/tmp/f"], on: machine).status == 0)
        #expect(try runPrefs(["prefs", "lint", "--from", format, "/tmp/f"], on: machine).status == 5)
    }

    @Test func `a file that cannot be opened does not stop the check of the others`() throws {
        let machine = try SimulatedMachine()
        for name: FilePath in ["/tmp/closed", "/tmp/open"] {
            try machine.fileSystem.replace(name, with: Self.binary.span.bytes)
        }
        try machine.disk.process().open("/tmp/closed", .reading)?.setPermissions(FilePermissions(rawValue: 0))
        let outcome = try runPrefs(["prefs", "lint", "/tmp/closed", "/tmp/open"], on: machine)
        #expect(outcome.status == 6 && outcome.output == "/tmp/open: OK\n")
        #expect(outcome.errors == "prefs: cannot open /tmp/closed: Permission denied\n")
    }
}
