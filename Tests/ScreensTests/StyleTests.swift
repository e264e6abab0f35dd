import Foundation
import Screens
import Testing

@Suite struct `A set of colors` {
    /// The backgrounds of the terminals whose palettes are common, and the text on them.
    private static let palettes: [(name: String, set: Colors, background: Int, text: Int)] = [
        ("xterm", .dark, 0x00_0000, 0xE5_E5E5), ("xterm", .light, 0xFF_FFFF, 0x00_0000),
        ("Tango", .dark, 0x2E_3436, 0xD3_D7CF), ("Tango", .light, 0xEE_EEEC, 0x2E_3436),
        ("Solarized", .dark, 0x00_2B36, 0x83_9496), ("Solarized", .light, 0xFD_F6E3, 0x65_7B83),
        ("VGA", .dark, 0x00_0000, 0xAA_AAAA), ("VGA", .light, 0xFF_FFFF, 0x00_0000),
        ("Ubuntu", .dark, 0x30_0A24, 0xFF_FFFF),
    ]

    /// Returns a color of the cube of 6×6×6, which themes leave as it is.
    private static func color(_ number: Int) -> Int {
        let levels = [0, 0x5F, 0x87, 0xAF, 0xD7, 0xFF]
        let index = number - 16
        return levels[index / 36] << 16 | levels[index / 6 % 6] << 8 | levels[index % 6]
    }

    /// Returns the contrast of two colors, from 1 to 21, as WCAG 2 defines it.
    private static func contrast(_ one: Int, _ other: Int) -> Double {
        func luminance(_ color: Int) -> Double {
            let parts = [16, 8, 0].map { shift in
                let part = Double(color >> shift & 0xFF) / 255
                return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
            }
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
        }
        let (first, second) = (luminance(one), luminance(other))
        return (max(first, second) + 0.05) / (min(first, second) + 0.05)
    }

    @Test(arguments: Style.Color.allCases, palettes.indices)
    func `has enough contrast`(_ color: Style.Color, _ index: Int) throws {
        let (name, set, background, text) = Self.palettes[index]
        let number = try #require(set.number(of: color))
        #expect((16..<232).contains(number))
        let contrast = Self.contrast(Self.color(number), background)
        #expect(contrast >= min(4.5, Self.contrast(text, background)), "\(name) \(set) \(color): \(contrast)")
    }

    @Test(arguments: [1, 2, 3, 4])
    func `has enough contrast on each background for which it is chosen`(_ digits: Int) throws {
        var counts: [Colors: Int] = [:]
        let levels = stride(from: 0, through: 255, by: 15)
        for (red, green, blue) in levels.flatMap({ red in levels.flatMap { green in levels.map { (red, green, $0) } } })
        {
            let report = Self.report([red, green, blue].map { $0 * ((1 << (4 * digits)) - 1) / 255 }, digits)
            let set = try #require(Colors(reportedAs: report))
            counts[set, default: 0] += 1
            guard digits > 1 else { continue }
            for number in Style.Color.allCases.compactMap(set.number) {
                #expect(Self.contrast(Self.color(number), red << 16 | green << 8 | blue) >= 4.4, "\(report) \(number)")
            }
        }
        #expect(counts[.own] == nil && counts.count == 3, "\(counts)")
        for palette in Self.palettes {
            let report = Self.report([16, 8, 0].map { palette.background >> $0 & 0xFF }, 2)
            #expect(Colors(reportedAs: report) == palette.set, "\(palette.name)")
        }
    }

    /// Returns a color as a terminal reports it.
    private static func report(_ levels: [Int], _ digits: Int) -> String {
        "rgb:" + levels.map { String(format: "%0\(digits)x", $0) }.joined(separator: "/")
    }

    @Test(arguments: [
        "", "rgb:", "rgb:1/2", "rgb:1/2/3/4", "rgb:g/0/0", "rgb:12345/0/0", "rgb://", "rgba:0/0/0", "rgb:-1/0/0",
    ])
    func `is not chosen for a report that has no color`(_ text: String) {
        #expect(Colors(reportedAs: text) == nil)
    }

    @Test func `is needed for each background, since no color has enough contrast on all`() {
        let fit = (16..<232).filter { number in
            Self.palettes.allSatisfy { palette in
                Self.contrast(Self.color(number), palette.background)
                    >= min(4.5, Self.contrast(palette.text, palette.background))
            }
        }
        #expect(fit == [])
        #expect(Style.Color.allCases.allSatisfy { Colors.none.number(of: $0) == nil })
    }

    @Test func `has six different colors`() {
        for set in [Colors.own, .dark, .light] {
            #expect(Set(Style.Color.allCases.map { set.number(of: $0) }).count == 6)
        }
    }

    @Test func `has one color for each meaning that a setting has`() {
        let meanings: [Style] = [.forced, .edited, .conflict, .invalid]
        #expect(Set(meanings.map(\.color)).count == meanings.count && !meanings.contains { $0.color == nil })
    }

    @Test(
        arguments: [
            ("15;0", .dark), ("0;15", .light), ("7;8", .dark), ("0;7", .light), ("0;default;15", .light),
            ("15;default;0", .dark), ("12;6", .dark), ("0;9", .light), ("0;default", nil), ("default;default", nil),
            ("", nil), ("0", nil), ("0;16", nil), ("0;-1", nil), ("0;99999999999999999999", nil), (";", nil),
        ] as [(String, Colors?)])
    func `is that of the background which a variable states`(_ text: String, _ set: Colors?) {
        #expect(Colors(statedBy: text) == set)
    }
}
