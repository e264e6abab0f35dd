import Foundation
import PropertyLists
import TestSupport
import Testing

/// Keyed archives, most of them hostile.
///
/// A file has a line `expect:` with the value or `fails:` with the message, a line `--- archive`, and the archive, both
/// in `ValueNotation`.
@Suite struct KeyedArchiveTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let archive: PropertyList
        let outcome: Result<PropertyList, Message>

        struct Message: Error, Hashable { let text: String }

        var testDescription: String { name }

        init(_ name: String, _ archive: PropertyList, fails message: String) {
            (self.name, self.archive, outcome) = (name, archive, .failure(Message(text: message)))
        }

        init(file: URL) throws {
            name = file.deletingPathExtension().lastPathComponent
            let text = try String(contentsOf: file, encoding: .utf8)
            let parts = text.split(separator: "\n--- archive\n", maxSplits: 1)
            guard parts.count == 2, let colon = parts[0].firstIndex(of: ":") else {
                throw CocoaError(.fileReadCorruptFile)
            }
            archive = try ValueNotation.value(String(parts[1]))
            let rest = parts[0][colon...].dropFirst(2)
            outcome =
                text.hasPrefix("fails")
                ? .failure(Message(text: String(rest)))
                : .success(try ValueNotation.value(String(rest)))
        }
    }

    static let cases: [Case] = {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Archives")
        let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        let files = names.filter { $0.hasSuffix(".case") }.sorted().compactMap {
            try? Case(file: folder.appending(path: $0))
        }
        return files + large
    }()

    @Test func `every case is valid`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Archives")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".case") }
        for name in names { _ = try Case(file: folder.appending(path: name)) }
        #expect(names.count > 50)
    }

    @Test(arguments: cases)
    func `an archive is opened as its case states`(_ row: Case) {
        let result = Result { () throws(KeyedArchive.Failure) in try KeyedArchive(row.archive) }
        switch (row.outcome, result) {
        case (.success(let expected), .success(let archive)):
            #expect(archive.value == expected)
            #expect(archive.roots.allSatisfy { archive.value(of: $0) != nil })
        case (.failure(let message), .failure(let failure)): #expect(failure.description == message.text)
        case (_, .success(let archive)): Issue.record("opened: \(archive.roots)")
        case (_, .failure(let failure)): Issue.record("refused: \(failure)")
        }
    }

    @Test(arguments: cases)
    func `an archive inside data is opened, or stays data with a failure`(_ row: Case) throws {
        let data = try PropertyList.data(row.archive.serialized(as: .binary))
        let opened = try KeyedArchive.openAll(in: data)
        switch row.outcome {
        case .success(let value): #expect(opened.failures.isEmpty && opened.value == value)
        case .failure(let message):
            #expect(opened.value == data)
            let isArchive = message.text != "not a keyed archive"
            #expect(opened.failures.map(\.description) == (isArchive ? [message.text] : []))
        }
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["PREFS_MATERIALIZE"] != nil))
    func `the archives are written out as seeds`() throws {
        let target = URL(filePath: ProcessInfo.processInfo.environment["PREFS_MATERIALIZE"] ?? "")
            .appending(path: "archive")
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        for row in Self.cases where !row.isLarge {
            try row.archive.serialized(as: .binary).write(to: target.appending(path: row.name))
        }
    }
}

// MARK: Archives too large for a file

extension KeyedArchiveTests.Case {
    fileprivate var isLarge: Bool { (archive["$objects"]?.arrayValue ?? []).count > 5000 }
}

extension KeyedArchiveTests {
    private static func archive(_ objects: [PropertyList]) -> PropertyList {
        [
            "$archiver": "NSKeyedArchiver", "$version": 100_000, "$top": ["root": .uid(1)],
            "$objects": .array(["$null"] + objects),
        ]
    }

    private static func array(_ elements: [UInt64], class number: UInt64) -> PropertyList {
        ["NS.objects": .array(elements.map { .uid($0) }), "$class": .uid(number)]
    }

    private static let arrayClass: PropertyList = ["$classname": "NSArray"]

    static let large: [Case] = [
        Case(
            "a chain of 10,000 objects",
            archive(
                (1...10_000).map { ["$class": .uid(10_001), "next": .uid($0 % 10_000 + 1)] } + [["$classname": "Link"]]),
            fails: "object 513: containers more than 512 levels deep"),
        Case(
            "a chain of 10,000 arrays",
            archive((1...10_000).map { array([$0 + 1], class: 10_002) } + ["end", arrayClass]),
            fails: "object 513: containers more than 512 levels deep"),
        Case(
            "a chain of 10,000 classes",
            archive((1...10_000).map { ["$class": .uid($0 + 1)] } + [arrayClass]),
            fails: "object 1: object 2 is not a class"),
        Case(
            "a class whose chain has 10,000 names, none of which is text",
            archive([
                ["$class": .uid(2)],
                ["$classes": .array(Array(repeating: .uid(2), count: 10_000)), "$classname": .uid(2)],
            ]), fails: "object 1: object 2 is not a class"),
        Case(
            "a text of a megabyte, 10,000 times",
            archive([
                array(Array(repeating: 2, count: 10_000), class: 3), .string(String(repeating: "a", count: 1 << 20)),
                arrayClass,
            ]), fails: "object 2: more than 1073741824 bytes if each reference to a value is counted"),
    ]

    @Test func `a class with a chain of 10,000 superclasses is like any other`() throws {
        let names = (0..<10_000).map { PropertyList.string("Class\($0)") }
        let archive = Self.archive([["$class": .uid(2)], ["$classname": "Class0", "$classes": .array(names)]])
        #expect(try KeyedArchive(archive).value == ["$class": "Class0"])
    }

    /// Each array refers to the next one twice: 2⁵⁰⁰ values if references were expanded.
    @Test func `doubling arrays take no more room than the archive`() throws {
        let arrays = (1...500).map { Self.array([UInt64($0 + 1), UInt64($0 + 1)], class: 502) }
        let value = try KeyedArchive(Self.archive(arrays + ["x", Self.arrayClass])).value
        #expect(try value.serialized(as: .binary).count < 2_000_000)
    }

    /// A path of 500 long keys, which 100,000 references would repeat.
    @Test func `references with long paths are limited`() throws {
        let key = PropertyList.string(String(repeating: "k", count: 100_000))
        var objects: [PropertyList] = []
        for depth in UInt64(1)...499 {
            objects.append(["$class": .uid(503), "NS.keys": [.uid(502)], "NS.objects": [.uid(depth + 1)]])
        }
        objects.append(Self.array([501] + Array(repeating: 501, count: 100_000), class: 504))
        objects.append(Self.array([502], class: 504))
        objects += [key, ["$classname": "NSDictionary"], Self.arrayClass]
        #expect(throws: KeyedArchive.Failure(.tooManyBytes(limit: 140 * 1024 * 1024), object: 500)) {
            do throws(KeyedArchive.Failure) {
                _ = try KeyedArchive(Self.archive(objects))
            } catch {
                guard case .tooManyBytes = error.problem else { throw error }
                throw KeyedArchive.Failure(.tooManyBytes(limit: 140 * 1024 * 1024), object: error.object)
            }
        }
    }

    /// Objects that print little or nothing, but have much to examine each time.
    @Test(
        arguments: [
            ["NSAttributeInfo": .uid(3), "NSAttributes": .uid(4), "NSString": "a"], ["NSRangeData": .uid(3)], [:],
        ] as [PropertyList.Dictionary])
    func `objects that are expensive to examine are limited`(_ fields: PropertyList.Dictionary) throws {
        var fields = fields
        if fields.isEmpty { for number in 0..<1000 { fields["field \(number)"] = .boolean(true) } }
        fields["$class"] = .uid(5)
        let name: PropertyList =
            fields["NSString"] != nil ? "NSAttributedString" : fields["NSRangeData"] != nil ? "NSIndexSet" : "NSNull"
        let objects: [PropertyList] =
            [
                Self.array((0..<2000).map { 6 + $0 % (name == "NSNull" ? 1 : 2000) }, class: 2), Self.arrayClass,
                .data(Data(repeating: 0x80, count: 1 << 16)), Self.array([], class: 2), ["$classname": name],
            ] + Array(repeating: .dictionary(fields), count: name == "NSNull" ? 1 : 2000)
        let limits = PropertyList.Limits(expandedBytes: 1 << 22)
        let failure = #expect(throws: KeyedArchive.Failure.self) {
            try KeyedArchive(Self.archive(objects), limits: limits)
        }
        #expect(failure?.problem == .tooManyBytes(limit: 1 << 22))
    }

    @Test func `archives inside one another are opened up to a limit`() throws {
        func archived(_ value: PropertyList) throws -> PropertyList {
            .data(try Self.archive([value]).serialized(as: .binary))
        }
        var value: PropertyList = "innermost"
        for _ in 0..<16 { value = try archived(value) }
        #expect(try KeyedArchive.openAll(in: value).value == "innermost")
        let opened = try KeyedArchive.openAll(in: ["k": archived(value)])
        #expect(opened.value["k"]?.kind == .data)
        #expect(opened.failures.map(\.description) == [":k: containers more than 16 levels deep"])
    }

    @Test func `the limits are those of the caller`() throws {
        let archive = Self.archive([
            Self.array([2, 3], class: 7), Self.array([4, 5], class: 7), Self.array([6], class: 7), 1, 2, 3,
            Self.arrayClass,
        ])
        let exact = PropertyList.Limits(nesting: 2, expandedNodes: 6, expandedBytes: 96)
        #expect(try KeyedArchive(archive, limits: exact).value == [[1, 2], [3]])
        for (limits, problem) in [
            (PropertyList.Limits(nesting: 1), KeyedArchive.Failure.Problem.nestedTooDeeply(limit: 1)),
            (PropertyList.Limits(expandedNodes: 5), .tooManyValues(limit: 5)),
            (PropertyList.Limits(expandedBytes: 95), .tooManyBytes(limit: 95)),
        ] {
            let failure = #expect(throws: KeyedArchive.Failure.self) { try KeyedArchive(archive, limits: limits) }
            #expect(failure?.problem == problem)
        }
    }

    @Test func `an object with an unusual field is its fields`() throws {
        let archive = Self.archive([
            ["$class": .uid(3), "NS.relative": .uid(2), "NS.base": .uid(0)],
            ["$class": .uid(3), "NS.relative": "https://a.example/b", "NS.base": .uid(0)], ["$classname": "NSURL"],
        ])
        #expect(try KeyedArchive(archive).value == ["$class": "NSURL", "NS.relative": "https://a.example/b"])
    }
}
