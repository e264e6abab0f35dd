import Foundation
import PropertyLists
import TestSupport

/// A line of a generated text.
struct TOMLLine {
    enum Kind { case entry, header, comment, blank }

    let kind: Kind
    /// The text, which has several lines for some values.
    let text: String
    /// The path of the entry or the table.
    var path: EntryPath?
    /// The mark of the comment on the line.
    var comment: String?
}

extension [TOMLLine] {
    func text(_ newline: String) -> String {
        map { $0.text.replacing("\n", with: newline) + newline }.joined()
    }
}

/// TOML as people write it: headers in any order, dotted keys, tables in braces, and comments.
extension DocumentGenerator {
    mutating func tomlLines() -> [TOMLLine] {
        var marks = 0
        var lines: [TOMLLine] = []
        if chance(30) {
            lines.append(comment(&marks))
            if chance(70) { lines.append(TOMLLine(kind: .blank, text: "")) }
        }
        lines += body([], "", &marks)
        var groups = (0..<Int.random(in: 0...4, using: &generator)).map { index in
            section([EntryPath.Component(one(["table", "Zoé", "odd name"]) + String(index))], 0, &marks)
        }
        groups.shuffle(using: &generator)
        lines += groups.joined()
        if chance(20) { lines.append(comment(&marks)) }
        return lines
    }

    private func mark(_ marks: inout Int) -> String {
        marks += 1
        return "c\(marks)z"
    }

    private mutating func comment(_ marks: inout Int, _ indent: String = "") -> TOMLLine {
        let mark = mark(&marks)
        return TOMLLine(kind: .comment, text: "\(indent)# \(mark) [x] = \"", comment: mark)
    }

    /// A table with its header, and the tables inside it.
    private mutating func section(_ path: [EntryPath.Component], _ depth: Int, _ marks: inout Int) -> [TOMLLine] {
        if chance(25) {
            return (0..<Int.random(in: 1...3, using: &generator)).flatMap { index in
                headed(path + [EntryPath.Component(index)], isElement: true, depth, &marks)
                    + inner(path + [EntryPath.Component(index)], depth, &marks)
            }
        }
        let inside = inner(path, depth, &marks)
        if !inside.isEmpty, chance(25) { return inside }
        let own = headed(path, isElement: false, depth, &marks)
        return chance(15) ? inside + own : own + inside
    }

    private mutating func inner(_ path: [EntryPath.Component], _ depth: Int, _ marks: inout Int) -> [TOMLLine] {
        guard depth < 2 else { return [] }
        return (0..<one([0, 0, 1, 2])).flatMap { section(path + [EntryPath.Component("in\($0)")], depth + 1, &marks) }
    }

    private mutating func headed(
        _ path: [EntryPath.Component], isElement: Bool, _ depth: Int, _ marks: inout Int
    ) -> [TOMLLine] {
        let indent = chance(15) ? "  " : ""
        var lines: [TOMLLine] = []
        for _ in 0..<one([0, 1, 1, 2]) { lines.append(TOMLLine(kind: .blank, text: chance(90) ? "" : "  ")) }
        if chance(25) { lines.append(comment(&marks, indent)) }
        let names = path.filter { $0.index == nil }.map { tomlKey($0.text) }.joined(separator: chance(90) ? "." : " . ")
        let space = chance(90) ? "" : " "
        var text = indent + (isElement ? "[[" : "[") + space + names + space + (isElement ? "]]" : "]")
        var mark: String?
        if chance(15) {
            mark = self.mark(&marks)
            text += "  # \(mark ?? "")"
        }
        lines.append(TOMLLine(kind: .header, text: text, path: EntryPath(path), comment: mark))
        return lines + body(path, indent + (chance(15) ? "  " : ""), &marks)
    }

    private mutating func body(
        _ path: [EntryPath.Component], _ indent: String, _ marks: inout Int
    ) -> [TOMLLine] {
        var lines: [TOMLLine] = []
        let equals = one([" = ", " = ", "=", "  = "])
        var keys: [[EntryPath.Component]] = (0..<Int.random(in: 0...5, using: &generator)).map {
            [EntryPath.Component(one(["a", "key", "Zoë", "two words", "x-"]) + String($0))]
        }
        if chance(20) { keys += [["dot", "x"], ["dot", "y"]] }
        if chance(10) { keys += [["dot", "z", "w"], ["deep", "a", "b"]] }
        for key in keys {
            if chance(10) { lines.append(TOMLLine(kind: .blank, text: "")) }
            if chance(15) { lines.append(comment(&marks, indent)) }
            var text = indent + key.map { tomlKey($0.text) }.joined(separator: ".") + equals + tomlValue(0, &marks)
            var mark: String?
            if chance(15) {
                mark = self.mark(&marks)
                text += " # \(mark ?? "")"
            }
            lines.append(TOMLLine(kind: .entry, text: text, path: EntryPath(path + key), comment: mark))
        }
        return lines
    }

    private mutating func tomlKey(_ name: String) -> String {
        let isBare = name.utf8.allSatisfy { $0 < 0x80 && $0 != 0x20 }
        return isBare && chance(90) ? name : chance(50) ? "\"\(name)\"" : "'\(name)'"
    }

    private mutating func tomlValue(_ depth: Int, _ marks: inout Int) -> String {
        guard depth < 3, chance(30) else {
            let long = depth == 0 ? ["\"\"\"\na\n\"b\" \\\n   c\"\"\"", "'''\na\\b\n'''", "\"\"\"x\"\"\""] : []
            return one(
                [
                    "1.50", "1e3", "-0", "12", "1_000", "0xFF", "0b101", "true", "false", "\"a\\u00e9\\\\b\"",
                    "\"x, } ]\"",
                    "\"\"", "'C:\\x'", "inf", "-nan", "2001-02-03T04:05:06Z", "2001-02-03 04:05:06.5+07:00",
                    "2001-02-03",
                    "04:05:06", "2001-02-03T04:05:06", "9223372036854775807",
                ] + long)
        }
        let count = Int.random(in: 0...3, using: &generator)
        if chance(50) {
            var keys = (0..<count).map { "k\($0)" }
            if chance(15) { keys += ["d.x", "d.y"] }
            let entries = keys.map { "\($0) = \(tomlValue(depth + 1, &marks).replacing("\n", with: ""))" }
            return entries.isEmpty ? "{}" : "{ \(entries.joined(separator: ", ")) }"
        }
        let elements = (0..<count).map { _ in tomlValue(depth + 1, &marks) }
        guard depth == 0, count > 0, chance(50) else { return "[\(elements.joined(separator: ", "))]" }
        let commas = chance(50) ? "," : ""
        let lines = elements.enumerated().map { index, element in
            var line = "    \(element)\(index < count - 1 ? "," : commas)"
            if chance(20) { line += " # \(mark(&marks))" }
            return line
        }
        return "[\n\(lines.joined(separator: "\n"))\n]"
    }
}
