import Foundation
import PropertyLists
import TestSupport
import Testing

/// Other programs that read and write property lists.
enum Peer {
    /// The `plutil` that is installed with the compiler.
    static let toolchain =
        Tool.path(of: "swift").map {
            URL(filePath: $0).resolvingSymlinksInPath().deletingLastPathComponent().appending(path: "plutil").path
        } ?? "swift/plutil"

    /// The `plutil` of GNUstep.
    static let gnustep =
        ["/usr/bin/plutil", "/usr/local/bin/plutil"].first { $0 != toolchain && Tool.path(of: $0) != nil }
        ?? "gnustep/plutil"

    static let libplist = "plistutil"
    static let python = "python3"

    /// Characters whose spelling no peer changes.
    static let isPlain: @Sendable (Unicode.Scalar) -> Bool = { scalar in
        switch scalar.value {
        case 0x09, 0x0A, 0x20...0x7E, 0xA1...0xAC, 0xAE...0x2FF, 0x3041...0x3096, 0xE000...0xF8FF, 0x1F600...0x1F64F:
            true
        default: false
        }
    }

    /// Values of all types that every peer supports: no −0, no carriage return, and years of four digits.
    static let scope: ValueGenerator.Scope = {
        var scope = ValueGenerator.Scope.common
        scope.allowsNegativeZero = false
        scope.allows = isPlain
        return scope
    }()

    /// Returns a value that contains many others.
    static func value(_ scope: ValueGenerator.Scope = scope, stream: String) -> PropertyList {
        var values = ValueGenerator(SeededGenerator(stream: stream), scope: scope)
        var root = PropertyList.Dictionary()
        for number in 0..<40 { root["value \(number)"] = values.value(depth: 3) }
        return .dictionary(root)
    }

    /// Converts a file with `program`, and reads the result.
    static func converted(
        _ value: PropertyList, from source: PropertyList.Format, to target: PropertyList.Format, program: String,
        arguments: (_ input: String, _ output: String) -> [String]
    ) throws -> PropertyList {
        try PropertyList(
            parsing: convertedBytes(value.serialized(as: source), program: program, arguments: arguments), as: target)
    }

    static func convertedBytes(
        _ bytes: Data, program: String, arguments: (_ input: String, _ output: String) -> [String]
    ) throws -> Data {
        let folder = try TemporaryFolder()
        let (input, output) = (folder.url.appending(path: "in.plist"), folder.url.appending(path: "out.plist"))
        try bytes.write(to: input)
        let result = try Subprocess.run(program, arguments(input.path, output.path))
        guard result.status == 0, let made = try? Data(contentsOf: output) else {
            throw Refusal(description: "\(program) \(result.status): \(result.errorText)\(result.text.prefix(300))")
        }
        return made
    }

    struct Refusal: Error, CustomStringConvertible { let description: String }
}

@Suite struct PeerTests {
    static let pairs: [(PropertyList.Format, PropertyList.Format)] = [
        (.xml, .xml), (.xml, .binary), (.binary, .xml), (.binary, .binary),
    ]

    private static func option(_ format: PropertyList.Format) -> String { format == .xml ? "xml1" : "binary1" }

    @Test(.enabled(if: Tool.isExpected(Peer.toolchain), "the toolchain has no plutil"), arguments: pairs)
    func `the toolchain's plutil reads what we write and we what it writes`(
        _ source: PropertyList.Format, _ target: PropertyList.Format
    ) throws {
        let value = Peer.value(stream: "toolchain")
        let back = try Peer.converted(value, from: source, to: target, program: Peer.toolchain) {
            ["-convert", Self.option(target), "-o", $1, $0]
        }
        #expect(back == value, "\(Seed.ofThisRun)")
    }

    @Test(
        .enabled(if: Tool.isExpected(Peer.toolchain), "the toolchain has no plutil"), arguments: ["json", "openstep"])
    func `the toolchain's plutil reads our text`(_ name: String) throws {
        let format = try #require(PropertyList.Format(rawValue: name))
        var scope = format == .json ? ValueGenerator.Scope.plainJSON : .openstep
        scope.allows = Peer.isPlain
        scope.allowsNegativeZero = false
        let value = Peer.value(scope, stream: "toolchain text")
        let back = try Peer.converted(value, from: format, to: .binary, program: Peer.toolchain) {
            ["-convert", "binary1", "-o", $1, $0]
        }
        #expect(format == .json ? back.agreesAsJSON(with: value) : back == value, "\(Seed.ofThisRun)")
    }

    @Test(.enabled(if: Tool.isExpected(Peer.toolchain), "the toolchain has no plutil"))
    func `we read the toolchain's JSON`() throws {
        var scope = ValueGenerator.Scope.plainJSON
        scope.allows = Peer.isPlain
        scope.allowsNegativeZero = false
        let value = Peer.value(scope, stream: "toolchain JSON")
        let back = try Peer.converted(value, from: .xml, to: .json, program: Peer.toolchain) {
            ["-convert", "json", "-o", $1, $0]
        }
        #expect(back.agreesAsJSON(with: value), "\(Seed.ofThisRun)")
    }

    @Test(.enabled(if: Tool.isExpected(Peer.libplist), "plistutil is not installed"))
    func `libplist's plistutil reads what we write and we what it writes`() throws {
        let value = Peer.value(stream: "libplist")
        let binary = try Peer.converted(value, from: .xml, to: .binary, program: Peer.libplist) {
            ["-i", $0, "-o", $1, "-f", "bin"]
        }
        #expect(binary == value, "\(Seed.ofThisRun)")
        let xml = try Peer.converted(value, from: .binary, to: .xml, program: Peer.libplist) {
            ["-i", $0, "-o", $1, "-f", "xml"]
        }
        #expect(xml.roundedReals == value.roundedReals, "\(Seed.ofThisRun)")
    }

    /// Reads the given files, checks that they have the same value, and writes it in both formats.
    private static let pythonScript = """
        import plistlib, sys
        *sources, xml, binary = sys.argv[1:]
        values = [plistlib.loads(open(name, 'rb').read()) for name in sources]
        for name, value in zip(sources, values):
            assert value == values[0], name
        for name, kind in ((xml, plistlib.FMT_XML), (binary, plistlib.FMT_BINARY)):
            open(name, 'wb').write(plistlib.dumps(values[0], fmt=kind))
        """

    @Test(.enabled(if: Tool.isExpected(Peer.python), "python3 is not installed"))
    func `Python's plistlib reads what we write and we what it writes`() throws {
        let value = Peer.value(stream: "Python")
        let folder = try TemporaryFolder()
        func path(_ name: String) -> URL { folder.url.appending(path: name) }
        var sorted = PropertyList.WritingOptions()
        sorted.marksSortedRoot = true
        var kept = PropertyList.WritingOptions()
        kept.keepsKeyOrder = true
        try value.serialized(as: .xml).write(to: path("1"))
        try value.serialized(as: .binary).write(to: path("2"))
        try value.serialized(as: .binary, options: sorted).write(to: path("3"))
        try value.serialized(as: .binary, options: kept).write(to: path("4"))
        let names = ["1", "2", "3", "4", "xml", "binary"].map { path($0).path }
        let result = try Subprocess.run(Peer.python, ["-c", Self.pythonScript] + names)
        #expect(result.status == 0, "\(result.errorText) \(Seed.ofThisRun)")
        #expect(try PropertyList(parsing: Data(contentsOf: path("xml"))) == value, "\(Seed.ofThisRun)")
        #expect(try PropertyList(parsing: Data(contentsOf: path("binary"))) == value, "\(Seed.ofThisRun)")
    }

    @Test(.enabled(if: Tool.isExpected(Peer.python), "python3 is not installed"))
    func `Python reads the uids that we write, and we its own`() throws {
        let value: PropertyList = .dictionary(["u": .array(UInt64.borders.map { .uid($0) })])
        // Python refuses to write them as XML.
        let script = """
            import plistlib, sys
            value = plistlib.loads(sys.stdin.buffer.read())
            assert all(type(uid) is plistlib.UID for uid in value['u'])
            sys.stdout.buffer.write(plistlib.dumps(value, fmt=plistlib.FMT_BINARY))
            """
        let result = try Subprocess.run(Peer.python, ["-c", script], input: try value.serialized(as: .binary))
        #expect(result.status == 0, "\(result.errorText)")
        #expect(try PropertyList(parsing: result.output) == value)
    }

    /// Python's `json`, which has no limit for integers, reads and writes JSON.
    @Test(.enabled(if: Tool.isExpected(Peer.python), "python3 is not installed"))
    func `Python's json reads what we write and we what it writes`() throws {
        var scope = ValueGenerator.Scope.plainJSON
        scope.allows = { $0.value != 0 }
        let value = Peer.value(scope, stream: "Python JSON")
        var pretty = PropertyList.WritingOptions()
        pretty.isPretty = true
        for options in [.default, pretty] {
            let script = "import json, sys; json.dump(json.loads(sys.stdin.buffer.read().decode()), sys.stdout)"
            let result = try Subprocess.run(
                Peer.python, ["-c", script], input: try value.serialized(as: .json, options: options))
            #expect(result.status == 0, "\(result.errorText)")
            #expect(try PropertyList(parsing: result.output, as: .json) == value, "\(Seed.ofThisRun)")
        }
    }

    @Test(
        .enabled(if: Tool.isExpected(Peer.gnustep), "GNUstep's plutil is not installed"),
        arguments: [
            (PropertyList.Format.xml, "gnustep"), (.binary, "gnustep"), (.gnustep, "gnustep"), (.gnustep, "binary1"),
            (.gnustep, "xml1"), (.binary, "binary1"), (.openstep, "openstep"),
        ])
    func `GNUstep's plutil reads what we write and we what it writes`(
        _ source: PropertyList.Format, _ target: String
    ) throws {
        var scope = source == .openstep ? .openstep : Peer.scope
        // GNUstep has no integers beyond 63 bits, escapes characters beyond U+FFFF in XML, and reads every dictionary
        // with a key `CF$UID` as a reference.
        scope.allows = { Peer.isPlain($0) && $0.value < 0x10000 && $0 != "$" }
        let extreme = Peer.value(scope, stream: "GNUstep").withoutExtremes
        let value = target == "binary1" ? extreme.withoutTwins : extreme
        let result = try Subprocess.run(
            Peer.gnustep, ["-convert", target, "-"], input: try value.serialized(as: source))
        try #require(result.status == 0, "\(result.errorText)")
        let formats: [String: PropertyList.Format] = [
            "gnustep": .gnustep, "openstep": .openstep, "xml1": .xml, "binary1": .binary,
        ]
        let back = try PropertyList(parsing: result.output, as: formats[target])
        #expect(back.roundedReals == value.roundedReals, "\(Seed.ofThisRun)")
    }
}

extension PropertyList {
    /// Returns the value with `change` applied to all values in it that are not containers.
    func mapScalars(_ change: (PropertyList) -> PropertyList) -> PropertyList {
        switch self {
        case .array(let elements): return .array(elements.map { $0.mapScalars(change) })
        case .dictionary(let dictionary):
            return .dictionary(Dictionary(dictionary.map { ($0.key, $0.value.mapScalars(change)) }))
        default: return change(self)
        }
    }

    /// The value without reals and Booleans that equal an integer. GNUstep's binary writer treats 1, 1.0 and true as
    /// the same.
    var withoutTwins: PropertyList {
        mapScalars { value in
            switch value {
            case .boolean(let flag): .string(flag ? "yes" : "no")
            case .real(let number) where number == number.rounded(): .string(number.description)
            default: value
            }
        }
    }

    /// The value without integers beyond 63 bits, and without the greatest real, which overflows when rounded to
    /// sixteen digits.
    var withoutExtremes: PropertyList {
        mapScalars { scalar in
            switch scalar {
            case .integer(let number) where Int64(exactly: number) == nil: .integer(1)
            case .real(let number) where abs(number) == .greatestFiniteMagnitude: .real(1)
            default: scalar
            }
        }
    }

    /// The value with reals rounded to the fifteen digits that some peers write.
    var roundedReals: PropertyList {
        mapScalars { scalar in
            guard case .real(let number) = scalar else { return scalar }
            return .string(String(format: "%.5g", number))
        }
    }

    /// Whether both values are equal if a whole real may have become an integer.
    func agreesAsJSON(with other: PropertyList) -> Bool {
        func asReals(_ value: PropertyList) -> PropertyList {
            value.mapScalars { scalar in
                guard case .integer(let number) = scalar else { return scalar }
                return .real(number.asDouble)
            }
        }
        return asReals(self).roundedReals == asReals(other).roundedReals
    }
}
