import Commands
import Foundation
import Platform
import PropertyLists
import SimulatedPlatform
import Synchronization
import TestSupport
import Testing

/// Commands on domains that have a schema, in addition to the transcript.
@Suite struct SchemaCommandTests {
    static let text = """
        { Domain = d; Settings = (
            { Key = keep; Type = integer; Default = 7; Minimum = 1; Maximum = 365; Environment = KEEP; },
            { Key = token; Sensitive = YES; },
            { Key = account; Type = dictionary; Entries = ({ Key = name; }, { Key = password; Sensitive = YES; }); },
            { Key = accounts; Type = array; Elements = { Type = dictionary; Entries = ({ Key = name; }, { Key = password; Sensitive = YES; }); }; },
            { Key = typed; Type = dictionary; Entries = ({ Key = password; Sensitive = YES; }); },
            { Key = tags; Type = array; Elements = { Type = integer; }; },
            { Key = retries; Type = integer; RenamedFrom = tries; }, { Key = every; Type = integer; Kind = duration; },
            { Key = ratio; Type = real; }
        ); }
        """

    private func clinic(_ text: String? = Self.text) throws -> Clinic {
        let clinic = try Clinic()
        if let text { try install(text, clinic) }
        return clinic
    }

    private func install(_ text: String, _ clinic: Clinic) throws {
        let outcome = try runPrefs(["prefs", "schema", "install", "-"], input: text, on: clinic.machine)
        #expect(outcome.status == 0, "\(outcome)")
    }

    private func prefs(
        _ line: String, _ clinic: Clinic, input: String = "", variables: EnvironmentVariables = [:],
        program: @escaping @Sendable ([String]) throws -> Int32 = { _ in 127 }
    ) throws -> Transcript.Outcome {
        try runPrefs(ShellScript.words(line), input: input, on: clinic.machine, variables: variables, program: program)
    }

    // MARK: Files by path

    private static let ownFile = "/home/ada/.config/prefs/d.plist"

    @Test(arguments: [
        "prefs export d /home/ada/o", "prefs convert -o /home/ada/o d xml",
        "prefs copy --force --to /home/ada/o d token k", "plutil -convert xml1 -o /home/ada/o \(ownFile)",
        "plutil -convert json -o /home/ada/o \(ownFile)", "plutil -convert swift -o /home/ada/o \(ownFile)",
        "plutil -extract token raw -o /home/ada/o \(ownFile)", "plutil -remove keep -o /home/ada/o \(ownFile)",
    ])
    func `only the user can read a new file with a sensitive value`(_ line: String) throws {
        let clinic = try clinic()
        #expect(try prefs("prefs write d keep 5", clinic).status == 0)
        #expect(try prefs("prefs write d token abc", clinic).status == 0)
        #expect(try prefs(line, clinic) == Transcript.Outcome())
        #expect(try clinic.files.status(of: "/home/ada/o")?.permissions == .privateFile)
    }

    // MARK: The doctor

    static let findings: [(store: String, findings: String, fixes: String)] = [
        ("{\"keep\": \"x\"}", "d keep: ignored in layer user: must be an integer", "prefs delete d keep"),
        ("{\"keep\": 0}", "d keep: ignored in layer user: must be from 1 to 365", "prefs delete d keep"),
        ("{\"tries\": \"x\"}", "d tries: ignored in layer user: must be an integer", "prefs delete d retries"),
        ("{\"kep\": 3}", "d kep: not declared in the schema; did you mean keep?", "prefs rename d kep keep"),
        (
            "{\"kep\": 3, \"keep\": 4}",
            "d kep: not declared in the schema: declare it, or delete it if no program uses it", "prefs delete d kep"
        ),
        (
            "{\"other\": 3}", "d other: not declared in the schema: declare it, or delete it if no program uses it",
            "prefs delete d other"
        ),
    ]

    @Test(arguments: findings)
    func `the doctor finds values that a schema does not allow, and how to fix them`(
        _ row: (store: String, findings: String, fixes: String)
    ) throws {
        let clinic = try clinic(nil)
        #expect(try prefs("prefs import d -", clinic, input: row.store).status == 0)
        #expect(try clinic.doctor().status == 0)
        try install(Self.text, clinic)
        #expect(try clinic.doctor() == Transcript.Outcome(output: "\(row.findings)\n    \(row.fixes)\n", status: 8))
        try clinic.run(row.fixes)
        #expect(try clinic.doctor().status == 0)
    }

    @Test func `the doctor renames a schema that is named after another domain`() throws {
        let clinic = try clinic()
        let folder = "/home/ada/.local/share/prefs/schemas"
        try clinic.files.replace(
            "/home/ada/.local/share/prefs/schemas/e.plist", with: Array("{ Domain = f; }".utf8).span.bytes)
        let fix = "mv -n \(folder)/e.plist \(folder)/f.plist"
        #expect(
            try clinic.doctor().output
                == "\(folder)/e.plist: the schema is ignored: is the schema of another domain, f\n    \(fix)\n")
        try clinic.run(fix)
        #expect(try clinic.doctor().status == 0)
    }

    @Test func `the doctor finds schemas with errors and settings of other versions`() throws {
        let clinic = try clinic()
        #expect(try prefs("prefs write d keep 5", clinic).status == 0)
        try clinic.files.replace(
            "/home/ada/.local/share/prefs/schemas/d.plist",
            with: Array("{ Domain = d; Titel = x; Version = 0; }".utf8).span.bytes)
        let broken = try clinic.doctor()
        #expect(
            broken.output
                == "/home/ada/.local/share/prefs/schemas/d.plist: the schema is ignored: 1:15: :Titel: unknown attribute Titel; did you mean Title? (and 1 more)\n    # prefs schema check /home/ada/.local/share/prefs/schemas/d.plist lists all errors\n"
        )
        #expect(
            try prefs("prefs write d keep 0", clinic).errors.contains(
                "did you mean Title?; the schema is ignored\n"))
        #expect(try prefs("prefs read --effective d keep", clinic).output == "0\n")
        _ = try prefs("prefs delete d keep", clinic)
        #expect(try prefs("prefs import d -", clinic, input: "{\"copies\": 4}").status == 0)
        _ = try prefs(
            "prefs schema install -", clinic,
            input:
                "{ Domain = d; Version = 2; Settings = ({ Key = keep; Type = integer; }); Migrations = ({ From = 1; Rename = { copies = keep; }; }); }"
        )
        let old = try clinic.doctor()
        #expect(
            old.output
                == "\(Clinic.folder)/d.plist: has settings of version 1, but the schema has version 2\n    prefs schema migrate d\n"
        )
        try clinic.run("prefs schema migrate d")
        #expect(try clinic.doctor().status == 0)
        #expect(try prefs("defaults read d", clinic).output == "{\n    keep = 4;\n}\n")
    }

    // MARK: Writes

    static let writes: [(String, String, String)] = [
        ("prefs write d keep 0x10", "prefs read d keep", "16\n"),
        ("prefs write d tags -array 1 2", "prefs read --format json d tags", "[\n  1,\n  2\n]\n"),
        ("prefs write d tags '(1, 2)'", "prefs read --format json d tags", "[\n  1,\n  2\n]\n"),
        ("prefs write d tags 3", "prefs read --format json d tags", "[\n  3\n]\n"),
        ("prefs write d tags -array-add 4", "prefs read --format json d tags", "[\n  4\n]\n"),
        ("prefs write d :tags: 4", "prefs read --format json d tags", "[\n  4\n]\n"),
        ("prefs write d --plist '{ keep = 9; }'", "prefs read-type d keep", "integer\n"),
        ("prefs write --force d keep -int 0", "prefs read --layer user d keep", "0\n"),
        ("prefs write --if-absent --layer user d keep 2", "prefs read d keep", "2\n"),
        ("prefs write d keep --add 3", "prefs read d keep", "10\n"),
        ("prefs write --layer user d keep --add -2", "prefs read d keep", "5\n"),
        ("prefs write d ratio --add 1", "prefs read-type d ratio", "real\n"),
        ("prefs write d retries --add 1", "prefs read d retries", "1\n"),
    ]

    @Test(arguments: ["token", ":account:password"])
    func `a sensitive value that was written is printed masked`(_ key: String) throws {
        let clinic = try clinic()
        let outcome = try prefs("prefs write d \(key) hush --print", clinic)
        #expect(outcome == Transcript.Outcome(output: "\(Masking.dots)\n"))
        #expect(try clinic.machine.fileSystem.contents(of: "/home/ada/.config/prefs/d.plist") != nil)
    }

    @Test(arguments: writes)
    func `a word without a type gets the declared type`(_ write: String, _ read: String, _ output: String) throws {
        let clinic = try clinic()
        #expect(try prefs(write, clinic) == Transcript.Outcome())
        #expect(try prefs(read, clinic).output == output)
    }

    @Test(arguments: [
        ("-int 12", "14", "integer", ""),
        ("-int 12", "1.5", "real", "prefs: k: 1.5 is not an integer, so it is now stored as the real 1.5\n"),
        ("-int 12", "0x1p3", "string", "prefs: k: 0x1p3 is not an integer, so it is now stored as a string\n"),
        ("-float 1.5", "2", "real", ""), ("text", "14", "string", ""),
        ("-int 12", "x", "string", "prefs: k: x is not an integer, so it is now stored as a string\n"),
        (
            "-array 1", "x", "array",
            "prefs: k: holds an array, which text cannot replace; use --array, --json or --plist, or --string TEXT\n"
        ),
    ])
    func `a word keeps the stored type where the schema declares none`(
        _ stored: String, _ word: String, _ type: String, _ errors: String
    ) throws {
        let clinic = try clinic()
        try install("{ Domain = d; Settings = ({ Key = k; Type = any; }); }", clinic)
        #expect(try prefs("prefs write d k \(stored)", clinic) == Transcript.Outcome())
        #expect(try prefs("prefs write d k \(word)", clinic).errors == errors)
        #expect(try prefs("prefs read-type d k", clinic).output == "\(type)\n")
    }

    @Test func `an undeclared key is refused if the schema is closed`() throws {
        let clinic = try clinic()
        try install("{ Domain = d; Closed = YES; Settings = ({ Key = keep; RenamedFrom = (kept); }); }", clinic)
        for program in ["prefs", "defaults"] {
            let refused = try prefs("\(program) write d kep 5", clinic)
            #expect(refused.status == 3 && refused.errors.contains("kep: is not declared; did you mean keep?"))
        }
        #expect(try prefs("prefs write d keep 5", clinic) == Transcript.Outcome())
        #expect(try prefs("prefs write d kept 6", clinic).status == 0)
        #expect(try prefs("prefs write --force d kep 5", clinic).status == 0)
    }

    @Test func `an undeclared key is written with a note`() throws {
        let clinic = try clinic()
        #expect(
            try prefs("prefs write d kep 5", clinic)
                == Transcript.Outcome(
                    errors: "prefs: d: stored kep, which its schema does not declare; did you mean keep?\n"))
        #expect(try prefs("prefs read-type d kep", clinic).output == "string\n")
        #expect(try prefs("defaults write d kepp 5", clinic) == Transcript.Outcome())
    }

    @Test func `a former key means the current one`() throws {
        let clinic = try clinic()
        let note = "prefs: tries was renamed to retries\n"
        #expect(try prefs("prefs write d tries 4", clinic) == Transcript.Outcome(errors: note))
        #expect(try prefs("prefs write d tries 5", clinic) == Transcript.Outcome(errors: note))
        #expect(try prefs("defaults read d", clinic).output == "{\n    retries = 5;\n}\n")
        #expect(try prefs("prefs write d tries x", clinic).status == 3)
        #expect(try prefs("prefs rename d tries keep", clinic) == Transcript.Outcome(errors: note))
        #expect(try prefs("prefs import d -", clinic, input: "{\"tries\": 6}") == Transcript.Outcome(errors: note))
        #expect(try prefs("prefs import d -", clinic, input: "{\"tries\": 7, \"retries\": 8}").status == 0)
        #expect(try prefs("defaults read d", clinic).output == "{\n    keep = 5;\n    retries = 8;\n}\n")
        #expect(try prefs("prefs delete d tries", clinic) == Transcript.Outcome(errors: note))
        #expect(try prefs("defaults read d", clinic).output == "{\n    keep = 5;\n}\n")
    }

    static let refusals: [(String, String, String)] = [
        ("prefs write d keep many", "", "keep = many: must be an integer"),
        ("prefs write d every 5x", "", "every = 5x: must be a duration such as 90, 5m or 1h30m"),
        ("prefs write d ratio half", "", "ratio = half: must be a number"),
        ("prefs write d keep -bool yes", "", "keep = true: must be an integer"),
        ("prefs write d tags -array 1 x", "", ":tags:1 = x: must be an integer"),
        ("prefs write d tags -array-add x", "", ":tags:0 = x: must be an integer"),
        ("prefs write d --plist '{ keep = 0; }'", "", "keep = 0: must be from 1 to 365"),
        ("prefs write d --plist '{ \"$schemaVersion\" = 1; }'", "", "this key is reserved for prefs"),
        ("prefs write d token -int 5", "", "token = ••••: must be a string"),
        ("prefs write d :account:password -int 5", "", ":account:password = ••••: must be a string"),
        ("prefs write d account -string '{ password = sesame; }'", "", "account = ••••: must be a dictionary"),
        ("prefs write d account -dict nam x", "", ":account:nam: is not declared; did you mean name?"),
        ("prefs import d -", "{\"keep\": 0}", "keep = 0: must be from 1 to 365"),
        ("prefs import --replace d -", "{\"keep\": \"1\"}", "keep = 1: must be an integer"),
        ("prefs apply --domain d -", "{\"keep\": 0}", "keep = 0: must be from 1 to 365"),
        ("prefs apply --dry-run --domain d -", "{\"keep\": 0}", "keep = 0: must be from 1 to 365"),
        ("prefs -currentHost write d keep 0", "", "keep = 0: must be from 1 to 365"),
        ("prefs write '~/.config/prefs/d.plist' keep 0", "", "keep = 0: must be from 1 to 365"),
        ("prefs rename d other keep", "", "keep = x: must be an integer"),
    ]

    @Test(arguments: refusals)
    func `every verb rejects values that violate the schema`(_ line: String, _ input: String, _ reason: String) throws {
        let clinic = try clinic()
        #expect(try prefs("prefs write d other x", clinic).status == 0)
        let outcome = try prefs(line, clinic, input: input)
        #expect(outcome.status == 3 && outcome.errors.contains(reason) && outcome.output.isEmpty, "\(outcome)")
        #expect(try prefs("defaults read d", clinic).output == "{\n    other = x;\n}\n")
    }

    @Test func `an edit is checked against the schema before it is saved`() throws {
        let clinic = try clinic()
        #expect(try prefs("prefs write d token abc", clinic).status == 0)
        let texts = Shelf(["0</integer>", "9</integer>"])
        let files = clinic.files
        let outcome = try prefs("prefs edit d", clinic) { arguments in
            let path = try #require(FilePath(arguments.last ?? ""))
            let text = String(decoding: try #require(try files.contents(of: path)), as: UTF8.self)
            #expect(!text.contains("abc") && text.contains("••••"))
            let cleared = text.replacing("<key>keep</key><integer>0</integer>", with: "")
            try files.replace(
                path,
                with: Array(cleared.replacing("</dict>", with: "<key>keep</key><integer>\(texts.next())</dict>").utf8)
                    .span.bytes)
            return 0
        }
        #expect(outcome.status == 0 && outcome.errors.contains("keep = 0: must be from 1 to 365"), "\(outcome)")
        #expect(try prefs("prefs export --format json d /home/ada/copy.json", clinic).status == 0)
        let copy = String(decoding: try #require(try files.contents(of: "/home/ada/copy.json")), as: UTF8.self)
        #expect(copy.contains("abc") && copy.contains("9"))
    }

    // MARK: Secrets

    static let lookers = [
        "prefs read d", "prefs read d token", "prefs read --format raw d token", "prefs read --format typed d",
        "prefs read --format json d", "prefs read", "prefs read --effective d", "prefs read --effective d token",
        "prefs read d :account:password", "prefs read d account", "prefs explain d",
        "prefs explain --format json d token",
        "prefs export d -", "prefs export --effective d -", "prefs history d", "prefs history --full d",
        "prefs history --format json d", "prefs find d", "prefs find hidden", "prefs diff d other",
        "prefs diff other d",
        "prefs diff --format json d other", "prefs diff --format commands d other",
        "prefs diff --format commands other d",
        "prefs diff d@user other", "prefs convert -o - d xml", "prefs doctor", "prefs read '~/.config/prefs/d.plist'",
        "prefs schema show d", "prefs read d :accounts:0", "prefs read --format json d accounts",
        "prefs explain d typed",
    ]

    @Test(arguments: lookers)
    func `a secret is never printed`(_ line: String) throws {
        let clinic = try clinic()
        for write in [
            "prefs write d token hidden", "prefs write d account -dict name ada password hiddentoo",
            "prefs write d token hiddennow",
            "prefs write other token hiddenelsewhere", "prefs write d accounts '({ password = hidden; name = ada; })'",
            "prefs write --force d typed -string '{ password = hidden; }'",
        ] {
            #expect(try prefs(write, clinic) == Transcript.Outcome())
        }
        let outcome = try prefs(line, clinic)
        #expect(!outcome.output.replacing("hiddenelsewhere", with: "").contains("hidden"), "\(outcome)")
        #expect(!outcome.errors.contains("hidden") || line.contains("find"), "\(outcome)")
    }

    @Test func `watch reports that a secret changed, without its value`() throws {
        let clinic = try clinic()
        let machine = clinic.machine
        let outcome = try runPrefs(
            ["prefs", "watch", "d"], on: machine,
            meanwhile: [{ _ = try runPrefs(["prefs", "write", "d", "token", "hidden"], on: machine) }])
        #expect(outcome.output == "user d token: (none) -> ••••\n", "\(outcome)")
    }

    @Test func `no secret is written to a file that others can read`() throws {
        let clinic = try clinic()
        #expect(try prefs("prefs write d keep 5", clinic).status == 0)
        try clinic.setPermissions(0o644, "d.plist")
        let outcome = try prefs("prefs write d token abc", clinic)
        #expect(outcome.status == 3 && outcome.errors.contains("other users can read"))
        #expect(try prefs("prefs write d keep 6", clinic).status == 0)
        try clinic.setPermissions(0o600, "d.plist")
        #expect(try prefs("prefs write d token abc", clinic).status == 0)
        try clinic.setPermissions(0o644, "d.plist")
        #expect(
            try prefs("prefs explain d token", clinic).output.contains(
                "••••  ignored: is sensitive, but other users can read the file"))
        #expect(try prefs("prefs read --effective d token", clinic).status == 1)
        #expect(try prefs("prefs write d keep 7", clinic).status == 3)
    }

    @Test func `a value with a secret is ignored in a file that others can read, and not written there`() throws {
        let clinic = try clinic()
        #expect(try prefs("prefs write d account -dict name ada", clinic).status == 0)
        try clinic.setPermissions(0o644, "d.plist")
        // An entry that is not secret is shown.
        #expect(try prefs("prefs read --effective d :account:name", clinic).output == "ada\n")
        #expect(try prefs("prefs write d account -dict name bob", clinic).status == 0)
        let outcome = try prefs("prefs write d :account:password sesame", clinic)
        #expect(
            outcome.status == 3 && outcome.errors.contains("other users can read"))
        try clinic.setPermissions(0o600, "d.plist")
        #expect(try prefs("prefs write d :account:password sesame", clinic).status == 0)
        try clinic.setPermissions(0o644, "d.plist")
        #expect(try prefs("prefs read --effective d account", clinic).status == 1)
        #expect(
            try prefs("prefs explain d account", clinic).output.contains(
                "ignored: is sensitive, but other users can read the file"))
    }

    // MARK: Values in force

    @Test func `the values in force include variables, former keys and defaults`() throws {
        let clinic = try clinic()
        #expect(try prefs("prefs read --effective d keep", clinic).output == "7\n")
        #expect(try prefs("prefs read --layer user d keep", clinic).status == 1)
        #expect(try prefs("prefs read d keep", clinic, variables: ["KEEP": "9"]).output == "7\n")
        #expect(try prefs("prefs read --effective d keep", clinic, variables: ["KEEP": "9"]).output == "9\n")
        #expect(
            try prefs("prefs read --effective d keep", clinic, variables: ["KEEP": "0"])
                == Transcript.Outcome(errors: "prefs: d: keep in environment: must be from 1 to 365\n", status: 3))
        let explained = try prefs("prefs explain --effective d keep", clinic, variables: ["KEEP": "0"])
        #expect(explained.status == 0 && !explained.output.contains("*"))
        #expect(explained.output.contains("  ! environment") && explained.output.contains("  error: must be from"))
        #expect(try prefs("prefs write d tries -int 4", clinic).status == 0)
        #expect(try prefs("prefs read --effective d retries", clinic).output == "4\n")
        #expect(try prefs("prefs write d keep 5", clinic).status == 0)
        #expect(try prefs("defaults read d", clinic).output == "{\n    keep = 5;\n    retries = 4;\n}\n")
        #expect(try prefs("defaults find --effective keep", clinic).output.contains("keep = 5"))
    }
}

/// Returns texts one by one, and then repeats the last one.
private final class Shelf: Sendable {
    private let texts: Mutex<[String]>

    init(_ texts: [String]) { self.texts = Mutex(texts) }

    func next() -> String { texts.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] } }
}
