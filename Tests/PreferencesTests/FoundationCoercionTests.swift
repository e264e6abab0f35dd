import Foundation
import Preferences
import PropertyLists
import TestSupport
import Testing

/// Compares the coercions with those of the toolchain's `UserDefaults`, which reads each value from its own domain.
@Suite struct FoundationCoercionTests {
    private static let rounds = 5000
    private static let key = "value"

    /// Returns Foundation's defaults, with a value that is in no file.
    private func defaults(holding value: Any) throws -> UserDefaults {
        let defaults = try #require(UserDefaults(suiteName: "prefs-tests"))
        defaults.setVolatileDomain([Self.key: value], forName: UserDefaults.argumentDomain)
        return defaults
    }

    @Test func `texts are read as Foundation reads them`() throws {
        let defaults = try #require(UserDefaults(suiteName: "prefs-tests"))
        for round in 0..<Self.rounds {
            var generator = SeededGenerator(stream: "texts", round: round)
            let text = String(numberLike: &generator)
            defaults.setVolatileDomain([Self.key: text], forName: UserDefaults.argumentDomain)
            try compare(.string(text), with: defaults, "\(text.debugDescription), \(Seed.ofThisRun), round \(round)")
        }
    }

    @Test func `numbers are read as Foundation reads them`() throws {
        for round in 0..<Self.rounds {
            var generator = ValueGenerator(SeededGenerator(stream: "numbers", round: round))
            let real = generator.real()
            // In Foundation, the result for a real beyond the range of integers depends on the processor.
            if abs(real) < 0x1p63 {
                try compare(.real(real), with: try defaults(holding: real), "\(real), round \(round)")
            }
            if let integer = Int(exactly: generator.integer()) {
                try compare(
                    .integer(PropertyList.Integer(integer)), with: try defaults(holding: integer), "\(integer)")
            }
        }
        for flag in [true, false] { try compare(.boolean(flag), with: try defaults(holding: flag), "\(flag)") }
    }

    @Test func `paths are the URLs that Foundation makes of them`() throws {
        let folder = try TemporaryFolder()
        for path in [
            "", "/", "/usr", "/usr/", "/no such", "/é/%/?#", "relative/path", ".", "..", "../a", "//a", "/a/../b",
            "a\0b", "\u{0}",
        ] {
            try compareURLs(path)
        }
        try compareURLs(folder.url.path(percentEncoded: false))
    }

    private func compare(_ value: PropertyList, with defaults: UserDefaults, _ what: String) throws {
        #expect(value.asInteger == defaults.integer(forKey: Self.key), "\(what)")
        #expect(value.asDouble.bitPattern == defaults.double(forKey: Self.key).bitPattern, "\(what)")
        #expect(value.asFloat.bitPattern == defaults.float(forKey: Self.key).bitPattern, "\(what)")
        #expect(value.asBoolean == defaults.bool(forKey: Self.key), "\(what)")
        #expect(value.asString == defaults.string(forKey: Self.key), "\(what)")
        #expect(value.asStringArray == defaults.stringArray(forKey: Self.key), "\(what)")
    }

    private func compareURLs(_ path: String) throws {
        let theirs = try defaults(holding: path).url(forKey: Self.key)
        #expect(PropertyList.string(path).asURL { _ in nil } == theirs, "\(path)")
    }
}

extension String {
    /// Creates a text from the parts of numbers, in any order. It contains no character beyond U+FFFF, on which
    /// Foundation traps, and no combining character, whose result depends on Foundation's string search.
    fileprivate init(numberLike generator: inout SeededGenerator) {
        let pieces = [
            " ", "\t", "\n", "\r", "\u{A0}", "\u{200B}", "\u{2028}", "\u{3000}", "+", "-", ".", "e", "E", "0", "00",
            "1", "2",
            "9", "5", "123456789", "9223372036854775807", "t", "T", "y", "Y", "n", "x", ",", "_", "é", "\u{661}", "\0",
            "inf",
        ]
        self = (0..<Int.random(in: 0...9, using: &generator))
            .map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
    }
}
