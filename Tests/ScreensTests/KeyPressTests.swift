import Screens
import Testing

@Suite struct `Keys` {
    private func name(_ press: KeyPress) -> String {
        let key =
            switch press.key {
            case .character(let character): "\(character)"
            case .paste(let text): "paste(\(text.count))"
            case .click(let column, let row): "click(\(column),\(row))"
            case .wheel(let step): "wheel(\(step))"
            default: "\(press.key)"
            }
        return (press.isControl ? "^" : "") + (press.isAlt ? "M-" : "") + key
    }

    @Test(arguments: [
        ("a", "a"), ("é", "é"), ("界", "界"), ("\r", "enter"), ("\n", "enter"), ("\t", "tab"), ("\u{7F}", "backspace"),
        ("\u{1}", "^a"), ("\u{1A}", "^z"), ("\u{1B}[A", "up"), ("\u{1B}OB", "down"), ("\u{1B}[1;5C", "^right"),
        ("\u{1B}[1;3A", "M-up"), ("\u{1B}[3~", "delete"), ("\u{1B}[5~", "pageUp"), ("\u{1B}[Z", "backTab"),
        ("\u{1B}[H\u{1B}[F", "home end"), ("\u{1B}b", "M-b"), ("\u{1B}[<0;3;4M", "click(2,3)"),
        ("\u{1B}[<0;3;4m", ""), ("\u{1B}[<65;1;1M", "wheel(1)"), ("\u{1B}[99q", ""),
        ("\u{1B}[200~a\u{1B}[A\u{1B}[201~b", "paste(4) b"), ("\u{1B}OM", "enter"),
        // Reports of the mouse by terminals that know no other ones, and F1 on the Linux console.
        ("\u{1B}[M !!a", "a"), ("\u{1B}[32;5;6Ma", "a"), ("\u{1B}[[Ab", "function(1) b"), ("\u{1B}OP", "function(1)"),
        ("\u{1B}[11~\u{1B}[24~", "function(1) function(12)"), ("\u{1B}[[Xb", "b"),
        // Reports of a color and of the terminal's kind.
        ("\u{1B}]11;rgb:0000/0000/0000\u{7}a", "a"), ("\u{1B}]11;rgb:ffff/ffff/ffff\u{1B}\\b\u{1B}[?62;22c", "b"),
        ("\u{1B}]4;1;rgb:0/0/0\u{1B}\\c", "c"), ("\u{1B}]11;x\u{1B}[A", "up"), ("\u{1B}]11;\rx", "enter x"),
        // Numbers that no arithmetic can take.
        ("\u{1B}[1;-9223372036854775808A", "up"), ("\u{1B}[<0;-9223372036854775808;1M", ""),
        ("\u{1B}[<0;1;9223372036854775807M", ""), ("\u{1B}[<0;65535;65535M", "click(65534,65534)"),
    ])
    func `are parsed from bytes, in portions of any size`(_ text: String, _ expected: String) {
        for size in 1...max(1, text.utf8.count) {
            var parser = KeyParser()
            var keys: [KeyPress] = []
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                keys += parser.take(Array(rest.prefix(size)))
                rest = rest.dropFirst(size)
            }
            #expect(keys.map(name).joined(separator: " ") == expected)
            #expect(!parser.isWaiting)
        }
    }

    @Test func `are recovered from bytes that mean nothing`() {
        var parser = KeyParser()
        #expect(parser.take([0xFF, 0xC3, 0x28, 0xE7]).map(name) == ["("])
        #expect(parser.take([0x95, 0x8C]).map(name) == ["界"])
        #expect(parser.take([0x1B]).isEmpty && parser.isWaiting)
        #expect(parser.flush().map(name) == ["escape"] && !parser.isWaiting)
        #expect(parser.take(Array("\u{1B}[".utf8) + Array(repeating: 0x30, count: 100)).isEmpty)
        #expect(parser.take([0x61]).map(name) == ["a"])
    }

    @Test(arguments: [
        ("\u{1B}]11;rgb:0000/0000/0000\u{7}", Colors.dark, false),
        ("\u{1B}]11;rgb:ffff/ffff/ffff\u{1B}\\\u{1B}[?1;2c", .light, true), ("\u{1B}[?6c", nil, true),
        ("\u{1B}]10;rgb:0000/0000/0000\u{7}", nil, false), ("\u{1B}]11;rgb:0000/0000\u{7}", nil, false),
        ("\u{1B}]11;\u{7}\u{1B}[c", nil, false),
        ("\u{1B}[200~\u{1B}]11;rgb:0/0/0\u{7}\u{1B}[?6c\u{1B}[201~", nil, false),
    ])
    func `are no answers of the terminal`(_ text: String, _ colors: Colors?, _ hasAnswered: Bool) {
        var parser = KeyParser()
        for byte in text.utf8 { _ = parser.take([byte]) }
        #expect(parser.reportedColors == colors && parser.hasAnswered == hasAnswered)
    }

    @Test func `follow an answer that is cut off`() {
        var parser = KeyParser()
        #expect(parser.take(Array("\u{1B}]11;rgb:0".utf8)).isEmpty && parser.isWaiting)
        #expect(parser.flush().isEmpty && !parser.isWaiting)
        #expect(parser.take(Array("a".utf8)).map(name) == ["a"])
        #expect(parser.take(Array(("\u{1B}]1" + String(repeating: "1", count: 100)).utf8)).isEmpty)
        #expect(parser.take(Array("b".utf8)).map(name) == ["b"])
    }

    @Test func `of a large paste are one`() {
        var parser = KeyParser()
        let text = String(repeating: "0123456789", count: 1024)
        var keys: [KeyPress] = []
        for part in [
            Array("\u{1B}[200~".utf8), Array(text.utf8.prefix(5000)), Array(text.utf8.dropFirst(5000)),
            Array("\u{1B}[201~".utf8),
        ] {
            keys += parser.take(part)
        }
        #expect(keys == [KeyPress(.paste(text))])
    }
}

@Suite struct `A line` {
    @Test(arguments: [
        ("one two", ["^w"], "one |"), ("one two", ["^a", "M-f"], "one| two"),
        ("one two", ["^a", "^k", "^y", "^y"], "one twoone two|"),
        ("abc", ["left", "backspace"], "a|c"), ("abc", ["home", "delete"], "|bc"), ("e", ["\u{301}"], "e\u{301}|"),
        ("界👩‍👩‍👧x", ["left", "backspace"], "界|x"), ("a", ["up"], "older|"), ("a", ["up", "up", "down", "down"], "a|"),
        ("a", ["up", "up"], "oldest|"), ("one two", ["^left", "^u"], "|two"),
        ("a", ["b\n"], "ab|"), ("a", ["b\r\nc\rd\r\n\n"], "ab\nc\nd|"), ("a", ["\n\n"], "a|"),
    ])
    func `is edited with keys`(_ text: String, _ keys: [String], _ expected: String) {
        var line = LineEditor(text, history: ["oldest", "older"])
        for key in keys { #expect(line.handle(Key.named(key)) == .edited) }
        var shown = Array(line.text)
        shown.insert("|", at: line.cursor)
        #expect(String(shown) == expected)
    }

    @Test func `shows the part around its cursor, and no secret`() {
        var line = LineEditor("0123456789")
        #expect(line.shown(in: 5) == ("6789", 4))
        _ = line.handle(KeyPress(.home))
        #expect(line.shown(in: 5) == ("01234", 0))
        // The text after the cursor is shown too.
        for _ in 0..<5 { _ = line.handle(KeyPress(.right)) }
        #expect(line.shown(in: 5) == ("34567", 2))
        for _ in 0..<3 { _ = line.handle(KeyPress(.right)) }
        #expect(line.shown(in: 5) == ("6789", 2))
        #expect(LineEditor("secret", isSecret: true).shown(in: 20) == ("••••••", 6))
        #expect(LineEditor("界界界").shown(in: 5) == ("界界", 4))
        #expect(LineEditor("a\tb\u{1B}").shown(in: 20) == ("a␉b␛", 4))
    }
}

/// Keys by name, for rows.
enum Key {
    /// - Parameter canvas: The screen. `click:TEXT` clicks the first cell of a text on it, with `_` for spaces.
    static func named(_ name: String, on canvas: Canvas) -> KeyPress {
        guard name.hasPrefix("click:") else { return named(name) }
        let text = name.dropFirst(6).replacing("_", with: " ")
        for (row, line) in canvas.lines.enumerated() {
            if let range = line.firstRange(of: text) {
                return KeyPress(.click(column: String(line[..<range.lowerBound]).shownColumns, row: row))
            }
        }
        Issue.record("no \(text) in \(canvas.lines)")
        return named(name)
    }

    static func named(_ name: String) -> KeyPress {
        if name.hasPrefix("^"), name.count > 1 {
            var press = named(String(name.dropFirst()))
            press.isControl = true
            return press
        }
        if name.hasPrefix("M-") {
            var press = named(String(name.dropFirst(2)))
            press.isAlt = true
            return press
        }
        let keys: [String: KeyPress.Key] = [
            "enter": .enter, "tab": .tab, "escape": .escape, "backspace": .backspace, "delete": .delete, "up": .up,
            "down": .down, "left": .left, "right": .right, "home": .home, "end": .end, "pageUp": .pageUp,
            "pageDown": .pageDown, "backTab": .backTab, "f1": .function(1), "space": .character(" "),
        ]
        if let key = keys[name] { return KeyPress(key) }
        return name.count == 1 ? KeyPress(.character(name.first ?? " ")) : KeyPress(.paste(name))
    }
}
