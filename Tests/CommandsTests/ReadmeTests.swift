import Foundation
import TestSupport
import Testing

/// Runs the commands of the README, and compares their output with the README.
///
/// A `console` block consists of commands after `$`, each with its whole output. `laptop$` is the prompt of another
/// host, which shares the folder Sync. If the file does not exist, `cat FILE` shows the contents to create.
@Suite(.enabled(if: InstalledCommand.isBuilt, "the executable is not beside the tests"))
struct `The README` {
    private let text: String
    private let blocks: [MarkdownBlock]

    init() throws {
        text = String(decoding: try Data(contentsOf: packageRoot.appending(path: "README.md")), as: UTF8.self)
        blocks = MarkdownBlock.all(in: text)
    }

    @Test func `is short`() {
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 246)
        #expect(Set(blocks.map(\.language)) == ["console", "sh", "swift"])
    }

    @Test func `shows what its commands print`() throws {
        let reader = try Reader()
        var count = 0
        for block in blocks where block.language == "console" {
            for step in try Step.all(in: block) {
                count += 1
                let came = try reader.run(step)
                #expect(reader.masked(came) == reader.masked(step.shown), "line \(step.line): \(step.command)")
            }
        }
        #expect(count > 25)
    }

    @Test func `has its Swift from an example that is built and run`() throws {
        let sources = blocks.filter { $0.language == "swift" }.map { $0.lines.joined(separator: "\n") + "\n" }
        let file = packageRoot.appending(path: "Tests/Examples/editor/main.swift")
        #expect(sources == [String(decoding: try Data(contentsOf: file), as: UTF8.self)])
    }

    /// The words of each command that is run in a clone of the package.
    private var commandsOfClone: [String] {
        blocks.filter { $0.language == "sh" }.flatMap(\.lines).filter { !$0.isEmpty }.map { line in
            String(line.prefix { $0 != "#" }).trimmingCharacters(in: .whitespaces)
        }
    }

    /// Runs the commands that require no build, and checks that the others exist.
    @Test func `names only commands that exist`() throws {
        let reader = try Reader()
        let help = try Subprocess.run("Tests/run", ["help"], in: packageRoot).text
        let benchmarks = try source("Tests/Benchmarks/Benchmarks.swift")
        let fuzzing = try source("Tests/Fuzzing/Fuzzer.swift") + source("Tests/Fuzzing/Replay.swift")
        for command in commandsOfClone {
            let words = command.split(separator: " ").map(String.init)
            switch (words[0], words.dropFirst().first) {
            case ("Tests/run", nil): #expect(try source(".ci/run").contains("exec Tests/run all\n"))
            case ("Tests/run", let part?): #expect(help.contains("Tests/run \(part) "), "\(command)")
            case ("swift", "test"): #expect(try matches(words.last ?? "") > 0, "\(command)")
            case ("swift", "run") where words.contains("Benchmarks"):
                for word in words.drop(while: { $0 != "Benchmarks" }).dropFirst() {
                    #expect(benchmarks.contains("\"\(word)\""), "\(command)")
                }
            case ("swift", "run") where words.contains("Fuzzing"): #expect(fuzzing.contains("\"--target\""))
            case ("swift", "run"), ("Sources/prefs/install", _):
                #expect(try reader.runInClone(command).status == 0, "\(command)")
            default: Issue.record("nothing is known of \(command)")
            }
        }
    }

    private func source(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: packageRoot.appending(path: path)), as: UTF8.self)
    }

    /// The number of test files with a test or suite of that name.
    private func matches(_ filter: String) throws -> Int {
        let name = filter.trimmingCharacters(in: .init(charactersIn: "'^$")).replacing("\\.", with: "")
        return try Subprocess.run("git", ["grep", "-l", name, "--", "Tests"], in: packageRoot).text
            .split(separator: "\n").count
    }

    @Test func `names only files that exist`() throws {
        for match in text.matches(of: /\b(?:Sources|Tests|man)\/[A-Za-z0-9_\/.-]*[A-Za-z0-9]/) {
            #expect(
                FileManager.default.fileExists(
                    atPath: packageRoot.appending(path: String(match.0)).path(percentEncoded: false)), "\(match.0)")
        }
        let sources = packageRoot.appending(path: "Sources").path(percentEncoded: false)
        for folder in try FileManager.default.contentsOfDirectory(atPath: sources) {
            #expect(text.contains("`\(folder)`"), "\(folder)")
        }
    }
}

/// A command of a block and its output.
private struct Step {
    let line: Int
    let prompt: String
    let command: String
    var shown = ""

    static func all(in block: MarkdownBlock) throws -> [Step] {
        var steps: [Step] = []
        for (number, line) in zip((block.line + 1)..., block.lines) {
            if let match = line.wholeMatch(of: /([a-z]*)\$ (.*)/) {
                steps.append(Step(line: number, prompt: String(match.1), command: String(match.2)))
            } else if steps.isEmpty {
                throw ShellScript.Mistake(description: "\(number): precedes every command")
            } else {
                steps[steps.count - 1].shown += line + "\n"
            }
        }
        return steps
    }
}

/// Runs the commands of the README, in the homes of two hosts and with the built programs.
private struct Reader {
    private let folder: TemporaryFolder
    private let programs: URL

    init() throws {
        folder = try TemporaryFolder()
        programs = folder.url.appending(path: "bin")
        let built = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        for (name, program) in [("prefs", "prefs"), ("defaults", "prefs"), ("editor", "ExampleEditor")] {
            try Self.link(programs.appending(path: name), to: built.appending(path: program))
        }
        let examples = packageRoot.appending(path: "Tests/Examples")
        for host in ["", "laptop"] { try Self.link(home(host).appending(path: "Examples"), to: examples) }
        let shared = folder.url.appending(path: "shared")
        try FileManager.default.createDirectory(at: shared, withIntermediateDirectories: true)
        for host in ["", "laptop"] { try Self.link(home(host).appending(path: "Sync"), to: shared) }
    }

    private static func link(_ place: URL, to file: URL) throws {
        try FileManager.default.createDirectory(
            at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(at: place, withDestinationURL: file)
    }

    private func home(_ prompt: String) -> URL {
        folder.url.appending(path: prompt.isEmpty ? "ada" : prompt)
    }

    private func variables(_ prompt: String) -> [String: String] {
        let path = ProcessInfo.processInfo.environment["PATH", default: "/usr/bin:/bin"]
        return [
            "HOME": home(prompt).path(percentEncoded: false), "PATH": programs.path(percentEncoded: false) + ":" + path,
            "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": "", "XDG_DATA_HOME": "", "XDG_CONFIG_DIRS": "",
            "XDG_DATA_DIRS": "",
            "VISUAL": "", "EDITOR": "",
        ]
    }

    /// Runs a step, and returns its output.
    func run(_ step: Step) throws -> String {
        let home = home(step.prompt)
        if let file = step.command.wholeMatch(of: /cat ([a-z.-]+)/).map({ home.appending(path: String($0.1)) }),
            !FileManager.default.fileExists(atPath: file.path(percentEncoded: false))
        {
            try Data(step.shown.utf8).write(to: file)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755], ofItemAtPath: file.path(percentEncoded: false))
            return step.shown
        }
        return try Subprocess.run(
            "bash", ["-c", step.command + " 2>&1"], environment: variables(step.prompt), in: home
        ).text
    }

    /// Runs a command in the clone, with the programs of the test run instead of a new build.
    func runInClone(_ command: String) throws -> Subprocess {
        let line = command.replacing("swift run -c release prefs", with: "prefs")
            .replacing(".build/release/prefs", with: "prefs")
        var variables = variables("")
        variables["PREFS_COMMAND"] = programs.appending(path: "prefs").path(percentEncoded: false)
        return try Subprocess.run("bash", ["-c", line], environment: variables, in: packageRoot)
    }

    /// Returns the text without details that differ between runs.
    func masked(_ text: String) -> String {
        text.replacing(home("").path(percentEncoded: false), with: "/home/ada")
            .replacing(home("laptop").path(percentEncoded: false), with: "/home/ada")
            .replacing(/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]+Z/, with: "TIME")
            .replacing(/\b(prefs|defaults)\[[0-9]+\]/) { "\($0.output.1)[PROCESS]" }
    }
}
