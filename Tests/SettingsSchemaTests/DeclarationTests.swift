import Foundation
import PropertyLists
import Queries
import SettingsSchema
import TestSupport
import Testing

private enum Mode: String, Codable, CaseIterable { case full, incremental }
private struct Server: Codable { var host = "localhost" }

extension Setting where Value == Int {
    static let keep = Setting("keep", default: 7).range(1...365).flag("keep", "k").environment("BACKUP_KEEP")
        .title("Copies to keep").summary("Older copies are removed.").group("Retention")
    static let retries = Setting("retries", default: 3).renamed(from: "tries").mirrored(false)
}

extension Setting where Value == Mode {
    fileprivate static let mode = Setting("mode", default: .full).flag("mode")
}

extension Setting where Value == String {
    static let target = Setting("target", default: "").required().flag("target").kind(.folder).title("Where to")
        .positional()
}

extension Setting where Value == String? {
    static let token = Setting("token", default: nil).sensitive().environment("BACKUP_TOKEN")
}

@Suite struct `A schema in Swift` {
    static let schema = Schema("com.example.backup", title: "Nightly backup", version: 2) {
        Setting.keep
        Setting.target
        Setting.mode
        Setting.token
        Setting.retries
    }

    @Test func `is the schema that a file would hold`() throws {
        let text = Sample.backupText.replacing("Extends = (\"com.example.common\");", with: "Operands = declared;")
        #expect(try Self.schema == Sample.schema(text))
        #expect(try Schema(parsing: Self.schema.propertyList.serialized(as: .xml)) == Self.schema)
        #expect(Self.schema.mistakes.isEmpty)
    }

    @Test func `takes its types from those of Swift`() {
        func row(_ setting: Setting<some Codable & Sendable>) -> String {
            let rule = setting.declaration.rule
            let bounds = [rule.minimum, rule.maximum].map { $0?.plainText ?? "" }.joined(separator: "…")
            let inner = rule.element.map { " of \($0.type.rawValue)" } ?? ""
            return "\(rule.type.rawValue)\(inner) \(bounds) \(setting.declaration.defaultValue?.plainText ?? "-")"
        }
        #expect(row(Setting("k", default: 1)) == "integer … 1")
        #expect(row(Setting("k", default: UInt8(1))) == "integer 0…255 1")
        #expect(row(Setting("k", default: Int16(-1))) == "integer -32768…32767 -1")
        #expect(row(Setting("k", default: UInt64.max)) == "integer 0… 18446744073709551615")
        #expect(row(Setting("k", default: 0.5)) == "real … 0.5")
        #expect(row(Setting("k", default: Float(0.1))) == "real … 0.1")
        #expect(row(Setting("k", default: true)) == "boolean … true")
        #expect(row(Setting("k", default: Date(timeIntervalSinceReferenceDate: 0))) == "date … 2001-01-01T00:00:00Z")
        #expect(row(Setting("k", default: Data([1]))) == "data … AQ==")
        #expect(row(Setting("k", default: ["a"])) == "array of string … [\"a\"]")
        #expect(row(Setting("k", default: Set([1]))) == "array of integer … [1]")
        #expect(row(Setting("k", default: ["a": 1])) == "dictionary of integer … {\"a\":1}")
        #expect(row(Setting<Int?>("k", default: nil)) == "integer … -")
        #expect(row(Setting<Mode?>("k", default: .full)) == "string … full")
        #expect(row(Setting("k", default: Server())) == "dictionary … {\"host\":\"localhost\"}")
        #expect(Setting("k", default: [Mode.full]).declaration.rule.element?.choices == ["full", "incremental"])
    }

    @Test func `declares the rest with modifiers`() {
        let list = Setting("k", default: ["a"]).pattern("[a-z]").choices(["a", "b"]).count(1...).unique().repeats()
            .flag("item", "i")
        #expect(list.declaration.rule.element?.pattern?.text == "[a-z]")
        #expect(list.declaration.rule.element?.choices == ["a", "b"])
        #expect(list.declaration.rule.minimumCount == 1)
        #expect(list.declaration.repeats)
        let text = Setting("k", default: "abc").length(...5).conflicts(with: "x").requires("y").exactlyOne(of: "z")
            .placeholder("P").unit("U").deprecated().transient().byHost()
        #expect(text.declaration.rule.maximumLength == 5)
        #expect(text.declaration.conflicts == ["x"])
        #expect(text.declaration.deprecated == "")
        #expect(Setting<Int?>("k", default: nil).range(2...).declaration.rule.minimum == 2)
        #expect(Setting("k", default: 0.5).range(0...1).declaration.rule.maximum == .real(1))
        #expect(Setting("k", default: 60).kind(.duration).declaration.rule.kind == .duration)
        #expect(Setting("k", default: ["a": 1]).merges().declaration.merge == .entries)
        #expect(Setting("k", default: [""]).rest().declaration.takesRest)
        #expect(Setting("k", default: false).flag("color").negatable().declaration.allFlags == ["color", "no-color"])
    }

    @Test func `reports its own errors`() {
        let schema = Schema("d") {
            Setting("a", default: 9).range(1...5)
            Setting("b", default: "x").pattern("[")
            Setting("a", default: true)
        }
        #expect(
            schema.mistakes.map(\.description) == [
                "Setting(\"a\"): Default: must be from 1 to 5",
                "Setting(\"b\"): Pattern: the pattern ends inside a class at character 2 of the pattern",
                "Setting(\"a\"): Key: duplicate key a",
            ])
    }

    @Test func `has commands, conditions and migrations`() {
        let isNew = true
        let schema = Schema("d", version: 2) {
            for name in ["a", "b"] { Setting(name, default: 1) }
            if isNew { Setting("c", default: 1) } else { Setting("d", default: 1) }
            Schema.Command("restore", title: "Restore") { Setting("from", default: "") }
        }.migrating(from: 1, rename: ["x": "a"], remove: ["y"], convert: ["a": .integer])
            .extending(Schema("base") { Setting("z", default: 0) })
        #expect(schema.settings.map(\.key) == ["z", "a", "b", "c"])
        #expect(schema.commands.map(\.name) == ["restore"])
        #expect(schema.settings(of: "restore").map(\.key) == ["z", "a", "b", "c", "from"])
        #expect(schema.migrations.count == 1)
        #expect(schema.mistakes.isEmpty)
    }
}

@Suite struct `A declaration with errors` {
    private static let rows: [(String, Schema)] = [
        (
            "Setting(\"a\"): Pattern: the pattern ends inside a class at character 2 of the pattern",
            Schema("d") { Setting("a", default: "x").pattern("[") }
        ),
        (
            "Setting(\"b\"): Flag: duplicate flag --all",
            Schema("d") {
                Setting("a", default: 1).flag("all")
                Setting("b", default: 2).flag("all")
            }
        ),
        ("Setting(\"a\"): Default: must be from 1 to 5", Schema("d") { Setting("a", default: 9).range(1...5) }),
        (
            "Setting(\"b\"): Short: duplicate flag -a",
            Schema("d") {
                Setting("a", default: 1).flag("a")
                Setting("b", default: 2).flag("a")
            }
        ),
        ("Setting(\"a\"): Conflicts: unknown key b", Schema("d") { Setting("a", default: 1).conflicts(with: "b") }),
        (
            "Schema.Command(\"x\"), Setting(\"b\"): Default: must be at most 5",
            Schema("d") { Schema.Command("x") { Setting("b", default: 9).range(...5) } }
        ),
        ("Setting(\"a\"): Flag: invalid name a b", Schema("d") { Setting("a", default: 1).flag("a b") }),
        (":Domain: invalid name a/b", Schema("a/b") { Setting("a", default: 1) }),
        (
            "Schema.Command(\"x\"): Name: duplicate command x",
            Schema("d") {
                Schema.Command("x") { Setting("a", default: 1) }
                Schema.Command("x") { Setting("b", default: 1) }
            }
        ),
    ]

    @Test(arguments: rows.indices) func `is rejected by validate, like a file with the same error`(_ row: Int) throws {
        let (message, schema) = Self.rows[row]
        let mistakes = #expect(throws: Schema.Mistakes.self) { try schema.validate() }
        #expect(mistakes?.description == message)
        let read = #expect(throws: Schema.Mistakes.self) { try Schema(parsing: schema.export(as: .binary)) }
        #expect(read?.all.map(\.reason) == mistakes?.all.map(\.reason))
    }

    @Test func `is rejected by validate, although no file can have it`() throws {
        let schema = Schema("d") { Setting("a", default: Decimal(2)).range(...Decimal(string: "1.5")!) }
        let mistakes = #expect(throws: Schema.Mistakes.self) { try schema.validate() }
        #expect(mistakes?.description == "Setting(\"a\"): Default: must be at most 1.5")
    }
}
