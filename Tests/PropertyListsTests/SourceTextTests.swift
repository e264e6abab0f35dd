import Foundation
import PropertyLists
import TestSupport
import Testing

/// Edits that change only the bytes of what is edited.
@Suite struct SourceTextTests {
    /// The number of edited documents of each syntax.
    static let rounds = (Extent.isFull ? 10_000 : 300) / DocumentGenerator.Syntax.allCases.count + 1

    /// A text before and after an edit.
    struct Row: Sendable, CustomTestStringConvertible {
        let syntax: DocumentGenerator.Syntax
        let text: String
        let edits: [DocumentGenerator.Edit]
        let result: String

        init(
            _ syntax: DocumentGenerator.Syntax, _ text: String, _ edits: DocumentGenerator.Edit..., result: String
        ) {
            (self.syntax, self.text, self.edits, self.result) = (syntax, text, edits, result)
        }

        var testDescription: String { "\(edits) in \(text)" }
    }

    @Test(arguments: [
        // Values keep their quotes and tags.
        Row(
            .json5, "{a: 'x', b: \"y\"}", .set(["a"], "it's"), .set(["b"], "it's"), result: "{a: 'it\\'s', b: \"it's\"}"
        ),
        Row(.json, "{\"a\": 1.50, \"b\": 1e3}", .set(["a"], 2), result: "{\"a\": 2, \"b\": 1e3}"),
        Row(
            .xml, "<dict><key>a</key><string id='1'>x</string></dict>", .set(["a"], "y<"),
            result: "<dict><key>a</key><string id='1'>y&lt;</string></dict>"),
        Row(
            .xml, "<dict><key>a</key><string><![CDATA[<x>]]></string></dict>", .set(["a"], "<y>"),
            result: "<dict><key>a</key><string><![CDATA[<y>]]></string></dict>"),
        Row(
            .xml, "<dict><key>a</key><true></true></dict>", .set(["a"], false),
            result: "<dict><key>a</key><false/></dict>"),
        Row(.openstep, "{a = x; b = \"y\";}", .set(["a"], "z"), .set(["b"], "z"), result: "{a = z; b = \"z\";}"),
        Row(.strings, "\"a\" = \"x y\";\n", .set(["a"], "z\n"), result: "\"a\" = \"z\\n\";\n"),
        Row(.strings, "a;\nb = c;\n", .set(["a"], "z"), result: "a = z;\nb = c;\n"),
        Row(.strings, "a;\nb = c;\n", .rename(["a"], to: "z"), result: "z = a;\nb = c;\n"),
        Row(.json, "{\"a\": \"\\u00e9\"}", .set(["a"], "ë\u{1F600}"), result: "{\"a\": \"\\u00eb\\ud83d\\ude00\"}"),
        Row(
            .json, "{\"n\": 12345678901234567890123, \"a\": 1}", .set(["a"], 2),
            result: "{\"n\": 12345678901234567890123, \"a\": 2}"),
        Row(
            .json, "{\"n\": 12345678901234567890123}", .rename(["n"], to: "m"),
            result: "{\"m\": 12345678901234567890123}"),
        // New entries look like their siblings, and are sorted if these are.
        Row(.json, "{\"a\": 1, \"c\": 3}", .set(["b"], 2), result: "{\"a\": 1, \"b\": 2, \"c\": 3}"),
        Row(.json, "{\"c\":1,\"a\":3}", .set(["b"], 2), result: "{\"c\":1,\"a\":3,\"b\":2}"),
        Row(
            .json, "{\"@a/x\": 1, \"B\": 2, \"c\": 3}", .set(["b2"], 4),
            result: "{\"@a/x\": 1, \"B\": 2, \"b2\": 4, \"c\": 3}"),
        Row(.json, "{\"b\": 1}", .set(["a"], 2), result: "{\"a\": 2, \"b\": 1}"),
        Row(
            .json, "{\r\n\t\"a\" : 1\r\n}\r\n", .set(["b"], [1]),
            result: "{\r\n\t\"a\" : 1,\r\n\t\"b\" : [\r\n\t\t1\r\n\t]\r\n}\r\n"),
        Row(.json5, "{\n  a: 1, // one\n}", .set(["b"], "x"), result: "{\n  a: 1, // one\n  b: \"x\",\n}"),
        Row(.json5, "{\n  a: 1 // one\n}", .set(["b"], 2), result: "{\n  a: 1, // one\n  b: 2\n}"),
        Row(.json5, "[1, 2 // two\n]", .insert([], 2, 3), result: "[1, 2, // two\n3\n]"),
        Row(.json, "[1, 2, 3]", .insert([], 0, 0), result: "[0, 1, 2, 3]"),
        Row(.json, "[\n  1,\n  2\n]", .insert([], 1, 9), result: "[\n  1,\n  9,\n  2\n]"),
        Row(
            .xml, "<dict>\n  <key>a</key> <true/>\n</dict>", .set(["b"], true),
            result: "<dict>\n  <key>a</key> <true/>\n  <key>b</key> <true/>\n</dict>"),
        Row(
            .strings, "/* A */\n\"a\" = \"x\";\n", .set(["b"], "y"), result: "/* A */\n\"a\" = \"x\";\n\"b\" = \"y\";\n"
        ),
        Row(.strings, "/* none */", .set(["b"], "y"), result: "/* none */\n\"b\" = \"y\";\n"),
        // The first entry of an empty container.
        Row(.json, "{}\n", .set(["a"], 1), result: "{\n  \"a\": 1\n}\n"),
        Row(.json, "{\"a\":{}}", .set(["a", "b"], 1), result: "{\"a\":{\"b\":1}}"),
        Row(
            .json5, "{\n  a: [\n    // none\n  ]\n}", .insert(["a"], 0, 1),
            result: "{\n  a: [\n    // none\n    1\n  ]\n}"),
        Row(
            .xml, "<dict>\n\t<key>a</key>\n\t<array/>\n</dict>", .insert(["a"], 0, 1),
            result: "<dict>\n\t<key>a</key>\n\t<array>\n\t\t<integer>1</integer>\n\t</array>\n</dict>"),
        // A removed entry takes its line and its comma with it.
        Row(.json, "{\n  \"a\": 1,\n  \"b\": 2\n}", .remove(["b"]), result: "{\n  \"a\": 1\n}"),
        Row(.json, "{\n  \"a\": 1,\n  \"b\": 2\n}", .remove(["a"]), result: "{\n  \"b\": 2\n}"),
        Row(.json, "{\n  \"a\": 1\n, \"b\": 2\n}", .remove(["b"]), result: "{\n  \"a\": 1\n}"),
        Row(.json, "[1, 2, 3]", .remove([1]), result: "[1, 3]"),
        Row(.json, "[1, 2, 3]", .remove([2]), .remove([1]), result: "[1]"),
        Row(.json, "{\"a\": [1]}", .remove(["a", 0]), result: "{\"a\": []}"),
        Row(
            .json5, "{\n  // one\n  a: 1, // two\n  // three\n  b: 2\n}", .remove(["a"]),
            result: "{\n  // three\n  b: 2\n}"),
        Row(.xml, "<dict>\n\t<key>a</key>\n\t<true/>\n</dict>", .remove(["a"]), result: "<dict/>"),
        Row(.strings, "a = b;\nc = d;", .remove(["c"]), result: "a = b;"),
        Row(.strings, "a = b;\n", .remove(["a"]), result: ""),
        Row(
            .json, "{\"a\": null, \"b\": [null, 1]}", .set(["b", 1], .null),
            result: "{\"a\": null, \"b\": [null, null]}"),
        Row(.json, "{\"a\": null, \"b\": 1}", .remove(["a"]), result: "{\"b\": 1}"),
        // Of a duplicate key the last entry is edited, and all are removed.
        Row(.json, "{\"a\": 1, \"a\": 2}", .set(["a"], 3), result: "{\"a\": 1, \"a\": 3}"),
        Row(.json, "{\"a\": 1, \"b\": 0, \"a\": 2}", .remove(["a"]), result: "{\"b\": 0}"),
        // Only the entry that moved changes.
        Row(.json, "[1, 2, 3, 4]", .remove([0]), .insert([], 3, 5), result: "[2, 3, 4, 5]"),
        Row(.json, "{\"b\": 1, \"a\": 2}", .rename(["b"], to: "z"), result: "{\"z\": 1, \"a\": 2}"),
        // An entry owns the comments on its line and directly above it.
        Row(
            .json5, "{\n  // never\n  debug: true, // really\n  beta: true\n}", .remove(["debug"]),
            result: "{\n  beta: true\n}"),
        Row(
            .json5, "{\r\n  a: 1,\r\n  /* of\r\n     b */\r\n  b: 2, /* also\r\n  of b */\r\n  c: 3\r\n}",
            .remove(["b"]), result: "{\r\n  a: 1,\r\n  c: 3\r\n}"),
        Row(.json5, "{/* one */ a: 1, /* two */ b: 2}", .remove(["a"]), result: "{/* two */ b: 2}"),
        Row(.json5, "{/* one */ a: 1, /* two */ b: 2}", .remove(["b"]), result: "{/* one */ a: 1}"),
        Row(.json5, "{a: 1 /* one */, b: 2 /* two */}", .remove(["a"]), result: "{b: 2 /* two */}"),
        Row(.json5, "{a: 1 /* one */, b: 2 /* two */}", .remove(["b"]), result: "{a: 1 /* one */}"),
        Row(.json5, "[\n  1, // one\n  1, // two\n]", .remove([0]), result: "[\n  1, // two\n]"),
        Row(
            .json5, "[\n  1, // one\n  1, // two\n]", .insert([], 0, 1),
            result: "[\n  1,\n  1, // one\n  1, // two\n]"),
        Row(
            .xml, "<dict>\n  <!-- a -->\n  <key>a</key> <true/> <!-- yes -->\n  <key>b</key> <true/>\n</dict>",
            .remove(["a"]), result: "<dict>\n  <key>b</key> <true/>\n</dict>"),
        Row(
            .gnustep, "{\n  /* a */\n  a = <*I1>; // one\n  /* b */\n  b = <*I2>;\n}\n", .remove(["a"]),
            result: "{\n  /* b */\n  b = <*I2>;\n}\n"),
        // A heading, and a comment outside of the root container, belong to no entry.
        Row(
            .json5,
            "// file\n{\n  // all\n\n  // net\n  host: 1,\n  port: 2,\n\n  // odd\n  x: 1\n}\n// end\n",
            .remove(["host"]),
            result: "// file\n{\n  // all\n\n  // net\n  port: 2,\n\n  // odd\n  x: 1\n}\n// end\n"),
        Row(
            .json5, "{\n  a: 1,\n\n  // net\n  host: 1,\n  // of port\n  port: 2\n}", .remove(["host"]),
            result: "{\n  a: 1,\n\n  // of port\n  port: 2\n}"),
        Row(.json5, "{\n  // c\n    // a\n    a: 1\n}", .remove(["a"]), result: "{\n  // c\n}"),
        Row(.json5, "{\n  a: 1\n  // c\n}", .remove(["a"]), result: "{\n  // c\n}"),
        Row(.strings, "/* T */\n\"t\" = \"T\";\n", .remove(["t"]), result: "/* T */\n"),
        Row(
            .strings, "/* T */\n\"t\" = \"T\";\n\n/* u */\n\"u\" = \"U\";\n", .remove(["u"]),
            result: "/* T */\n\"t\" = \"T\";\n\n"),
        // A new entry gets no comment of another.
        Row(.json5, "{a: 1 /* one */}", .set(["b"], 2), result: "{a: 1 /* one */, b: 2}"),
        Row(.json5, "{/* b */ b: 1}", .set(["a"], 2), result: "{a: 2, /* b */ b: 1}"),
        Row(
            .xml, "<array><true/> <!-- one --></array>", .insert([], 1, false),
            result: "<array><true/> <!-- one -->\n<false/></array>"),
        Row(
            .json5, "{\n  // b\n  b: 1\n}", .set(["a"], 2), result: "{\n  a: 2,\n  // b\n  b: 1\n}"),
        Row(
            .json5, "{\n  a: 1, /* x\n  y */\n}", .set(["b"], 2), result: "{\n  a: 1, /* x\n  y */\n  b: 2,\n}"),
    ])
    func `an edit changes as little as it can`(_ row: Row) throws {
        var value = try PropertyList(parsing: row.text, as: row.syntax.format, options: row.syntax.options)
        for edit in row.edits { try edit.apply(to: &value) }
        let result = try SourceText.rewriting(
            Array(row.text.utf8), as: row.syntax.format, to: value, by: row.edits.count == 1 ? row.edits[0].step : nil,
            reading: row.syntax.options)
        #expect(shown(result) == shown(Array(row.result.utf8)))
    }

    /// A text, its new value, what the verb states, and the new text.
    static let stated: [(String, PropertyList, EntryStep?, String)] = [
        (
            "{\n  // never\n  debug: true,\n  x: 1\n}", ["x": 1, "beta": true], nil,
            "{\n  beta: true,\n  x: 1\n}"
        ),
        ("[\n  'a', // never\n  'b',\n]", ["c"], nil, "[\n  'c',\n]"),
        (
            "{\n  // of a\n  a: 1.50, // one\n  b: {\n    c: 2 // two\n  }\n}",
            ["b": ["c": 2, "d": .real(1.5)]], .move(["a"], to: ["b", "d"]),
            "{\n  b: {\n    c: 2, // two\n    // of a\n    d: 1.50 // one\n  }\n}"
        ),
        (
            "{\n  a: [\n    1, // one\n  ],\n  b: {\n    d: 2\n  }\n}", ["b": ["c": [1], "d": 2]],
            .move(["a"], to: ["b", "c"]),
            "{\n  b: {\n    c: [\n      1, // one\n    ],\n    d: 2\n  }\n}"
        ),
        (
            "{a: 1, // of a\n b: {c: 2}}", ["b": ["c": 2, "d": 1]], .move(["a"], to: ["b", "d"]),
            "{\n b: {c: 2, d: 1 /* of a */}}"
        ),
        ("{\n  a: 1, // one\n  b: 2, // two\n}", ["b": 1], .move(["a"], to: ["b"]), "{\n  b: 1, // one\n}"),
        (
            "[\n  1, // one\n  2, // two\n  3, // three\n]", [2, 1], .move([0], to: [2]),
            "[\n  2, // two\n  1, // one\n]"
        ),
        (
            "[\n  1, // one\n  2, // two\n  3, // three\n]", [1, 3, 2], .exchange([1], [2]),
            "[\n  1, // one\n  3, // three\n  2, // two\n]"
        ),
    ]

    /// The values do not show a move, so a removed and an added key with the same value are two entries.
    @Test(arguments: stated)
    func `only what a verb states is moved`(
        _ text: String, _ value: PropertyList, _ step: EntryStep?, _ expected: String
    ) throws {
        let options = PropertyList.ReadingOptions(allowsJSON5: true)
        let result = try SourceText.rewriting(Array(text.utf8), as: .json, to: value, by: step, reading: options)
        #expect(shown(result) == expected)
    }

    @Test func `removed comments are reported`() throws {
        let text = "{\n  // a\n  a: {/* b */ b: 1}, // c\n  d: \"// e\"\n}"
        let source = try SourceText(Array(text.utf8), as: .json, options: .init(allowsJSON5: true))
        #expect(source.comments == ["// a", "/* b */", "// c"])
        #expect(try source.edited(to: ["d": "// e"]).removedComments == ["// a", "/* b */", "// c"])
        #expect(try source.edited(to: ["a": 1, "d": "// e"]).removedComments == ["/* b */"])
        #expect(try source.edited(to: ["a": ["b": 2], "d": "x"]).removedComments == [])
    }

    /// Files as projects have them, each with an edit of one key.
    static let projectFiles: [(syntax: DocumentGenerator.Syntax, text: String, edit: DocumentGenerator.Edit)] = [
        (
            .xml,
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>
            \t<key>CFBundleName</key>
            \t<string>$(PRODUCT_NAME)</string>
            \t<!-- Raised by the release script -->
            \t<key>CFBundleVersion</key>
            \t<string>41</string>
            \t<key>CFBundleIdentifier</key>
            \t<string>$(PRODUCT_BUNDLE_IDENTIFIER)</string>
            \t<key>LSRequiresIPhoneOS</key>
            \t<true/>
            \t<key>NSAppTransportSecurity</key>
            \t<dict>
            \t\t<key>NSAllowsArbitraryLoads</key>
            \t\t<false/>
            \t</dict>
            \t<key>UISupportedInterfaceOrientations</key>
            \t<array>
            \t\t<string>UIInterfaceOrientationPortrait</string>
            \t\t<string>UIInterfaceOrientationLandscapeLeft</string>
            \t</array>
            </dict>
            </plist>

            """, .set(["CFBundleVersion"], "42")
        ),
        (
            .json,
            """
            {
              "name": "example",
              "version": "1.0.0",
              "private": true,
              "scripts": {
                "test": "node --test",
                "build": "tsc -p ."
              },
              "files": ["dist", "README.md"],
              "dependencies": {
                "@types/node": "^22.1.0",
                "Mixed": "1",
                "undici": "^6.0.0"
              },
              "config": {"threshold": 0.10, "ratio": 1e-3, "id": 12345678901234567890123}
            }

            """, .set(["version"], "1.0.1")
        ),
        (
            .json5,
            """
            {
              // The base is shared by all packages.
              "extends": "../tsconfig.base.json",
              "compilerOptions": {
                /* Language */
                "target": "ES2022",  // also in the bundler
                "lib": ["ES2022", "DOM"],
                "strict": true,
              },
              "include": ["src/**/*"],
            }

            """, .set(["compilerOptions", "target"], "ES2023")
        ),
        (
            .strings,
            """
            /* The title of the window */
            "window.title" = "Éditeur";

            // Shown once
            "greeting" = "Bonjour\\n\\"%@\\"";
            "cancel"   = "Annuler";

            """, .set(["cancel"], "Abandonner")
        ),
        (
            .gnustep,
            """
            {
                NSGlobalDomain = {
                    GSFontHinting = <*I34>;
                    NSLanguages = (French, "English (UK)");
                };
                gdnc = {};
                Terminal = {
                    WindowHeight = <*I30>; /* lines */
                    Opened = <*D2024-01-02 03:04:05 +0100>;
                };
            }

            """, .set(["Terminal", "WindowHeight"], 40)
        ),
    ]

    @Test(arguments: projectFiles, ["\n", "\r\n"])
    func `an edit of one key changes one line`(
        _ file: (syntax: DocumentGenerator.Syntax, text: String, edit: DocumentGenerator.Edit), _ newline: String
    ) throws {
        let text = file.text.replacingOccurrences(of: "\n", with: newline)
        var value = try PropertyList(parsing: text, as: file.syntax.format, options: file.syntax.options)
        try file.edit.apply(to: &value)
        let result = try SourceText.rewriting(
            Array(text.utf8), as: file.syntax.format, to: value, reading: file.syntax.options)
        let before = text.components(separatedBy: newline)
        let after = String(decoding: result, as: UTF8.self).components(separatedBy: newline)
        #expect(before.count == after.count)
        #expect(zip(before, after).count { $0 != $1 } == 1)
    }

    /// Emptied or reduced to comments, a file is still read.
    @Test(arguments: [PropertyList.Format.openstep, .gnustep])
    func `a strings file of which only comments remain is read`(_ format: PropertyList.Format) throws {
        for text in ["/* c */ a = b; // d", "/* c */\na = b; // d\n", "a = b;", "// c\na = b;"] {
            let result = try SourceText.rewriting(Array(text.utf8), as: format, to: [:])
            #expect(try PropertyList.sniffed(result, named: "a.strings").value == [:], "\(shown(result))")
        }
    }

    /// The time of many changes is linear in their number and in the size of the text.
    @Test func `a text of one long line is edited in many places`() throws {
        let text = "{" + (0..<20_000).map { "\"k\($0)\":{\"a\":\($0)}" }.joined(separator: ",") + "}"
        var value = try PropertyList(parsing: text)
        let path = { (index: Int) in EntryPath([.init("k\(index)"), "a"]) }
        for index in stride(from: 0, to: 20_000, by: 2) { try value.set(.integer(-1), at: path(index)) }
        for index in stride(from: 1, to: 20_000, by: 20) { try value.remove(at: path(index)) }
        let result = try SourceText.rewriting(Array(text.utf8), as: .json, to: value)
        #expect(result.count == 364_892)
    }

    /// The time is linear in the number of entries and in the size of the text.
    @Test func `a long text is emptied`() throws {
        let json = "{" + (0..<40_000).map { "\"k\($0)\":0" }.joined(separator: ",") + "}"
        let strings = (0..<40_000).map { "k\($0) = 0; // c\n" }.joined()
        for (format, text, result) in [(PropertyList.Format.json, json, "{}"), (.openstep, strings, "{\n}\n")] {
            #expect(shown(try SourceText.rewriting(Array(text.utf8), as: format, to: [:])) == result)
        }
    }

    @Test(arguments: ["$ref", "$class", "$x", "$date"])
    func `a key like one of a wrapping is written as by the writer`(_ key: String) throws {
        var options = PropertyList.WritingOptions()
        options.wrapsInJSON = true
        let value: PropertyList = ["a": .dictionary([key: ":0"])]
        let result = try SourceText.rewriting(
            Array("{\"a\":1}".utf8), as: .json, to: value, reading: .init(unwrapsJSON: true), writing: options)
        #expect(shown(result) == shown(Array(try value.serialized(as: .json, options: options))))
    }

    /// A character that the encoding lacks is written as a reference.
    @Test func `the encoding stays`() throws {
        let head = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><plist><dict><key>"
        let text = Array(head.utf8) + [0xE9] + Array("</key><string>".utf8)
        let tail = Array("</string></dict></plist>".utf8)
        let value: PropertyList = ["é": "ë€"]
        let result = try SourceText.rewriting(text + [0x78] + tail, as: .xml, to: value)
        #expect(result == text + [0xEB] + Array("&#8364;".utf8) + tail)
    }

    static let refused: [(PropertyList.Format, String, PropertyList, EntryPath)] = [
        (PropertyList.Format.xml, "<dict><key>a</key><true/></dict>", ["a": ["CF$UID": 1]], ["a"]),
        (.json, "{\"a\": 1}", ["a": ["b": .real(.nan)]], ["a", "b"]),
        (.openstep, "{a = (b);}", ["a": ["b", 1]], ["a", ""]),
    ]

    @Test(arguments: refused)
    func `a value that the format lacks is refused with its path`(
        _ format: PropertyList.Format, _ text: String, _ value: PropertyList, _ path: EntryPath
    ) throws {
        let failure = #expect(throws: EncodingFailure.self) {
            try SourceText.rewriting(Array(text.utf8), as: format, to: value)
        }
        #expect(failure?.path == path)
    }

    /// A document and its value after one edit, with the bytes that must not change.
    @Test(arguments: DocumentGenerator.Syntax.bracketed)
    func `one edit changes no byte of other entries`(_ syntax: DocumentGenerator.Syntax) throws {
        for round in 0..<Self.rounds {
            let generator = SeededGenerator(stream: "edits \(syntax)", round: round)
            var documents = DocumentGenerator(syntax, generator)
            let bytes = documents.document()
            let source = try SourceText(bytes, as: syntax.format, options: syntax.options)
            let edit = documents.edit(of: source.value)
            var value = source.value
            try edit.apply(to: &value)
            let context = "\(Seed.ofThisRun) \(syntax) \(round): \(edit)\n\(shown(bytes))"
            do {
                let result = try source.edited(to: value, by: edit.step, options: .edited)
                let kept = Outside(bytes, syntax).isKept(by: edit, of: source.value, in: result.bytes)
                #expect(kept == nil, "\(kept ?? ""): \(context)\n---\n\(shown(result.bytes))")
                let fault = CommentOwners(bytes, syntax).fault(after: edit, of: source.value, in: result, syntax)
                #expect(fault == nil, "\(fault ?? ""): \(context)\n---\n\(shown(result.bytes))")
                let isRead = try syntax.isRead(result.bytes, as: value)
                #expect(isRead, "\(context)\n---\n\(shown(result.bytes))")
            } catch {
                Issue.record("\(error): \(context)")
            }
        }
    }

    /// Several edits at once.
    @Test(arguments: DocumentGenerator.Syntax.allCases)
    func `several edits give the edited value`(_ syntax: DocumentGenerator.Syntax) throws {
        for round in 0..<Self.rounds {
            let generator = SeededGenerator(stream: "many edits \(syntax)", round: round)
            var documents = DocumentGenerator(syntax, generator)
            let bytes = documents.document()
            let source = try SourceText(bytes, as: syntax.format, options: syntax.options)
            var value = source.value
            var edits: [String] = []
            for _ in 0..<6 {
                let edit = documents.edit(of: value)
                edits.append(edit.description)
                try edit.apply(to: &value)
            }
            do {
                let result = try source.edited(to: value, options: .edited).bytes
                let back = try PropertyList(parsing: result, as: syntax.format, options: syntax.options)
                #expect(back == value)
            } catch {
                Issue.record("\(error): \(Seed.ofThisRun) \(syntax) \(round) \(edits)\n\(shown(bytes))")
            }
        }
    }

    /// An edited text of this library is the same as a newly written one.
    @Test(arguments: [PropertyList.Format.xml, .json, .gnustep])
    func `a canonical text stays canonical`(_ format: PropertyList.Format) throws {
        let syntax: DocumentGenerator.Syntax = format == .xml ? .xml : format == .json ? .json : .gnustep
        var options = PropertyList.WritingOptions()
        options.isPretty = true
        for round in 0..<Self.rounds {
            var documents = DocumentGenerator(syntax, SeededGenerator(stream: "canonical \(format)", round: round))
            var value = try PropertyList(parsing: documents.document(), as: format, options: syntax.options)
            let bytes = Array(try value.serialized(as: format, options: options))
            let edit = documents.edit(of: value)
            try edit.apply(to: &value)
            let result = try SourceText.rewriting(bytes, as: format, to: value, writing: options)
            let expected = Array(try value.serialized(as: format, options: options))
            #expect(shown(result) == shown(expected), "\(Seed.ofThisRun) \(round): \(edit)\n\(shown(bytes))")
        }
    }
}

extension SourceText {
    /// Returns the bytes of a file after an edit.
    fileprivate static func rewriting(
        _ bytes: [UInt8], as format: PropertyList.Format, to value: PropertyList, by step: EntryStep? = nil,
        reading: PropertyList.ReadingOptions = .default, writing: PropertyList.WritingOptions = .default
    ) throws -> [UInt8] {
        try SourceText(bytes, as: format, options: reading).edited(to: value, by: step, options: writing).bytes
    }
}

private func shown(_ bytes: [UInt8]) -> String {
    let isWide = bytes.starts(with: [0xFF, 0xFE])
    return String(decoding: isWide ? bytes.filter { $0 != 0 } : bytes, as: UTF8.self)
        .replacingOccurrences(of: "\r", with: "␍")
}

extension PropertyList.WritingOptions {
    fileprivate static let edited: Self = {
        var options = Self()
        options.writesJSON5 = true
        return options
    }()
}

/// The bytes of a text outside of an edited entry.
private struct Outside {
    let bytes: [UInt8]
    let map: SourceMap

    init(_ bytes: [UInt8], _ syntax: DocumentGenerator.Syntax) {
        self.bytes = bytes
        map = SourceMap(bytes, as: syntax.format, options: syntax.options)!
    }

    /// Returns the error in the result of an edit, or nil if it is correct.
    func isKept(
        by edit: DocumentGenerator.Edit, of value: PropertyList, in result: [UInt8]
    ) -> String? {
        guard let allowed = window(edit, value) else { return nil }
        let (before, after) = (bytes[..<allowed.lowerBound], bytes[allowed.upperBound...])
        guard result.count >= before.count + after.count, result.starts(with: before),
            result.suffix(after.count).elementsEqual(after)
        else { return "changed more than \(allowed)" }
        return nil
    }

    /// The bytes that an edit may change; nil for all of them.
    private func window(_ edit: DocumentGenerator.Edit, _ value: PropertyList) -> Range<Int>? {
        switch edit {
        case .set(let path, _):
            if value[path] != nil, let entry = map[path] { return entry.value }
            return inside(EntryPath(Array(path.components.dropLast())), next: nil)
        case .rename(let path, _): return map[path].map { $0.start..<$0.value.upperBound }
        case .remove(let path):
            return inside(EntryPath(Array(path.components.dropLast())), next: path.components.last, value)
        case .insert(let path, _, _): return inside(path, next: nil)
        }
    }

    /// The range of a container, or of the neighbourhood of one of its entries.
    private func inside(
        _ path: EntryPath, next component: EntryPath.Component?, _ value: PropertyList? = nil
    ) -> Range<Int>? {
        guard let container = map[path] else { return nil }
        var range = container.value
        if path.components.isEmpty { range = 0..<bytes.count }
        guard let component, let position = map.entries.firstIndex(where: { $0 == container }),
            let entry = map[EntryPath(path.components + [component])]
        else { return range }
        let siblings = map.entries.filter { $0.container == position }
        let before = siblings.last { $0.value.upperBound <= entry.start }?.value.upperBound ?? range.lowerBound
        let after = siblings.first { $0.start >= entry.value.upperBound }?.start ?? range.upperBound
        return before..<after
    }
}
