import Foundation
import PropertyLists
import TestSupport
import Testing

@Suite struct LimitTests {
    /// Returns a value inside `depth` containers of one kind.
    static func nest(_ depth: Int, inDictionaries: Bool) -> PropertyList {
        (0..<depth).reduce(.string("x")) { inner, _ in inDictionaries ? .dictionary(["k": inner]) : .array([inner]) }
    }

    /// Returns text or bytes with containers nested `depth` levels deep.
    static func input(_ depth: Int, _ format: PropertyList.Format, inDictionaries: Bool) -> Data {
        func repeated(_ text: String) -> String { String(repeating: text, count: depth) }
        switch (format, inDictionaries) {
        case (.xml, false): return Data((repeated("<array>") + "<string>x</string>" + repeated("</array>")).utf8)
        case (.xml, true):
            return Data((repeated("<dict><key>k</key>") + "<string>x</string>" + repeated("</dict>")).utf8)
        case (.json, false): return Data((repeated("[") + "\"x\"" + repeated("]")).utf8)
        case (.json, true): return Data((repeated("{\"k\":") + "\"x\"" + repeated("}")).utf8)
        case (.openstep, false), (.gnustep, false): return Data((repeated("(") + "x" + repeated(")")).utf8)
        case (.openstep, true), (.gnustep, true): return Data((repeated("{k=") + "x" + repeated(";}")).utf8)
        case (.toml, _):
            let inner = depth - 1
            let (open, close) = (String(repeating: "{k = ", count: inner), String(repeating: "}", count: inner))
            return Data("k = \(open)\"x\"\(close)".utf8)
        case (.binary, _):
            // Objects 0 to depth−1 are the containers, then the innermost value and the key.
            let objects = (0..<depth).map { object in
                let references = (inDictionaries ? [depth + 1, object + 1] : [object + 1]).map {
                    UInt64($0).bigEndian(width: 2)
                }
                return Data([inDictionaries ? 0xD1 : 0xA1]) + references.joined()
            }
            return Data(binaryObjects: objects + [Data([0x51, 0x78]), Data([0x51, 0x6B])], referenceSize: 2)
        }
    }

    /// The root of TOML is a dictionary.
    static let shapes = PropertyList.Format.allCases.flatMap { format in
        (format == .toml ? [true] : [false, true]).map { (format, $0) }
    }

    @Test(arguments: shapes)
    func `a reader accepts the depth of the limit and no more`(_ format: PropertyList.Format, _ inDictionaries: Bool)
        throws
    {
        let deepest = Self.input(512, format, inDictionaries: inDictionaries)
        #expect(try PropertyList(parsing: deepest, as: format) == Self.nest(512, inDictionaries: inDictionaries))
        let failure = #expect(throws: DecodingFailure.self) {
            try PropertyList(parsing: Self.input(513, format, inDictionaries: inDictionaries), as: format)
        }
        #expect(failure?.problem == .nestedTooDeeply(limit: 512))
        #expect(failure?.path.components.count == 512)
    }

    @Test(arguments: shapes)
    func `a reader's depth can be set`(_ format: PropertyList.Format, _ inDictionaries: Bool) throws {
        for depth in [1, 2, 600, 2000] {
            let limits = PropertyList.Limits(nesting: depth)
            let input = { Self.input($0, format, inDictionaries: inDictionaries) }
            #expect(throws: Never.self) { try PropertyList(parsing: input(depth), as: format, limits: limits) }
            let failure = #expect(throws: DecodingFailure.self) {
                try PropertyList(parsing: input(depth + 1), as: format, limits: limits)
            }
            #expect(failure?.problem == .nestedTooDeeply(limit: depth))
        }
    }

    @Test(arguments: shapes)
    func `a writer accepts the depth of the limit and no more`(_ format: PropertyList.Format, _ inDictionaries: Bool)
        throws
    {
        let deepest = Self.nest(512, inDictionaries: inDictionaries)
        let bytes = try SmallThread.run(stackSize: SmallThread.stackSizeForWriting) {
            try deepest.serialized(as: format)
        }
        #expect(try PropertyList(parsing: bytes, as: format) == deepest)
        let failure = #expect(throws: EncodingFailure.self) {
            try Self.nest(513, inDictionaries: inDictionaries).serialized(as: format)
        }
        #expect(failure?.problem == .nestedTooDeeply(limit: 512))
        #expect(failure?.path.components.count == 512)
        #expect(failure?.format == format)
        var options = PropertyList.WritingOptions()
        options.limits.nesting = 3
        #expect(throws: Never.self) {
            try Self.nest(3, inDictionaries: inDictionaries).serialized(as: format, options: options)
        }
        #expect(throws: EncodingFailure.self) {
            try Self.nest(4, inDictionaries: inDictionaries).serialized(as: format, options: options)
        }
    }

    /// A value without its own type is read as a dictionary first.
    @Test(arguments: [
        (PropertyList.uid(1), PropertyList.Format.xml), (.uid(1), .gnustep), (.uid(1), .json),
        (.real(.nan), .json), (.data(Data([1])), .json), (.date(Date(timeIntervalSinceReferenceDate: 0)), .json),
    ])
    func `what is written as a container counts as one`(_ value: PropertyList, _ format: PropertyList.Format) throws {
        func nested(_ depth: Int) -> PropertyList { (0..<depth).reduce(value) { inner, _ in .array([inner]) } }
        var options = PropertyList.WritingOptions()
        options.wrapsInJSON = true
        let bytes = try nested(511).serialized(as: format, options: options)
        #expect(try PropertyList(parsing: bytes, as: format, options: .init(unwrapsJSON: true)) == nested(511))
        let failure = #expect(throws: EncodingFailure.self) {
            try nested(512).serialized(as: format, options: options)
        }
        #expect(failure?.problem == .nestedTooDeeply(limit: 512))
    }

    @Test(arguments: shapes)
    func `the deepest input is read and written on a small thread`(
        _ format: PropertyList.Format, _ inDictionaries: Bool
    ) throws {
        let bytes = try SmallThread.run(stackSize: SmallThread.stackSizeForWriting) {
            let input = Self.input(512, format, inDictionaries: inDictionaries)
            return try PropertyList(parsing: input, as: format).serialized(as: format)
        }
        #expect(!bytes.isEmpty)
    }

    /// An operation on a value with the greatest depth that readers accept.
    enum Use: CaseIterable {
        case comparison, hashing, lookup, change, removal, view

        /// Without optimization, a level of some operations needs more than the available kibibyte of stack.
        static var tried: [Use] {
            #if DEBUG
                [.lookup, .view]
            #else
                allCases
            #endif
        }
    }

    @Test(arguments: Use.tried, [false, true])
    func `the deepest value is used on a small thread`(_ use: Use, _ inDictionaries: Bool) throws {
        let bytes = try Self.nest(512, inDictionaries: inDictionaries).serialized(as: .binary)
        let works = try SmallThread.run {
            let value = Self.nest(512, inDictionaries: inDictionaries)
            let path = EntryPath(Array(repeating: inDictionaries ? "k" : "0", count: 512))
            switch use {
            case .comparison: return value == Self.nest(512, inDictionaries: inDictionaries)
            case .hashing: return value.hashValue == Self.nest(512, inDictionaries: inDictionaries).hashValue
            case .lookup: return value[path] == .string("x")
            case .change:
                var changed = value
                try changed.set(.string("y"), at: path)
                return changed[path] == .string("y")
            case .removal:
                var changed = value
                return try changed.remove(at: path) == .string("x")
            case .view: return try BinaryPropertyList(parsing: bytes).value(at: path) == .string("x")
            }
        }
        #expect(works)
    }

    @Test func `a path changes a value at the depth of the limit and no deeper`() throws {
        let path = { EntryPath(Array(repeating: "k", count: $0)) }
        var value: PropertyList = [:]
        try value.set("x", at: path(512))
        #expect(value == Self.nest(512, inDictionaries: true))
        for count in [513, 100_000] {
            let failure = #expect(throws: EntryPath.Failure.self) { try value.set("y", at: path(count)) }
            #expect(failure?.problem == .nestedTooDeeply(limit: 512))
            #expect(failure?.place == path(513).description)
        }
        #expect(value == Self.nest(512, inDictionaries: true))
    }

    @Test(arguments: shapes)
    func `input beyond the depth fails on a small thread`(_ format: PropertyList.Format, _ inDictionaries: Bool) throws
    {
        let problem = try SmallThread.run {
            do throws(DecodingFailure) {
                _ = try PropertyList(parsing: Self.input(20_000, format, inDictionaries: inDictionaries), as: format)
                return nil as DecodingFailure.Problem?
            } catch {
                return error.problem
            }
        }
        #expect(problem == .nestedTooDeeply(limit: 512))
    }

    @Test(arguments: PropertyList.Format.allCases)
    func `as many bytes as the limit are read and not one more`(_ format: PropertyList.Format) throws {
        let input = Self.input(3, format, inDictionaries: false)
        #expect(throws: Never.self) {
            try PropertyList(parsing: input, as: format, limits: PropertyList.Limits(inputBytes: input.count))
        }
        let failure = #expect(throws: DecodingFailure.self) {
            try PropertyList(parsing: input, as: format, limits: PropertyList.Limits(inputBytes: input.count - 1))
        }
        #expect(failure?.problem == .tooLarge(limit: input.count - 1))
    }

    @Test func `as many nodes as the limit are read and not one more`() throws {
        // 1 + 4 × (1 + 4) values.
        let file = try BinaryAssembler("0 array 1 1 1 1\n1 array 2 2 2 2\n2 int 1").bytes
        #expect(throws: Never.self) {
            try PropertyList(parsing: file, limits: PropertyList.Limits(expandedNodes: 21))
        }
        let failure = #expect(throws: DecodingFailure.self) {
            try PropertyList(parsing: file, limits: PropertyList.Limits(expandedNodes: 20))
        }
        #expect(failure?.problem == .tooManyNodes(limit: 20))
    }

    @Test func `as many expanded bytes as the limit are read and not one more`() throws {
        // 4 bytes of array and three times 22 of data.
        let file = try BinaryAssembler("0 array 1 1 1\n1 data \(String(repeating: "00", count: 20))").bytes
        let bytes = 4 + 3 * 23
        #expect(throws: Never.self) {
            try PropertyList(parsing: file, limits: PropertyList.Limits(expandedBytes: bytes))
        }
        let failure = #expect(throws: DecodingFailure.self) {
            try PropertyList(parsing: file, limits: PropertyList.Limits(expandedBytes: bytes - 1))
        }
        #expect(failure?.problem == .tooManyBytes(limit: bytes - 1))
    }

    @Test(arguments: PropertyList.Format.allCases.filter { $0 != .openstep })
    func `as many values and bytes as the limit are written and not one more`(_ format: PropertyList.Format) throws {
        let list: PropertyList = [[1, 2], ["a": 3]]
        // The root of TOML is a dictionary.
        let value = format == .toml ? ["a": list] : list
        let nodes = format == .toml ? 9 : 7
        var options = PropertyList.WritingOptions()
        options.limits.expandedNodes = nodes
        let count = try value.serialized(as: format, options: options).count
        options.limits.inputBytes = count
        #expect(throws: Never.self) { try value.serialized(as: format, options: options) }
        options.limits.inputBytes = count - 1
        let large = #expect(throws: EncodingFailure.self) { try value.serialized(as: format, options: options) }
        #expect(large?.problem == .tooLarge(limit: count - 1))
        options.limits.expandedNodes = nodes - 1
        let many = #expect(throws: EncodingFailure.self) { try value.serialized(as: format, options: options) }
        #expect(many?.problem == .tooManyValues(limit: nodes - 1))
    }

    static let shared: [PropertyList] = [
        [1, 2], ["a": 1, "b": ["a": 1, "b": "a"]], [[:], [], [[]]],
        .array(Array(repeating: "a text that is shared", count: 300)),
        .array(Array(repeating: ["key": .data(Data(repeating: 1, count: 40)), "é": 1.5], count: 20)),
        .array((0..<300).map { ["n": .integer(.init($0)), "even": .boolean($0 % 2 == 0)] }),
    ]

    /// The limits of the reader and the writer are the same.
    @Test(arguments: shared)
    func `the writer of binary files counts like the reader`(_ value: PropertyList) throws {
        let file = try value.serialized(as: .binary)
        func least(_ set: (inout PropertyList.Limits, Int) -> Void) throws -> (read: Int, written: Int) {
            func bound(_ isAllowed: (PropertyList.Limits) -> Bool) -> Int {
                (0..<100_000).lowerBound { count in
                    var limits = PropertyList.Limits()
                    set(&limits, count)
                    return isAllowed(limits)
                }
            }
            return (
                bound { (try? PropertyList(parsing: file, limits: $0)) != nil },
                bound { limits in
                    var options = PropertyList.WritingOptions()
                    options.limits = limits
                    return (try? value.serialized(as: .binary, options: options)) != nil
                }
            )
        }
        for (read, written) in [
            try least { $0.nesting = $1 }, try least { $0.expandedNodes = $1 }, try least { $0.expandedBytes = $1 },
            try least { $0.inputBytes = $1 },
        ] {
            #expect(read == written)
        }
    }

    @Test func `a value whose shared parts would be too many bytes is not written as binary`() throws {
        func value(_ count: Int) -> PropertyList {
            .array(Array(repeating: .string(String(repeating: "a", count: 10_000)), count: count))
        }
        // The text has 10,003 bytes, and each reference one more. A reader accepts 1,024 times the size of the file.
        let bytes = try value(1100).serialized(as: .binary)
        #expect(try PropertyList(parsing: bytes) == value(1100))
        let failure = #expect(throws: EncodingFailure.self) { try value(1300).serialized(as: .binary) }
        #expect(failure?.problem == .tooManyBytes(limit: 1024 * (bytes.count + 200)))
        var options = PropertyList.WritingOptions()
        options.limits.expandedBytes = 1 << 30
        let domain = try value(1300).serialized(as: .binary, options: options)
        #expect(throws: DecodingFailure.self) { try PropertyList(parsing: domain) }
        #expect(try PropertyList(parsing: domain, limits: options.limits) == value(1300))
    }

    @Test func `a small file that expands to many bytes is read in a domain only`() throws {
        // 8⁶ times 22 bytes of data.
        let arrays = (0..<6).map { "\($0) array" + String(repeating: " \($0 + 1)", count: 8) }
        let lines = arrays + ["6 data " + String(repeating: "00", count: 20)]
        let file = Array(try BinaryAssembler(lines.joined(separator: "\n")).bytes)
        let failure = #expect(throws: DecodingFailure.self) { try PropertyList(parsing: file) }
        #expect(failure?.problem == .tooManyBytes(limit: 1 << 22))
        #expect(throws: Never.self) { try PropertyList.sniffed(file, limits: .ofStore) }
    }

    @Test func `sharing does not hide depth`() throws {
        // The root refers to the innermost array first and to the outermost last, so each is shallow when it is
        // decoded.
        let count = 600
        var objects = [Data([0xAF, 0x11]) + UInt64(count).bigEndian(width: 2)]
        for object in 1...count { objects[0] += UInt64(object).bigEndian(width: 2) }
        objects.append(Data([0xA0]))
        for object in 2...count { objects.append(Data([0xA1]) + UInt64(object - 1).bigEndian(width: 2)) }
        let file = Data(binaryObjects: objects, referenceSize: 2)
        let failure = #expect(throws: DecodingFailure.self) { try PropertyList(parsing: file) }
        #expect(failure?.problem == .nestedTooDeeply(limit: 512))
    }
}

extension Range<Int> {
    /// Returns the first number for which `isAllowed` is true. It must be true for all greater numbers.
    fileprivate func lowerBound(_ isAllowed: (Int) -> Bool) -> Int {
        var (low, high) = (lowerBound, upperBound)
        while low < high {
            let middle = (low + high) / 2
            if isAllowed(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension Data {
    /// A binary file of encoded objects, the first of which is the root.
    init(binaryObjects objects: [Data], referenceSize: Int) {
        self = Data("bplist00".utf8)
        var table = Data()
        for object in objects {
            table += UInt64(count).bigEndian(width: 4)
            self += object
        }
        let tableStart = count
        self += table + Data(count: 6) + Data([4, UInt8(referenceSize)])
        self += UInt64(objects.count).bigEndian(width: 8) + Data(count: 8) + UInt64(tableStart).bigEndian(width: 8)
    }
}
