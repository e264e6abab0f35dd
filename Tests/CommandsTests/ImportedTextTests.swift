import Commands
import Foundation
import PropertyLists
import TestSupport
import Testing

/// The texts of other programs that `import` reads. An outcome is the settings as lossless JSON, or a place and a
/// problem.
@Suite struct ImportedTextTests {
    private static func outcome(_ bytes: [UInt8], _ format: FormatName) -> String {
        do throws(ImportedText.Failure) {
            guard let values = try ImportedText(bytes, as: format)?.values else { return "no text of another program" }
            return LosslessJSON.text(of: .dictionary(values)) ?? "nested too deeply"
        } catch {
            let place = TextLocation.locations(of: [error.offset], inText: bytes)[error.offset]
            return "\(place?.line ?? 0):\(place?.column ?? 0): \(error.problem)"
        }
    }

    private static func outcome(_ text: String, _ format: FormatName) -> String { outcome(Array(text.utf8), format) }

    // MARK: Variables

    static let variables: [(text: String, outcome: String)] = [
        ("", "{}"), ("\n# c\n \t\r\n", "{}"), ("A=1", #"{"A":"1"}"#), ("A=1\r\nB=2\r\n", #"{"A":"1","B":"2"}"#),
        ("\u{FEFF}A=é\n", #"{"A":"é"}"#), ("A=\nB= \nC=''\nD=\"\"", #"{"A":"","B":"","C":"","D":""}"#),
        ("export A=1\nexport\tB=2\nexport=3\nexported=4", #"{"A":"1","B":"2","export":"3","exported":"4"}"#),
        (" A = b c \t\n", #"{"A":"b c"}"#), ("A=b=c", #"{"A":"b=c"}"#), ("A=1\nA=2", #"{"A":"2"}"#),
        ("a.b-c=1", #"{"a.b-c":"1"}"#), ("A=$HOME `x` $(y) ~ \\n", #"{"A":"$HOME `x` $(y) ~ \\n"}"#),
        ("A=b # c\nB=b#c\nC=#c\nD= # c\nE=b\t#c", ##"{"A":"b","B":"b#c","C":"#c","D":"","E":"b"}"##),
        ("A=it's\nB=a\"b\"\nC=\\'", #"{"A":"it's","B":"a\"b\"","C":"\\'"}"#),
        ("A='b # $c'\nB=\"b # $c\"", ##"{"A":"b # $c","B":"b # $c"}"##),
        ("A='b' # c\nB=\"b\" \t\r\n", #"{"A":"b","B":"b"}"#), ("A='b\nc'\nB=1", #"{"A":"b\nc","B":"1"}"#),
        (#"A='it'\''s'"#, #"{"A":"it's"}"#), (#"A='a'"'"'b'"#, #"{"A":"a'b"}"#),
        (#"A='\n'"#, #"{"A":"\\n"}"#), (#"A="\n\"\\\$\`\a""#, #"{"A":"\\n\"\\$`\\a"}"#),
        ("A=\"b\\\nc\"", #"{"A":"bc"}"#),
        // Ended by NUL, nothing has a meaning.
        ("A=1\0", #"{"A":"1"}"#), ("A= 'b'\n# c\0B=\0\0C=d=e", ##"{"A":" 'b'\n# c","B":"","C":"d=e"}"##),
        ("BASH_FUNC_f%%=() { x\n}\0export A=1\0", #"{"BASH_FUNC_f%%":"() { x\n}","export A":"1"}"#),
        // Errors.
        ("A=1\nfoo\n", "2:1: expected KEY=VALUE"), ("  =1", "1:3: expected KEY=VALUE"),
        ("export =1", #"{"export":"1"}"#), ("export A", "1:1: expected KEY=VALUE"),
        ("A B=1", "1:1: expected KEY=VALUE"), ("'A'=1", "1:1: expected KEY=VALUE"), ("[a]", "1:1: expected KEY=VALUE"),
        ("A='b", "1:3: a string without a closing quote"), ("\nA= \"b\\\"", "2:4: a string without a closing quote"),
        ("A='b'c", "1:6: unexpected text after the value"), ("A='b'#c", "1:6: unexpected text after the value"),
        ("A='b' c", "1:6: unexpected text after the value"), ("A=1\0B\0", "1:5: expected KEY=VALUE"),
        ("=1\0", "1:1: expected KEY=VALUE"),
    ]

    @Test(arguments: variables)
    func `variables are read without expanding anything`(_ row: (text: String, outcome: String)) {
        #expect(Self.outcome(row.text, .env) == row.outcome, "\(row.text.debugDescription)")
    }

    // MARK: INI files

    static let sections: [(text: String, outcome: String)] = [
        ("", "{}"), ("; c\n # c\n\n", "{}"), ("a=1\n[s]\nb=2", #"{"a":"1","s":{"b":"2"}}"#),
        ("\u{FEFF}[s]\r\na = b c \r\n", #"{"s":{"a":"b c"}}"#), ("[s]", #"{"s":{}}"#),
        ("a: 1\nb : x=y\nc= x:y\nd =", #"{"a":"1","b":"x=y","c":"x:y","d":""}"#),
        ("a=\"x\" ; y # z", ##"{"a":"\"x\" ; y # z"}"##),
        ("[remote \"o]x\"]\n\turl = u\n\tb = 1", #"{"remote \"o]x\"":{"b":"1","url":"u"}}"#),
        ("[s]\na=1\n[t]\nb=1\n[s]\nc=1", #"{"s":{"a":"1","c":"1"},"t":{"b":"1"}}"#), ("a b/c=1", #"{"a b/c":"1"}"#),
        ("  a=1\nb=2\n  [s]", "3:3: expected a line that is not indented more than the key before it"),
        ("a=1\n  b\n", "2:3: expected a line that is not indented more than the key before it"),
        ("  a=1\n  b=2\n[s]\n\tc=3", #"{"a":"1","b":"2","s":{"c":"3"}}"#),
        ("[s]\na=1\nb=2\na=3", "4:1: duplicate key “a”, which line 2 has too"),
        ("a=1\na=2", "2:1: duplicate key “a”, which line 1 has too"),
        ("s=1\n\n[s]", "3:1: duplicate key “s”, which line 1 has too"), ("a", "1:1: expected KEY=VALUE or [SECTION]"),
        ("a=1\n=2", "2:1: expected KEY=VALUE or [SECTION]"), ("[]", "1:1: expected [SECTION]"),
        ("[a", "1:1: expected [SECTION]"), ("[a] ; c", "1:1: expected [SECTION]"),
        ("a=1\0", "1:4: the character U+0000 is not allowed here"),
    ]

    @Test(arguments: sections)
    func `an INI file has a dictionary for each section`(_ row: (text: String, outcome: String)) {
        #expect(Self.outcome(row.text, .ini) == row.outcome, "\(row.text.debugDescription)")
    }

    // MARK: dconf

    static let folders: [(text: String, outcome: String)] = [
        ("", "{}"), ("[/]\na=1", #"{"a":1}"#), ("[/]\n\n[a/b]\nc=1\n[a]\nd=2\n", #"{"a":{"b":{"c":1},"d":2}}"#),
        ("# c\n[a]\n", #"{"a":{}}"#), ("[a b/:c:]\nd = 1\r\n", #"{"a b":{":c:":{"d":1}}}"#),
        ("a=1", "1:1: expected [FOLDER]"), ("[a", "1:1: expected [FOLDER]"), ("[]", "1:1: expected [FOLDER]"),
        ("[/a]", "1:2: expected the name of a folder"), ("[a//b]", "1:4: expected the name of a folder"),
        ("[a]\nb", "2:1: expected KEY=VALUE or [FOLDER]"), ("[a]\n=1", "2:1: expected KEY=VALUE or [FOLDER]"),
        ("[a]\nb/c=1", "2:2: the character U+002F is not allowed here"),
        ("[a]\nb=1\nb=2", "3:1: duplicate key “b”, which line 2 has too"),
        ("[a]\nb=1\n[a/b]\nc=1", "3:1: duplicate key “b”, which line 2 has too"),
        ("[a/b]\nc=1\n[a]\nb=1", "4:1: duplicate key “b”, which line 1 has too"), ("[a]\nb=", "2:3: expected a value"),
    ]

    /// Values after `v=`.
    static let values: [(text: String, outcome: String)] = [
        ("true", "true"), ("false", "false"), ("boolean true", "true"), ("0", "0"), ("-5", "-5"), ("+5", "5"),
        ("0x1f", "31"), ("-0x10", "-16"), ("010", "8"), ("byte 0x05", "5"), ("int16 -3", "-3"),
        ("uint16 65535", "65535"),
        ("uint32 5", "5"), ("handle 3", "3"), ("int64 9223372036854775807", "9223372036854775807"),
        ("uint64 18446744073709551615", "18446744073709551615"), ("1.5", "1.5"), ("1e3", "1000.0"), ("-.5", "-0.5"),
        ("double 1", "1.0"), ("inf", #"{"$real":"infinity"}"#), ("-inf", #"{"$real":"-infinity"}"#),
        ("nan", #"{"$real":"nan"}"#),
        ("''", #""""#), ("'a\"b'", #""a\"b""#), (#""it's""#, #""it's""#),
        (#"'it\'s \\ \n\t\a'"#, #""it's \\ \n\t\u0007""#),
        (#"'\u00e9\U0001f600'"#, #""é😀""#), (#"'\q'"#, #""q""#), ("'é'", #""é""#), ("objectpath '/a'", #""/a""#),
        ("signature 'as'", #""as""#), ("[]", "[]"), ("@as []", "[]"), ("@aas [['a'], []]", #"[["a"],[]]"#),
        ("[1, 2 ,3]", "[1,2,3]"), ("[byte 0x01, 0x02]", "[1,2]"), ("@ad [1, 2]", "[1.0,2.0]"), ("{}", "{}"),
        ("@a{sv} {}", "{}"), ("{'a': 1, \"b\": 2}", #"{"a":1,"b":2}"#),
        ("{'a': <1>, 'b': <['x']>}", #"{"a":1,"b":["x"]}"#),
        ("@a{sd} {'a': 1}", #"{"a":1.0}"#), ("<<1>>", "1"), ("<@as []>", "[]"), ("@v <'a'>", #""a""#),
        (#"b'a\001\x'"#, #"{"$data":"YQF4"}"#), ("@ay b'a'", #"{"$data":"YQ=="}"#),
        // What settings cannot hold.
        ("(1, 2)", "2:3: a tuple, which settings cannot hold"), ("()", "2:3: a tuple, which settings cannot hold"),
        ("[(1, 'a')]", "2:4: a tuple, which settings cannot hold"),
        ("@(ii) (1, 2)", "2:4: a tuple, which settings cannot hold"),
        ("@a(ii) []", "2:5: a tuple, which settings cannot hold"),
        ("nothing", "2:3: a maybe type, which settings cannot hold"),
        ("@mi nothing", "2:4: a maybe type, which settings cannot hold"),
        ("<just 5>", "2:4: a maybe type, which settings cannot hold"), ("{1: 'a'}", "2:4: a key that is not a string"),
        ("@a{us} {}", "2:4: a key that is not a string"), ("{uint32 1: 2}", "2:4: a key that is not a string"),
        ("{'a', 1}", "2:3: an entry outside of a dictionary, which settings cannot hold"),
        // Errors.
        ("{'a': 1, 'a': 2}", "2:12: duplicate key “a”"), ("{'': 1}", "2:4: expected a key that is not empty"),
        ("1 2", "2:5: unexpected text after the value"), ("'a' # c", "2:7: unexpected text after the value"),
        ("'a", "2:3: a string without a closing quote"), ("'a\\", "2:3: a string without a closing quote"),
        ("b'a", "2:3: a string without a closing quote"), (#"'\u12'"#, #"2:4: unknown escape “\u12'”"#),
        (#"'\ud800'"#, #"2:4: unknown escape “\ud800”"#), (#"'\u0000'"#, #"2:4: unknown escape “\u0000”"#),
        ("[1, 2", "2:8: expected “,” or “]”"), ("[1,]", "2:6: expected a value"), ("{'a' 1}", "2:8: expected “:”"),
        ("{'a': 1", "2:10: expected “,” or “}”"), ("<1", "2:5: expected “>”"),
        ("@as", "2:6: expected a type and a value"),
        ("@z 1", "2:4: expected a type"), ("@a{s 1", "2:7: expected a type"), ("@as [1]", "2:8: expected a string"),
        ("@u 'a'", "2:6: expected an integer from 0 to 4294967295"),
        ("byte 256", "2:8: expected an integer from 0 to 255"),
        ("uint32 -1", "2:10: expected an integer from 0 to 4294967295"), ("uint32", "2:3: expected a value"),
        ("yes", "2:3: expected a value"), ("08", "2:3: not an integer: “08”"), ("0x", "2:3: not an integer: “0x”"),
        ("--1", "2:3: not an integer: “--1”"), ("1.2.3", "2:3: not a real: “1.2.3”"),
        ("1e999", "2:3: real out of range: “1e999”"),
        ("99999999999999999999", "2:3: integer out of range: “99999999999999999999”"),
        (String(repeating: "9", count: 60), "2:3: integer out of range: “\(String(repeating: "9", count: 40))…”"),
        ("'a\0'", "2:5: the character U+0000 is not allowed here"),
    ]

    @Test(arguments: folders)
    func `the output of dconf dump has a dictionary for each folder`(_ row: (text: String, outcome: String)) {
        #expect(Self.outcome(row.text, .dconf) == row.outcome, "\(row.text.debugDescription)")
    }

    @Test(arguments: values)
    func `a GVariant becomes a value of a property list`(_ row: (text: String, outcome: String)) {
        let isError = row.outcome.hasPrefix("2:")
        let expected = isError ? row.outcome : "{\"v\":\(row.outcome)}"
        #expect(Self.outcome("[/]\nv=" + row.text, .dconf) == expected, "\(row.text)")
    }

    // MARK: Hostile texts

    @Test func `the depth of a GVariant and of its folders has a limit`() {
        let most = DconfText.mostLevels
        func value(_ levels: Int) -> String {
            String(repeating: "[", count: levels) + "1" + String(repeating: "]", count: levels)
        }
        func folder(_ levels: Int) -> String { Array(repeating: "f", count: levels).joined(separator: "/") }
        let problem = "containers more than \(most) levels deep"
        #expect(Self.outcome("[/]\nv=\(value(most))", .dconf) == "{\"v\":\(value(most))}")
        #expect(Self.outcome("[/]\nv=\(value(most + 1))", .dconf) == "2:\(most + 3): \(problem)")
        #expect(Self.outcome("[\(folder(most - 1))]\nv=[1]", .dconf).hasPrefix("{"))
        #expect(Self.outcome("[\(folder(most - 1))]\nv=[[1]]", .dconf) == "2:4: \(problem)")
        #expect(Self.outcome("[\(folder(most))]\nv=1", .dconf) == "1:1: \(problem)")
        let type = String(repeating: "a", count: 100_000)
        #expect(Self.outcome("[/]\nv=@\(type)s []", .dconf).hasSuffix(problem))
        for opening in ["[", "<", "{'a':"] {
            let text = String(repeating: opening, count: 100_000)
            #expect(Self.outcome("[/]\nv=\(text)", .dconf).hasSuffix(problem))
        }
    }

    static let invalid: [(format: FormatName, before: String, after: String, place: String)] = [
        (.env, "A=1\nB=", "", "2:3"), (.env, "A=1\nB='", "'", "2:3"), (.env, "", "=1", "1:1"),
        (.env, "A=1\0B=", "", "1:7"), (.ini, "a=1\nb=", "", "2:3"), (.ini, "[", "]", "1:2"), (.ini, "", ":1", "1:1"),
        (.dconf, "[/]\nv='", "'", "2:3"), (.dconf, "[/]\n", "=1", "2:1"), (.dconf, "[", "]", "1:2"),
    ]

    @Test(arguments: invalid)
    func `bytes that are not UTF-8 are an error`(
        _ row: (format: FormatName, before: String, after: String, place: String)
    ) {
        let bytes = Array(row.before.utf8) + [0xFF] + Array(row.after.utf8)
        #expect(Self.outcome(bytes, row.format) == "\(row.place): not valid UTF-8")
    }

    @Test(arguments: FormatName.ofOtherPrograms)
    func `a damaged text is read or is an error at a place in it`(_ format: FormatName) {
        let texts: [String] =
            switch format {
            case .env: Self.variables.map(\.text)
            case .ini: Self.sections.map(\.text)
            default: Self.folders.map(\.text) + Self.values.map { "[a/b]\nv=" + $0.text }
            }
        var random = SeededGenerator(stream: "imported \(format)")
        let special = Array("='\"\\#[](){}<>@:,;/\n\r\t \0abnu0x1.-".utf8) + [0xFF, 0xC3]
        var accepted = 0
        for round in 0..<4000 {
            var bytes = Array((texts.randomElement(using: &random) ?? "").utf8)
            if Bool.random(using: &random) { bytes += Array("\n\(texts.randomElement(using: &random) ?? "")".utf8) }
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let at = Int.random(in: 0...bytes.count, using: &random)
                let end = min(bytes.count, at + Int.random(in: 0...3, using: &random))
                let added = (0..<Int.random(in: 0...2, using: &random)).compactMap { _ in
                    special.randomElement(using: &random)
                }
                bytes.replaceSubrange(at..<end, with: added)
            }
            do throws(ImportedText.Failure) {
                guard let text = try ImportedText(bytes, as: format) else { continue }
                accepted += 1
                let keys = text.values.keys.filter { !$0.isEmpty }
                let lines = text.lines(of: keys.map { [EntryPath.Component($0)] })
                #expect(keys.count == text.values.count && !lines.contains(nil), "round \(round), \(Seed.ofThisRun)")
            } catch {
                #expect((0...bytes.count).contains(error.offset), "round \(round), \(Seed.ofThisRun)")
            }
        }
        #expect(accepted > 100 && accepted < 3600)
    }
}
