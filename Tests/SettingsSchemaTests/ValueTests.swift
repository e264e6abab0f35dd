import Foundation
import PropertyLists
import SettingsSchema
import TestSupport
import Testing

@Suite struct `A value` {
    @Test(arguments: [
        ("Type = string;", "7", "\"7\""), ("Type = integer;", "7", "7"), ("Type = integer;", "-7", "-7"),
        ("Type = integer;", "0x1F", "31"), ("Type = integer;", "-0x10", "-16"),
        ("Type = integer;", "18446744073709551615", "18446744073709551615"),
        ("Type = integer;", "-9223372036854775808", "-9223372036854775808"),
        ("Type = integer;", "18446744073709551616", nil),
        ("Type = integer;", "-9223372036854775809", nil), ("Type = integer;", "+7", "7"), ("Type = integer;", "", nil),
        ("Type = integer;", "7.0", nil), ("Type = integer;", " 7", nil), ("Type = integer;", "0x", nil),
        ("Type = integer;", "--7", nil), ("Type = integer;", "٧", nil),
        ("Type = real;", "1.5", "1.5"), ("Type = real;", "7", "7.0"), ("Type = real;", "-1e3", "-1000.0"),
        ("Type = real;", "inf", "inf"), ("Type = real;", "-INF", "-inf"), ("Type = real;", "nan", "nan"),
        ("Type = real;", "1e999", nil), ("Type = real;", "0x1p3", nil), ("Type = real;", "", nil),
        ("Type = real;", "1,5", nil),
        ("Type = boolean;", "YES", "true"), ("Type = boolean;", "off", "false"), ("Type = boolean;", "1", "true"),
        ("Type = boolean;", "maybe", nil), ("Type = boolean;", "", nil),
        ("Type = date;", "2026-01-31T12:00:00Z", "@2026-01-31T12:00:00Z"),
        ("Type = date;", "2026-01-31 12:00:00 +0100", "@2026-01-31T11:00:00Z"), ("Type = date;", "now", nil),
        ("Type = date;", "2026-02-31T12:00:00Z", nil), ("Type = date;", "yesterday", nil),
        ("Type = data;", "1234ABCD", "<1234ABCD>"), ("Type = data;", "<12 34>", "<1234>"), ("Type = data;", "", "<>"),
        ("Type = data;", "base64:AQI=", "<0102>"), ("Type = data;", "123", nil), ("Type = data;", "xy", nil),
        ("Type = data;", "base64:?", nil), ("Type = data;", "<", nil),
        ("Type = array;", "(a, 1)", "[\"a\", \"1\"]"), ("Type = array;", "[1, true]", "[1, true]"),
        ("Type = array;", "", "[]"),
        ("Type = array;", "one", "[\"one\"]"), ("Type = array;", "(a", nil),
        ("Type = array;", "{a = b;}", "[\"{a = b;}\"]"),
        ("Type = array; Elements = { Type = integer; };", "(1, 2)", "[1, 2]"),
        ("Type = array; Elements = { Type = integer; };", "5", "[5]"),
        ("Type = array; Elements = { Type = integer; };", "x", nil),
        ("Type = dictionary;", "{a = b;}", "{a: \"b\"}"), ("Type = dictionary;", "x", nil),
        ("Type = dictionary; Entries = { Type = integer; };", "{a = 1;}", "{a: 1}"),
        ("Type = integer; Kind = duration;", "90", "90"), ("Type = integer; Kind = duration;", "5m", "300"),
        ("Type = integer; Kind = duration;", "1h30m", "5400"), ("Type = integer; Kind = duration;", "1w2d", "777600"),
        ("Type = integer; Kind = duration;", "30m1h", nil), ("Type = integer; Kind = duration;", "5 m", nil),
        ("Type = integer; Kind = duration;", "m", nil), ("Type = integer; Kind = duration;", "1h30", nil),
        ("Type = integer; Kind = duration;", "-5s", "-5"),
        ("Type = integer; Kind = duration;", "9999999999999999w", nil),
        ("Type = integer; Kind = duration;", "", nil),
        ("Type = integer; Kind = size;", "4K", "4096"), ("Type = integer; Kind = size;", "4kib", "4096"),
        ("Type = integer; Kind = size;", "10MB", "10000000"), ("Type = integer; Kind = size;", "512", "512"),
        ("Type = integer; Kind = size;", "7E", "8070450532247928832"), ("Type = integer; Kind = size;", "8E", nil),
        ("Type = integer; Kind = size;", "4X", nil), ("Type = integer; Kind = size;", "1K1", nil),
    ])
    func `is read from text as its setting declares`(_ rule: String, _ text: String, _ expected: String?) throws {
        let value = try? Sample.rule(rule).value(ofText: text)
        #expect(try value == expected.map { try ValueNotation.value($0) })
    }

    @Test func `of many choices names the first ones`() throws {
        let choices = (1...30).map { "c\($0)" }.joined(separator: ", ")
        let schema = try Sample.settings("{ Key = k; Choices = (\(choices)); }")
        let message = try #require(schema.problems(with: "zzzzz", forKey: "k").first).description
        #expect(message.hasSuffix("c19, c20 or one of 10 others"))
    }

    @Test(
        arguments: [
            ("duration", 0, "0s"), ("duration", 45, "45s"), ("duration", 90, "1m30s"), ("duration", 5400, "1h30m"),
            ("duration", 604_800, "1w"),
            ("duration", -300, "-5m"), ("duration", .max, "15250284452471w3d15h30m7s"), ("size", 0, "0"),
            ("size", 1000, "1000"),
            ("size", 4096, "4K"), ("size", 1 << 40, "1T"), ("size", 1 << 62, "4E"), ("size", -2048, "-2K"),
        ] as [(String, Int64, String)])
    func `with a unit is shown as it can be entered`(_ kind: String, _ number: Int64, _ text: String) throws {
        let rule = try Sample.rule("Type = integer; Kind = \(kind);")
        let value = PropertyList.integer(PropertyList.Integer(number))
        #expect(rule.text(of: value) == text)
        #expect(try rule.value(ofText: text) == value)
    }

    @Test(arguments: [
        (":keep", ValueType.integer), (":server:port", .integer), (":server:nothing", nil), (":ports:0", .integer),
        (":ports:", .integer), (":keep:0", nil), (":nothing", nil), (":free:a", nil), (":from", .string),
    ])
    func `has the rule for its path`(_ path: String, _ type: ValueType?) throws {
        let schema = try Sample.settings(
            ArgumentRow.Schemas.flags.text, rest: ArgumentRow.Schemas.commands.rest)
        #expect(try schema.rule(at: EntryPath(parsing: path))?.type == type)
    }

    @Test func `now is the given time in whole seconds`() throws {
        let now = Date(timeIntervalSinceReferenceDate: 1.75)
        let second = Date(timeIntervalSinceReferenceDate: 1)
        #expect(try Sample.rule("Type = date;").value(ofText: "now", now: now) == .date(second))
    }

    @Test(arguments: [
        ("Type = integer; Minimum = 1; Maximum = 365;", "1", []),
        ("Type = integer; Minimum = 1; Maximum = 365;", "365", []),
        ("Type = integer; Minimum = 1; Maximum = 365;", "0", ["k = 0: must be from 1 to 365"]),
        ("Type = integer; Minimum = 1; Maximum = 365;", "366", ["k = 366: must be from 1 to 365"]),
        ("Type = integer; Minimum = 1;", "0", ["k = 0: must be at least 1"]),
        ("Type = integer; Maximum = 5;", "6", ["k = 6: must be at most 5"]),
        ("Type = integer; Maximum = 5;", "18446744073709551615", ["k = 18446744073709551615: must be at most 5"]),
        ("Type = integer;", "\"7\"", ["k = 7: must be an integer"]),
        ("Type = integer;", "7.0", ["k = 7.0: must be an integer"]),
        ("Type = integer;", "true", ["k = true: must be an integer"]), ("Type = real;", "7", []),
        ("Type = real; Minimum = 0; Maximum = 1;", "0.5", []),
        ("Type = real; Minimum = 0; Maximum = 1;", "nan", ["k = nan: must be from 0.0 to 1.0"]),
        ("Type = real; Minimum = 0; Maximum = 1;", "inf", ["k = inf: must be from 0.0 to 1.0"]),
        (
            "Type = date; Minimum = \"2026-01-01T00:00:00Z\";", "@2025-12-31T23:59:59Z",
            ["k = 2025-12-31T23:59:59Z: must be at least 2026-01-01T00:00:00Z"]
        ),
        ("Type = string; MinimumLength = 2; MaximumLength = 3;", "\"é\"", ["k = é: must be from 2 to 3 long"]),
        ("Type = string; MaximumLength = 3;", "\"👍👍👍\"", []),
        ("Type = data; MaximumLength = 1;", "<0102>", ["k = AQI=: must be at most 1 long"]),
        ("Type = string; Pattern = \"[a-z]+\";", "\"abc\"", []),
        ("Type = string; Pattern = \"[a-z]+\";", "\"abc1\"", ["k = abc1: must match [a-z]+"]),
        (
            "Type = string; Choices = (full, incremental);", "\"incremntal\"",
            ["k = incremntal: must be full or incremental; did you mean incremental?"]
        ),
        ("Type = string; Choices = (full, incremental);", "\"zzz\"", ["k = zzz: must be full or incremental"]),
        ("Type = integer; Choices = (1, 2, 3);", "4", ["k = 4: must be 1, 2 or 3"]),
        ("Type = real; Choices = (1, 2.5);", "2.0", ["k = 2.0: must be 1.0 or 2.5"]),
        ("Type = integer; Kind = duration;", "-1", ["k = -1: must be at least 0s"]),
        ("Type = integer; Kind = size; Maximum = 9;", "-1", ["k = -1: must be at least 0"]),
        ("Type = integer; Kind = duration; Minimum = -5;", "-1", []),
        ("Type = array; MinimumCount = 2;", "[1]", ["k = [1]: must have at least 2 elements"]),
        ("Type = array; MinimumCount = 2; MaximumCount = 2;", "[1]", ["k = [1]: must have exactly 2 elements"]),
        ("Type = array; Unique = YES;", "[1, 2, 1]", ["k = [1,2,1]: must not have duplicate elements"]),
        ("Type = array; Unique = YES;", "[1, 1.0, true]", []),
        (
            "Type = array; Elements = { Type = integer; Minimum = 0; };", "[1, -1, \"x\"]",
            [":k:1 = -1: must be at least 0", ":k:2 = x: must be an integer"]
        ),
        ("Type = dictionary; Entries = { Type = integer; };", "{a: 1, b: \"x\"}", [":k:b = x: must be an integer"]),
        (
            "Type = dictionary; Entries = ({ Key = host; Type = string; Required = YES; }, { Key = port; Type = integer; });",
            "{port: \"x\", hots: 1}",
            [":k:host: is required", ":k:port = x: must be an integer", ":k:hots: is not declared; did you mean host?"]
        ),
        ("Type = string; Sensitive = YES; Pattern = \"[a-z]+\";", "\"S3CRET\"", ["k = ••••: must match [a-z]+"]),
        ("Type = string; Kind = folder;", "\"\"", ["k = : must be a folder"]),
        ("Type = string; Kind = file;", "\"/a\"", []),
        ("Type = string; Kind = path;", "\"a\\0b\"", ["k = a\\0b: must be a path"]),
        ("Type = string; Kind = url;", "\"https://example.com/a?b\"", []),
        ("Type = string; Kind = url;", "\"mailto:a@b\"", []),
        ("Type = string; Kind = url;", "\"example.com\"", ["k = example.com: must be a URL"]),
        ("Type = string; Kind = url;", "\"ht tp://x\"", ["k = ht tp://x: must be a URL"]),
        ("Type = string; Kind = host;", "\"example.com\"", []), ("Type = string; Kind = host;", "\"localhost:80\"", []),
        ("Type = string; Kind = host;", "\"192.168.0.1\"", []), ("Type = string; Kind = host;", "\"::1\"", []),
        ("Type = string; Kind = host;", "\"[fe80::1]:8080\"", []),
        ("Type = string; Kind = host;", "\"2001:db8::8a2e:370:7334\"", []),
        ("Type = string; Kind = host;", "\"1:2:3:4:5:6:7\"", ["k = 1:2:3:4:5:6:7: must be a host"]),
        ("Type = string; Kind = host;", "\"::\"", []), ("Type = string; Kind = host;", "\"1::8%eth0\"", []),
        ("Type = string; Kind = host;", "\"1::2::3\"", ["k = 1::2::3: must be a host"]),
        ("Type = string; Kind = host;", "\":1::2\"", ["k = :1::2: must be a host"]),
        ("Type = string; Kind = host;", "\"1:2:3:4:5:6:7::8\"", ["k = 1:2:3:4:5:6:7::8: must be a host"]),
        ("Type = string; Kind = host;", "\"-x.com\"", ["k = -x.com: must be a host"]),
        ("Type = string; Kind = host;", "\"a..b\"", ["k = a..b: must be a host"]),
        ("Type = string; Kind = host;", "\"a:99999\"", ["k = a:99999: must be a host"]),
    ])
    func `is checked against its rule`(_ rule: String, _ value: String, _ messages: [String]) throws {
        let schema = try Sample.settings("{ Key = k; \(rule) }")
        #expect(try schema.problems(with: ValueNotation.value(value), forKey: "k").map(\.description) == messages)
    }

    static let related = """
        { Key = a; Conflicts = b; }, { Key = b; }, { Key = c; Requires = d; }, { Key = d; },
        { Key = x; ExactlyOneOf = (y, z); }, { Key = y; ExactlyOneOf = (x, z); }, { Key = z; }, { Key = n; Required = YES; }
        """

    @Test(arguments: [
        ("{n: \"1\", x: \"1\"}", []), ("{x: \"1\"}", ["n: is required"]),
        ("{n: \"1\", x: \"1\", a: \"1\", b: \"1\"}", ["a: cannot be given together with b"]),
        ("{n: \"1\", x: \"1\", c: \"1\"}", ["c: requires d"]), ("{n: \"1\", x: \"1\", c: \"1\", d: \"1\"}", []),
        ("{n: \"1\"}", ["x: exactly one of x, y and z must be given"]),
        ("{n: \"1\", y: \"1\", z: \"1\"}", ["x: exactly one of x, y and z must be given"]),
        ("{n: \"1\", x: \"1\", nn: \"1\"}", ["nn: is not declared; did you mean n?"]),
        ("{n: \"1\", x: \"1\", \"$schemaVersion\": 1}", []),
    ])
    func `is checked together with the others of its domain`(_ values: String, _ messages: [String]) throws {
        var schema = try Sample.settings(Self.related)
        schema.isClosed = true
        let values = try #require(ValueNotation.value(values).dictionaryValue)
        #expect(schema.problems(in: values).map(\.description) == messages)
    }
}
