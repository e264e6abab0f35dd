package import Foundation
package import PropertyLists

/// A generator of random values that favors those that have broken readers and writers before.
package struct ValueGenerator {
    package var generator: SeededGenerator
    package let scope: Scope

    package init(_ generator: SeededGenerator, scope: Scope = .everything) {
        self.generator = generator
        self.scope = scope
    }

    /// The values to generate, restricted to those that a format can hold.
    package struct Scope: Sendable {
        package var kinds: Set<PropertyList.Kind> = Set(PropertyList.Kind.allCases).subtracting([.null])
        package var allowsFractionalDates = true
        /// The limit of dates, in seconds before and after 2001.
        package var greatestDate = 1e13
        package var allowsNonFiniteReals = true
        package var allowsNegativeZero = true
        /// Whether a character may be in a string.
        package var allows: @Sendable (Unicode.Scalar) -> Bool = { _ in true }

        package init() {}
    }
}

extension ValueGenerator.Scope {
    package static let everything = Self()

    package static let xml: Self = {
        var scope = Self()
        scope.allowsFractionalDates = false
        scope.allows = { $0.value != 0 }
        return scope
    }()

    package static let plainJSON: Self = {
        var scope = Self()
        scope.kinds = [.string, .integer, .real, .boolean, .array, .dictionary]
        scope.allowsNonFiniteReals = false
        return scope
    }()

    package static let openstep: Self = {
        var scope = Self()
        scope.kinds = [.string, .data, .array, .dictionary]
        return scope
    }()

    /// The values that this library and Foundation's formats hold without loss.
    package static let common: Self = {
        var scope = Self.xml
        scope.kinds.remove(.uid)
        scope.greatestDate = 6e10
        scope.allowsNonFiniteReals = false
        scope.allows = { scalar in
            switch scalar.value {
            case 0x09, 0x0A, 0x0D: true
            case 0..<0x20, 0xFFFE, 0xFFFF: false
            default: true
            }
        }
        return scope
    }()
}

extension ValueGenerator {
    /// Returns a value with at most `depth` levels of containers.
    package mutating func value(depth: Int = 5) -> PropertyList {
        let kinds = PropertyList.Kind.allCases.filter { kind in
            scope.kinds.contains(kind) && (depth > 0 || (kind != .array && kind != .dictionary))
        }
        return value(of: kinds.randomElement(using: &generator)!, depth: depth)
    }

    /// Returns a dictionary, which every format supports as its root.
    package mutating func root(depth: Int = 5) -> PropertyList {
        value(of: .dictionary, depth: depth)
    }

    package mutating func value(of kind: PropertyList.Kind, depth: Int = 3) -> PropertyList {
        switch kind {
        case .string: .string(text())
        case .integer: .integer(integer())
        case .real: .real(real())
        case .boolean: .boolean(.random(using: &generator))
        case .date: .date(date())
        case .data: .data(data())
        case .null: .null
        case .uid: .uid(UInt64.borders.randomElement(using: &generator)!)
        case .array: .array((0..<size()).map { _ in value(depth: depth - 1) })
        case .dictionary: .dictionary(dictionary(depth: depth))
        }
    }

    private mutating func size() -> Int {
        switch Int.random(in: 0..<20, using: &generator) {
        case 0...2: 0
        case 3...16: Int.random(in: 1...4, using: &generator)
        case 17...18: Int.random(in: 11...18, using: &generator)
        default: Int.random(in: 19...40, using: &generator)
        }
    }

    private mutating func dictionary(depth: Int) -> PropertyList.Dictionary {
        var result = PropertyList.Dictionary()
        for _ in 0..<size() {
            result[text()] = value(depth: depth - 1)
        }
        // Such a dictionary would be read as a UID.
        if result.count == 1, result["CF$UID"] != nil { result["CF$UID "] = .string("") }
        return result
    }
}

// MARK: Scalars

extension ValueGenerator {
    package mutating func text() -> String {
        let candidate =
            switch Int.random(in: 0..<10, using: &generator) {
            case 0...3: String.awkward.randomElement(using: &generator)!
            case 4...6: word()
            case 7...8: randomScalars(count: Int.random(in: 0...30, using: &generator))
            default: String(repeating: word(), count: Int.random(in: 1...200, using: &generator))
            }
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: candidate.unicodeScalars.lazy.filter(scope.allows))
        return String(scalars)
    }

    private mutating func word() -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-. ")
        return String(
            (0..<Int.random(in: 1...14, using: &generator)).map { _ in
                letters.randomElement(using: &generator)!
            })
    }

    private mutating func randomScalars(count: Int) -> String {
        let ranges: [ClosedRange<UInt32>] = [
            0...0x1F, 0x20...0x7E, 0x7F...0x9F, 0xA0...0x2FF, 0x300...0x36F, 0x2000...0x206F,
            0x3040...0x30FF,
            0xE000...0xFFFF, 0x1_0000...0x1_FFFF, 0x10_FF00...0x10_FFFF,
        ]
        var scalars = String.UnicodeScalarView()
        for _ in 0..<count {
            let code = UInt32.random(in: ranges.randomElement(using: &generator)!, using: &generator)
            scalars.append(Unicode.Scalar(code)!)
        }
        return String(scalars)
    }

    package mutating func integer() -> PropertyList.Integer {
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: PropertyList.Integer(UInt64.borders.randomElement(using: &generator)!)
        case 1: PropertyList.Integer(Int64.borders.randomElement(using: &generator)!)
        default:
            PropertyList.Integer(
                Int64(truncatingIfNeeded: generator.next() >> UInt64.random(in: 0..<64, using: &generator)))
        }
    }

    package mutating func real() -> Double {
        let number =
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: Double.awkward.randomElement(using: &generator)!
            case 1: Double(bitPattern: generator.next())
            default: Double(Int.random(in: -1_000_000...1_000_000, using: &generator)) / 1000
            }
        if !number.isFinite, !scope.allowsNonFiniteReals { return 0.1 }
        if number == 0, !scope.allowsNegativeZero { return 0 }
        return number
    }

    package mutating func date() -> Date {
        let greatest = scope.greatestDate
        let seconds =
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: Double.dates.randomElement(using: &generator)!
            case 1: Double.random(in: -greatest...greatest, using: &generator)
            default: Double.random(in: -3e9...3e9, using: &generator)
            }
        let clamped = min(max(seconds, -greatest), greatest)
        let isWhole = !scope.allowsFractionalDates || Bool.random(using: &generator)
        return Date(timeIntervalSinceReferenceDate: isWhole ? clamped.rounded(.down) : clamped)
    }

    package mutating func data() -> Data {
        let count =
            Bool.random(using: &generator)
            ? Int.random(in: 0...17, using: &generator) : Int.random(in: 0...300, using: &generator)
        return Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}

// MARK: Values that have broken readers and writers before

extension String {
    package static let awkward: [String] = [
        "", " ", "\t", "\n", "\r", "\r\n", "a\rb", "\u{0}", "a\u{0}b", "\u{1}\u{8}\u{B}\u{C}\u{1F}",
        "\u{7F}", "\u{85}",
        "\"", "'", "\\", "\"\\\"", "'\"'", "a'b\"c", "&", "&amp;", "<>&\"'", "]]>", "<![CDATA[x]]>",
        "<!-- x -->", "--",
        "/", "//", "/* */", "/a", "a/b", "http://example.com/?a=b&c=d", "{", "}", "{}", "(", ")", ";",
        ",", "=", "a = b;",
        "<00ff>", "<*I1>", "<*BY>", "<[AAAA]>", "true", "false", "null", "nan", "YES", "0", "1", "-1",
        "1.5", "0x10", "1e3",
        "@", "@10", "$", "$date", "$$date", "$data", "$uid", "$real", "CF$UID", "_", "-", ".", ":",
        "\\:", "a:b", ":a", "+1",
        "caf\u{E9}", "cafe\u{301}", "\u{301}", "\u{212B}", "\u{C5}", "A\u{30A}", "\u{AC00}",
        "\u{1100}\u{1161}", "ﬀ", "ß",
        "日本語", "שלום", "\u{FEFF}", "\u{FEFF}a", "\u{2028}", "\u{2029}", "a\u{2028}b", "\u{200D}",
        "\u{FFFD}", "\u{FFFE}",
        "\u{FFFF}", "\u{E000}", "\u{D7FF}", "\u{10000}", "😀", "👨‍👩‍👧", "\u{10FFFF}", "\u{E000}\u{10000}",
        "\u{10000}\u{E000}",
        "12345678", "1234567", "123456789012345", "1234567890123456", "12345678901234567",
        String(repeating: "x", count: 255), String(repeating: "é", count: 256),
        String(repeating: "long ", count: 2000),
    ]
}

extension UInt64 {
    package static let borders: [UInt64] = [
        0, 1, 9, 10, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x1_0000, 0x7FFF_FFFF,
        0x8000_0000, 0xFFFF_FFFF,
        0x1_0000_0000, 999_999_999_999_999_999, 1_000_000_000_000_000_000, 1 << 53, 1 << 53 + 1,
        1 << 63 - 1, 1 << 63,
        1 << 63 + 1, 9_999_999_999_999_999_999, 10_000_000_000_000_000_000, .max - 1, .max,
    ]
}

extension Int64 {
    package static let borders: [Int64] = [
        -1, -9, -10, -0x7F, -0x80, -0x81, -0xFF, -0x100, -0x7FFF, -0x8000, -0x8001, -0x1_0000,
        -0x7FFF_FFFF,
        -0x8000_0000, -0x8000_0001, -(1 << 53), -999_999_999_999_999_999, -1_000_000_000_000_000_000,
        .min + 1, .min,
    ]
}

extension Double {
    package static let awkward: [Double] = [
        0, -0.0, 1, -1, 0.1, 0.2, 0.3, 1.0 / 3, 100, 1e15, 1e16, 1e17, 1e21, 1e22, 1e23, 1e-4, 1e-5,
        1e-7, 123_456_789.125,
        0x1p53, 0x1.0000000000001p53, 0x1p63, 0x1p64, -0x1p63, .leastNonzeroMagnitude,
        -.leastNonzeroMagnitude,
        .leastNormalMagnitude.nextDown, .leastNormalMagnitude, .greatestFiniteMagnitude,
        -.greatestFiniteMagnitude, .pi, .ulpOfOne, .nan, .infinity,
        -.infinity, Double(Float(0.1)),
    ]

    /// Seconds from 2001: whole and fractional ones, leap days, the limits of four-digit years, and the year zero.
    package static let dates: [Double] = [
        0, 1, -1, 0.5, -0.5, 0.001, -0.001, 59, 60, 3599, 3600, 86_399, 86_400, -86_400, -978_307_200,
        -978_307_201,
        -1_009_843_200, 99_619_200, 252_423_993_599, 252_423_993_600, -62_135_596_800, -63_113_904_000,
        -63_113_904_001,
        -63_145_526_400, 1e10, -1e10, 1e12, -1e12, 1e13, -1e13, 694_224_000.123456, 1e-9, -1e-9, 1e-20,
        -1e-20,
    ]
}
