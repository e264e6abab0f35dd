import Commands
import Foundation
import Platform
import SimulatedPlatform
import TestSupport
import Testing

/// Random command lines of all verbs: what their statuses promise is true, whatever the words are.
@Suite struct `A random command line` {
    /// Command lines in a row on one machine.
    static let perMachine = 25

    /// Enough for `PREFS_COMMAND_LINES` command lines, by default 1,000.
    static let machines: Int =
        ProcessInfo.processInfo.environment["PREFS_COMMAND_LINES"].flatMap { Int($0) }.map { $0 / perMachine } ?? 40

    @Test(arguments: 0..<machines)
    func `has a status of its verb, a message for a failure, and an effect for a success`(_ round: Int) throws {
        var lines = RandomLines(SeededGenerator(stream: "command lines", round: round))
        let machine = try Self.machine()
        for _ in 0..<Self.perMachine {
            let line = lines.next()
            let before = try Self.files(machine)
            let outcome = try runPrefs(["prefs"] + line.words, input: "{\"a\": 1, \"b\": [2]}", on: machine)
            let what =
                "\(Seed.ofThisRun) round \(round): \(line.words.map { String(reflecting: $0) }.joined(separator: " ")) → \(outcome)"
            let status = try #require(ExitStatus(rawValue: outcome.status), "\(what)")
            #expect(line.statuses.contains(status), "\(what)")
            #expect(!outcome.errors.contains("?;"), "\(what)")
            // A search without a match is silent, and lint and schema check print what they find as their output.
            let isFruitless = line.words[0] == "find" && status == .notFound
            if ![.done, .different].contains(status), !isFruitless {
                #expect(!outcome.errors.isEmpty || !outcome.output.isEmpty, "no message: \(what)")
            }
            guard line.isChange else { continue }
            if status != .done {
                #expect(try Self.files(machine) == before, "changed nevertheless: \(what)")
            } else if let (words, exists) = line.check {
                let found = try runPrefs(["prefs"] + words, on: machine)
                let isEmptyRoot = found.status == 1
                #expect(exists ? found.status == 0 : isEmptyRoot, "\(words) → \(found) after \(what)")
            }
        }
    }

    private static func machine() throws -> SimulatedMachine {
        let machine = try SimulatedMachine()
        try machine.setWorkingFolder("/home/ada")
        for (name, text) in [
            ("a.json", "{\"a\": 1, \"b\": [1, 2]}"), ("b.plist", "{ a = 1; c = { d = 2; }; }"),
            ("damaged.json", "{\"a\": "),
            (
                "s.plist",
                "{ Domain = d; Settings = ({ Key = a; Type = integer; }, { Key = token; Sensitive = YES; }); }"
            ),
            ("e.sh", "#!/bin/sh\n#prefs --name=TEXT a name\n"),
        ] {
            let path = FilePath("/home/ada").resolving(try #require(FilePath(name)))
            try machine.fileSystem.replace(path, with: Array(text.utf8).span.bytes)
        }
        for line in ["write d a -int 1", "write d b -dict c 2", "write e a text", "-currentHost write d h 1"] {
            #expect(try WatchTests.prefs(line, on: machine) == 0)
        }
        return machine
    }

    /// The contents of all settings and of the files in the working folder.
    private static func files(_ machine: SimulatedMachine) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        var folders: [FilePath] = ["/home/ada", "/home/ada/.config/prefs", "/home/ada/.config/prefs/ByHost"]
        while let folder = folders.popLast() {
            for name in try machine.fileSystem.names(in: folder) ?? [] where !name.isTemporary {
                let path = folder.appending(name)
                guard try machine.fileSystem.status(of: path)?.kind == .file else { continue }
                files[path.description] = try machine.fileSystem.contents(of: path, limit: 1 << 20)
            }
        }
        return files
    }
}

/// Makes command lines from the table of verbs.
private struct RandomLines {
    struct Line {
        var words: [String]
        var statuses: Set<ExitStatus>
        /// Whether a failure must change nothing.
        var isChange = false
        /// After a success: the words that look for a value, and whether it exists.
        var check: (words: [String], exists: Bool)?
    }

    private var generator: SeededGenerator

    init(_ generator: SeededGenerator) { self.generator = generator }

    private mutating func any<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &generator)]
    }

    private mutating func isTrue(oneIn count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }

    private static let odd = [
        "", " ", "-", "--", "-1", "a\nb", "é", "e\u{301}", "..", "/", "*", "@x", ":", "\\:x", "a:b", "$x", "0x10",
        "1e999",
        "18446744073709551616", "{", "( 1", "<", "\u{202E}x", String(repeating: "x", count: 3000), "true", "--layer",
    ]

    private mutating func word(_ likely: [String]) -> String { isTrue(oneIn: 6) ? any(Self.odd) : any(likely) }

    private static let domains = ["d", "e", "new", "-g", "./a.json", "./b.plist", "./damaged.json", "./new.json"]
    private static let keys = ["a", "b", ":b:c", ":b:0", "token", "h", "new", ":new:x", ":c:d"]
    private static let paths = [
        "./a.json", "./b.plist", "./damaged.json", "./s.plist", "./e.sh", "./missing", "-", ".",
    ]

    private mutating func word(of kind: Operand.Kind) -> String {
        switch kind {
        case .domain, .compared, .domainOrFile, .declaredDomain: word(Self.domains)
        case .key, .declaredKey: word(Self.keys)
        case .file, .folder: word(Self.paths)
        case .version: word(["1", "2", "9"])
        case .query: word(["TRUEPREDICATE", "a > 0", "a LIKE 'x*'", "@all"])
        case .verb: word(["read", "mirror", "schema"])
        case .word: word(["a", "b", "2", "x=1", "dark"])
        case .choice(let choice): word(choice.words)
        case .value, .typedValue: word(["1", "text", "true", "( 1, 2 )"])
        }
    }

    private mutating func word(of kind: Option.Argument.Kind) -> String {
        switch kind {
        case .domain: word(Self.domains)
        case .key: word(Self.keys)
        case .file, .folder: word(Self.paths + ["./out"])
        case .word: word(["a", "b", "1", "2h", "x=1", "a,b"])
        case .store: word(["native", "./store", "foundation", "gnustep"])
        case .number, .version: word(["0", "1", "7"])
        case .versions: word(["1", "1..2"])
        case .program: word(["./e.sh", "missing"])
        case .choice(let choice): word(choice.words)
        }
    }

    private static let types = [
        ["--int", "1"], ["--bool", "yes"], ["--real", "1.5"], ["--string", "x"], ["--array", "a", "b"],
        ["--dict", "k", "v"], ["--array-add", "z"], ["--json", "[1]"], ["--add", "1"], ["--toggle"], ["--date", "now"],
        ["--data", "00ff"], ["--null"],
    ]

    mutating func next() -> Line {
        let path = any(VerbTableTests.everyVerb.filter { $0.last?.parts.isEmpty == true && $0.last?.kind != .hidden })
        let verb = path[path.count - 1]
        var statuses: Set<ExitStatus> = [.done, .usage]
        for verb in path { statuses.formUnion(verb.statuses) }
        var (options, named, end) = ([String](), [String](), [String]())
        for _ in 0..<any([0, 0, 1, 1, 2, 3]) {
            let option = any(verb.options + [.currentHost, .host, .store].filter { _ in isTrue(oneIn: 3) } + [.layer])
            // A program takes all words after it.
            let isLast = option.argument?.kind == .program
            guard option.name != Option.help.name, !isLast || end.isEmpty else { continue }
            let words = [option.name] + (option.argument.map { [word(of: $0.kind)] } ?? [])
            guard !isLast else {
                end = words
                continue
            }
            options += words
            if [Option.layer, .host, .currentHost, .store].map(\.name).contains(option.name) {
                named += words
            }
        }
        var operands: [String] = []
        let form = any(verb.forms(in: .modern))
        var value: [String] = []
        for operand in form {
            let count =
                switch operand.occurrence {
                case .once: 1
                case .option: 0
                case .optional: any([0, 1])
                case .oneOrMore: any([1, 1, 2])
                case .zeroOrMore, .afterDashes: any([0, 1, 2])
                }
            if operand.kind == .typedValue {
                value = any(Self.types)
                continue
            }
            for _ in 0..<count { operands.append(word(of: operand.kind)) }
        }
        let isMisshapen = isTrue(oneIn: 12)
        if isMisshapen { if isTrue(oneIn: 2) { _ = operands.popLast() } else { operands.append(any(Self.odd)) } }
        var line = Line(words: path.map(\.name) + options + operands + value + end, statuses: statuses)
        let names = [
            "write", "delete", "rename", "copy", "import", "undo", "restore", "delete-all", "apply", "convert", "edit",
            "form",
        ]
        guard path.count == 1, names.contains(verb.name) else { return line }
        line.isChange = true
        let isPlain =
            !isMisshapen && !operands.contains { Self.odd.contains($0) }
            && !options.contains { Self.odd.contains($0) || $0 == "--dry-run" || $0 == "--domain" }
        guard isPlain, operands.count > 1 else { return line }
        let read = ["read"] + named + [operands[0]]
        switch verb.name {
        case "write" where form.count == 3: line.check = (read + [operands[1]], true)
        case "delete" where operands[1].last?.isNumber == false: line.check = (read + [operands[1]], false)
        case "rename", "copy":
            guard operands.count == 3, !options.contains("--to") else { break }
            line.check = (read + [operands[2]], true)
        default: break
        }
        return line
    }
}
