import Foundation
import PropertyLists
import SettingsSchema
import TestSupport
import Testing

@Suite struct `Help` {
    static let text = """
        { Key = target; Required = YES; Kind = folder; Title = "Where to"; Positional = 1; },
        { Key = keep; Type = integer; Default = 7; Minimum = 1; Maximum = 365; Flag = keep; Short = k; Unit = copies;
          Environment = BACKUP_KEEP; Title = "Copies to keep"; Summary = "Older copies are removed."; Group = Retention; },
        { Key = every; Type = integer; Kind = duration; Flag = remove-copies-that-are-older-than; Group = Retention; },
        { Key = mode; Choices = (full, incremental); Default = full; Flag = mode; Title = "How to copy"; },
        { Key = color; Type = boolean; Flag = color; Negatable = YES; Deprecated = "use --theme"; },
        { Key = token; Sensitive = YES; Flag = token; Environment = BACKUP_TOKEN; Title = "選択した秘密 of the server"; },
        { Key = retries; Type = integer; Default = 3; Title = Retries; }
        """

    @Test func `has two columns that fit the terminal`() throws {
        let schema = try Sample.settings(Self.text, rest: "Title = \"Nightly backup\"; Summary = \"Copies a folder\";")
        #expect(schema.helpText(program: "backup", width: 78) == Self.wide)
        for width in [40, 41, 50, 60, 78, 100, 200] {
            let lines = schema.helpText(program: "backup", width: width).split(separator: "\n")
            for line in lines { #expect(String(line).columns <= max(width, 40), "\(width): \(line)") }
        }
    }

    @Test func `shows the values in force and where they come from`() throws {
        let schema = try Sample.settings(Self.text)
        let text = schema.helpText(
            program: "backup", width: 200,
            values: ["keep": .init(9, layer: "user"), "token": .init("abc", layer: "environment")])
        #expect(text.contains("(default 7 copies; variable BACKUP_KEEP; now 9 from user)"))
        #expect(text.contains("(variable BACKUP_TOKEN; now •••• from environment)"))
        #expect(text.contains("(default 3; now not set)"))
        #expect(!text.contains("abc"))
    }

    @Test func `is for a command what it is for a program`() throws {
        let schema = try Sample.settings(
            ArgumentRow.Schemas.commands.text, rest: ArgumentRow.Schemas.commands.rest)
        #expect(schema.helpText(program: "tool", width: 60) == Self.commands)
        #expect(schema.helpText(program: "tool", command: "restore", width: 60) == Self.restore)
    }

    static let wide = """
        """

    static let commands = """
        """

    static let restore = """
        """
}

@Suite struct `A shown schema` {
    @Test func `is a table`() throws {
        #expect(try Sample.schema(Sample.backupText).table() == Self.table)
    }

    @Test func `is a document in Markdown`() throws {
        #expect(try Sample.schema(Sample.backupText).markdown() == Self.markdown)
    }

    @Test func `is a JSON Schema`() throws {
        #expect(try Sample.schema(SchemaReadingSample.everything).jsonSchemaText() == Self.jsonSchema)
    }

    @Test(arguments: [Sample.backupText, SchemaReadingSample.everything, SchemaReadingSample.nasty])
    func `is a page that the checkers of manual pages have nothing to say about`(_ text: String) throws {
        let schema = try Sample.schema(text)
        let page = schema.manualPage(program: "backup-tool", date: "January 31, 2026")
        #expect(page.utf8.allSatisfy { $0 < 0x80 })
        for (tool, arguments) in [("mandoc", ["-T", "lint", "-W", "style"]), ("groff", ["-mdoc", "-ww", "-z", "-Tutf8"])] {
            guard Tool.isExpected(tool) else { continue }
            let result = try Subprocess.run(tool, arguments, input: Data(page.utf8))
            let complaints = (result.text + result.errorText).split(separator: "\n")
                .filter { !$0.contains("referenced manual not found") && !$0.contains("outdated mandoc.db") }
            #expect(complaints.isEmpty, "\(complaints.joined(separator: "\n"))\n\(page)")
        }
    }

    @Test func `has the section OPTIONS of a manual page for itself`() throws {
        #expect(try Sample.schema(Sample.backupText).manualOptions() == Self.options)
    }

    static let table = """
        """

    static let markdown = """
        """

    static let jsonSchema = """
        """

    static let options = """
        """
}

enum SchemaReadingSample: Sendable {
    static let everything = `A schema`.everything
    /// What would be a macro, an escape or a comment where it is not kept from that.
    static let nasty = """
        { Domain = d; Title = ".Bl bad \\\\n(xx"; Summary = "'br. Sh NAME. No more -- than \\"this\\" `x`. é選"; Settings = (
            { Key = a; Flag = Ar; Title = ".It"; Placeholder = "No"; Summary = "One. Two! Three? e.g. four."; },
            { Key = b; Short = b; Placeholder = "a b"; Title = "'x"; }, { Key = c; Type = array; Rest = YES; Placeholder = "."; });
          Commands = ({ Name = Sh; Title = ".Sh"; Settings = ({ Key = x; Flag = Fl; }); }, { Name = empty; }); }
        """
}
