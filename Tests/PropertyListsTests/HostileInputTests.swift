import Foundation
import PropertyLists
import TestSupport
import Testing

@Suite(.serialized) struct HostileInputTests {
    static let floods: [(String, PropertyList.Format)] = [
        ("[", .json), ("{\"a\":", .json), ("<array>", .xml), ("<dict><key>a</key>", .xml), ("(", .openstep),
        ("(", .gnustep),
        ("{a=", .openstep),
    ]

    @Test(arguments: floods)
    func `ten megabytes of opening brackets fail at the limit of depth`(
        _ bracket: String, _ format: PropertyList.Format
    ) {
        let flood = Data(repeating: Data(bracket.utf8), toAtLeast: 10 << 20)
        let failure = #expect(throws: DecodingFailure.self) { try PropertyList(parsing: flood, as: format) }
        #expect(failure?.problem == .nestedTooDeeply(limit: 512))
        #expect(failure?.offset == 512 * bracket.utf8.count)
    }

    @Test(arguments: ["[", "{\"a\":", "(", "{a=", "<array>"])
    func `a flood fails even if its format must be detected`(_ bracket: String) {
        let flood = Data(repeating: Data(bracket.utf8), toAtLeast: 1 << 20)
        let failure = #expect(throws: DecodingFailure.self) { try PropertyList(parsing: flood) }
        #expect(failure?.problem == .nestedTooDeeply(limit: 512))
    }

    /// In quadratic time, this would take hours.
    @Test(arguments: ["\"", "'", "/*", "<!--", "<![CDATA[", "<", "&", "\\", "<string>", "\u{0}", "<?", "0", "-", "a"])
    func `a run of one opening fails in every format`(_ beginning: String) {
        let run = Data(repeating: Data(beginning.utf8), toAtLeast: 200_000)
        for format in PropertyList.Format.allCases {
            for prefix in ["", "[\"", "(", "<string>", "<string><![CDATA[", "{a="] {
                _ = try? PropertyList(parsing: Data(prefix.utf8) + run, as: format)
            }
        }
    }

    /// The examined start of the file may end anywhere, even inside a tag.
    @Test(arguments: ["<plist><true/></plist>", "<!DOCTYPE plist><true/>", "<!-- a --><true/>"])
    func `XML is recognized after any white space`(_ text: String) throws {
        for count in 4070...4100 {
            #expect(try PropertyList(parsing: String(repeating: " ", count: count) + text) == true, "\(count)")
        }
    }

    /// An exponent is not truncated if the digits of the mantissa could compensate for it.
    @Test(arguments: [PropertyList.Format.json, .xml, .gnustep])
    func `a number of a hundred thousand digits is not read as another one`(_ format: PropertyList.Format) throws {
        func read(_ text: String) throws(DecodingFailure) -> PropertyList {
            switch format {
            case .xml: try PropertyList(parsing: "<real>\(text)</real>", as: format)
            case .gnustep: try PropertyList(parsing: "<*R\(text)>", as: format)
            default: try PropertyList(parsing: text, as: format)
            }
        }
        let zeros = String(repeating: "0", count: 100_000)
        for digits in [7, 8, 11, 12, 13, 14, 15, 30] {
            let great = "1" + String(repeating: "0", count: digits)
            let failure = #expect(throws: DecodingFailure.self) { try read("0.\(zeros)1e\(great)") }
            #expect(failure?.problem.isRealOutOfRange == true)
            #expect(try read("1\(zeros)e-\(great)") == .real(0))
        }
        #expect(try read("0.\(zeros)1e100001") == .real(1))
        #expect(try read("1\(zeros).0e-100000") == .real(1))
    }

    /// Reading each reference again would never end.
    @Test func `fifty thousand references into shared arrays end`() {
        // Each array contains the next one many times.
        let wide = 50
        let deep = 1000
        var objects: [Data] = (0..<deep).map { object in
            Data([0xAF, 0x10, UInt8(wide)]) + (0..<wide).flatMap { _ in UInt64(object + 1).bigEndian(width: 2) }
        }
        objects.append(Data([0x10, 0x01]))
        let file = Data(binaryObjects: objects, referenceSize: 2)
        let failure = #expect(throws: DecodingFailure.self) { try PropertyList(parsing: file) }
        #expect(failure?.problem == .nestedTooDeeply(limit: 512))
        let flat = Data(
            binaryObjects: [
                Data([0xAF, 0x12]) + UInt64(50_000).bigEndian(width: 4)
                    + (0..<50_000).flatMap { _ in UInt64(1).bigEndian(width: 2) },
                Data([0xAF, 0x11]) + UInt64(500).bigEndian(width: 2)
                    + (0..<500).flatMap { _ in UInt64(2).bigEndian(width: 2) },
                Data([0x51, 0x78]),
            ], referenceSize: 2)
        let limits = PropertyList.Limits(expandedBytes: 1 << 30)
        let other = #expect(throws: DecodingFailure.self) { try PropertyList(parsing: flat, limits: limits) }
        #expect(other?.problem == .tooManyNodes(limit: 10_000_000))
    }

    /// A file of each format with values of every type.
    static let samples: [(PropertyList.Format, Data)] = PropertyList.Format.allCases.map { format in
        var options = PropertyList.WritingOptions()
        options.wrapsInJSON = true
        options.coerces = format == .toml
        let scalars: [PropertyList] =
            format == .openstep
            ? [.string("a \"b\" é"), .data(Data([1, 2]))]
            : [
                .string("a <b> é😀"), .integer(-5), .integer(300), .real(1.5), .boolean(true),
                .date(Date(timeIntervalSinceReferenceDate: 7)), .data(Data([1, 2, 3, 4])),
            ]
        let value: PropertyList = .dictionary(["list": .array(scalars), "clé": .dictionary(["x": .string("y")])])
        return (format, (try? value.serialized(as: format, options: options)) ?? Data())
    }

    /// Many beginnings of a TOML file are TOML.
    @Test(arguments: samples.filter { $0.0 != .toml })
    func `a truncated file is rejected with a position inside it`(_ format: PropertyList.Format, _ file: Data)
        throws
    {
        #expect(throws: Never.self) { try PropertyList(parsing: file, as: format) }
        let last = file.last == UInt8(ascii: "\n") ? file.count - 1 : file.count
        for count in 0..<last {
            let failure = #expect(throws: DecodingFailure.self, "\(count) bytes of \(file.count)") {
                try PropertyList(parsing: file.prefix(count), as: format)
            }
            if let failure { #expect((0...count).contains(failure.offset)) }
        }
    }

    @Test(arguments: samples)
    func `a file with one byte changed is read or refused`(_ format: PropertyList.Format, _ file: Data) {
        for position in file.indices {
            for change: UInt8 in [0x01, 0x20, 0x80, 0xFF] {
                var changed = file
                changed[position] ^= change
                do throws(DecodingFailure) {
                    let value = try PropertyList(parsing: changed, as: format)
                    #expect(value == value)
                } catch {
                    #expect((0...file.count).contains(error.offset))
                    #expect(!error.description.isEmpty)
                }
            }
        }
    }

    @Test(arguments: samples)
    func `a file followed by other bytes is refused`(_ format: PropertyList.Format, _ file: Data) {
        for tail in [Data([0]), Data("x".utf8), file] {
            #expect(throws: DecodingFailure.self) { try PropertyList(parsing: file + tail, as: format) }
        }
    }
}

extension Data {
    init(repeating pattern: Data, toAtLeast size: Int) {
        self = pattern
        reserveCapacity(2 * size)
        while count < size { append(self) }
    }
}

extension DecodingFailure.Problem {
    fileprivate var isRealOutOfRange: Bool { if case .realOutOfRange = self { true } else { false } }
}
