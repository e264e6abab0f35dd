import PropertyLists
import Queries
import SchemaTools
import SettingsSchema
import TestSupport
import Testing

@Suite struct JSONSchemaTests {
    /// A part of a JSON Schema, the setting that it becomes, and what is left out.
    static let rows: [(property: String, setting: String, leftOut: [String])] = [
        (##"{"type": "string"}"##, "Type = string;", []),
        (##"{"type": "integer", "minimum": 1, "maximum": 9}"##, "Type = integer; Minimum = 1; Maximum = 9;", []),
        (
            ##"{"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 9}"##,
            "Type = integer; Minimum = 2; Maximum = 8;", []
        ),
        (##"{"type": "integer", "minimum": 1, "exclusiveMinimum": true}"##, "Type = integer; Minimum = 2;", []),
        (
            ##"{"type": "number", "exclusiveMinimum": 0}"##, "Type = real; Minimum = 0;",
            ["1:71: warning: :properties:k:exclusiveMinimum: the bound itself is allowed in a schema"]
        ),
        (##"{"type": ["integer", "number"]}"##, "Type = real;", []),
        (##"{"type": ["string", "null"]}"##, "Type = any;", []),
        (##"{}"##, "Type = any;", []), (##"true"##, "Type = any;", []),
        (##"{"enum": ["on", "off"]}"##, "Type = string; Choices = (on, off);", []),
        (
            ##"{"type": "string", "enum": ["on", null]}"##, "Type = string;",
            ["1:47: warning: :properties:k: enum has no counterpart"]
        ),
        (##"{"const": 3}"##, "Type = integer; Choices = (3);", []),
        (
            ##"{"oneOf": [{"const": "a", "description": "A"}, {"enum": ["b", "c"]}]}"##,
            "Type = string; Choices = (a, b, c);", []
        ),
        (
            ##"{"anyOf": [{"type": "string"}, {"type": "string", "maxLength": 3}]}"##, "Type = string;",
            ["1:47: warning: :properties:k: anyOf has no counterpart"]
        ),
        (
            ##"{"anyOf": [{"type": "string"}, {"type": "boolean"}]}"##, "Type = any;",
            ["1:47: warning: :properties:k: anyOf has no counterpart"]
        ),
        (
            ##"{"anyOf": [{"type": "string"}, {}]}"##, "Type = any;",
            ["1:47: warning: :properties:k: anyOf has no counterpart"]
        ),
        (
            ##"{"type": "string", "minLength": 1, "maxLength": 4, "pattern": "^a+$"}"##,
            "Type = string; MinimumLength = 1; MaximumLength = 4; Pattern = \"a+\";", []
        ),
        (##"{"type": "string", "pattern": "^(?:a|b)$"}"##, "Type = string; Pattern = \"(a|b)\";", []),
        (##"{"type": "number", "enum": [1, 2]}"##, "Type = integer; Choices = (1, 2);", []),
        (
            ##"{"type": "number", "enum": [1, 2.5]}"##, "Type = real;",
            ["1:47: warning: :properties:k: enum has no counterpart"]
        ),
        (
            ##"{"patternProperties": {"^x": {}}, "additionalProperties": {"type": "string"}}"##, "Type = dictionary;",
            ["1:47: warning: :properties:k: patternProperties has no counterpart"]
        ),
        (
            ##"{"type": "integer", "allOf": [{"minimum": 5}, {"minimum": 0, "exclusiveMinimum": true}]}"##,
            "Type = integer; Minimum = 5;",
            ["1:47: warning: :properties:k: minimum has several values, of which one is used"]
        ),
        (##"{"type": "date"}"##, "Type = any;", []),
        (
            ##"{"properties": {"apiToken": {"type": "string"}, "shellPath": {"type": "string"}}, "additionalProperties": false}"##,
            "Type = dictionary; Entries = ({ Key = apiToken; Type = string; Sensitive = YES; }, { Key = shellPath; Type = string; Mirrored = NO; });",
            []
        ),
        (
            ##"{"type": "string", "pattern": "(?=a)b"}"##, "Type = string;",
            ["1:47: warning: :properties:k: Pattern: "]
        ),
        (##"{"type": "string", "format": "uri"}"##, "Type = string; Kind = url;", []),
        (
            ##"{"type": "array", "items": {"type": "integer"}, "uniqueItems": true, "minItems": 1, "maxItems": 2}"##,
            "Type = array; Elements = { Type = integer; }; MinimumCount = 1; MaximumCount = 2; Unique = YES;", []
        ),
        (
            ##"{"type": "object", "additionalProperties": {"type": "boolean"}}"##,
            "Type = dictionary; Entries = { Type = boolean; };", []
        ),
        (
            ##"{"properties": {"x": {"type": "integer"}}, "additionalProperties": false, "required": ["x"]}"##,
            "Type = dictionary; Entries = ({ Key = x; Type = integer; Required = YES; });", []
        ),
        (
            ##"{"type": "object", "properties": {"x": {}}}"##, "Type = dictionary;",
            ["1:47: warning: :properties:k: its entries are left out, because it can have others"]
        ),
        (
            ##"{"type": "integer", "multipleOf": 5}"##, "Type = integer;",
            ["1:47: warning: :properties:k: multipleOf has no counterpart"]
        ),
        (
            ##"{"type": "integer", "title": "T", "description": "Some\n text", "default": 4}"##,
            ##"Type = integer; Title = T; Summary = "Some text Default: 4";"##, []
        ),
        (
            ##"{"type": "string", "deprecated": true, "writeOnly": true}"##,
            "Type = string; Deprecated = YES; Sensitive = YES;", []
        ),
        (##"{"type": "string", "deprecationMessage": "Use x"}"##, ##"Type = string; Deprecated = "Use x";"##, []),
        (##"{"$ref": "#/$defs/a~1b"}"##, "Type = integer; Maximum = 7;", []),
        (
            ##"{"allOf": [{"$ref": "#/$defs/a~1b"}], "maximum": 5}"##, "Type = integer; Maximum = 5;",
            ["1:47: warning: :properties:k: maximum has several values, of which one is used"]
        ),
        (
            ##"{"$ref": "other.json#/x"}"##, "Type = any;",
            ["1:53: warning: :properties:k:$ref: other.json#/x: not in this file"]
        ),
        (##"{"$ref": "#/properties/k"}"##, "Type = any;", []),
        (
            ##"{"type": "integer", "minimum": 9, "maximum": 1}"##, "Type = integer; Maximum = 1;",
            ["1:47: warning: :properties:k: Minimum: is above Maximum"]
        ),
    ]

    @Test(arguments: rows)
    func `a property becomes a setting`(_ row: (property: String, setting: String, leftOut: [String])) throws {
        let json =
            ##"{"$schema": "json-schema.org", "properties": {"k": \##(row.property)}, "##
            + ##""$defs": {"a/b": {"type": "integer", "maximum": 7}}}"##
        let (schema, leftOut) = try #require(Schema.read(jsonSchema: Array(json.utf8), domain: "d"))
        let wanted = try Schema(parsing: Array("{ Domain = d; Settings = ({ Key = k; \(row.setting) }); }".utf8))
        let text = try schema.openStepText()
        #expect(schema.settings == wanted.settings, "\(text)")
        try #require(leftOut.count == row.leftOut.count, "\(leftOut)")
        for (mistake, line) in zip(leftOut, row.leftOut) {
            #expect(
                "\(mistake.isWarning ? "" : "not a warning")\(mistake)".hasPrefix(
                    line.replacing("warning: ", with: "")), "\(mistake)")
        }
    }

    /// A pattern of JSON Schema, which may match a part, texts that it matches, and others.
    @Test(arguments: [
        ("^a|b$", ["apple", "xb", "a"], ["xbx", "ba"]), ("^a|b", ["xbx", "axd"], ["xax"]), ("b", ["b", "abc"], ["a"]),
        ("^(a|b)|(c|d)$", ["axd", "xd"], ["xax"]), ("^a$", ["a"], ["aa", "ba"]), ("^[(?:]+$", ["?:", "("], ["a"]),
        (##"^\\(:a$"##, ["(:a"], [":a"]), (##"^a\\$"##, ["a$", "a$b"], ["a"]), ("^(?:a|(?:b))$", ["a", "b"], ["ab"]),
        (##"^\\S+$"##, ["ab"], ["a b"]), ("a$|^", ["b"], []), ("", ["", "x"], []),
    ]) func `a pattern matches the same texts`(_ pattern: String, _ matches: [String], _ others: [String]) throws {
        let text = ##"{"properties": {"k": {"type": "string", "pattern": "\##(pattern)"}}}"##
        let (schema, leftOut) = try #require(Schema.read(jsonSchema: Array(text.utf8), domain: "d"))
        #expect(leftOut.isEmpty, "\(leftOut)")
        let rule = try #require(schema.settings.first?.rule.pattern)
        for text in matches { #expect(rule.matches(text), "\(rule.text): \(text)") }
        for text in others { #expect(!rule.matches(text), "\(rule.text): \(text)") }
    }

    @Test(arguments: [
        (##"{"$schema": "http://json-schema.org/draft-07/schema##"}"##, true), (##"{"properties": {}}"##, true),
        (##"{"contributes": {"configuration": {"properties": {"a.b": {"type": "string"}}}}}"##, true),
        (##"{"contributes": {"configuration": [{"title": "T"}, {"properties": {}}]}}"##, true),
        (##"{"contributes": {}}"##, false), ("[1]", false), ("{}", false), ("no JSON", false),
        ("{ Domain = d; Settings = (); properties = {}; }", false),
    ])
    func `is distinguished from other files`(_ text: String, _ isSchema: Bool) {
        #expect((Schema.read(jsonSchema: Array(text.utf8), domain: "d") != nil) == isSchema)
    }

    @Test func `a key that no setting can have is left out, and the others stay`() throws {
        let text = ##"{"properties": {"a": {"minimum": 1}, "": {}, "$schemaVersion": {}, "b": {"type": "integer"}}}"##
        let (schema, leftOut) = try #require(Schema.read(jsonSchema: Array(text.utf8), domain: "d"))
        #expect(schema.settings.map(\.key) == ["a", "b"] && schema.settings.map(\.rule.type) == [.any, .integer])
        #expect(leftOut.map(\.path.description) == [":properties:a", ":properties:", ":properties:$schemaVersion"])
    }

    @Test func `the texts of an extension are those of its package.nls.json`() throws {
        let text =
            ##"{"contributes": {"configuration": {"properties": {"a": {"type": "string", "description": "%a%"}, "b": {"type": "string", "description": "%b%"}}}}}"##
        let texts = ##"{"a": "About a"}"##
        let (schema, _) = try #require(
            Schema.read(jsonSchema: Array(text.utf8), domain: "d", texts: Array(texts.utf8)))
        #expect(schema.settings.map(\.summary) == ["About a", nil])
    }

    /// Each part refers to all others, at each depth.
    @Test func `parts that refer to each other end`() throws {
        let names = (0..<30).map { "p\($0)" }
        let properties = names.map { ##""\##($0)": {"$ref": "#/$defs/x"}"## }.joined(separator: ", ")
        let branches = names.map { _ in ##"{"$ref": "#/$defs/y"}"## }.joined(separator: ", ")
        let text =
            ##"{"properties": {"k": {"$ref": "#/$defs/x"}, "l": {"$ref": "#/$defs/y"}}, "##
            + ##""$defs": {"x": {"properties": {\##(properties)}, "additionalProperties": false}, "y": {"anyOf": [\##(branches)]}}}"##
        let (schema, leftOut) = try #require(Schema.read(jsonSchema: Array(text.utf8), domain: "d"))
        #expect(schema.settings.map(\.key) == ["k", "l"])
        #expect(leftOut.contains { "\($0)".contains("too many parts that refer to each other") })
    }

    /// What a schema is shown as in JSON Schema leads back to the same keys, types and rules.
    @Test func `a schema is read back from its JSON Schema`() throws {
        for sample in try [Sample.backupText, SchemaReadingSample.everything].map(Sample.schema) {
            let text = sample.jsonSchemaText()
            let (schema, _) = try #require(Schema.read(jsonSchema: Array(text.utf8), domain: sample.domain))
            let settings = Dictionary(sample.allSettings.map { ($0.key, $0.rule) }) { first, _ in first }
            #expect(!schema.settings.isEmpty)
            for setting in schema.settings {
                guard let rule = settings[setting.key] else { continue }
                // JSON has neither dates nor data.
                guard ![.date, .data].contains(rule.type) else { continue }
                #expect(setting.rule.type == rule.type && setting.rule.choices == rule.choices, "\(setting.key)")
                #expect(setting.rule.minimum == rule.minimum && setting.rule.maximum == rule.maximum, "\(setting.key)")
            }
        }
    }
}
