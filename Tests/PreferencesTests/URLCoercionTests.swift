import Foundation
import Preferences
import PropertyLists
import TestSupport
import Testing

@Suite struct URLCoercionTests {
    /// The working folder, as in a URL.
    private static let working =
        FileManager.default.currentDirectoryPath
        .addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? ""

    private func url(_ value: PropertyList) -> String? {
        value.asURL { user in user.map { $0 == "bob" ? "/home/bob" : nil } ?? "/home/ada" }?.absoluteString
    }

    @Test(arguments: [
        ("http://example.com/a?b=c", "http://example.com/a?b=c"), ("mailto:ada@example.com", "mailto:ada@example.com"),
        ("x-app+1.0:open", "x-app+1.0:open"), ("file:///a%20b", "file:///a%20b"),
    ])
    func `a text with a scheme is that URL`(text: String, expected: String) { #expect(url(.string(text)) == expected) }

    @Test(arguments: [
        ("/no such/file", "file:///no%20such/file"), ("/no/such/folder/", "file:///no/such/folder/"), ("/", "file:///"),
        ("~", "file:///home/ada"), ("~/a", "file:///home/ada/a"), ("~bob/a", "file:///home/bob/a"),
        ("~eve/a", "file://\(working)/~eve/a"), ("a/b", "file://\(working)/a/b"), ("./b", "file://\(working)/b"),
        ("1:2", "file://\(working)/1%3A2"), ("/a:b", "file:///a:b"),
    ])
    func `any other text is the path of a file`(text: String, expected: String) {
        #expect(url(.string(text)) == expected)
    }

    @Test(arguments: [
        (Optional<String>.none, "http://example.com/a"), ("http://example.com/b/", "http://example.com/b/a"),
    ])
    func `an archived URL is that URL`(base: String?, expected: String) {
        let relative = base == nil ? expected : "a"
        let object: PropertyList = [
            "NS.base": .uid(base == nil ? 0 : 3), "NS.relative": .uid(2), "$class": .uid(5),
        ]
        let archive: PropertyList = [
            "$archiver": "NSKeyedArchiver", "$version": 100_000, "$top": ["root": .uid(1)],
            "$objects": [
                "$null", object, .string(relative), ["NS.base": .uid(0), "NS.relative": .uid(4), "$class": .uid(5)],
                .string(base ?? ""), ["$classname": "NSURL", "$classes": ["NSURL", "NSObject"]],
            ],
        ]
        let data = try? archive.serialized(as: .binary)
        #expect(url(.data(data ?? Data())) == expected)
    }

    @Test func `what Foundation archives is read as well`() throws {
        for url in [
            URL(string: "http://example.com/a"), URL(string: "b?c", relativeTo: URL(string: "http://x.org/d/")),
        ] {
            let url = try #require(url)
            let data = try NSKeyedArchiver.archivedData(withRootObject: url as NSURL, requiringSecureCoding: false)
            #expect(PropertyList.data(data).asURL { _ in nil }?.absoluteString == url.absoluteString)
        }
    }

    /// Each of these archives would make a careless reader leave the list of objects or loop forever.
    @Test(arguments: [
        "{}", "{$top: {root: uid(0)}, $objects: []}", "{$top: {root: uid(1)}, $objects: [\"\"]}",
        "{$top: {root: uid(18446744073709551615)}, $objects: [\"\"]}", "{$top: {root: uid(0)}, $objects: [\"$null\"]}",
        "{$top: {root: 1}, $objects: [{}, {}]}",
        "{$top: {root: uid(0)}, $objects: [{NS.relative: uid(0), NS.base: uid(0)}]}",
        "{$top: {root: uid(0)}, $objects: [{NS.relative: uid(1), NS.base: uid(9)}, \"a\"]}",
    ])
    func `other data is not a URL`(notation: String) throws {
        #expect(url(.data(try ValueNotation.value(notation).serialized(as: .binary))) == nil)
        #expect(url(.data(Data(notation.utf8))) == nil)
        #expect(url(.data(Data())) == nil)
    }
}
