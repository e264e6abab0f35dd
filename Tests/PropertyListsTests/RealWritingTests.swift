import Foundation
import PropertyLists
import TestSupport
import Testing

/// Compares the digits of reals with those of the standard library, which uses another algorithm.
@Suite struct RealWritingTests {
    private static let rounds = 20_000

    /// Checks the reals in the text formats. Except in JSON, whole reals have no decimal point.
    private static func expectShortest(_ reals: [Double], _ note: Comment? = nil) throws {
        let array: PropertyList = .array(reals.map { .real($0) })
        let json = String(decoding: try array.serialized(as: .json), as: UTF8.self)
        let texts = json.dropFirst().dropLast().split(separator: ",")
        let xml = String(decoding: try array.serialized(as: .xml), as: UTF8.self)
        let elements = xml.split(separator: "\n").filter { $0.contains("<real>") }
        try #require(texts.count == reals.count && elements.count == reals.count)
        var wrong: [String] = []
        for (real, (text, element)) in zip(reals, zip(texts, elements)) {
            let isShortest =
                text == real.description
                && (real == real.rounded() || element.hasSuffix("<real>\(real.description)</real>"))
            if !isShortest { wrong.append("\(text) and \(element) for \(real), bits \(real.bitPattern)") }
        }
        #expect(wrong.isEmpty, note)
    }

    private static func reals(_ stream: String, _ next: (inout SeededGenerator) -> Double) throws {
        var generator = SeededGenerator(stream: stream)
        let reals = (0..<rounds).map { _ in next(&generator) }
        try expectShortest(reals.filter(\.isFinite), "\(Seed.ofThisRun)")
    }

    @Test func `Any bits are written in the fewest digits`() throws {
        try Self.reals("any bits") { Double(bitPattern: $0.next()) }
    }

    /// From 2^-16 to 2^56, around the range with a separate algorithm.
    @Test func `A real near one is written in the fewest digits`() throws {
        try Self.reals("near one") { generator in
            let exponent = UInt64.random(in: 1023 - 16...1023 + 56, using: &generator)
            let sign = generator.next() & 1
            return Double(bitPattern: sign << 63 | exponent << 52 | generator.next() >> 12)
        }
    }

    @Test func `A short decimal is written as it was read`() throws {
        try Self.reals("short decimals") { generator in
            let digits =
                generator.next() % [10, 1000, 1_000_000, 1_000_000_000_000_000].randomElement(using: &generator)!
            return Double("\(digits)e-\(generator.next() % 22)") ?? .nan
        }
    }

    @Test func `A decimal that ends halfway between two others is written in the fewest digits`() throws {
        try Self.reals("halfway") { generator in
            let places = Int.random(in: 1...16, using: &generator)
            let halfway = Double("\(generator.next() % 10_000_000_000_000_000)5e-\(places)") ?? .nan
            return [halfway.nextDown, halfway, halfway.nextUp].randomElement(using: &generator)!
        }
    }

    @Test func `A power of two and its neighbours are written in the fewest digits`() throws {
        let powers = (-1074...1023).map { Double(sign: .plus, exponent: $0, significand: 1) }
        try Self.expectShortest(powers.flatMap { [$0.nextDown, $0, $0.nextUp, -$0] })
    }

    /// If two decimals are equally near, the even one is written.
    @Test(arguments: [
        (1_699_035_690_989_648.25, "1699035690989648.2"), (1_699_035_690_989_648.75, "1699035690989648.8"),
        (-1_699_035_690_989_649.25, "-1699035690989649.2"), (2_251_799_813_685_249.5, "2251799813685249.5"),
        (4_503_599_627_370_495.5, "4503599627370495.5"), (4_503_599_627_370_497, "4503599627370497.0"),
        (0.0001, "0.0001"), (0.00009999999999999999, "9.999999999999999e-05"),
        (0.00010000000000000002, "0.00010000000000000002"),
        (0.1, "0.1"), (0.30000000000000004, "0.30000000000000004"), (0.5, "0.5"),
        (99.99999999999999, "99.99999999999999"),
        (9.5, "9.5"), (123.456, "123.456"), (-0.75, "-0.75"), (0.0, "0.0"), (-0.0, "-0.0"),
        (.leastNonzeroMagnitude, "5e-324"), (.leastNormalMagnitude, "2.2250738585072014e-308"),
        (.greatestFiniteMagnitude, "1.7976931348623157e+308"),
        (9_007_199_254_740_991, "9007199254740991.0"), (1e22, "1e+22"), (1e23, "1e+23"),
    ])
    func `A real has these digits`(_ real: Double, _ text: String) throws {
        let written = try PropertyList.real(real).serialized(as: .json)
        #expect(String(decoding: written, as: UTF8.self) == text)
        try Self.expectShortest([real])
    }
}
