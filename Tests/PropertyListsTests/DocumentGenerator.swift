import Foundation
import PropertyLists
import TestSupport

/// A generator of texts as people write them: with comments, odd white space, and several ways to write a value.
struct DocumentGenerator {
    /// The syntax of a text.
    enum Syntax: String, CaseIterable, Sendable {
        case xml, json, json5, openstep, gnustep, strings, toml

        var format: PropertyList.Format {
            switch self {
            case .xml: .xml
            case .json, .json5: .json
            case .openstep, .strings: .openstep
            case .gnustep: .gnustep
            case .toml: .toml
            }
        }

        /// The syntaxes whose containers have brackets or tags.
        static let bracketed = allCases.filter { $0 != .toml }

        var options: PropertyList.ReadingOptions {
            let options = PropertyList.ReadingOptions(allowsJSON5: self == .json5)
            return options.reading(fileNamed: self == .strings ? "a.strings" : nil)
        }
    }

    let syntax: Syntax
    var generator: SeededGenerator
    var newline = "\n"
    private var comments = 0

    init(_ syntax: Syntax, _ generator: SeededGenerator) { (self.syntax, self.generator) = (syntax, generator) }

    private var isOpenStep: Bool { [.openstep, .gnustep, .strings].contains(syntax) }
    private var hasComments: Bool { syntax != .json }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }
    mutating func one<T>(_ choices: [T]) -> T { choices.randomElement(using: &generator)! }

    /// A text, in one of its encodings.
    mutating func document() -> [UInt8] {
        newline = one(["\n", "\n", "\r\n", "\r"])
        var text: String
        switch syntax {
        case .xml:
            text = "<?xml version=\"1.0\"?>" + blank() + "<!DOCTYPE plist PUBLIC \"-//x//DTD\" \"http://x\">" + newline
            text += comment(.ownLine) + "<plist version=\"1.0\">" + blank() + dictionary(0, "") + blank() + "</plist>"
        case .strings: text = stringsFile()
        case .toml:
            if newline == "\r" { newline = "\n" }
            return Array(tomlLines().text(newline).utf8)
        default: text = (hasComments && chance(30) ? comment(.ownLine) : "") + dictionary(0, "")
        }
        if chance(80) { text += newline }
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: return [0xEF, 0xBB, 0xBF] + Array(text.utf8)
        case 1: return [0xFF, 0xFE] + text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        default: return Array(text.utf8)
        }
    }

    private mutating func stringsFile() -> String {
        var text = chance(50) ? comment(.ownLine) : ""
        for index in 0..<Int.random(in: 1...8, using: &generator) {
            if chance(30) { text += comment(.ownLine) }
            text += key(index) + one([" = ", "=", "  =  "]) + value(2, "") + one([";", " ;"])
            text += chance(20) ? comment(.sameLine) + newline : chance(85) ? newline : " "
            if chance(20) { text += newline }
        }
        return text
    }

    // MARK: White space and comments

    private enum CommentPlace { case ownLine, sameLine, inside }

    private mutating func comment(_ place: CommentPlace, _ indent: String = "") -> String {
        guard hasComments else { return place == .ownLine ? "" : " " }
        comments += 1
        let mark = "c\(comments)z"
        let block: String
        if syntax == .xml {
            block = "<!-- \(mark) \"<key>\" -->"
        } else {
            block = chance(10) ? "/* \(mark) {\(newline)  } */" : "/* \(mark), \"; */"
        }
        switch place {
        // A word without quotes may have slashes.
        case .inside: return isOpenStep ? " " + block : block
        case .sameLine: return " " + (syntax == .xml || chance(50) ? block : "// \(mark), }")
        case .ownLine: return indent + (syntax == .xml || chance(50) ? block : "// \(mark); \"") + newline
        }
    }

    private mutating func blank() -> String {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: " "
        case 1: newline + newline
        case 2: "\t"
        case 3: hasComments ? comment(.inside) : ""
        case 4...6: newline
        default: ""
        }
    }

    // MARK: Containers

    private enum Layout { case lines, inline, compact, odd }

    private mutating func layout() -> Layout { one([.lines, .lines, .lines, .inline, .compact, .odd]) }

    private mutating func dictionary(_ depth: Int, _ indent: String) -> String {
        let count = depth == 0 ? Int.random(in: 0...7, using: &generator) : Int.random(in: 0...4, using: &generator)
        var entries = (0..<count).map { $0 }
        if chance(50) { entries.shuffle(using: &generator) }
        return container(isDictionary: true, entries, depth, indent)
    }

    private mutating func container(
        isDictionary: Bool, _ entries: [Int], _ depth: Int, _ indent: String
    ) -> String {
        let brackets: (String, String) =
            switch (syntax, isDictionary) {
            case (.xml, true): (chance(10) ? "<dict >" : "<dict>", "</dict>")
            case (.xml, false): ("<array>", "</array>")
            case (_, true): ("{", "}")
            default: isOpenStep ? ("(", ")") : ("[", "]")
            }
        guard !entries.isEmpty else {
            if syntax == .xml, chance(60) { return isDictionary ? "<dict/>" : "<array />" }
            return brackets.0 + (chance(70) ? "" : blank()) + brackets.1
        }
        let layout = layout()
        let inner = indent + one(["  ", "\t", "    ", "  "])
        let separator = syntax == .xml ? "" : isOpenStep && isDictionary ? ";" : ","
        let mayTrail = syntax == .json5 || isOpenStep
        let trails = separator == ";" || mayTrail && chance(30)
        var text = brackets.0
        if layout == .lines { text += (chance(15) ? comment(.sameLine) : "") + newline }
        for (index, entry) in entries.enumerated() {
            let isLast = index == entries.count - 1
            if layout == .lines {
                if chance(15) { text += comment(.ownLine, inner) }
                if chance(5) { text += newline }
                text += inner
            } else if layout == .odd {
                text += blank()
            } else if layout == .inline {
                text += " "
            }
            if isDictionary {
                let between = [.lines, .odd].contains(layout) && syntax == .xml && chance(80) ? newline + inner : ""
                text += key(entry) + keySeparator(layout) + between
            }
            text += value(depth + 1, layout == .lines ? inner : indent)
            if !isLast || trails {
                if layout == .odd { text += blank() }
                text += separator
            }
            if layout == .lines {
                if chance(15) { text += comment(.sameLine) }
                text += newline
            }
        }
        switch layout {
        case .lines: text += indent
        case .inline: text += " "
        case .odd: text += blank()
        case .compact: break
        }
        return text + brackets.1
    }

    private mutating func keySeparator(_ layout: Layout) -> String {
        if syntax == .xml { return "" }
        let mark = isOpenStep ? "=" : ":"
        switch layout {
        case .compact: return mark
        case .odd: return blank() + mark + blank()
        default: return isOpenStep ? " = " : one([": ", ": ", " : "])
        }
    }

    // MARK: Scalars

    private mutating func key(_ index: Int) -> String {
        let name = one(["a", "b", "key", "Zoë", "two words", "x"]) + String(index)
        switch syntax {
        case .xml: return "<key>\(name)</key>"
        case .json: return "\"\(name)\""
        case .json5:
            if chance(40), !name.contains(" ") { return name }
            return chance(30) ? "'\(name)'" : "\"\(name)\""
        default:
            let isBare = name.utf8.allSatisfy { $0 < 0x80 && $0 != 0x20 }
            return isBare && chance(60) ? name : chance(15) ? "'\(name)'" : "\"\(name)\""
        }
    }

    private mutating func value(_ depth: Int, _ indent: String) -> String {
        if depth < 4, chance(35) {
            if chance(50) { return dictionary(depth, indent) }
            let count = Int.random(in: 0...5, using: &generator)
            return container(isDictionary: false, Array(0..<count), depth, indent)
        }
        return scalar()
    }

    private mutating func scalar() -> String {
        switch syntax {
        case .xml:
            one([
                "<string>a &amp; b\(newline)c</string>", "<string/>", "<string><![CDATA[x < y]]></string>",
                "<integer>0x1F</integer>", "<integer> +7 </integer>", "<real>1.50</real>", "<true/>", "<false></false>",
                "<date>2001-02-03T04:05:06Z</date>", "<data>\(newline)\t\tAQID\(newline)</data>", "<data>AQID</data>",
                "<string>é</string>", "<integer>12</integer>", "<dict><key>CF$UID</key><integer>3</integer></dict>",
            ])
        case .json, .json5:
            one(
                [
                    "1.50", "1e3", "-0", "12", "true", "false", "\"a\\u00e9\\/b\"", "\"x, } ]\"", "\"\"",
                    "18446744073709551615",
                ]
                    + (syntax == .json5 ? ["0x1F", "+.5", "'it\\'s'", "Infinity", "\"a\\\nb\""] : []))
        default:
            one(
                ["abc", "\"a b; }\"", "'q'", "<0102 03>", "12", "\"\\U00e9\"", "\"\\101\"", "\"\""]
                    + (syntax == .gnustep
                        ? ["<*I5>", "<*R1.50>", "<*BY>", "<[AQID]>", "<*D2001-02-03 04:05:06 +0000>"] : [])
            )
        }
    }

    // MARK: Edits

    /// A change of a value.
    enum Edit: Sendable, CustomStringConvertible {
        case set(EntryPath, PropertyList)
        case remove(EntryPath)
        case insert(EntryPath, Int, PropertyList)
        case rename(EntryPath, to: String)

        var description: String {
            switch self {
            case .set(let path, let value): "set \(path) to \(value)"
            case .remove(let path): "remove \(path)"
            case .insert(let path, let index, let value): "insert \(value) into \(path) at \(index)"
            case .rename(let path, let name): "rename \(path) to \(name)"
            }
        }

        /// What a verb states of the edit.
        var step: EntryStep? {
            switch self {
            case .set: nil
            case .remove(let path): .removal(path)
            case .insert(let path, let index, _): .insertion(EntryPath(path.components + [.init(index)]))
            case .rename(let path, let name): .move(path, to: EntryPath(path.components.dropLast() + [.init(name)]))
            }
        }

        func apply(to value: inout PropertyList) throws {
            switch self {
            case .set(let path, let new): try value.set(new, at: path)
            case .remove(let path): try value.remove(at: path)
            case .insert(let path, let index, let new):
                guard case .array(var elements)? = value[path] else { return }
                elements.insert(new, at: min(index, elements.count))
                try value.set(.array(elements), at: path)
            case .rename(let path, let name):
                let parent = EntryPath(Array(path.components.dropLast()))
                guard let entry = value[path], value[EntryPath(parent.components + [.init(name)])] == nil else {
                    return
                }
                try value.remove(at: path)
                try value.set(entry, at: EntryPath(parent.components + [.init(name)]))
            }
        }
    }

    /// A random edit of a value.
    mutating func edit(of value: PropertyList) -> Edit {
        var path: [EntryPath.Component] = []
        var current = value
        while true {
            let isDeeper = chance(60) || path.isEmpty && chance(50)
            switch current {
            case .dictionary(let entries):
                if let entry = entries.randomElement(using: &generator) {
                    if isDeeper, entry.value.isContainer {
                        path.append(.init(entry.key))
                        current = entry.value
                        continue
                    }
                    let place = EntryPath(path + [.init(entry.key)])
                    switch Int.random(in: 0..<4, using: &generator) {
                    case 0: return .remove(place)
                    case 1: return .rename(place, to: newKey())
                    case 2: return .set(place, newValue())
                    default: break
                    }
                }
                return .set(EntryPath(path + [.init(newKey())]), newValue())
            case .array(let elements):
                if let index = elements.indices.randomElement(using: &generator) {
                    if isDeeper, elements[index].isContainer {
                        path.append(.init(index))
                        current = elements[index]
                        continue
                    }
                    let place = EntryPath(path + [.init(index)])
                    switch Int.random(in: 0..<3, using: &generator) {
                    case 0: return .remove(place)
                    case 1: return .set(place, newValue())
                    default: break
                    }
                }
                return .insert(EntryPath(path), Int.random(in: 0...elements.count, using: &generator), newValue())
            default: return .set(EntryPath(path), newValue())
            }
        }
    }

    private mutating func newKey() -> String {
        one(["aa", "new", "zz", "with space", "Zoé", "q\"uote", "$x", "/slash", "a:b", "line\nbreak", ""])
            + (chance(30) ? String(Int.random(in: 0...99, using: &generator)) : "")
    }

    private mutating func newValue(_ depth: Int = 0) -> PropertyList {
        if depth < 2, chance(25) {
            let count = Int.random(in: 0...3, using: &generator)
            if chance(50) { return .array((0..<count).map { _ in newValue(depth + 1) }) }
            return .dictionary(.init((0..<count).map { _ in (newKey(), newValue(depth + 1)) }))
        }
        var choices: [PropertyList] = [
            .string("n\(Int.random(in: 0...999, using: &generator))"), .string("it's \"é\" </string> \\ /* no */"), "",
            "true",
            "12",
        ]
        if ![.openstep, .strings].contains(syntax) { choices += [.integer(-99), .real(2.25), .boolean(false)] }
        if ![.json, .json5, .toml].contains(syntax) { choices.append(.data(Data(repeating: 7, count: 100))) }
        if [.xml, .gnustep].contains(syntax) {
            choices += [.date(Date(timeIntervalSinceReferenceDate: 86400)), .uid(7)]
        }
        if syntax == .toml { choices += [.date(Date(timeIntervalSinceReferenceDate: 0.25)), "2001-02-03", "a\nb"] }
        return one(choices)
    }
}
