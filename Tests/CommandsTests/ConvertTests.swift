import Foundation
import Platform
import SimulatedPlatform
import TestSupport
import Testing

@Suite struct ConvertTests {
    /// Plain OpenStep text has another character code for the letter than GNUstep text.
    @Test(arguments: [("gnustep", "\"é\""), ("openstep", "\"Ø\"")])
    func `an in-place conversion requires the format that --from names`(_ format: String, _ text: String) throws {
        let machine = try SimulatedMachine()
        try machine.fileSystem.replace("/tmp/f", with: Array(#"{ a = "\351"; }"#.utf8).span.bytes)
        let outcome = try runPrefs(["prefs", "convert", "--from", format, "/tmp/f", "json"], on: machine)
        #expect(outcome == Transcript.Outcome())
        let bytes = try #require(try machine.fileSystem.contents(of: "/tmp/f"))
        #expect(String(decoding: bytes, as: UTF8.self) == "{\n  \"a\": \(text)\n}\n")
    }

    /// A domain's file is treated as a domain, whether it is given by name or by path.
    @Test(arguments: ["d", "/home/ada/.config/prefs/d.plist"])
    func `a domain keeps wrapped values`(_ word: String) throws {
        let machine = try SimulatedMachine()
        for words in [
            ["write", "d", "when", "-date", "2026-01-02T03:04:05Z"], ["convert", word, "json"],
            ["convert", word, "xml"],
        ] {
            #expect(try runPrefs(["prefs"] + words, on: machine) == Transcript.Outcome(), "\(words)")
        }
        #expect(try runPrefs(["prefs", "read-type", "d", "when"], on: machine).output == "date\n")
    }

    // MARK: With a real system

    @Test func `anything but a file is rejected before it is read`() throws {
        let outcome = try BuiltCommand().script(
            """
            mkfifo pipe && "$PREFS" write "$HOME/f.plist" key -int 1 && exec 4< f.plist && rm f.plist || exit 9
            "$PREFS" convert pipe json
            "$PREFS" convert /dev/fd/4 json
            "$PREFS" write /dev/fd/4 key -int 2
            ls | grep -e pipe -e plist >&2
            """)
        let descriptor = "/dev/fd/4: refers to an open descriptor; use - for the standard output"
        #expect(
            String(decoding: outcome.errors, as: UTF8.self) == """
                prefs: ./pipe: not a regular file, so it cannot be replaced
                prefs: \(descriptor)
                prefs: \(descriptor)
                pipe

                """)
    }

    @Test func `git shows one changed file for a change of a domain that is a folder`() throws {
        let outcome = try BuiltCommand().script(
            """
            "$PREFS" write d a one && "$PREFS" write d b -int 2 && "$PREFS" write d c -array x y || exit 9
            "$PREFS" convert d folder && cd "$XDG_CONFIG_HOME/prefs/d.prefs" || exit 9
            git init -q . && git add . && git -c user.name=a -c user.email=a@b commit -qm first || exit 9
            "$PREFS" write d a two && git diff --stat && git status --short
            """)
        let text = String(decoding: outcome.output, as: UTF8.self)
        #expect(
            text == " a.txt | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n M a.txt\n",
            "\(text) \(String(decoding: outcome.errors, as: UTF8.self))")
    }

    @Test func `a write in a removed folder fails and leaves nothing`() throws {
        let outcome = try BuiltCommand().script(
            """
            mkdir gone && cd gone && rmdir ../gone || exit 9
            "$PREFS" write ./new key -int 1 && exit 1
            ls -d ../gone*
            """)
        #expect(String(decoding: outcome.errors, as: UTF8.self).hasPrefix("prefs: cannot open "))
        #expect(outcome.output.isEmpty)
    }

    @Test func `a file beyond the size limit of the process is not created`() throws {
        let command = try BuiltCommand()
        try Self.fill(command)
        let outcome = try command.script(
            """
            ulimit -f 16
            "$PREFS" convert -o out.plist list.plist xml; echo $?
            "$PREFS" convert list.plist xml; echo $?
            """)
        #expect(String(decoding: outcome.output, as: UTF8.self) == "6\n6\n")
        #expect(try Self.names(command) == ["list.plist"])
    }

    @Test func `an interrupt leaves no temporary file`() throws {
        let command = try BuiltCommand()
        try Self.fill(command)
        var (interrupted, finished) = (0, 0)
        for round in 0..<30 {
            let process = try command.start(["convert", "-o", "out.plist", "list.plist", "xml"])
            // The moments range from before the start of the command to after its end.
            let moment = ContinuousClock.now + .milliseconds(4 * round)
            while ContinuousClock.now < moment {}
            process.send(SIGINT)
            if try process.end().isKilled { interrupted += 1 } else { finished += 1 }
        }
        #expect(interrupted > 0, "\(finished) finished")
        #expect(try Self.names(command).isSubset(of: ["list.plist", "out.plist"]))
    }

    private static func fill(_ command: BuiltCommand) throws {
        let text = "(" + (0..<20_000).map { "element\($0)" }.joined(separator: ",") + ")"
        try Data(text.utf8).write(to: command.home.url.appending(path: "list.plist"))
    }

    /// The names in the home folder, except for files of the script and the folder of locks.
    private static func names(_ command: BuiltCommand) throws -> Set<String> {
        let path = command.home.url.path(percentEncoded: false)
        return Set(try FileManager.default.contentsOfDirectory(atPath: path)).subtracting(["output", "errors", "state"])
    }
}
