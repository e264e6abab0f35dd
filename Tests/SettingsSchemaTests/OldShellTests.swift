import Foundation
import PropertyLists
import SchemaTools
import SettingsSchema
import TestSupport
import Testing

/// Output for bash 3.2 of 2006, which some machines still have. No package of it is available, so the output is
/// checked for all later constructs, and run by the current bash in a mode that is as similar as possible.
@Suite struct `Text for bash 3 2` {
    /// Constructs outside of quotes that bash lacks before a version.
    static let later: [(construct: String, since: String, example: String)] = [
        (#"(declare|local|typeset)\s+-[a-zA-Z]*A"#, "4.0", "declare -A map"),
        (#"\$\{[^}]*(,,?|\^\^?)[^}]*\}"#, "4.0", "${x,,}"),
        (#"(^|[;&|\s])(mapfile|readarray)\b"#, "4.0", "mapfile lines"),
        (#"\|&"#, "4.0", "a |& b"), (#"&>>"#, "4.0", "a &>> b"), (#";;?&"#, "4.0", "a) b ;;&"),
        (#"(^|[;&|\s])coproc\b"#, "4.0", "coproc cat"), (#"globstar|autocd|dirspell"#, "4.0", "shopt -s globstar"),
        (#"\{[0-9]+\.\.[0-9]+\.\.[0-9]+\}"#, "4.0", "{1..9..2}"),
        (#"(declare|local|typeset)\s+-[a-zA-Z]*[ulc]"#, "4.0", "declare -l x"),
        (#"read\s+[^;]*-[iN]\b"#, "4.1", "read -N 3 x"), (#"\{[a-zA-Z_]+\}[<>]"#, "4.1", "exec {fd}<file"),
        (#"printf\s+-v\s+['"]?[a-zA-Z_]+\["#, "4.1", "printf -v 'a[1]' x"),
        (#"BASH_XTRACEFD"#, "4.1", "BASH_XTRACEFD=3"),
        (#"(declare|local|typeset)\s+-[a-zA-Z]*g"#, "4.2", "declare -g x"),
        (#"\[\[\s+-v\s|test\s+-v\s|\[\s+-v\s"#, "4.2", "[[ -v x ]]"),
        (#"\$\{[a-zA-Z_]+\[\s*-[0-9]"#, "4.2", "${a[-1]}"), (#"\$\{[a-zA-Z_@*]+:[^-}]*:\s*-[0-9]"#, "4.2", "${x:1:-1}"),
        (#"lastpipe"#, "4.2", "shopt -s lastpipe"), (#"printf\s+[^;]*%\([^)]*\)T"#, "4.2", "printf '%(%s)T'"),
        (#"\$'[^']*\\[uU]"#, "4.2", #"$'\u00e9'"#), (#"[a-zA-Z_]+\[\s*-[0-9]+\]="#, "4.3", "a[-1]=x"),
        (#"(declare|local|typeset)\s+-[a-zA-Z]*n"#, "4.3", "declare -n x"), (#"wait\s+-[npf]"#, "4.3", "wait -n"),
        (#"\$\{[^}]*@[QEPAaKkUuL]\}"#, "4.4", "${x@Q}"),
        (#"inherit_errexit|local\s+-\s*(;|$)"#, "4.4", "shopt -s inherit_errexit"),
        (#"EPOCHSECONDS|EPOCHREALTIME|SRANDOM"#, "5.0", "$EPOCHSECONDS"), (#"\$\{[ |]"#, "5.3", "${ x; }"),
    ]

    /// Returns the text without the contents of single quotes, in which no character is special. (`'\\''` is a single
    /// quote inside them.)
    static func bare(_ text: String) -> String {
        text.replacing("'\\''", with: "").replacing(/'[^']*'/, with: "''")
    }

    static func findings(in text: String) throws -> [String] {
        try later.filter { try bare(text).contains(Regex($0.construct).anchorsMatchLineEndings()) }.map {
            "\($0.construct), since \($0.since)"
        }
    }

    @Test(arguments: later)
    func `is rejected by this test if it has later features`(_ row: (construct: String, since: String, example: String))
        throws
    {
        // The text in single quotes is code here, not a value.
        let example = row.example.contains("'") ? row.example.replacing("'", with: "\"") : row.example
        let text = row.example.hasPrefix("$'") ? row.example : example
        #expect(try text.contains(Regex(row.construct)), "\(row)")
    }

    private static func schema(_ count: Int) throws -> (schema: Schema, values: PropertyList.Dictionary) {
        let values = `A value in a shell`.values(count)
        var schema = Schema(domain: "d")
        schema.settings =
            values.indices.map { SettingDeclaration("k\($0)") } + [SettingDeclaration("list", ValueRule(.array))]
        var stored = PropertyList.Dictionary(values.enumerated().map { ("k\($0)", .string($1)) })
        stored["list"] = .array(values.map { .string($0) })
        return (schema, stored)
    }

    @Test(arguments: [ScriptOutput.bash, .sh])
    func `has no later features`(_ output: ScriptOutput) throws {
        let (schema, values) = try Self.schema(1000)
        let operands = `A value in a shell`.values(200)
        let text = try ScriptValues(schema: schema, values: values, operands: operands).text(for: output)
        let others = [output.exit(2), output.printing("usage: it's\n", thenExit: 0)]
        for text in [text] + others { #expect(try Self.findings(in: text).isEmpty) }
        // Each line is an assignment of words in single quotes, `set --` with such words, or one of the two last lines.
        let line = /(?:[A-Za-z_][A-Za-z0-9_]*=(?:''|\((?:'' ?)*\))|set --(?: '')*|exit [0-9]+|printf '' '')/
        for text in [text] + others {
            for found in Self.bare(text).split(separator: "\n") where found.wholeMatch(of: line) == nil {
                Issue.record("\(found)")
            }
        }
    }

    @Test func `has no later features in completions, except with errors suppressed`() throws {
        let schema = try Sample.settings(
            ArgumentRow.Schemas.flags.text
                + ", { Key = dir; Kind = folder; Flag = dir; }, { Key = n; Type = integer; Flag = n; }")
        let text = schema.completions(for: .bash, program: "it's a tool")
        #expect(try Self.findings(in: text).isEmpty)
        // `compopt` came with bash 4.0. Without it, more names are offered, but there is no error message.
        for found in text.split(separator: "\n") where found.contains("compopt") {
            #expect(found.contains("2>/dev/null"), "\(found)")
        }
    }

    /// Current shells in modes that resemble old ones, or that offer little more than POSIX.
    static let shells: [ShellSubject] = [
        ShellSubject(
            name: "bash 3.2 by BASH_COMPAT", program: "env", arguments: ["BASH_COMPAT=3.2", "bash"], output: .bash),
        ShellSubject(name: "bash 3.2 by shopt", program: "bash", arguments: ["-O", "compat32"], output: .bash),
        ShellSubject(
            name: "bash 3.2, posix", program: "env", arguments: ["BASH_COMPAT=3.2", "bash", "--posix"], output: .sh),
        ShellSubject(name: "posh", program: "posh", output: .sh),
        ShellSubject(name: "mksh", program: "mksh", output: .sh),
        ShellSubject(name: "yash", program: "yash", arguments: ["-o", "posixly-correct"], output: .sh),
    ].filter { Tool.path(of: $0.program) != nil }

    @Test(arguments: shells)
    func `passes on exactly the given values in the strictest mode`(_ shell: ShellSubject) throws {
        let (schema, stored) = try Self.schema(1000)
        let text = try ScriptValues(schema: schema, values: stored, operands: ["-x", "it's"]).text(for: shell.output)
        let names = schema.settings.map(\.key).filter { $0 != "list" }
        let values = try names.map { try #require(stored[$0]?.stringValue) }
        let strict = shell.output == .bash ? "set -euo pipefail\n" : "set -eu\n"
        let (result, files) = try shell.run(
            strict + shell.taking + shell.showing(names) + shell.showingElements(of: "list"), emitted: text)
        let operands = ["-x", "it's"]
        let wanted = values + (shell.output == .bash ? values + operands : operands + values)
        let found = result.output.split(separator: 0, omittingEmptySubsequences: false).dropLast().map { Array($0) }
        #expect(found == wanted.map { Array($0.utf8) }, "\(Seed.ofThisRun)")
        #expect(
            files == ["emitted", "script"] && result.status == 0 && result.errorText.isEmpty, "\(result.errorText)")
    }
}
