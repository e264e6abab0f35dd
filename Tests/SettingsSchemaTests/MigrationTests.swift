import PropertyLists
import SettingsSchema
import TestSupport
import Testing

@Suite struct `A migration` {
    static let text = """
        { Key = port; Type = integer; }, { Key = retries; Type = integer; RenamedFrom = (tries, attempts); }
        """
    static let migrations = """
        Version = 3; Migrations = (
            { From = 2; Rename = { b = c; }; Remove = (junk); },
            { From = 1; Rename = { a = b; }; Convert = { port = integer; flag = boolean; list = array; }; });
        """

    @Test(arguments: [
        ("{}", "{}", []),
        (
            "{a: 1}", "{c: 1, \"$schemaVersion\": 3}",
            ["a is now b", "b is now c", "migrated from version 1 to version 3"]
        ),
        (
            "{b: 1, \"$schemaVersion\": 2}", "{c: 1, \"$schemaVersion\": 3}",
            ["b is now c", "migrated from version 2 to version 3"]
        ),
        ("{a: 1, \"$schemaVersion\": 3}", "{a: 1, \"$schemaVersion\": 3}", []),
        (
            "{a: 1, b: 2}", "{c: 2, \"$schemaVersion\": 3}",
            ["a was removed because b already has a value", "b is now c", "migrated from version 1 to version 3"]
        ),
        (
            "{junk: 1, x: 2}", "{x: 2, \"$schemaVersion\": 3}",
            ["junk was removed", "migrated from version 1 to version 3"]
        ),
        (
            "{port: \"8080\", flag: 1, list: \"x\"}", "{port: 8080, flag: true, list: [\"x\"], \"$schemaVersion\": 3}",
            [
                "port is now an integer", "flag is now a boolean", "list is now an array",
                "migrated from version 1 to version 3",
            ]
        ),
        (
            "{port: \"eighty\"}", "{port: \"eighty\", \"$schemaVersion\": 3}",
            ["port could not be converted to an integer and is unchanged", "migrated from version 1 to version 3"]
        ),
        ("{tries: 5, \"$schemaVersion\": 3}", "{retries: 5, \"$schemaVersion\": 3}", ["tries is now retries"]),
        (
            "{tries: 5, attempts: 6, \"$schemaVersion\": 3}", "{retries: 5, \"$schemaVersion\": 3}",
            ["tries is now retries", "attempts was removed because retries already has a value"]
        ),
        (
            "{x: 1, \"$schemaVersion\": \"2\"}", "{x: 1, \"$schemaVersion\": 3}",
            ["migrated from version 2 to version 3"]
        ),
        (
            "{x: 1, \"$schemaVersion\": \"none\"}", "{x: 1, \"$schemaVersion\": 3}",
            ["migrated from version 1 to version 3"]
        ),
    ])
    func `runs from version to version, once`(_ before: String, _ after: String, _ notes: [String]) throws {
        let schema = try Sample.settings(Self.text, rest: Self.migrations)
        let values = try #require(ValueNotation.value(before).dictionaryValue)
        let migrated = try schema.migrated(values)
        #expect(try PropertyList.dictionary(migrated.values) == ValueNotation.value(after))
        #expect(migrated.steps.map(\.description) == notes)
        let again = try schema.migrated(migrated.values)
        #expect(again.values == migrated.values)
        #expect(again.steps.isEmpty)
    }

    @Test func `renames the former keys of nested commands`() throws {
        let schema = try Sample.schema(
            """
            { Domain = d; Commands = ({ Name = remote; Commands = (
                { Name = add; Settings = ({ Key = url; RenamedFrom = address; }); }); }); }
            """)
        #expect(try schema.migrated(["address": "x"]).values == ["url": "x"])
    }

    static let ofCommands = """
        { Domain = d; Version = 3; Migrations = (
              { From = 1; Rename = { a = b; pass = token; }; Convert = { port = integer; }; },
              { From = 2; Rename = { b = c; }; Remove = (junk); });
          Commands = ({ Name = serve; Store = own; Settings = (
              { Key = port; Type = integer; }, { Key = c; }, { Key = token; Sensitive = YES; });
              Commands = ({ Name = log; Settings = ({ Key = level; }); }); }); }
        """

    @Test(
        arguments: [
            (
                "{serve: {port: \"80\"}}", "{serve: {port: 80}, \"$schemaVersion\": 3}",
                [":serve:port is now an integer"]
            ),
            (
                "{serve: {a: \"x\", log: {b: 1, junk: 2}}, junk: 3}",
                "{serve: {c: \"x\", log: {c: 1}}, \"$schemaVersion\": 3}",
                [
                    ":serve:a is now :serve:b", "junk was removed", ":serve:b is now :serve:c",
                    ":serve:log:b is now :serve:log:c", ":serve:log:junk was removed",
                ]
            ),
            (
                "{serve: {a: \"x\", c: \"y\"}}", "{serve: {c: \"y\"}, \"$schemaVersion\": 3}",
                [":serve:a is now :serve:b", ":serve:b was removed because :serve:c already has a value"]
            ),
            ("{serve: 5}", "{serve: 5, \"$schemaVersion\": 3}", []),
        ] as [(String, String, [String])])
    func `reaches the dictionaries of commands`(_ before: String, _ after: String, _ notes: [String]) throws {
        let schema = try Sample.schema(Self.ofCommands)
        let migrated = try schema.migrated(try #require(ValueNotation.value(before).dictionaryValue))
        #expect(try PropertyList.dictionary(migrated.values) == ValueNotation.value(after))
        #expect(migrated.steps.map(\.description) == notes + ["migrated from version 1 to version 3"])
        #expect(schema.masked(["pass": "s3cret", "c": "x"], under: "serve") == ["pass": "••••", "c": "x"])
        #expect(schema.isSensitive([EntryPath.Component("serve"), EntryPath.Component("pass")]))
    }

    @Test func `never goes back`() throws {
        let schema = try Sample.settings(Self.text, rest: Self.migrations)
        let failure = #expect(throws: Schema.NewerVersion.self) { try schema.migrated(["$schemaVersion": 4]) }
        #expect(failure?.stored == 4)
        #expect(failure?.known == 3)
        #expect(throws: Schema.NewerVersion.self) {
            try schema.migrated(["$schemaVersion": .integer(PropertyList.Integer(Int.max))])
        }
    }

    @Test func `is required before a write to settings of an earlier version`() throws {
        let schema = try Sample.settings(Self.text, rest: Self.migrations)
        #expect(schema.needsMigration(["a": 1]))
        #expect(!schema.needsMigration([:]))
        #expect(!schema.needsMigration(["a": 1, "$schemaVersion": 3]))
    }
}
