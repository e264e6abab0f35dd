import Foundation
import PropertyLists
import SchemaTools
import SettingsSchema
import TestSupport
import Testing

/// Tests a script from its text to its variables, without reading files or the environment.
@Suite(.enabled(if: Tool.isExpected("bash"), "\(Tool.absence(of: "bash"))"))
struct `A script` {
    static let script = """
        #!/bin/bash
        #prefs{
        #   Domain = com.example.backup; Title = "Nightly backup";
        #   Settings = (
        #       { Key = keep; Type = integer; Default = 7; Minimum = 1; Flag = keep; Short = k; Environment = KEEP; },
        #       { Key = "dry-run"; Type = boolean; Default = NO; Flag = dry-run; Short = n; },
        #       { Key = exclude; Type = array; Elements = { Type = string; }; Flag = exclude; Repeats = YES; },
        #       { Key = target; Required = YES; Positional = 1; Kind = folder; }
        #   );
        #}
        set -euo pipefail
        eval "$(cat emitted)"
        echo "keep $keep"
        if $dry_run; then echo "dry run"; fi
        for name in ${exclude[@]+"${exclude[@]}"}; do echo "not $name"; done
        echo "to $target, $# left"
        """

    /// The output of `prefs args`: the text to run, and the errors.
    static func emitted(
        _ arguments: [String], _ variables: [String: String], stored: PropertyList.Dictionary
    ) throws -> (text: String, errors: String) {
        guard case .inline(let text) = try ScriptReference(script: script) else { return ("", "no schema") }
        let schema = try Schema(parsing: Array(text.utf8))
        let output = try #require(ScriptOutput(firstLine: script.prefix { $0 != "\n" }))
        switch schema.arguments(arguments, in: .init(variables: variables, stored: stored)) {
        case .help(let request):
            return (output.printing(schema.helpText(program: "backup", command: request.command), thenExit: 0), "")
        case .version: return (output.printing(schema.versionText(program: "backup"), thenExit: 0), "")
        case .storing: return (output.exit(0), "")
        case .mistakes(let mistakes): return (output.exit(2), mistakes.map { "\($0)\n" }.joined())
        case .values(let arguments):
            let layers = [arguments.values, arguments.environment, stored, schema.defaultValues()]
            let values = schema.settings.compactMap { setting in
                layers.lazy.compactMap { $0[setting.key].map { setting.rule.adapted($0) } }
                    .first { setting.rule.problems(with: $0).isEmpty }.map { (setting.key, $0) }
            }
            let flat = PropertyList.Dictionary(values)
            return (try ScriptValues(schema: schema, values: flat, operands: arguments.operands).text(for: output), "")
        }
    }

    @Test(
        arguments: [
            (["/mnt"], [:], [:], "keep 7\nto /mnt, 0 left\n", 0),
            (
                ["-nk3", "/it's here", "--exclude", "*", "--exclude=a b"], [:], [:],
                "keep 3\ndry run\nnot *\nnot a b\nto /it's here, 0 left\n", 0
            ),
            (["/mnt"], ["KEEP": "5"], ["keep": 9], "keep 5\nto /mnt, 0 left\n", 0),
            ([], [:], ["keep": 9, "target": "/from/the/store"], "keep 9\nto /from/the/store, 0 left\n", 0),
            (["/mnt"], [:], ["keep": 0, "dry-run": "perhaps"], "keep 7\nto /mnt, 0 left\n", 0),
            (["--version"], [:], [:], "backup: settings of com.example.backup, version 1\n", 0),
            (["--kep", "3"], [:], [:], "", 2), ([], [:], [:], "", 2),
            (["$(touch canary)`touch canary`"], [:], [:], "keep 7\nto $(touch canary)`touch canary`, 0 left\n", 0),
        ] as [([String], [String: String], PropertyList.Dictionary, String, Int32)])
    func `gets its variables, or ends`(
        _ arguments: [String], _ variables: [String: String], _ stored: PropertyList.Dictionary, _ output: String,
        _ status: Int32
    ) throws {
        let (text, errors) = try Self.emitted(arguments, variables, stored: stored)
        let shell = ShellSubject(name: "bash", program: "bash", output: .bash)
        let (result, files) = try shell.run(Self.script, emitted: text)
        #expect(result.text == output)
        #expect(result.status == status)
        #expect(result.errorText.isEmpty)
        #expect(errors.isEmpty == (status == 0))
        #expect(files == ["emitted", "script"])
    }
}
