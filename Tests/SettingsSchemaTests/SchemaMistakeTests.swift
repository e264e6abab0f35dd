import Foundation
import PropertyLists
import SettingsSchema
import TestSupport
import Testing

@Suite struct `A schema with errors` {
    static let planted = """
        {
            Domain = "com.example.backup";
            Titel = "Nightly backup"; // 3
            Settings = (
                { Key = keep; Type = integer; Default = 400; Minimum = 1; Maximum = 365; Flag = keep; Short = k; }, // 5
                { Key = keep; Type = intger; }, // 6: twice
                { Key = mode; Type = string; Choices = (full, 'incremental'); Default = ful; Flag = keep; Short = k; }, // 7: three
                { Key = size; Type = integer; Minimum = 9; Maximum = 5; }, // 8
                /* a comment
                   of two lines */ { Key = name; Pattern = "[a-z"; Environment = "BAD NAME"; }, // 10: two
                { Type = string; }, // 11
                { Key = list; Type = array; MinimumLength = 3; Elements = { Type = string; Kind = fodler; }; } // 12: two
            );
            Extends = ("com.example.nowhere"); // 14
        }
        """

    static let plantedMessages = [
        "3:5: :Titel: unknown attribute Titel; did you mean Title?",
        "5:39: :Settings:0:Default: must be from 1 to 365",
        "6:11: :Settings:1:Key: duplicate key keep",
        "6:23: :Settings:1:Type: unknown name intger; did you mean integer?",
        "7:71: :Settings:2:Default: must be full or incremental; did you mean full?",
        "7:86: :Settings:2:Flag: duplicate flag --keep",
        "7:99: :Settings:2:Short: duplicate flag -k",
        "8:39: :Settings:3:Minimum: is above Maximum",
        "10:42: :Settings:4:Pattern: the pattern ends inside a class at character 5 of the pattern",
        "10:60: :Settings:4:Environment: invalid name BAD NAME",
        "11:9: :Settings:5: Key is missing",
        "12:37: :Settings:6:MinimumLength: does not apply to an array",
        "12:84: :Settings:6:Elements:Kind: unknown name fodler; did you mean folder?",
        "14:16: :Extends:0: there is no schema for com.example.nowhere",
    ]

    @Test func `reports all errors at once, with their positions`() {
        let (_, mistakes) = Schema.read(Array(Self.planted.utf8))
        #expect(mistakes.map(\.description) == Self.plantedMessages)
    }

    @Test func `that is not checked still reports what could not be read`() {
        let (schema, mistakes) = Schema.read(Array(Self.planted.utf8), checks: false)
        #expect(mistakes.map(\.location?.line) == [3, 6, 11, 12, 14])
        #expect(schema?.settings.map(\.key) == ["keep", "keep", "mode", "size", "name", "list"])
    }

    @Test func `reports the same errors in JSON and XML, at other positions`() throws {
        let value = try PropertyList(parsing: Self.planted)
        var options = PropertyList.WritingOptions()
        options.isPretty = true
        for format in [PropertyList.Format.json, .xml, .binary] {
            let bytes = try value.serialized(as: format, options: options)
            let (_, mistakes) = Schema.read(bytes)
            #expect(Set(mistakes.map(\.path)) == Set(Schema.read(value).mistakes.map(\.path)))
            #expect(mistakes.allSatisfy { ($0.location == nil) == (format == .binary) })
            guard format != .binary else { continue }
            let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            for mistake in mistakes {
                let line = try String(lines[#require(mistake.location).line - 1])
                let last = try #require(mistake.path.components.last)
                #expect(last.index != nil || line.contains(last.text), "\(mistake): \(line)")
            }
        }
    }

    @Test(arguments: [
        ("", "a schema, not nothing"), ("{", "2"), ("(a, b)", "must be a dictionary"), ("{}", "Domain is missing"),
    ])
    func `that is not a schema is reported`(_ text: String, _: String) {
        let (_, mistakes) = Schema.read(Array(text.utf8))
        #expect(mistakes.count == 1)
        #expect(throws: Schema.Mistakes.self) { try Schema(parsing: Array(text.utf8)) }
    }

    @Test(arguments: [
        ("Type = integer; MinimumLength = 1;", "MinimumLength: does not apply to an integer"),
        ("Type = string; Unique = YES;", "Unique: does not apply to a string"),
        ("Type = string; Minimum = 1;", "Minimum: does not apply to a string"),
        ("Type = boolean; Choices = (YES);", "Choices: does not apply to a boolean"),
        ("Type = string; Elements = { Type = string; };", "Elements: does not apply to a string"),
        ("Type = string; Kind = duration;", "Kind: does not apply to a string"),
        ("Type = array; Kind = file;", "Kind: does not apply to an array"),
        ("Type = integer; Negatable = YES;", "Negatable: does not apply to an integer"),
        ("Type = string; Repeats = YES;", "Repeats: does not apply to a string"),
        ("Type = string; Rest = YES;", "Rest: does not apply to a string"),
        ("Type = array; Merge = YES;", "Merge: does not apply to an array"),
        ("Type = string; Merge = set;", "Merge: does not apply to a string"),
        ("Type = real; Merge = counter;", "Merge: does not apply to a number"),
        ("Type = boolean; Merge = maximum;", "Merge: does not apply to a boolean"),
        ("Type = array; Merge = list;", "Merge: Identity is missing"),
        ("Type = array; Merge = set; Identity = id;", "Identity: Merge is missing"),
        ("Type = array; Merge = sett;", "Merge: unknown name sett; did you mean set?"),
        ("Type = integer; Sensitive = YES;", "Sensitive: does not apply to an integer"),
        ("Type = string; Sensitive = YES; Short = s;", "Short: cannot be combined with Sensitive"),
        ("Type = string; Sensitive = YES; Positional = 1;", "Positional: cannot be combined with Sensitive"),
        ("Type = integer; Default = abc;", "Default: must be an integer"),
        ("Type = integer; Kind = size; Default = \"4 apples\";", "Default: must be a size such as 512, 4K or 10MB"),
        ("Type = boolean; Default = maybe;", "Default: must be true or false"),
        ("Type = integer; Minimum = x;", "Minimum: must be an integer"),
        ("Type = string; MinimumLength = 5; MaximumLength = 2;", "MinimumLength: is above MaximumLength"),
        ("Type = array; MinimumCount = 5; MaximumCount = 2;", "MinimumCount: is above MaximumCount"),
        ("Type = string; MinimumLength = long;", "MinimumLength: must be a count such as 1"),
        ("Type = string; Required = perhaps;", "Required: must be true or false"),
        ("Type = string; Title = (a);", "Title: must be a string"),
        ("Type = string; Flag = { a = b; };", "Flag: must be a string, or an array of strings"),
        ("Type = string; Flag = \"a b\";", "Flag: invalid name a b"),
        ("Type = string; Short = kk;", "Short: invalid name kk"),
        ("Type = string; Environment = 1A;", "Environment: invalid name 1A"),
        ("Type = string; Conflicts = nobody;", "Conflicts: unknown key nobody"),
        ("Type = string; Requires = k;", "Requires: cannot be combined with itself"),
        ("Type = string; Positional = 0;", "Positional: must be 1 or more"),
        ("Type = array; Positional = 1; Rest = YES;", "Rest: cannot be combined with Positional"),
        ("Type = string; Choices = (a, b, a);", "Choices:2: duplicate choice a"),
        ("Type = string; Choices = (a, bb); MaximumLength = 1;", "Choices:1: must be at most 1 long"),
        (
            "Type = string; Pattern = \"^a\";",
            "Pattern: anchors are not needed, since the whole value must match; remove it, or write \\ before it at character 1 of the pattern"
        ),
        ("Type = String;", "Type: unknown name String; did you mean string?"),
        ("Type = string; Flags = a;", "Flags: unknown attribute Flags; did you mean Flag?"),
        ("Type = string; RenamedFrom = k;", "RenamedFrom: duplicate key k"),
        (
            "Type = array; Elements = { Type = integer; Minimum = 5; Maximum = 1; };",
            "Elements:Minimum: is above Maximum"
        ),
        ("Type = dictionary; Entries = ({ Key = a; }, { Key = a; });", "Entries:1:Key: duplicate key a"),
        ("Type = dictionary; Entries = ({ Type = string; });", "Entries:0: Key is missing"),
    ])
    func `reports an invalid attribute`(_ attributes: String, _ message: String) {
        let text = "{ Domain = d; Settings = ({ Key = k; \(attributes) }); }"
        let (_, mistakes) = Schema.read(Array(text.utf8))
        let messages = mistakes.map { String($0.description.drop { $0 != ":" }.dropFirst().drop { $0 != ":" }) }
        #expect(messages == [": :Settings:0:\(message)"])
    }

    @Test func `reports a rule of merging inside a scope`() {
        let text = "{ Domain = d; Settings = ({ Key = a-b; Type = integer; Merge = counter; Scope = a; }); }"
        let mistakes = Schema.read(Array(text.utf8)).1.map(\.description)
        #expect(mistakes.count == 1 && mistakes[0].hasSuffix("Merge: cannot be combined with Scope"))
    }

    @Test(arguments: [
        (
            "Settings = ({ Key = \"\u{E9}\"; }, { Key = \"e\u{301}\"; }, { Key = \"\u{E9}\"; });",
            "Settings:2:Key: duplicate key \u{E9}"
        ),
        ("Settings = ({ Key = \"\"; });", "Settings:0:Key: invalid name "),
        ("Settings = ({ Key = \"$schemaVersion\"; });", "Settings:0:Key: invalid name $schemaVersion"),
        (
            "Settings = ({ Key = a; Flag = a; Negatable = YES; Type = boolean; }, { Key = b; Flag = \"no-a\"; });",
            "Settings:1:Flag: duplicate flag --no-a"
        ),
        (
            "Settings = ({ Key = a; Flag = t; Sensitive = YES; }, { Key = b; Flag = \"t-file\"; });",
            "Settings:1:Flag: duplicate flag --t-file"
        ),
        (
            "Settings = ({ Key = a; Environment = A; }, { Key = b; Environment = (B, A); });",
            "Settings:1:Environment: duplicate variable A"
        ),
        (
            "Settings = ({ Key = a; Positional = 1; }, { Key = b; Positional = 1; });",
            "Settings:1:Positional: duplicate position 1"
        ),
        (
            "Settings = ({ Key = a; Type = array; Positional = 1; }, { Key = b; Type = array; Rest = YES; });",
            "Settings:1:Rest: cannot be combined with another setting that takes any number of operands"
        ),
        (
            "Settings = ({ Key = a; RenamedFrom = x; }, { Key = b; RenamedFrom = (y, x); });",
            "Settings:1:RenamedFrom: duplicate former key x"
        ),
        (
            "Settings = ({ Key = a; Type = dictionary; Entries = ({ Key = n; Type = integer; Maximum = 1; Default = 2; }); });",
            "Settings:0:Entries:0:Default: must be at most 1"
        ),
        ("Commands = ({ Name = a; }, { Name = a; });", "Commands:1:Name: duplicate command a"),
        ("Commands = ({ Title = a; });", "Commands:0: Name is missing"),
        ("Commands = ({ Name = \"a b\"; });", "Commands:0:Name: invalid name a b"),
        (
            "Settings = ({ Key = a; }); Commands = ({ Name = c; Settings = ({ Key = a; }); });",
            "Commands:0:Settings:0:Key: duplicate key a"
        ),
        (
            "Settings = ({ Key = abc; }, { Key = b; Requires = abd; });",
            "Settings:1:Requires: unknown key abd; did you mean abc?"
        ),
        (
            "Version = 2; Migrations = ({ From = 2; });",
            "Migrations:0:From: the migration from version 2 can never run"
        ),
        ("Version = 3; Migrations = ({ From = 1; }, { From = 1; });", "Migrations:1:From: duplicate version 1"),
        ("Version = 3; Migrations = ({ Rename = {}; });", "Migrations:0: From is missing"),
        (
            "Version = 3; Migrations = ({ From = 1; Convert = { a = int; }; });",
            "Migrations:0:Convert:a: unknown name int; did you mean integer?"
        ),
        ("Version = 0;", "Version: must be a count such as 1"),
        ("Settings = { a = b; };", "Settings: must be an array"),
        ("Settings = (a);", "Settings:0: must be a dictionary"),
    ])
    func `reports an error of the whole schema`(_ attributes: String, _ message: String) {
        let (_, mistakes) = Schema.read(Array("{ Domain = d; \(attributes) }".utf8))
        #expect(mistakes.map { "\($0.path): \($0.reason)" } == [":\(message)"])
    }

    @Test(arguments: ["../../etc", "a/b", ".hidden", "a\u{1}b", String(repeating: "x", count: 181)])
    func `has no domain that cannot be a file name`(_ domain: String) throws {
        let value: PropertyList = ["Domain": .string(domain)]
        #expect(Schema.read(value).mistakes.map(\.path) == [["Domain"]])
    }

    @Test func `cannot nest rules too deeply`() throws {
        func schema(_ depth: Int) -> PropertyList {
            let rule = (0..<depth).reduce(PropertyList.dictionary(["Type": "string"])) { inner, _ in
                ["Type": "array", "Elements": inner]
            }
            var setting = rule.dictionaryValue ?? [:]
            setting["Key"] = "k"
            return ["Domain": "d", "Settings": [.dictionary(setting)]]
        }
        #expect(Schema.read(schema(10)).mistakes.isEmpty)
        #expect(Schema.read(schema(300)).mistakes.count == 1)
    }
}

@Suite struct `The positions of errors` {
    @Test(arguments: [
        ("Domain = d; Titel = x;", "1:13"), ("// c\r\nDomain = d;\r\n\tTitel = x;", "3:2"),
        ("{\"Domain\": \"d\",\n \"Titel\": 1}", "2:2"),
        ("{ 'Domain' = \"a;b}\"; /* ; } */ Titel = <00>; }", "1:32"),
        ("{é = (1, {a = b;}); Titel = x; Domain = d;}", "1:2"),
        ("{ Domain = d; Titel = x; Titel = y; }", "1:26"), ("{ Domain; Titel; }", "1:11"),
        (
            "<plist><dict><!-- <key>Titel</key> --><key>Domain</key><string>d</string>\n<key>Titel</key><array/></dict></plist>",
            "2:1"
        ),
        ("<dict><key>Domain</key><string>d</string><key>x</key><dict><key>Titel</key><true/></dict></dict>", "1:42"),
        ("\u{FEFF}{ Domain = d; Titel = x; }", "1:15"),
    ])
    func `are those of their keys`(_ text: String, _ place: String) throws {
        let (_, mistakes) = Schema.read(Array(text.utf8))
        let location = try #require(mistakes.first?.location)
        #expect("\(location.line):\(location.column)" == place)
    }

    @Test func `are found for a thousand errors`() {
        let rows = (0..<2000).map { "{ Key = k\($0); Tytle = x; }" }.joined(separator: ",\n")
        let (_, mistakes) = Schema.read(Array("{ Domain = d; Settings = (\n\(rows)); }".utf8))
        #expect(mistakes.count == 1000)
        #expect(mistakes.last?.location == TextLocation(line: 1001, column: 15))
    }

    @Test func `are searched in any bytes without a trap`() {
        var generator = SeededGenerator(stream: "places")
        let pieces = [
            "{", "}", "(", ")", "[", "]", "=", ";", ",", ":", "\"", "'", "\\", "<", ">", "/*", "*/", "//", "\n", "Key",
            "Settings", "Domain",
            "<dict>", "</dict>", "<key>", "</key>", "<array>", "<!--", "é", " ", "<plist>", "<true/>", "<![CDATA[",
            "]]>", "<?",
        ]
        for _ in 0..<2000 {
            let text = (0..<Int.random(in: 0...30, using: &generator)).compactMap { _ in
                pieces.randomElement(using: &generator)
            }.joined()
            _ = Schema.read(Array(text.utf8))
            let bytes = Array(text.utf8)
            let paths: [EntryPath] = [["Settings", 0, "Key"], ["Domain"], ["Key", "Key"]]
            let locations = SourceMap(bytes)?.locations(of: paths, in: bytes) ?? [:]
            let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).count
            #expect(locations.values.allSatisfy { $0.line <= lines }, "\(Seed.ofThisRun) \(text)")
        }
    }
}
