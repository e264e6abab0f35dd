import Commands
import Foundation
import Preferences
import PropertyLists
import TestSupport
import Testing

/// The commands that turn one dictionary into another, run by a small interpreter and split by real shells.
@Suite struct CommandLinesTests {
    static let rows: [(old: String, new: String, lines: String)] = [
        ("{a: 1}", "{a: 1}", ""), ("{}", "{a: 1}", "prefs write d a -int 1\n"), ("{a: 1}", "{}", "prefs delete d a\n"),
        ("{}", "{a: \"it's\"}", "prefs write d a -string 'it'\\''s'\n"),
        ("{}", "{a: \"\"}", "prefs write d a -string ''\n"),
        (
            "{}", "{a: 0.5, b: true, c: <00ff>, d: @(0.5), e: nan}",
            """
            prefs write d a -float 0.5
            prefs write d b -bool true
            prefs write d c -data 00ff
            prefs write d d -date 2001-01-01T00:00:00.5Z
            prefs write d e -float nan

            """
        ),
        (
            "{}", "{a: [1, \"b\"], b: [], c: {x: 1}, d: {}, e: [[1]]}",
            """
            prefs write d a -array -int 1 -string b
            prefs write d b -array
            prefs write d c -dict x -int 1
            prefs write d d -dict
            prefs write d e -json '[[1]]'

            """
        ),
        ("{a: {b: 1, c: 2}}", "{a: {b: 2}}", "prefs delete d :a:c\nprefs write d :a:b -int 2\n"),
        ("{a: [1, 2, 3]}", "{a: [0]}", "prefs delete d :a:2\nprefs delete d :a:1\nprefs write d :a:0 -int 0\n"),
        ("{a: [1]}", "{a: [1, 2, 3]}", "prefs write d :a: -int 2\nprefs write d :a: -int 3\n"),
        (
            "{}", "{\":a\": 1, \"\\\\:b\": 2, \"-c\": 3}",
            "prefs write -int 3 -- d -c\nprefs write d '\\:a' -int 1\nprefs write d ':\\\\\\:b' -int 2\n"
        ),
        ("{}", "{a: \"\\u{0}\"}", "prefs write d a -json '\"\\u0000\"'\n"),
        ("{}", "{a: uid(1)}", "prefs write d a -json '{\"$uid\":1}'\n"),
        ("{a: {\"\": 1}}", "{a: {\"\": 2, b: 1}}", "prefs write d a -dict '' -int 2 b -int 1\n"),
        ("{}", "{\"\": 1}", "printf %s '{\"\":1}' | prefs import d -\n"),
        ("{\"\": 1}", "{b: 2}", "printf %s '{\"b\":2}' | prefs import --replace d -\n"),
    ]

    private func dictionary(_ text: String) throws -> PropertyList.Dictionary {
        try #require(try ValueNotation.value(text).dictionaryValue)
    }

    @Test(arguments: rows)
    func `each change is a line`(_ row: (old: String, new: String, lines: String)) throws {
        let (old, new) = (try dictionary(row.old), try dictionary(row.new))
        let text = try CommandLines(from: old, to: new, CommandSpelling("d")).text()
        #expect(text == row.lines)
        #expect(try result(of: ShellScript.pipelines(text), on: old) == new)
    }

    @Test func `a domain that looks like an option follows two dashes`() throws {
        func line(_ domain: String, in layer: Layer = .user) throws -> String {
            try CommandLines(from: [:], to: ["a": 1], CommandSpelling(domain, in: layer)).text()
        }
        #expect(try line("-x") == "prefs write -int 1 -- -x a\n")
        #expect(try line("-g") == "prefs write -g a -int 1\n")
        #expect(try line("a b", in: .userHost) == "prefs -currentHost write 'a b' a -int 1\n")
    }

    @Test func `values that no argument can hold are passed on standard input`() throws {
        let long = String(repeating: "x", count: 200_000)
        let old: PropertyList.Dictionary = ["a": 1, "b": ["c": "short", "d": 1]]
        let new: PropertyList.Dictionary = ["a": .string(long), "b": ["c": .string(long), "d": 2]]
        let text = try CommandLines(from: old, to: new, CommandSpelling("d")).text()
        let pipelines = try ShellScript.pipelines(text)
        #expect(pipelines.count == 1 && pipelines[0].count == 2)
        #expect(try result(of: pipelines, on: old) == new)
    }

    @Test(arguments: [
        ("a", "a"), ("", "''"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("$x", "'$x'"), ("~", "'~'"),
        ("a\nb", "'a\nb'"),
        ("-x", "-x"), ("a=b", "'a=b'"), ("é", "'é'"), ("*", "'*'"), ("!", "'!'"),
        ("com.example.app", "com.example.app"),
        ("'\u{301}$x", "''\\''\u{301}$x'"), ("{", "'{'"), (":a:0", ":a:0"), ("\\", "'\\'"), ("''", "''\\'''\\'''"),
    ])
    func `a word is quoted if a shell would interpret it`(_ text: String, _ word: String) throws {
        #expect(ShellWord.quoted(text) == word)
        #expect(try ShellScript.words("x " + word) == ["x", text])
        #expect(ShellWord.unquoted(word) == text)
    }

    // MARK: Generated pairs

    static let pairs = 500

    @Test func `the commands turn any dictionary into any other in real shells`() throws {
        var mutations = Mutations(SeededGenerator(stream: "pairs"))
        let pairs = (0..<Self.pairs).map { _ in mutations.pair() }
        let texts = try pairs.map { try CommandLines(from: $0.old, to: $0.new, CommandSpelling("d")).text() }
        let split = try texts.map(ShellScript.pipelines)
        for (index, pair) in pairs.enumerated() {
            let result = try result(of: split[index], on: pair.old)
            #expect(result == pair.new, "pair \(index), \(Seed.ofThisRun)\n\(texts[index].prefix(2000))")
        }
        for shell in ["sh", "bash", "zsh"] where Tool.path(of: shell) != nil {
            let calls = try calls(of: texts, by: shell)
            #expect(calls.count == split.joined().count, "\(shell)")
            for (call, pipeline) in zip(calls, split.joined()) {
                #expect(call == Self.expectedCall(pipeline), "\(shell), \(Seed.ofThisRun)")
            }
        }
    }

    @Test func `the generated pairs cover every form of line`() throws {
        // The seed is fixed, because a rare shape might be missing in another run.
        var mutations = Mutations(SeededGenerator(seed: Seed(number: 1), stream: "pairs"))
        let shapes = try (0..<Self.pairs).reduce(into: Set<String>()) { shapes, _ in
            let pair = mutations.pair()
            let text = try CommandLines(from: pair.old, to: pair.new, CommandSpelling("d")).text()
            shapes.formUnion(try ShellScript.pipelines(text).map(Self.shape))
        }
        #expect(shapes == Self.allShapes)
    }

    /// The shapes that the generated pairs must contain.
    private static let allShapes: Set = [
        "delete key", "delete path", "write key", "write key -json", "write path", "write path -json", "append",
        "import", "import --replace",
    ]

    private static func shape(_ pipeline: ShellScript.Pipeline) -> String {
        let words = pipeline[pipeline.count - 1]
        guard words.count > 3, words[1] != "import" else {
            return words.contains("--replace") ? "import --replace" : "import"
        }
        let json = words.count > 4 && words[4] == "-json" ? " -json" : ""
        guard words[3].hasPrefix(":") else { return "\(words[1]) key\(json)" }
        let isAppended = words[1] == "write" && words[3].hasSuffix(":") && !words[3].hasSuffix("\\:")
        return isAppended ? "append" : "\(words[1]) path\(json)"
    }

    /// The expected call of the stub: its arguments, followed by its input.
    private static func expectedCall(_ pipeline: ShellScript.Pipeline) -> [Data] {
        let words = pipeline[pipeline.count - 1].dropFirst().map { Data($0.utf8) }
        return pipeline.count == 1 ? Array(words) : words + [Data(pipeline[0][2].utf8)]
    }

    /// Returns the calls of `prefs` when a shell runs all lines as one script.
    private func calls(of texts: [String], by shell: String) throws -> [[Data]] {
        let stub = """
            prefs() {
                if [ "$1" = import ]; then
                    printf '%s\\0' "$(($# + 1))" "$@"; cat; printf '\\0'
                else
                    printf '%s\\0' "$#" "$@"
                fi
            }

            """
        let folder = try TemporaryFolder()
        try folder.write(stub + texts.joined(), to: "script")
        let run = try Subprocess.run(shell, ["script"], in: folder.url)
        #expect(run.status == 0 && run.errors.isEmpty, "\(shell): \(run.errorText)")
        var fields = run.output.split(separator: 0, omittingEmptySubsequences: false)[...]
        var calls: [[Data]] = []
        while let count = fields.popFirst(), let words = Int(String(decoding: count, as: UTF8.self)) {
            calls.append(fields.prefix(words).map { Data($0) })
            fields = fields.dropFirst(words)
        }
        return calls
    }
}

/// Applies the commands to a dictionary, with the command's own parser and value forms.
func result(of pipelines: [ShellScript.Pipeline], on old: PropertyList.Dictionary) throws -> PropertyList.Dictionary {
    let context = try sampleContext()
    var value = PropertyList.dictionary(old)
    for pipeline in pipelines {
        let words = try #require(pipeline.last)
        guard words.first == "prefs", case .run(let invocation) = try Parser.request(Array(words.dropFirst())) else {
            throw ShellScript.Mistake(description: "no command of ours: \(words)")
        }
        switch invocation.verb.name {
        case "delete":
            let key = try KeyArgument(forWriting: #require(invocation[operand: "KEY"]))
            #expect(try value.remove(at: key.path) != nil)
        case "write":
            let key = try KeyArgument(forWriting: #require(invocation[operand: "KEY"]))
            let request = try ValueArguments.request(invocation.typedValue, in: context)
            try value.set(request.value(replacing: value[key.path], key: key.key), at: key.path)
        default:
            #expect(invocation.verb.name == "import")
            let input = try PropertyList(
                parsing: pipeline[0][2], as: .json, options: .init(unwrapsJSON: true))
            let entries = try #require(input.dictionaryValue)
            guard !invocation.has(.replace) else {
                value = input
                continue
            }
            for entry in entries { try value.set(entry.value, at: [.init(entry.key)]) }
        }
    }
    return value.dictionaryValue ?? [:]
}

/// A generator of pairs of dictionaries that share entries.
struct Mutations {
    private var values: ValueGenerator

    init(_ generator: SeededGenerator) { values = ValueGenerator(generator) }

    mutating func pair() -> (old: PropertyList.Dictionary, new: PropertyList.Dictionary) {
        var old = dictionary()
        // Keys that no command line can name are rare.
        if chance(5) { old.removeAll { $0.key.isEmpty || $0.key.utf8.contains(0) } }
        guard case .dictionary(let new) = changed(.dictionary(old)) else { return (old, old) }
        return chance(2) ? (new, old) : (old, new)
    }

    private mutating func dictionary() -> PropertyList.Dictionary {
        while true {
            if case .dictionary(let dictionary) = values.value(depth: 3) { return dictionary }
        }
    }

    /// Returns true in all of `count` cases but one.
    private mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &values.generator) > 0 }

    private mutating func changed(_ value: PropertyList) -> PropertyList {
        switch value {
        case .dictionary(let entries) where chance(5):
            var result = PropertyList.Dictionary()
            for entry in entries where chance(5) { result[entry.key] = chance(3) ? entry.value : changed(entry.value) }
            if !chance(2) { result[values.text()] = values.value(depth: 2) }
            return .dictionary(result)
        case .array(let elements) where chance(5):
            var result = elements.map { chance(3) ? $0 : changed($0) }
            switch Int.random(in: 0..<3, using: &values.generator) {
            case 0: result.append(values.value(depth: 2))
            case 1: result = result.dropLast(Int.random(in: 0...2, using: &values.generator))
            default: break
            }
            return .array(result)
        default: return values.value(depth: 2)
        }
    }
}
