import Foundation
import PropertyLists
import TestSupport
import Testing

@Suite struct `TOML` {
    static let rounds = Extent.isFull ? 10_000 : 400

    static let deep = [
        String(repeating: "a.", count: 600) + "a = 1", "[" + String(repeating: "a.", count: 600) + "a]",
        "x = " + String(repeating: "[", count: 600),
    ]

    @Test(arguments: deep) func `nested too deeply is refused`(_ text: String) {
        let failure = #expect(throws: DecodingFailure.self) { try PropertyList(parsing: text, as: .toml) }
        #expect(failure?.problem == .nestedTooDeeply(limit: 512))
    }

    @Test func `without a format is detected, and an INI file is not taken for it`() throws {
        for text in ["[package]\nname = \"x\"\n", "# c\ntitle = 'x'\n", "[[bin]]\nname = \"x\"\n"] {
            #expect(try PropertyList.sniffed(Array(text.utf8), options: .ofFiles).format == .toml)
        }
        #expect(throws: DecodingFailure.self) {
            try PropertyList.sniffed(Array("[core]\nname = x y\n".utf8), options: .ofFiles)
        }
        #expect(throws: DecodingFailure.self) { try PropertyList(parsing: "a = 1\n") }
        #expect(try PropertyList.sniffed([], named: "a.toml").value == [:])
    }

    @Test func `is written with scalars before tables`() throws {
        let value: PropertyList = [
            "b": ["c": 1, "d": ["e": "x\ny"]], "a": .real(2), "l": [["x": 1], ["y": []]], "m": [1, ["z": 2]], "n": [:],
            "o": ["p": ["q": true]], "two words": .date(Date(timeIntervalSinceReferenceDate: 0.5)),
        ]
        let text = """
            a = 2.0
            m = [1, { z = 2 }]
            "two words" = 2001-01-01T00:00:00.5Z

            [b]
            c = 1

            [b.d]
            e = "x\\ny"

            [[l]]
            x = 1

            [[l]]
            y = []

            [n]

            [o.p]
            q = true

            """
        #expect(String(decoding: try value.serialized(as: .toml), as: UTF8.self) == text)
        #expect(try PropertyList(parsing: text, options: .ofFiles) == value)
    }

    @Test func `a random value comes back equal`() throws {
        var scope = ValueGenerator.Scope.everything
        scope.kinds.subtract([.data, .uid, .null])
        scope.greatestDate = 6e10
        for round in 0..<Self.rounds {
            var values = ValueGenerator(SeededGenerator(stream: "TOML values", round: round), scope: scope)
            let value: PropertyList = ["a": values.value(depth: 4), "b": values.value(depth: 2)]
            do {
                let text = try value.serialized(as: .toml)
                #expect(try PropertyList(parsing: text, as: .toml) == value, "\(Seed.ofThisRun) \(round)")
            } catch {
                let problem = (error as? EncodingFailure)?.problem
                #expect(
                    problem == .integerOutOfRange || problem == .fractionOfSecond,
                    "\(Seed.ofThisRun) \(round): \(error)")
            }
        }
    }

    /// The time of many changes is linear in their number and in the size of the text.
    @Test func `a long text is edited in many places`() throws {
        let text = (0..<10_000).map { "[t\($0)]\na = \($0)\nb = 1\n" }.joined()
        let source = try SourceText(Array(text.utf8), as: .toml)
        var value = source.value
        for index in stride(from: 0, to: 10_000, by: 2) { try value.set(2, at: EntryPath([.init("t\(index)"), "a"])) }
        for index in stride(from: 1, to: 10_000, by: 4) { try value.remove(at: EntryPath([.init("t\(index)")])) }
        for index in stride(from: 3, to: 10_000, by: 4) { try value.set(3, at: EntryPath([.init("t\(index)"), "c"])) }
        let result = try source.edited(to: value).bytes
        #expect(result.count { $0 == 0x0A } == 7_500 * 3 + 2_500)
    }

    static let unsupported: [(PropertyList, EntryPath)] = [
        (["a": [.null]], ["a", 0]), (["a": .data(Data([1]))], ["a"]), (["a": .uid(1)], ["a"]),
        (["a": .integer(.init(UInt64.max))], ["a"]), ([1], []),
        (["a": .date(Date(timeIntervalSinceReferenceDate: 1e12))], ["a"]),
    ]

    @Test(arguments: unsupported)
    func `refuses a value that it lacks`(_ value: PropertyList, _ path: EntryPath) {
        let failure = #expect(throws: EncodingFailure.self) { try value.serialized(as: .toml) }
        #expect(failure?.path == path)
    }

    /// A text, an edit, and the new text.
    static let edits: [(String, DocumentGenerator.Edit, String)] = [
        // A value keeps its notation.
        ("a = 'x' # c\nb = 0xff\n", .set(["a"], "y\\"), "a = 'y\\' # c\nb = 0xff\n"),
        ("a = 'x'\n", .set(["a"], "it's"), "a = \"it's\"\n"),
        ("a = 0xff\n", .set(["a"], 17), "a = 0x11\n"),
        ("a = \"\"\"\nx\n\"\"\"\n", .set(["a"], "y\nz\n"), "a = \"\"\"\ny\nz\n\"\"\"\n"),
        ("a = 1979-05-27\n", .set(["a"], "1980-01-01"), "a = 1980-01-01\n"),
        ("a = 1979-05-27\n", .set(["a"], "soon"), "a = \"soon\"\n"),
        ("a=1\n", .set(["b"], 2), "a=1\nb=2\n"),
        // A new key goes into the section of its table.
        ("[a]\nx = 1\n\n[b]\ny = 2\n", .set(["a", "w"], 3), "[a]\nx = 1\nw = 3\n\n[b]\ny = 2\n"),
        ("[a]\nb = 1\nd = 2\n", .set(["a", "c"], 3), "[a]\nb = 1\nc = 3\nd = 2\n"),
        ("# file\n\n[a]\nx = 1\n", .set(["n"], 1), "# file\n\nn = 1\n[a]\nx = 1\n"),
        ("[a]\n\n[b]\n", .set(["a", "x"], 1), "[a]\nx = 1\n\n[b]\n"),
        ("[a]\n  x = 1\n", .set(["a", "y"], 2), "[a]\n  x = 1\n  y = 2\n"),
        ("a.b = 1\nc = 2\n", .set(["a", "d"], 3), "a.b = 1\na.d = 3\nc = 2\n"),
        ("[a.b]\nx = 1\n", .set(["a", "y"], 2), "[a]\ny = 2\n\n[a.b]\nx = 1\n"),
        ("a = { b = 1 }\n", .set(["a", "c"], 2), "a = { b = 1, c = 2 }\n"),
        ("a = { b.c = 1 }\n", .set(["a", "b", "c"], 2), "a = { b.c = 2 }\n"),
        ("a = {}\n", .set(["a", "c"], 2), "a = { c = 2 }\n"),
        ("a = [1, 2] # c\n", .insert(["a"], 2, 3), "a = [1, 2, 3] # c\n"),
        ("a = [\n  1, # one\n  2,\n]\n", .insert(["a"], 2, 3), "a = [\n  1, # one\n  2,\n  3,\n]\n"),
        ("a = 1", .set(["b"], 2), "a = 1\nb = 2"),
        ("[a]\nx = 1", .set(["b"], ["y": 2]), "[a]\nx = 1\n\n[b]\ny = 2"),
        ("a = { b.c = 1, d = 2001-02-03 }\n", .set(["a", "e"], 2), "a = { b.c = 1, d = 2001-02-03, e = 2 }\n"),
        (
            "a = { b.c = 1, d = 2001-02-03 }\n", .set(["a", "b", "e"], 2),
            "a = { b = { c = 1, e = 2 }, d = 2001-02-03 }\n"
        ),
        ("s = '''\nx\n'''\n", .set(["s"], "a'''\u{301}b"), "s = \"a'''\u{301}b\"\n"),
        ("[f]\na.c = 1\n[f.a.t]\ns = true\n", .set(["f", "a", "n"], 3), "[f]\na.c = 1\na.n = 3\n[f.a.t]\ns = true\n"),
        ("[f]\na.c = 1\n[f.a.t]\ns = true\n", .set(["f", "a", "t"], 2), "[f]\na.c = 1\na.t = 2\n"),
        ("[f]\na.c = 1\n[f.a.t]\n", .set(["f", "a", "n"], ["x": 1]), "[f]\na.c = 1\na.n = { x = 1 }\n[f.a.t]\n"),
        ("b.c = 1\n[[b.a]]\n", .remove(["b", "a", 0]), "b.c = 1\nb.a = []\n"),
        ("b.c.a = 'q'\n[c]\n[b.b.a]\n", .set(["b", "b"], 1), "b.c.a = 'q'\nb.b = 1\n[c]\n"),
        ("", .set(["b"], 2), "b = 2\n"),
        // A new table is a section at the end, or after the tables of its table.
        ("[a]\nx = 1\n", .set(["b"], ["y": 2]), "[a]\nx = 1\n\n[b]\ny = 2\n"),
        ("[a]\nx = 1\n\n# b\n[b]\n", .set(["a", "c"], ["y": 2]), "[a]\nx = 1\n\n[a.c]\ny = 2\n\n# b\n[b]\n"),
        ("x = 1\n", .set(["b"], ["c": ["y": 2]]), "x = 1\n\n[b.c]\ny = 2\n"),
        ("[[a]]\nx = 1\n\n[b]\n", .insert(["a"], 1, ["x": 2]), "[[a]]\nx = 1\n\n[[a]]\nx = 2\n\n[b]\n"),
        ("[[a]]\nx = 1\n", .insert(["a"], 0, ["x": 2]), "[[a]]\nx = 2\n\n[[a]]\nx = 1\n"),
        // A removed entry takes its line and its comments along.
        ("a = 1\n# of b\nb = 2 # too\nc = 3\n", .remove(["b"]), "a = 1\nc = 3\n"),
        ("[a]\nx = 1\n\n# of b\n[b]\ny = 2\n\n[c]\nz = 3\n", .remove(["b"]), "[a]\nx = 1\n\n[c]\nz = 3\n"),
        ("[[a]]\nx = 1\n\n[[a]]\nx = 2\n", .remove(["a", 0]), "[[a]]\nx = 2\n"),
        ("[a.b]\nx = 1\n\n[c]\n", .remove(["a", "b"]), "[a]\n\n[c]\n"),
        ("a.b = 1\n", .remove(["a", "b"]), "a = {}\n"),
        ("a = [1, 2, 3]\n", .remove(["a", 1]), "a = [1, 3]\n"),
        // A name changes wherever it stands.
        (
            "[a]\nx = 1\n[a.b]\ny = 2\n", .rename(["a"], to: "new name"),
            "[\"new name\"]\nx = 1\n[\"new name\".b]\ny = 2\n"
        ),
        ("a.b = 1 # one\na.c = 2\n", .rename(["a"], to: "d"), "d.b = 1 # one\nd.c = 2\n"),
        // A table becomes a scalar, and a scalar a table.
        ("x = 1\n\n[a]\ny = 2\n", .set(["a"], 3), "x = 1\na = 3\n"),
        ("a = 3 # c\n", .set(["a"], ["y": 2]), "a = { y = 2 } # c\n"),
    ]

    @Test(arguments: edits) func `is edited by the line`(
        _ text: String, _ edit: DocumentGenerator.Edit, _ expected: String
    ) throws {
        for newline in text.contains("\n") ? ["\n", "\r\n"] : ["\n"] {
            let source = try SourceText(Array(text.replacing("\n", with: newline).utf8), as: .toml)
            var value = source.value
            try edit.apply(to: &value)
            let result = try source.edited(to: value, by: edit.step).bytes
            #expect(String(decoding: result, as: UTF8.self) == expected.replacing("\n", with: newline))
        }
    }

    /// A text, the former and the new path of an entry, and the new text.
    static let moves: [(String, EntryPath, EntryPath, String)] = [
        ("[[t]]\nx = 1\n[q]\narr = [1]\n", ["t", 0], ["q", "arr", 0], "t = []\n[q]\narr = [{ x = 1 }]\n"),
        ("inl = {a = 1}\n[t]\nx = 1\n", ["t"], ["inl", "t"], "inl = {a = 1, t = { x = 1 }}\n"),
        ("arr = [1]\na.b = 1\na.c = 2\n", ["a"], ["arr", 0], "arr = [{ b = 1, c = 2 }]\n"),
        ("a = [{x.y = 1}]\nb = {q=1}\n", ["a", 0, "x"], ["b", "x"], "a = [{}]\nb = {q=1, x={ y = 1 }}\n"),
        ("[[a]]\nx = 1\n\n[[b]]\nq = 1\n", ["a", 0], ["b", 0], "a = []\n\n[[b]]\nx = 1\n"),
        ("y = 2\nx = { k = 1 }\n[[b]]\nq = 1\n", ["x"], ["b", 0], "y = 2\n\n[[b]]\nk = 1\n"),
        ("[t]\nd = 2001-02-03\n\n[u]\n", ["t"], ["u", "v"], "[u]\n\n[u.v]\nd = 2001-02-03\n"),
        ("b = {d=0xFF}\n[t]\nq=1\n", ["b"], ["t", "b"], "[t]\nq=1\nb = {d=0xFF}\n"),
        (
            "# head\n\n# about\na = [\n  1, # one\n  2,\n] # t\n\n[z]\n", ["a"], ["z", "a"],
            "# head\n\n\n[z]\n# about\na = [\n  1, # one\n  2,\n] # t\n"
        ),
        ("# of a\na = 1\nb.c = 2\n", ["a"], ["b", "d"], "# of a\nb.c = 2\nb.d = 1\n"),
        ("b.c = 2\n# of a\na = 1\n", ["a"], ["b", "d"], "b.c = 2\n# of a\nb.d = 1\n"),
    ]

    @Test(arguments: moves) func `is moved with its notation`(
        _ text: String, _ old: EntryPath, _ new: EntryPath, _ expected: String
    ) throws {
        let source = try SourceText(Array(text.utf8), as: .toml)
        var value = source.value
        let entry = try #require(try value.remove(at: old))
        try value.set(entry, at: new)
        let result = try source.edited(to: value, by: .move(old, to: new)).bytes
        #expect(String(decoding: result, as: UTF8.self) == expected)
    }

    @Test func `a moved entry keeps its notation and comments`() throws {
        let source = try SourceText(Array("# of a\na = 0x1F # one\n\n[b]\nc = 1\n".utf8), as: .toml)
        let result = try source.edited(to: ["b": ["c": 1, "d": 31]], by: .move(["a"], to: ["b", "d"]))
        #expect(String(decoding: result.bytes, as: UTF8.self) == "# of a\n\n[b]\nc = 1\nd = 0x1F # one\n")
        #expect(result.removedComments == [])
    }

    @Test func `an edit keeps every other line`() throws {
        for round in 0..<Self.rounds {
            var documents = DocumentGenerator(.toml, SeededGenerator(stream: "TOML lines", round: round))
            let lines = documents.tomlLines()
            let bytes = Array(lines.text("\n").utf8)
            let context = "\(Seed.ofThisRun) \(round)"
            do {
                let source = try SourceText(bytes, as: .toml)
                let edit = documents.edit(of: source.value)
                var value = source.value
                try edit.apply(to: &value)
                let result: EditResult
                do throws(EncodingFailure) {
                    result = try source.edited(to: value, by: edit.step)
                } catch {
                    Issue.record("\(context): \(error) \(edit)\n\(lines.text("\n"))")
                    continue
                }
                let text = String(decoding: result.bytes, as: UTF8.self)
                let fault = lines.fault(after: edit, of: source.value, in: text, removed: result.removedComments)
                #expect(fault == nil, "\(context): \(fault ?? "") \(edit)\n\(lines.text("\n"))---\n\(text)")
            } catch {
                Issue.record("\(context): \(error)\n\(lines.text("\n"))")
            }
        }
    }

    /// Python's reader, which shares no code with this package.
    private static let script = """
        import sys, tomllib, plistlib, datetime, math, os
        def same(a, b):
            if isinstance(a, dict): return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
            if isinstance(a, list): return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
            if isinstance(a, datetime.datetime) and a.tzinfo:
                utc = a.astimezone(datetime.timezone.utc).replace(tzinfo=None)
                return isinstance(b, datetime.datetime) and abs((utc - b).total_seconds()) < 1e-5
            if isinstance(a, (datetime.datetime, datetime.date, datetime.time)):
                return isinstance(b, str) and type(a).fromisoformat(b.replace('t', 'T')) == a
            if type(a) is float and math.isnan(a): return type(b) is float and math.isnan(b)
            return type(a) is type(b) and a == b
        for name in sorted(os.listdir(sys.argv[1])):
            if not name.endswith('.toml'): continue
            path = os.path.join(sys.argv[1], name)
            value = tomllib.loads(open(path, newline='').read())
            assert same(value, plistlib.loads(open(path[:-5] + '.plist', 'rb').read())), name
        """

    @Test(.enabled(if: Tool.isExpected(Peer.python), "python3 is not installed"))
    func `Python reads the same values before and after edits, and in what is written`() throws {
        let folder = try TemporaryFolder()
        func add(_ bytes: some Sequence<UInt8>, _ value: PropertyList, _ name: String) throws {
            try Data(bytes).write(to: folder.url.appending(path: name + ".toml"))
            try value.serialized(as: .binary).write(to: folder.url.appending(path: name + ".plist"))
        }
        for round in 0..<Self.rounds {
            var documents = DocumentGenerator(.toml, SeededGenerator(stream: "TOML and Python", round: round))
            let bytes = documents.document()
            let source = try SourceText(bytes, as: .toml)
            var value = source.value
            try add(bytes, value, "\(round) before")
            try add(try value.serialized(as: .toml), value, "\(round) written")
            for _ in 0..<Int.random(in: 1...3, using: &documents.generator) {
                try documents.edit(of: value).apply(to: &value)
            }
            do {
                try add(try source.edited(to: value).bytes, value, "\(round) edited")
            } catch {
                Issue.record(
                    "\(Seed.ofThisRun) \(round): \(error) to \(value)\n\(String(decoding: bytes, as: UTF8.self))")
            }
        }
        let result = try Subprocess.run(Peer.python, ["-c", Self.script, folder.url.path])
        #expect(result.status == 0, "\(Seed.ofThisRun) \(result.errorText)")
    }
}

extension [TOMLLine] {
    /// Returns the fault in a text after an edit, or nil if there is none: every line that the edit does not concern is
    /// still there, in its place, and no comment is lost that is not reported.
    func fault(
        after edit: DocumentGenerator.Edit, of value: PropertyList, in result: String, removed: [String]
    ) -> String? {
        var place: EntryPath =
            switch edit {
            case .set(let path, _), .remove(let path), .rename(let path, _): path
            case .insert(let path, let index, _): EntryPath(path.components + [.init(index)])
            }
        // An array of tables that gets an element of another kind is written between brackets.
        let list = EntryPath([EntryPath.Component](place.components.dropLast()))
        var isRewritten = false
        if case .array(let elements)? = value[list], !elements.isEmpty,
            elements.allSatisfy({ $0.dictionaryValue != nil }), !edit.addsDictionary
        {
            (place, isRewritten) = (list, true)
        }
        func isConcerned(_ line: TOMLLine) -> Bool {
            guard let path = line.path?.components else { return false }
            return path.starts(with: place.components) || line.kind == .entry && place.components.starts(with: path)
        }
        var kept: [String] = []
        for (index, line) in enumerated() where line.kind != .blank && !isConcerned(line) {
            let below = self[(index + 1)...].first { $0.kind != .comment }
            if line.kind == .comment, let below, isConcerned(below) { continue }
            kept += line.text.split(separator: "\n").map(String.init)
        }
        var rest = result.split(separator: "\n").map(String.init)[...]
        for line in kept {
            guard let found = rest.firstIndex(of: line) else {
                if case .insert = edit, line.hasPrefix("[") { continue }
                return "the line is gone, or is elsewhere: \(line)"
            }
            rest = rest[(found + 1)...]
        }
        func marks(_ text: String) -> Set<String> { Set(text.matches(of: /# (c\d+z)/).map { String($0.1) }) }
        let lost = marks(text("\n")).subtracting(marks(result))
        let reported = Set(removed.flatMap { marks($0) })
        guard lost == reported else { return "lost \(lost.sorted()), reported \(reported.sorted())" }
        let isRemoval = if case .remove = edit { true } else { false }
        let isReplaced = if case .set(let path, _) = edit, let old = value[path] { old.isContainer } else { false }
        let isGone = isReplaced || isRewritten
        if !isRemoval, !isGone, !lost.isEmpty { return "lost \(lost.sorted())" }
        if isRemoval {
            let own = filter { $0.path?.components.starts(with: place.components) ?? false }.compactMap(\.comment)
            if !Set(own).isSubset(of: lost) { return "the comments \(own) stay without their entries" }
        }
        return nil
    }
}

extension DocumentGenerator.Edit {
    /// Whether the edited entry is a dictionary afterwards, or is none.
    fileprivate var addsDictionary: Bool {
        switch self {
        case .set(_, let value), .insert(_, _, let value): value.dictionaryValue != nil
        case .remove, .rename: true
        }
    }
}
