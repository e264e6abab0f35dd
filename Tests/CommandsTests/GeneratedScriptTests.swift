import Foundation
import Platform
import PropertyLists
import SchemaTools
import SettingsSchema
import SimulatedPlatform
import TestSupport
import Testing

/// Random declarations with random command lines: a script with its parser built in must behave like one that calls
/// `prefs`.
@Suite struct `A generated declaration` {
    private static let count = Extent.isFull ? 3000 : 300
    private static let batch = 10

    @Test(.enabled(if: Tool.isExpected("dash"), "\(Tool.absence(of: "dash"))"), arguments: 0..<(count / batch))
    func `means the same with and without a parser that is built in`(_ round: Int) throws {
        var random = SeededGenerator(stream: "generated declarations", round: round)
        var built = 0
        for number in 0..<Self.batch {
            let declaration = GeneratedDeclaration(&random)
            guard let text = try parser(declaration.text("sh"), "sh", declaration.lines) else { continue }
            built += 1
            let calls = (0..<20).map { _ in declaration.call(&random) }
            try compare(declaration, calls, "sh", text, in: PublicScript.shells.filter { Tool.isExpected($0[0]) })
            let name = number.isMultiple(of: 2) ? "bash" : "zsh"
            if Tool.isExpected(name), let own = try parser(declaration.text(name), name, declaration.lines) {
                try compare(declaration, calls, name, own, in: [name == "zsh" ? ["zsh", "-f"] : ["bash"]])
            }
        }
        #expect(built > 0, "\(Seed.ofThisRun)")
    }

    /// Returns the script with its parser, or nil if it needs prefs.
    private func parser(_ script: String, _ shell: String, _ lines: [String]) throws -> String? {
        let bench = try ScriptBench(script: script)
        let outcome = try bench.run([], options: ["--build"], script: "/tmp/backup")
        if outcome.status != 0 {
            let isRefused = outcome.errors.split(separator: "\n").allSatisfy {
                $0.hasSuffix("needs prefs, which --build cannot inline")
            }
            #expect(isRefused, "\(Seed.ofThisRun) \(lines): \(outcome.errors)")
            return nil
        }
        return outcome.output
    }

    private func compare(
        _ declaration: GeneratedDeclaration, _ calls: [GeneratedDeclaration.Call], _ name: String, _ built: String,
        in shells: [[String]]
    ) throws {
        let folder = try TemporaryFolder()
        let bench = try ScriptBench(script: declaration.text(name))
        try folder.write(built, to: "built")
        try folder.write(declaration.printing(name), to: "print")
        var driver = "HOME=/home/ada\n"
        var live: [(outcome: Transcript.Outcome, call: GeneratedDeclaration.Call)] = []
        for (index, call) in calls.enumerated() {
            var variables: EnvironmentVariables = [:]
            for variable in call.variables { variables[variable.name] = variable.value }
            let outcome = try bench.run(call.words, variables: variables)
            live.append((outcome, call))
            try folder.write(outcome.output, to: "live\(index)")
            let exports = call.variables.map { "\($0.name)=\(ShellQuoting.word($0.value)); export \($0.name);" }
            let start = "\(exports.joined()) set -- \(call.words.map { ShellQuoting.word($0) }.joined(separator: " "))"
            driver += """
                ( \(start); . ./live\(index); . ./print ); printf '\\035'
                ( \(start); . ./built; . ./print ) 2> errors; printf '\\035%s\\035' "$?"; cat errors; printf '\\036'

                """
        }
        try folder.write(driver, to: "driver")
        for shell in shells {
            let result = try Subprocess.run(shell[0], Array(shell.dropFirst()) + ["./driver"], in: folder.url)
            let records = result.text.split(separator: "\u{1E}", omittingEmptySubsequences: false).map {
                $0.split(separator: "\u{1D}", omittingEmptySubsequences: false).map(String.init)
            }
            #expect(records.count == calls.count + 1, "\(Seed.ofThisRun) \(declaration.lines) \(result.errorText)")
            for (record, (outcome, call)) in zip(records, live) {
                try #require(record.count == 4, "\(Seed.ofThisRun) \(declaration.lines) \(record)")
                let isSame =
                    record[0] == record[1] && record[2] == "\(outcome.output.hasPrefix("exit ") ? 2 : 0)"
                    && record[3] == outcome.errors
                // A built script suggests no spelling, and skips no value after a misspelled flag.
                if !isSame {
                    if outcome.errors.contains("; did you mean ") { continue }
                    let words = call.words.filter { !["--help", "-h", "--version"].contains($0) }
                    if try bench.run(words).errors.contains("; did you mean ") { continue }
                }
                #expect(
                    isSame,
                    """
                    \(Seed.ofThisRun) \(shell) \(call.words) \(call.variables)
                    \(declaration.lines.joined(separator: "\n"))
                    live: \(record[0]) \(outcome.errors)
                    built: \(record[1...])
                    """)
            }
        }
    }
}

/// A declaration of lines, with the words that a command line for it can have.
private struct GeneratedDeclaration {
    /// A command line and the variables of its environment.
    struct Call {
        let words: [String]
        let variables: [(name: String, value: String)]
    }

    private(set) var lines: [String] = []
    private var settings: [SettingDeclaration] = []
    private var flags: [String] = []
    private var commands: [String] = []
    private var variables: [String] = []

    init(_ random: inout SeededGenerator) {
        // Contradictory declarations are not used.
        repeat {
            self = .init(lines: [])
            generate(&random)
            let (schema, mistakes) = Schema.read(lines: lines.joined(separator: "\n"), warns: true)
            guard let schema, !mistakes.contains(where: { !$0.isWarning }) else { continue }
            settings = schema.allSettings
            return
        } while true
    }

    private init(lines: [String]) { self.lines = lines }

    func text(_ shell: String) -> String {
        "#!/bin/\(shell)\n\(lines.joined(separator: "\n"))\neval \"$(prefs args \"$0\" -- \"$@\" || echo exit $?)\"\n"
    }

    /// The code that prints the operands and all variables.
    func printing(_ shell: String) -> String {
        var lines = ["printf '<%s>' \"$@\""]
        for setting in settings where !setting.isMap || shell == "sh" {
            let name = ShellName.variable(for: setting.key, prefix: "")
            guard setting.rule.type == .array || setting.isMap else {
                lines.append("printf ' \(name)=%s' \"${\(name)-unset}\"")
                continue
            }
            let words = shell == "sh" ? "eval \"set -- ${\(name)-}\"" : "set -- \"${\(name)[@]}\""
            lines.append("\(words); printf ' \(name)'; printf '[%s]' \"$@\"")
        }
        for list in settings.orderedLists {
            let words = shell == "sh" ? "eval \"set -- ${\(list)-}\"" : "set -- \"${\(list)[@]}\""
            lines.append("\(words); printf ' \(list)'; printf '(%s)' \"$@\"")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    // MARK: Declarations

    private mutating func generate(_ random: inout SeededGenerator) {
        func chance(_ part: Int) -> Bool { Int.random(in: 0..<part, using: &random) == 0 }
        var head = "#prefs"
        if chance(6) { head += " exact" }
        if chance(6) { head += " interleaved=NO" }
        if chance(6) { head += " version=1" }
        if chance(8) { head += " operands=\(Int.random(in: 0...2, using: &random)).." }
        lines = [head]
        var letters = Array("abcdefgk123@+").map(String.init).shuffled(using: &random)
        var names = ["all", "alter", "keep", "keeping", "name", "no-op", "x-y", "deep", "help-me", "v2"].shuffled(
            using: &random)
        var keys: [String] = []
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            addOption(&letters, &names, &keys, &random)
        }
        if chance(2) { addOperands(&random) }
        guard chance(3) else { return }
        for command in ["add", "remove|rm", "add/deep"].prefix(Int.random(in: 1...3, using: &random)) {
            let isDefault = chance(5) && !command.contains("/")
            lines.append("# @command \(command)\(isDefault ? " {default}" : "")")
            commands += command.split { "|/".contains($0) }.map(String.init)
            if chance(2) { addOption(&letters, &names, &keys, &random) }
            if chance(3) { addOperands(&random) }
        }
    }

    private mutating func addOption(
        _ letters: inout [String], _ names: inout [String], _ keys: inout [String], _ random: inout SeededGenerator
    ) {
        func chance(_ part: Int) -> Bool { Int.random(in: 0..<part, using: &random) == 0 }
        func pick(_ texts: [String]) -> String { texts.randomElement(using: &random) ?? "" }
        var own: [String] = []
        if chance(2), let letter = letters.popLast() { own.append("-\(letter)") }
        if chance(6), let letter = letters.popLast() { own.append("-\(letter)") }
        if own.isEmpty || chance(2), let name = names.popLast() { own.append("--\(name)") }
        guard let last = own.last else { return }
        let key = "key\(keys.count)"
        let isFlag = chance(3)
        var items = ["{key: \(key)}"]
        var words = own.joined(separator: " ")
        if isFlag {
            if last.hasPrefix("--"), chance(4) {
                words = own.dropLast().map { $0 + " " }.joined() + "--[no-]\(last.dropFirst(2))"
                flags.append("--no-\(last.dropFirst(2))")
            } else if chance(4) {
                words += "..."
            }
        } else {
            let type = pick([
                "TEXT", "INT", "full|part", "FILE", "BOOL", "TEXT...", "INT...", "INT,", "TEXT,...", "FILE...",
            ])
            let isOptional = chance(8) && !type.contains("...") && !type.hasSuffix(",")
            words += isOptional ? "[=\(type)]" : "=\(type)"
            let value = type.hasPrefix("INT") ? "5" : type == "BOOL" ? "true" : "full"
            if isOptional { items.append("{implied: \(value)}") }
            var rules: [String] = []
            if type.hasPrefix("INT"), chance(2) { rules.append("[1..9]") }
            if type.hasPrefix("TEXT"), chance(4) { rules.append(pick(["{length: 1..3}", "{pattern: [a-z=]+}"])) }
            if type.hasSuffix(",") || type.hasSuffix("..."), chance(3) {
                rules.append(pick(["{count: ..2}", "{count: 2..}", "{unique}"]))
            }
            if type.hasPrefix("FILE"), chance(3) { rules.append(pick(["{exists}", "{new}"])) }
            if type == "FILE", chance(3) {
                items.append("{default-path: ~/it's a file}")
            } else if !isOptional, chance(4), let name = names.popLast() {
                // The other option has the same rules.
                let other = "from\(keys.count)"
                let rules = rules.joined(separator: " ")
                lines.append("# @option --\(name)=\(type) {key: \(other)} \(rules) {default-from: \(key)}")
                flags.append("--\(name)")
                if chance(2), let last = names.popLast() {
                    lines.append("# @option --\(last)=\(type) \(rules) {default-from: \(other)}")
                    flags.append("--\(last)")
                }
            } else if chance(3) {
                items.append("<\(value)>")
            }
            let isPlain = !lines.contains { $0.hasSuffix("{default-from: \(key)}") }
            if type == "TEXT" || type == "INT", isPlain, chance(5) { items.append("{map}") }
            items += rules
            if chance(6) { items.append("{message: must be 'good'}") }
            if chance(6) { items.append("{dash}") }
            if chance(5) {
                items.append("{env: VARIABLE_\(keys.count)}")
                variables.append("VARIABLE_\(keys.count)")
            }
            if chance(8) { items.append("{required}") }
            if type == "INT" || type == "full|part", chance(3), let letter = letters.popLast() {
                let variable = chance(3) && !type.contains(",") && !type.contains("...") ? "FLAG_\(keys.count)" : nil
                lines.append("# @flag -\(letter) \(key)=\(value)" + (variable.map { " {env: \($0)}" } ?? ""))
                if let variable { variables.append(variable) }
                flags.append("-\(letter)")
            }
        }
        if chance(8) { items.append("{once}") }
        if chance(8) { items.append(pick(["{deprecated}", "{deprecated: too old}"])) }
        if chance(8) { items.append("{ordered: list}") }
        if let other = keys.randomElement(using: &random), chance(4) {
            items.append("{\(pick(["conflicts", "requires", "one-of", "at-most-one", "at-least-one"])): \(other)}")
        }
        lines.append("# @\(isFlag ? "flag" : "option") \(words) \(items.joined(separator: " "))")
        flags += own
        keys.append(key)
    }

    private mutating func addOperands(_ random: inout SeededGenerator) {
        let number = lines.count
        for index in 0..<Int.random(in: 0...2, using: &random) {
            let types = [
                "", ":INT", ":FILE", "!", ":INT!", "...", ":INT...", ":FILE...!", ":FILE {exists}", ":PATH... {exists}",
                ":FOLDER... {new}", "... {count: 2..}",
                ":INT... {count: ..2} [-5..5]", "... {count: 1..3} {unique}",
            ]
            let type = types.randomElement(using: &random) ?? ""
            lines.append("# @arg operand\(number)\(index)\(type)")
        }
        if Int.random(in: 0..<3, using: &random) == 0 {
            lines.append(
                "# @rest rest\(number)\(["", " {pass}", "!", ":FILE", ":PATH {exists}", ":PATH! {new}"].randomElement(using: &random) ?? "")"
            )
        }
    }

    // MARK: Command lines

    private static let values = [
        "1", "-1", "0x3", "12", "x", "a=b", "=", "full", "part", "", "--", "-", "é", "it's", "a,b", "1,2", "$(x)",
        "true", "no", "-v", "a b", "*", "key=3", "3", ".", "/",
    ]

    func call(_ random: inout SeededGenerator) -> Call {
        func chance(_ part: Int) -> Bool { Int.random(in: 0..<part, using: &random) == 0 }
        func value() -> String { Self.values.randomElement(using: &random) ?? "" }
        let words = (0..<Int.random(in: 0...5, using: &random)).map { _ -> String in
            guard let flag = flags.randomElement(using: &random), !chance(3) else {
                return commands.isEmpty || chance(2) ? value() : commands.randomElement(using: &random) ?? ""
            }
            return switch Int.random(in: 0..<8, using: &random) {
            case 0: "\(flag)=\(value())"
            case 1: String(flag.dropLast())
            // Some shells divide a character after letters.
            case 2 where !flag.hasPrefix("--"): flag + value().filter(\.isASCII)
            case 3 where !flag.hasPrefix("--"): flag + (flags.randomElement(using: &random)?.suffix(1) ?? "")
            case 4: ["--help", "-h", "--version", "--zzz", "-Z"].randomElement(using: &random) ?? ""
            default: flag
            }
        }
        let given = variables.filter { _ in chance(3) }.map { (name: $0, value: value()) }
        return Call(words: words, variables: given)
    }
}
