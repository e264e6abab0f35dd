import Foundation
import PropertyLists
import Testing

/// Behavior that types can observe in a coder, which is the same as in Foundation's coders.
@Suite struct `A coder as Foundation's` {
    private enum Numbered: Int, CodingKey { case first = 1, second }

    private struct Written: Encodable {
        let body: (any Encoder) throws -> Void
        func encode(to encoder: any Encoder) throws { try body(encoder) }
    }

    private struct Read: Decodable {
        static let body = CodingUserInfoKey(rawValue: "body")
        typealias Body = @Sendable (any Decoder) throws -> Void

        init(from decoder: any Decoder) throws {
            guard let key = Self.body, let body = decoder.userInfo[key] as? Body else { return }
            try body(decoder)
        }
    }

    private static func shown(_ path: [any CodingKey]) -> String {
        path.map { "\($0.stringValue)=\($0.intValue.map(String.init) ?? "-")" + ($0 is Numbered ? "!" : "") }
            .joined(separator: " ")
    }

    @Test func `keeps the keys of the type in the path of encoding`() throws {
        var paths: [String] = []
        func note(_ path: [any CodingKey]) { paths.append(Self.shown(path)) }
        _ = try PropertyList(
            encoding: Written { encoder in
                note(encoder.codingPath)
                var keyed = encoder.container(keyedBy: Numbered.self)
                try keyed.encode(
                    Written {
                        note($0.codingPath)
                        _ = $0.unkeyedContainer()
                    }, forKey: .first)
                var nested = keyed.nestedContainer(keyedBy: Numbered.self, forKey: .second)
                note(nested.codingPath)
                var list = nested.nestedUnkeyedContainer(forKey: .first)
                note(list.codingPath)
                let inner = list.nestedContainer(keyedBy: Numbered.self)
                note(inner.codingPath)
                note(nested.superEncoder().codingPath)
                note(nested.superEncoder(forKey: .second).codingPath)
            })
        #expect(
            paths == [
                "", "first=1!", "second=2!", "second=2! first=1!", "second=2! first=1! Index 0=0",
                "second=2! super=-", "second=2! second=2!",
            ])
    }

    @Test func `keeps the keys of the type in the path of decoding`() throws {
        let value: PropertyList = ["first": ["a"], "second": ["first": [["second": 1]], "super": [:], "second": [:]]]
        // It is safe because decoding is over before the paths are read.
        nonisolated(unsafe) var paths: [String] = []
        let note: @Sendable ([any CodingKey]) -> Void = { paths.append(Self.shown($0)) }
        let key = try #require(Read.body)
        let body: Read.Body = { decoder in
            guard decoder.codingPath.isEmpty else { return note(decoder.codingPath) }
            let keyed = try decoder.container(keyedBy: Numbered.self)
            _ = try keyed.decode(Read.self, forKey: .first)
            let nested = try keyed.nestedContainer(keyedBy: Numbered.self, forKey: .second)
            note(nested.codingPath)
            var list = try nested.nestedUnkeyedContainer(forKey: .first)
            note(list.codingPath)
            let inner = try list.nestedContainer(keyedBy: Numbered.self)
            note(inner.codingPath)
            note(try nested.superDecoder().codingPath)
            note(try nested.superDecoder(forKey: .second).codingPath)
            do {
                _ = try inner.decode(String.self, forKey: .second)
            } catch DecodingError.typeMismatch(_, let context) {
                note(context.codingPath)
            }
        }
        _ = try value.decoded(as: Read.self, userInfo: [key: body])
        #expect(
            paths == [
                "first=1!", "second=2!", "second=2! first=1!", "second=2! first=1! Index 0=0", "second=2! super=-",
                "second=2! second=2!", "second=2! first=1! Index 0=0 second=2!",
            ])
    }

    @Test func `continues what was encoded before in a nested container`() throws {
        let value = try PropertyList(
            encoding: Written { encoder in
                var keyed = encoder.container(keyedBy: Numbered.self)
                try keyed.encode(["a": 1, "b": 2], forKey: .first)
                var nested = keyed.nestedContainer(keyedBy: Name.self, forKey: .first)
                try nested.encode(3, forKey: Name("b"))
                try nested.encode(4, forKey: Name("c"))
                try keyed.encode(["x"], forKey: .second)
                var list = keyed.nestedUnkeyedContainer(forKey: .second)
                #expect(list.count == 1)
                try list.encode("y")
            })
        #expect(value == ["first": ["a": 1, "b": 3, "c": 4], "second": ["x", "y"]])
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Is encoded as nil although it is not an optional.
    private enum Choice: Codable, Equatable {
        case none, some(Int)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            self = container.decodeNil() ? .none : .some(try container.decode(Int.self))
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            if case .some(let number) = self { try container.encode(number) } else { try container.encodeNil() }
        }
    }

    private struct Holder: Codable, Equatable {
        var choice: Choice
        var other: Choice
    }

    private struct Empty: Codable {}
    private struct HolderOfEmpty: Codable { var empty: Empty }

    @Test func `decodes a nil under a key whose type is no optional`() throws {
        let holder = Holder(choice: .none, other: .some(1))
        let value = try PropertyList(encoding: holder)
        #expect(value == ["other": 1])
        #expect(try value.decoded(as: Holder.self) == holder)
        #expect(throws: DecodingError.self) { try ([:] as PropertyList).decoded(as: HolderOfEmpty.self) }
    }

    private static let texts: [(String, PropertyList)] = [
        ("<plist><true> </true></plist>", true), ("<plist><string><![CDATA[a&b]]></string></plist>", "a&b"),
        ("<plist><string>&#x41;&amp;</string></plist>", "A&"),
        ("<plist><!-- c --><array><!-- d --></array></plist>", []),
        ("<?xml version='1.0'?><plist version='1.0'><dict><key>a</key><string></string></dict></plist>", ["a": ""]),
    ]

    @Test func `reads XML and binary files as leniently`() throws {
        for (text, value) in Self.texts { #expect(try PropertyList(parsing: text) == value, "\(text)") }
        var bytes = Array(try PropertyList(["a": 1]).serialized(as: .binary))
        for version in "01x" {
            bytes[7] = version.asciiValue ?? 0
            #expect(try PropertyList(parsing: bytes) == ["a": 1], "\(version)")
        }
    }

    @Test func `has a sentence for every error`() {
        let errors: [any Error] = [
            DecodingFailure(.emptyInput, offset: 0, format: .json), EncodingFailure(.tooLarge(limit: 1), format: .xml),
            PropertyList.ConversionFailure(type: "T", path: EntryPath()),
        ]
        for error in errors { #expect(error.localizedDescription == "\(error)") }
    }
}
