import Foundation
import Preferences
import PropertyLists
import Testing

@Suite struct ArgumentDomainTests {
    @Test(
        arguments: [
            ("-key value", ["key": "value"]),
            ("-key one -key two", ["key": "two"]),
            ("program -key value", ["key": "value"]),
            ("one -a b two three -c d", ["a": "b", "c": "d"]),
            ("-a -b c", ["b": "c"]),
            ("--key value", ["-key": "value"]),
            ("---key value", ["--key": "value"]),
            ("--key=value", [:]), ("-key=value", [:]), ("-key", [:]), ("", [:]),
            ("--key=value -a b", ["a": "b"]),
            ("-key=value b", ["key=value": "b"]),
            ("- x", [:]), ("- -a b", ["a": "b"]), ("-- x", ["-": "x"]),
            ("- x -a b", ["a": "b"]),
            ("-n -5", [:]), ("-n -5 x", ["5": "x"]),
            ("-x (1,2,3)", ["x": ["1", "2", "3"]]),
            ("-ключ значение", ["ключ": "значение"]),
        ] as [(String, PropertyList.Dictionary)])
    func `a key follows a dash, and its value is the next word`(line: String, expected: PropertyList.Dictionary) {
        let arguments = line.split(separator: " ").map { String($0) }
        #expect(ArgumentDomain.values(in: arguments) == expected)
    }

    @Test(arguments: [
        ("  padded  ", "padded"), ("\n\t a b \u{2028}\u{A0}", "a b"), ("", ""), (" -5 ", "-5"), (" \n ", ""),
        ("\u{FEFF}a", "\u{FEFF}a"),
    ])
    func `a value is trimmed`(argument: String, value: String) {
        #expect(ArgumentDomain.values(in: ["-s", argument]) == ["s": .string(value)])
    }

    @Test(
        arguments: [
            ("{a = 1; b = (x, y);}", ["a": "1", "b": ["x", "y"]]),
            ("(a, \"b c\")", ["a", "b c"]), ("()", []), ("{}", [:]), ("  (1) ", ["1"]),
            ("\"a \\n b\"", "a \n b"), ("\"a\" = b;", ["a": "b"]), ("\"", "\""),
            ("<plist version=\"1.0\"><true/></plist>", true), ("<integer>5</integer>", 5), ("<real>0.5</real>", 0.5),
            ("<string>a</string>", "a"), ("<dict><key>a</key><array/></dict>", ["a": []]),
            ("{\"a\": 1}", "{\"a\": 1}"), ("[1]", "[1]"), ("(1", "(1"), ("{a = 1}", "{a = 1}"), ("<zz>", "<zz>"),
            ("<a", "<a"), ("<key>", "<key>"), ("{a = <*I5>;}", "{a = <*I5>;}"), ("5", "5"), ("YES", "YES"),
            ("'a'", "'a'"),
        ] as [(String, PropertyList)])
    func `a value that begins like a property list is one, or else a string`(argument: String, value: PropertyList) {
        #expect(ArgumentDomain.values(in: ["-x", argument]) == ["x": value])
    }

    @Test func `data in angle brackets is data`() throws {
        let value = try #require(ArgumentDomain.values(in: ["-d", "<00ff 10>"])["d"])
        #expect(value.dataValue.map(Array.init) == [0x00, 0xFF, 0x10])
    }
}
