import Commands
import Platform
import SimulatedPlatform
import TestSupport
import Testing

/// The service unit that lets the system watch the mirrors of a store.
@Suite struct MirrorUnitTests {
    @Test(arguments: [
        ([], "prefs-mirror", "/usr/bin/program mirror"),
        (["--store", "/home/ada/b"], "prefs-mirror-home-ada-b", "/usr/bin/program --store /home/ada/b mirror"),
        (
            ["--store", "/home/ada/a b%c"], #"prefs-mirror-home-ada-a\x20b\x25c"#,
            "/usr/bin/program --store \"/home/ada/a b%%c\" mirror"
        ),
        (
            ["--store", "/home/ada/b-c"], #"prefs-mirror-home-ada-b\x2dc"#,
            "/usr/bin/program --store /home/ada/b-c mirror"
        ),
        (["--store", "native"], "prefs-mirror", "/usr/bin/program mirror"),
        (["--store", "Native"], "prefs-mirror", "/usr/bin/program mirror"),
    ])
    func `a unit mirrors one store`(_ store: [String], _ name: String, _ command: String) throws {
        let machine = try SimulatedMachine()
        let outcome = try runPrefs(["prefs"] + store + ["mirror", "service", "install"], on: machine)
        let path = "/home/ada/.config/systemd/user/\(name).service"
        #expect(outcome.status == 0 && outcome.output.hasPrefix("wrote \(path)\n"), "\(outcome)")
        let word = name.contains("\\") ? "'\(name)'" : name
        #expect(outcome.output.contains("systemctl --user enable --now \(word)\n"))
        let unit = try machine.fileSystem.contents(of: #require(FilePath(path)), limit: 4096) ?? []
        #expect(String(decoding: unit, as: UTF8.self).contains("\nExecStart=\(command) watch\n"))
    }

    @Test func `a store that cannot be mirrored has no unit`() throws {
        let outcome = try runPrefs(
            ["prefs", "--store", "foundation", "mirror", "service", "install"], on: SimulatedMachine())
        #expect(
            outcome.status == 2 && outcome.errors.contains("stores of other programs cannot be mirrored"), "\(outcome)")
    }
}
