import Commands
import Foundation
import PropertyLists
import TestSupport
import Testing

/// Random texts of other programs, which Python's `configparser` and GLib read too.
@Suite struct ImportedTextPeerTests {
    /// Returns what a Python script prints as JSON for texts.
    private static func values(of texts: [String], script: String) throws -> [PropertyList] {
        let input = try PropertyList.array(texts.map { .string($0) }).serialized(as: .json)
        let outcome = try Subprocess.run("python3", ["-c", script], input: input)
        #expect(outcome.status == 0, "\(outcome.errorText)")
        let values = try PropertyList(parsing: Array(outcome.output), as: .json).arrayValue ?? []
        #expect(values.count == texts.count)
        return values
    }

    private static func read(_ text: String, _ format: FormatName) throws(ImportedText.Failure) -> PropertyList {
        .dictionary(try ImportedText(Array(text.utf8), as: format)?.values ?? [:])
    }

    // MARK: INI files

    private static let configparser = """
        import configparser, json, sys
        def read(text):
            parser = configparser.RawConfigParser(strict=False, default_section="\\0", empty_lines_in_values=False)
            parser.optionxform = str
            try:
                parser.read_string(text)
            except configparser.Error:
                return "error"
            return {name: dict(parser.items(name)) for name in parser.sections()}
        json.dump([read(text) for text in json.load(sys.stdin)], sys.stdout)
        """

    private static func randomINI(_ random: inout SeededGenerator) -> String {
        let words = ["a", "b c", "d.e", "x", "\"q\"", "é", "#f", ";g", "1"]
        func word() -> String { words.randomElement(using: &random) ?? "" }
        var lines = ["[\(word())]"]
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            let sign = ["=", ":", " = ", " : ", "=\t", "==", "=:"].randomElement(using: &random) ?? ""
            switch Int.random(in: 0..<12, using: &random) {
            case 0: lines.append("[\(word())]")
            case 1: lines.append("\("#;".randomElement(using: &random) ?? "#") \(word())")
            case 2: lines.append("")
            case 3: lines.append(word())
            case 4: lines.append("  \(word())\(sign)\(word())")
            default: lines.append("\(word())\(lines.count)\(sign)\(word()) \(word())")
            }
        }
        return lines.joined(separator: "\n")
    }

    @Test(.enabled(if: Tool.isExpected("python3"), Comment(rawValue: Tool.absence(of: "python3"))))
    func `an INI file has the sections and values that configparser reads`() throws {
        var random = SeededGenerator(stream: "configparser")
        let texts = (0..<3000).map { _ in Self.randomINI(&random) }
        let values = try Self.values(of: texts, script: Self.configparser)
        var accepted = 0
        for (text, value) in zip(texts, values) {
            do throws(ImportedText.Failure) {
                #expect(try Self.read(text, .ini) == value, "\(text.debugDescription), \(Seed.ofThisRun)")
                accepted += 1
            } catch {
                // configparser uses the last value of a key, and joins an indented line to the value before it.
                let isIntended =
                    switch error.problem {
                    case .duplicateKeyInLines: true
                    case .expected(let what): what.hasPrefix("a line that is not indented") || value == "error"
                    default: false
                    }
                #expect(isIntended, "\(text.debugDescription): \(error.problem), \(Seed.ofThisRun)")
            }
        }
        #expect(accepted > 500)
    }

    // MARK: GVariants

    private static let glib = """
        import ctypes, json, sys
        glib = ctypes.CDLL("libglib-2.0.so.0")
        def function(name, result, *arguments):
            found = getattr(glib, "g_variant_" + name)
            found.restype, found.argtypes = result, arguments
            return found
        pointer = ctypes.c_void_p
        parse = function("parse", pointer, pointer, ctypes.c_char_p, pointer, pointer, pointer)
        kind = function("get_type_string", ctypes.c_char_p, pointer)
        count = function("n_children", ctypes.c_size_t, pointer)
        child = function("get_child_value", pointer, pointer, ctypes.c_size_t)
        text = function("get_string", ctypes.c_char_p, pointer, pointer)
        inner = function("get_variant", pointer, pointer)
        scalars = {
            "b": function("get_boolean", ctypes.c_int, pointer), "y": function("get_byte", ctypes.c_uint8, pointer),
            "n": function("get_int16", ctypes.c_int16, pointer), "q": function("get_uint16", ctypes.c_uint16, pointer),
            "i": function("get_int32", ctypes.c_int32, pointer), "u": function("get_uint32", ctypes.c_uint32, pointer),
            "x": function("get_int64", ctypes.c_int64, pointer), "t": function("get_uint64", ctypes.c_uint64, pointer),
            "h": function("get_handle", ctypes.c_int32, pointer), "d": function("get_double", ctypes.c_double, pointer),
        }
        class Unsupported(Exception):
            pass
        def convert(value):
            type = kind(value).decode()
            if any(letter in type for letter in "(m") or "{" in type.replace("a{", ""):
                raise Unsupported
            if type in scalars:
                return bool(scalars[type](value)) if type == "b" else scalars[type](value)
            if type in "sog":
                return text(value, None).decode()
            if type == "v":
                return convert(inner(value))
            children = [child(value, index) for index in range(count(value))]
            if type.startswith("a{"):
                if type[2] not in "sog":
                    raise Unsupported
                return {convert(child(entry, 0)): convert(child(entry, 1)) for entry in children}
            return [convert(entry) for entry in children]
        def read(line):
            value = parse(None, line.encode(), None, None, None)
            if not value:
                return "error"
            try:
                return [convert(value)]
            except Unsupported:
                return "unsupported"
        json.dump([read(line) for line in json.load(sys.stdin)], sys.stdout)
        """

    static let hasGLib: Bool =
        (try? Subprocess.run("python3", ["-c", "import ctypes; ctypes.CDLL('libglib-2.0.so.0')"]).status) == 0

    /// Returns a value in GVariant text, and mutates the text of some.
    private static func randomGVariant(_ random: inout SeededGenerator) -> String {
        var text = value(["i", "u", "d", "s", "b", "ai", "as", "av", "sv", "v", "y", "()"], 3, &random)
        if Int.random(in: 0..<3, using: &random) == 0, let at = text.indices.randomElement(using: &random) {
            text.remove(at: at)
            text.insert("[]{}<>()@'\"\\,: 1ax".randomElement(using: &random) ?? "1", at: at)
        }
        return text
    }

    private static func value(_ types: [String], _ depth: Int, _ random: inout SeededGenerator) -> String {
        func list(_ types: [String]) -> String {
            guard depth > 0 else { return "" }
            let type = types.randomElement(using: &random) ?? "i"
            return (0..<Int.random(in: 1...3, using: &random)).map { _ in value([type], depth - 1, &random) }
                .joined(separator: ", ")
        }
        let number = Int.random(in: 0..<100, using: &random)
        switch types.randomElement(using: &random) ?? "i" {
        case "i": return number % 3 == 0 ? "-\(number)" : number % 3 == 1 ? "0x\(number)" : "\(number)"
        case "u": return "uint32 \(number)"
        case "y": return "byte 0x\(number)"
        case "d": return "\(number).25"
        case "b": return number % 2 == 0 ? "true" : "false"
        case "s":
            let texts = ["'a'", "\"it's\"", #"'\'\\\n\u00e9'"#, "''", "'é'", "objectpath '/a'"]
            return texts.prefix(5).randomElement(using: &random) ?? "''"
        case "ai": return depth > 0 ? "[\(list(["i"]))]" : "@ai []"
        case "as": return depth > 0 ? "[\(list(["s"]))]" : "@as []"
        case "av": return depth > 0 ? "[\(list(["v"]))]" : "@av []"
        case "v": return "<\(value(["i", "s", "d", "as", "sv"], depth - 1, &random))>"
        case "sv":
            guard depth > 0 else { return "@a{sv} {}" }
            return "{'k\(number)': \(value(["v"], depth - 1, &random)), \"l\": \(value(["v"], depth - 1, &random))}"
        default: return "(\(list(["i"])), 'a')"
        }
    }

    @Test(.enabled(if: hasGLib, "python3 or GLib is not installed"))
    func `a GVariant has the value that GLib reads`() throws {
        var random = SeededGenerator(stream: "GVariant")
        let known = ImportedTextTests.values.map(\.text).filter {
            !["inf", "-inf", "nan"].contains($0) && !$0.contains("\0")
        }
        let texts = known + (0..<3000).map { _ in Self.randomGVariant(&random) }
        let values = try Self.values(of: texts, script: Self.glib)
        var (accepted, refused) = (0, 0)
        for (text, value) in zip(texts, values) {
            do throws(ImportedText.Failure) {
                let own = try Self.read("[/]\nv=" + text, .dconf)["v"]
                // GLib also refuses a value whose parts have different types.
                if value == "error" { continue }
                accepted += 1
                #expect(own.map { Self.comparable($0) } == value.arrayValue?.first, "\(text), \(Seed.ofThisRun)")
            } catch {
                switch error.problem {
                case .duplicateKey: break
                case .expected("a key that is not empty"): break
                // GLib takes a lone sign for zero.
                case .invalidInteger("-"), .invalidInteger("+"): break
                default:
                    refused += 1
                    #expect(value == "error" || value == "unsupported", "\(text): \(error.problem), \(Seed.ofThisRun)")
                }
            }
        }
        #expect(accepted > 1000 && refused > 200)
    }

    /// Returns a value with data as the array of bytes that it is for GLib, and reals as JSON has them.
    private static func comparable(_ value: PropertyList) -> PropertyList {
        switch value {
        case .data(let data): .array((Array(data) + [0]).map { .integer(PropertyList.Integer(Int($0))) })
        case .array(let elements): .array(elements.map(comparable))
        case .dictionary(let entries):
            .dictionary(PropertyList.Dictionary(entries.map { ($0.key, comparable($0.value)) }))
        default: value
        }
    }
}
