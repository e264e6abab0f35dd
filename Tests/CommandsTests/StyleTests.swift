import Commands
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

extension String {
    /// The text without the sequences that select styles.
    var withoutStyles: String { replacing(/\u{1B}\[[0-9;]+m/, with: "") }
}

@Suite struct `Styled output` {
    /// A machine with values, histories, layers, a forced key and a file to apply.
    private static func machine() throws -> SimulatedMachine {
        let machine = try SimulatedMachine()
        try machine.administrate("/etc/xdg/prefs/d.plist", "{ theme = light; quality = 50; }")
        try machine.administrate("/etc/prefs/forced/d.plist", "{ forced = YES; }")
        try machine.administrate("/etc/prefs/forced/e.plist", "{ theme = blue; }")
        try machine.administrate(
            "/home/ada/.local/share/prefs/schemas/f.plist",
            "{ Domain = f; Settings = ({ Key = size; Type = integer; Default = 3; }); }")
        for line in [
            "write f size big --force", "write d theme dark", "write d size --int 14", "write d size --int 12",
            "delete d size",
            "write d list --array one \u{1B}[31mtwo", "write e theme light --force", "write e size --int 2 --force",
            "write d ke\u{1B}[31my --string \u{9B}31m",
        ] {
            #expect(try runPrefs(words(line), on: machine).status == 0, "\(line)")
        }
        try machine.fileSystem.replace(
            "/home/ada/d.json", with: Array(#"{"theme": "red", "size": 4, "list": []}"#.utf8))
        return machine
    }

    private static func words(_ line: String) -> [String] {
        ["prefs"] + line.split(separator: " ").map(String.init)
    }

    private static func run(
        _ line: String, _ variables: EnvironmentVariables, isTerminal: Bool = true
    ) throws -> Transcript.Outcome {
        try runPrefs(
            words(line), on: machine(), variables: variables,
            widths: isTerminal ? [.output: 80, .errors: 80] : [:])
    }

    static let styled = [
        "diff d e", "diff e d", "diff d@1 d", "diff --format json d e", "history", "history d", "history --full d",
        "history d theme", "history --format json d", "explain d", "explain d theme", "explain e theme",
        "explain f size",
        "explain --format json d", "apply --dry-run /home/ada/d.json", "apply /home/ada/d.json", "read d", "read",
        "read d list",
        "read --format json d theme", "find theme --format json",
        "query d TRUEPREDICATE --format json", "domains --hosts --format json",
    ]

    @Test(arguments: styled)
    func `has the same text without the styles`(_ line: String) throws {
        let plain = try Self.run(line, ["TERM": "xterm-256color", "NO_COLOR": "1"])
        #expect(!plain.output.contains("\u{1B}"), "\(plain)")
        for background in ["", "15;0", "0;15"] {
            let outcome = try Self.run(line, ["TERM": "xterm-256color", "COLORFGBG": background])
            #expect(outcome.output.withoutStyles == plain.output)
            #expect(outcome.errors == plain.errors && outcome.status == plain.status)
            #expect(!outcome.output.withoutStyles.contains("\u{1B}"))
            let hasKeys = !["read d list", "read --format json d theme"].contains(line)
            #expect(outcome.output.contains("\u{1B}[") == hasKeys, "\(outcome)")
        }
        let piped = try Self.run(line, ["TERM": "xterm-256color", "COLORFGBG": "15;0"], isTerminal: false)
        #expect(!piped.output.withoutStyles.contains("\u{1B}[0") && !piped.output.contains("38;5"), "\(piped)")
    }

    @Test(
        arguments: [
            (["TERM": "xterm-256color"], "\u{1B}[0;1m~ d theme:\u{1B}[0m"),
            (["TERM": "xterm-256color", "COLORFGBG": "15;0"], "\u{1B}[0;1;38;5;221m~ d theme:\u{1B}[0m"),
            (["TERM": "xterm-256color", "COLORFGBG": "0;default;15"], "\u{1B}[0;1;38;5;94m~ d theme:\u{1B}[0m"),
            (["TERM": "xterm-256color", "COLORFGBG": "0;default"], "\u{1B}[0;1m~ d theme:\u{1B}[0m"),
            (["TERM": "foot", "COLORTERM": "truecolor", "COLORFGBG": "15;0"], "\u{1B}[0;1;38;5;221m~"),
            (["TERM": "xterm-256color", "NO_COLOR": ""], "\u{1B}[0;1m~"),
            (["TERM": "linux", "COLORFGBG": "15;0"], "\u{1B}[0;1m~"),
            (["TERM": "xterm-256color", "NO_COLOR": "1"], "~ d theme:"), (["TERM": "dumb"], "~ d theme:"),
            (["TERM": "vt100"], "~ d theme:"), (["TERM": "xterm-mono"], "~ d theme:"), (["TERM": ""], "~ d theme:"),
        ] as [(EnvironmentVariables, String)])
    func `has the colors that the terminal has for its background`(
        _ variables: EnvironmentVariables, _ start: String
    ) throws {
        let output = try Self.run("apply --dry-run /home/ada/d.json", variables).output
        #expect(output.contains(start), "\(output.debugDescription)")
        #expect(start.contains("\u{1B}") || !output.contains("\u{1B}"), "\(output.debugDescription)")
    }

    /// The lines that a dark terminal shows, with a word for each style.
    @Test(arguments: [
        ("diff d e", "<removed>- list:<> [\"one\",\"\\u001b[31mtwo\"]"),
        ("diff d e", "<added>+ size:<> 2"), ("diff d e", "<changed>- theme:<> \"dark\""),
        ("diff d e", "<changed>+ theme:<> \"light\""),
        ("history d", "    <added>+ size:<> 14"), ("history d", "    <changed>+ size:<> 12"),
        ("history d", "    <removed>- size:<> 12"),
        ("apply --dry-run /home/ada/d.json", "<added>+ d size:<> 4"),
        ("apply --dry-run /home/ada/d.json", "<changed>~ d theme:<> \"dark\" → \"red\""),
        ("explain d theme", "<key>theme<>"), ("explain d theme", "  <set>* user<>  "),
        ("explain d theme", "  <set>\"dark\"<>"), ("explain d theme", "\n    site  "),
        ("explain e theme", "  <forced>* forced<>  "),
        ("explain f size", "<invalid>  ignored: must be an integer<>"), ("explain f size", "\n  * default  "),
        ("read d", "  <key>\"list\"<>: ["), ("read d quality", "50<dim>  (site)<>"),
    ])
    func `has a style for each meaning`(_ line: String, _ text: String) throws {
        let output = try Self.run(line, ["TERM": "xterm-256color", "COLORFGBG": "15;0"]).output
        var named = output
        for (name, code) in [
            ("removed", "1;38;5;210"), ("added", "1;38;5;114"), ("changed", "1;38;5;221"), ("key", "1;38;5;111"),
            ("forced", "38;5;80"), ("invalid", "38;5;210"), ("set", "1"), ("dim", "2"),
        ] { named = named.replacing("\u{1B}[0;\(code)m", with: "<\(name)>") }
        named = named.replacing("\u{1B}[0m", with: "<>")
        #expect(named.contains(text), "\(named)")
    }

    @Test func `has the color of a conflict, as in a form`() throws {
        let pair = try MirrorPair()
        try pair.disagree(on: "theme", "red", "blue")
        let outcome = try runPrefs(
            ["prefs", "explain", "com.example.editor", "theme"], on: pair.machine,
            variables: ["TERM": "xterm-256color", "COLORFGBG": "15;0"], widths: [.output: 80])
        #expect(outcome.output.contains(/\n  \u{1B}\[0;38;5;213m! conflict [0-9a-z]+\u{1B}\[0m: lost at/), "\(outcome)")
    }

    static let answers: [(variables: EnvironmentVariables, answer: String, questions: Int, color: Int?)] = [
        (["TERM": "xterm-256color"], "\u{1B}]11;rgb:ffff/ffff/ffff\u{7}\u{1B}[?6c", 1, 23),
        (["TERM": "tmux-256color"], "\u{1B}]11;rgb:0000/2b2b/3636\u{1B}\\\u{1B}[?6c", 1, 80),
        (["TERM": "xterm-256color"], "\u{1B}]11;rgb:8080/8080/8080\u{7}", 1, nil),
        (["TERM": "xterm-256color"], "\u{1B}[?6c", 1, 6),
        (["TERM": "xterm-256color", "COLORFGBG": "0;15"], "", 0, 23),
        (["TERM": "xterm-256color", "NO_COLOR": "1"], "", 0, nil), (["TERM": "xterm"], "", 0, 6),
        (["TERM": "linux"], "", 0, 6), (["TERM": "vt220"], "", 0, nil),
    ]

    @Test(arguments: answers.indices)
    func `a screen asks for the background, and has the colors for it`(_ index: Int) throws {
        let row = Self.answers[index]
        let machine = try SimulatedMachine()
        try machine.store(["theme": "dark"], as: "d")
        try machine.administrate("/etc/prefs/forced/d.plist", "{ theme = red; }")
        let screen = ScriptedScreen([row.answer].filter { !$0.isEmpty })
        #expect(machine.run(["browse", "d"], on: screen, variables: row.variables).status == .done)
        #expect(screen.questions == row.questions)
        let colored = screen.styles.filter { $0.contains(";3") }
        let color = row.color.map { $0 < 8 ? ";3\($0)" : ";38;5;\($0)" }
        #expect(color.map { color in colored.contains { $0.hasSuffix(color) } } ?? colored.isEmpty, "\(screen.styles)")
    }
}
