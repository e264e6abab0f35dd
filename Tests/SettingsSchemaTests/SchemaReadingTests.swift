import PropertyLists
import SettingsSchema
import TestSupport
import Testing

@Suite struct `A schema` {
    @Test func `is read with every attribute of the sample`() throws {
        let schema = try Sample.schema(Sample.backupText)
        #expect(schema.domain == "com.example.backup")
        #expect(schema.title == "Nightly backup")
        #expect(schema.version == 2)
        #expect(schema.settings.map(\.key) == ["verbose", "keep", "target", "mode", "token", "retries"])
        let keep = try #require(schema.declaration(of: "keep"))
        #expect(keep.rule.type == .integer)
        #expect(keep.defaultValue == 7)
        #expect(keep.rule.minimum == 1)
        #expect(keep.rule.maximum == 365)
        #expect(keep.flags == ["keep"])
        #expect(keep.shorts == ["k"])
        #expect(keep.environment == ["BACKUP_KEEP"])
        #expect(keep.group == "Retention")
        let mode = try #require(schema.declaration(of: "mode"))
        #expect(mode.rule.choices == ["full", "incremental"])
        #expect(mode.defaultValue == "full")
        #expect(schema.declaration(of: "token")?.isSensitive == true)
        #expect(schema.declaration(of: "retries")?.renamedFrom == ["tries"])
        #expect(schema.declaration(of: "retries")?.isMirrored == false)
        #expect(schema.defaultValues() == ["verbose": 0, "keep": 7, "mode": "full", "retries": 3])
    }

    static let everything = """
        { Domain = d; Program = p; ProgramVersion = 2.36; VersionShort = V; Title = t; Summary = s; Version = 4; Closed = YES;
          File = ("~/a", "$X/b"); Mirrored = NO; Format = json;
          Operands = "1...3"; Strict = YES; Exact = YES; Interleaved = NO; Examples = (x, y); Epilogue = E;
          DefaultCommand = restore; Settings = (
            { Key = a; Type = integer; Kind = duration; Default = 90; Minimum = "1m"; Maximum = "1h"; Choices = (60, 90);
              Required = YES; Conflicts = b; Requires = (c, d); ExactlyOneOf = (a, e); AtMostOneOf = (a, f, h); AtLeastOneOf = i; Once = YES; Title = T; Summary = S; Group = G;
              Placeholder = P; Unit = s; Deprecated = "because"; Flag = (aa, ab); Short = (a, "@"); Environment = (A, B);
              Mirrored = NO; Transient = YES; ByHost = YES; RenamedFrom = (old, older); },
            { Key = b; Type = string; MinimumLength = 1; MaximumLength = 9; Pattern = "[a-z]+"; Kind = host; Message = "must be a host"; Positional = 1; },
            { Key = c; Type = array; Elements = { Type = string; Choices = (x, y); ChoiceTitles = (X, Y); }; MinimumCount = 1; MaximumCount = 3;
              Unique = YES; Merge = set; Rest = YES; Default = (x); },
            { Key = d; Type = dictionary; Entries = { Type = integer; Minimum = 0; }; Merge = entries; Default = { n = 1; }; },
            { Key = e; Type = dictionary; Entries = ({ Key = host; Type = string; Required = YES; }, { Key = port; Type = integer; Default = 80; }); },
            { Key = f; Type = boolean; Default = YES; Flag = color; Negatable = YES; Deprecated = YES; },
            { Key = g; Type = data; Sensitive = YES; Flag = token; }, { Key = h; Type = date; Default = "2026-01-31T12:00:00Z"; },
            { Key = i; Type = real; Default = 0.5; }, { Key = j; Type = integer; Repeats = YES; Flag = verbose; },
            { Key = k; Type = array; Elements = { Type = string; }; Separator = ","; Flag = kk; Hidden = YES; },
            { Key = t; Kind = file; DefaultPath = "~/t"; }, { Key = u; Kind = file; DefaultFrom = t; },
            { Key = l; Kind = path; Exists = NO; Flag = ll; AllowsDash = YES; ValueOptional = YES; Implied = x; Values = { "-8" = { Hidden = YES; Title = T; Value = x; }; "-9" = { Value = y; Environment = (Y, Z); }; }; },
            { Key = m; Kind = file; Configuration = YES; }, { Key = n-o; Type = real; Scope = n; },
            { Key = s; Type = array; Merge = list; Identity = id; },
            { Key = v; Type = integer; Words = (From, To); Flag = vv; Default = (1, 2); },
            { Key = p; Map = YES; Entries = { Type = integer; }; Default = { q = 1; }; Flag = pp; Ordered = r; }
          );
          Commands = ({ Name = restore; Title = R; Summary = Q; Aliases = (back); Group = G; Hidden = YES;
              Store = shared; Settings = ({ Key = from; Type = string; }); Commands = ({ Name = inner; Operands = 0; }); });
          Queries = ({ Name = unread; Title = U; Over = ":messages"; Where = "read == NO AND age < $DAYS"; Sort = "-date"; });
          Migrations = ({ From = 1; Rename = { p = q; }; Remove = (r, s); Convert = { port = integer; }; });
        }
        """

    /// The attributes that only the rest operand, or only the head of a script, can have.
    static let ofScripts =
        "{ Settings = ({ Key = a; ChoicesFrom = \"ls\"; }, { Key = b; Type = array; Rest = YES; PassUnknown = YES; }); }"

    @Test(arguments: [PropertyList.Format.xml, .binary, .json, .gnustep])
    func `is written as it was read, in every format`(_ format: PropertyList.Format) throws {
        for text in [Self.everything, Sample.backupText] {
            let schema = try Sample.schema(text)
            var options = PropertyList.WritingOptions()
            options.wrapsInJSON = true
            guard format != .json || text == Sample.backupText else { continue }
            let bytes = try schema.propertyList.serialized(as: format, options: options)
            #expect(try Schema(parsing: bytes) == schema)
        }
    }

    @Test func `that another extends is found by its domain`() throws {
        let own = try Sample.schema(Sample.backupText)
        #expect(own.extends.isEmpty)
        #expect(own.declaration(of: "verbose")?.shorts == ["v"])
        #expect(own.declaration(of: "mode")?.defaultValue == "full")
    }

    @Test(arguments: [
        ("a", ["a": ["b"], "b": ["c"], "c": ["a"]], ":Extends:0: a schema that extends itself: a → b → c → a"),
        ("a", ["a": ["a"]], ":Extends:0: a schema that extends itself: a → a"),
        ("a", ["a": ["x"]], ":Extends:0: there is no schema for x"),
        ("a", ["a": ["b"], "b": ["x"]], ":Extends:0: there is no schema for x"),
        ("a", ["a": ["b", "c"], "b": [], "c": ["b", "d"], "d": ["x"]], ":Extends:1: there is no schema for x"),
    ])
    func `that extends itself or a missing schema is an error`(
        _ domain: String, _ links: [String: [String]], _ message: String
    ) {
        func schema(_ domain: String) -> Schema? {
            guard let next = links[domain] else { return nil }
            var schema = Schema(domain: domain)
            schema.extends = next
            return schema
        }
        let (result, mistakes) = schema(domain)?.resolvingExtensions(schema) ?? (Schema(domain: ""), [])
        #expect(mistakes.map(\.description) == [message])
        #expect(result.extends.isEmpty)
    }

    @Test func `has each attribute in a schema that the tests read and write`() {
        let words = Set(
            (Self.everything + Sample.backupText + Self.ofScripts).split { !($0.isLetter) }.map(String.init))
        for name in Schema.attributeNames.values.joined() { #expect(words.contains(name), "\(name)") }
    }

    @Test func `without errors reports none`() throws {
        #expect(try Sample.schema(Self.everything).mistakes == [])
        #expect(try Sample.schema(Sample.backupText).mistakes == [])
    }
}
