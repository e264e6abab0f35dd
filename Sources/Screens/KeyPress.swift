/// One user action at a terminal: a key, a click, a turn of the mouse wheel, or pasted text.
package struct KeyPress: Hashable, Sendable {
    package enum Key: Hashable, Sendable {
        case character(Character)
        case enter, tab, backTab, escape, backspace, delete
        case up, down, left, right, home, end, pageUp, pageDown
        /// F1 to F12.
        case function(Int)
        case paste(String)
        /// A click with the first button, counted from 0.
        case click(column: Int, row: Int)
        /// A click in a field, which a screen derives from a click: the column in the field, and the number of columns
        /// of its text.
        case place(column: Int, of: Int)
        /// The wheel of a mouse: -1 up, 1 down.
        case wheel(Int)
    }

    package var key: Key
    package var isControl = false
    package var isAlt = false

    package init(_ key: Key, isControl: Bool = false, isAlt: Bool = false) {
        (self.key, self.isControl, self.isAlt) = (key, isControl, isAlt)
    }

    /// Creates the key that the hint at a column of a line names, or returns nil. Two or more spaces separate hints,
    /// such as in "Enter save  q quit".
    init?(hintedAt column: Int, in line: String) {
        let characters = Array(line)
        let isGap = { (at: Int) in characters[at] == " " && (at == 0 || characters[at - 1] == " ") }
        guard characters.indices.contains(column), !isGap(column) else { return nil }
        var start = column
        while start > 0, !isGap(start - 1) { start -= 1 }
        let word = characters[start...].prefix { $0 != " " }
        switch String(word) {
        case "←": self.init(.left)
        case "→": self.init(.right)
        default:
            guard let press = KeyPress(name: String(word)) else { return nil }
            if case .character(let letter) = press.key, !letter.isASCII || letter.isNumber { return nil }
            self = press
        }
    }

    /// The character of a key without Control or Alt; nil for other keys.
    package var character: Character? {
        if case .character(let character) = key, !isControl, !isAlt { character } else { nil }
    }

    var isClick: Bool { if case .click = key { true } else { false } }

    /// Returns whether this is Control with a letter.
    package func isControl(_ letter: Character) -> Bool { isControl && key == .character(letter) }
}

/// Parses the bytes that a terminal sends, in chunks of any size.
package struct KeyParser: Sendable {
    private var bytes: [UInt8] = []
    private var pasted: [UInt8]?
    /// The colors for the background that the terminal has reported.
    package private(set) var reportedColors: Colors?
    /// Whether the terminal has answered `Colors.question` completely.
    package private(set) var hasAnswered = false
    /// The limit of bytes of one paste; the rest is dropped.
    package static let maximumPaste = 1 << 20
    private static let pasteEnd = Array("\u{1B}[201~".utf8)
    /// The time after which an escape character alone is the Escape key; see `isWaiting`.
    package static let escapeMilliseconds: Int32 = 40
    /// The longest escape sequence.
    private static let maximumSequence = 64

    package init() {}

    /// Whether an escape sequence has begun. If nothing follows soon, it was the Escape key; see `flush()`.
    package var isWaiting: Bool { !bytes.isEmpty && pasted == nil }

    /// Adds bytes, and returns the keys that are now complete.
    package mutating func take(_ more: [UInt8]) -> [KeyPress] {
        bytes += more
        var keys: [KeyPress] = []
        var start = 0
        while start < bytes.count {
            let rest = bytes[start...]
            if pasted != nil {
                let (count, press) = paste(rest)
                start += count
                guard let press else { break }
                keys.append(press)
                continue
            }
            guard let (press, count) = Self.next(rest) else { break }
            take(answer: rest.prefix(count))
            start += count
            if let press {
                keys.append(press)
            } else if rest.starts(with: "\u{1B}[200~".utf8) {
                pasted = []
            }
        }
        bytes.removeFirst(start)
        return keys
    }

    /// Takes the answer to a question, if a sequence is one.
    private mutating func take(answer sequence: ArraySlice<UInt8>) {
        if sequence.starts(with: "\u{1B}[?".utf8), sequence.last == UInt8(ascii: "c") { hasAnswered = true }
        guard sequence.starts(with: "\u{1B}]11;".utf8) else { return }
        let text = sequence.dropFirst(5).prefix { 0x20...0x7E ~= $0 }
        reportedColors = Colors(reportedAs: String(decoding: text, as: UTF8.self))
    }

    /// Returns the keys of an incomplete sequence. Call this if no more bytes follow it.
    package mutating func flush() -> [KeyPress] {
        guard isWaiting else { return [] }
        defer { bytes = [] }
        guard bytes[0] == 0x1B, !Self.isReport(bytes[...]) else { return [] }
        return [KeyPress(.escape)]
            + (bytes.count == 2 ? [KeyPress(.character(Character(Unicode.Scalar(bytes[1]))))] : [])
    }

    /// Takes bytes of a paste. Returns their number, and the text if the paste has ended.
    private mutating func paste(_ rest: ArraySlice<UInt8>) -> (Int, KeyPress?) {
        let end = rest.firstRange(of: Self.pasteEnd)
        // The last bytes may be the beginning of the end marker.
        let count = end.map { $0.lowerBound - rest.startIndex } ?? max(0, rest.count - Self.pasteEnd.count + 1)
        let room = max(0, Self.maximumPaste - (pasted?.count ?? 0))
        pasted?.append(contentsOf: rest.prefix(min(count, room)))
        guard end != nil else { return (count, nil) }
        defer { pasted = nil }
        return (count + Self.pasteEnd.count, KeyPress(.paste(String(decoding: pasted ?? [], as: UTF8.self))))
    }

    /// Returns the first key and its size; a nil key is a sequence without a meaning here. Nil if more bytes are
    /// needed.
    private static func next(_ bytes: ArraySlice<UInt8>) -> (KeyPress?, Int)? {
        guard let first = bytes.first else { return nil }
        if first == 0x1B { return escape(bytes) }
        if first < 0x20 || first == 0x7F { return (control(first), 1) }
        if first < 0x80 { return (KeyPress(.character(Character(Unicode.Scalar(first)))), 1) }
        let size = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        let whole = bytes.prefix(size)
        // A byte that cannot continue the character ends it.
        let valid = 1 + whole.dropFirst().prefix { $0 & 0xC0 == 0x80 }.count
        if valid < size, valid == whole.count { return nil }
        guard let text = String(validating: whole.prefix(valid), as: UTF8.self), let character = text.first else {
            return (nil, valid)
        }
        return (KeyPress(.character(character)), valid)
    }

    private static func control(_ byte: UInt8) -> KeyPress? {
        switch byte {
        case 0x0D, 0x0A: KeyPress(.enter)
        case 0x09: KeyPress(.tab)
        case 0x7F, 0x08: KeyPress(.backspace)
        case 0x00: nil
        case 0x1C...0x1F: KeyPress(.character(Character(Unicode.Scalar(byte + 0x40))), isControl: true)
        default: KeyPress(.character(Character(Unicode.Scalar(byte + 0x60))), isControl: true)
        }
    }

    /// Whether the bytes begin a report, `ESC ] NUMBER`. `ESC ]` alone can be Alt with a bracket.
    private static func isReport(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.count > 2 && bytes.starts(with: "\u{1B}]".utf8) && 0x30...0x39 ~= bytes[bytes.startIndex + 2]
    }

    /// Returns the size of a report, which a bell or `ESC \` ends; nil if more bytes are needed.
    private static func report(_ bytes: ArraySlice<UInt8>) -> (KeyPress?, Int)? {
        guard let end = bytes.dropFirst(2).firstIndex(where: { $0 < 0x20 }) else {
            return bytes.count > maximumSequence ? (nil, bytes.count) : nil
        }
        let count = end - bytes.startIndex
        guard bytes[end] == 0x1B else { return (nil, bytes[end] == 0x07 ? count + 1 : count) }
        guard end + 1 < bytes.endIndex else { return nil }
        return (nil, bytes[end + 1] == UInt8(ascii: "\\") ? count + 2 : count)
    }

    private static func escape(_ bytes: ArraySlice<UInt8>) -> (KeyPress?, Int)? {
        guard bytes.count > 1 else { return nil }
        let second = bytes[bytes.startIndex + 1]
        if second == 0x1B { return (KeyPress(.escape), 1) }
        if second == UInt8(ascii: "]"), bytes.count == 2 { return nil }
        if isReport(bytes) { return report(bytes) }
        guard second == UInt8(ascii: "[") || second == UInt8(ascii: "O") else {
            guard let (press, count) = next(bytes.dropFirst()) else { return nil }
            guard var press else { return (nil, count + 1) }
            press.isAlt = true
            return (press, count + 1)
        }
        if second == UInt8(ascii: "["), bytes.count > 2 {
            switch bytes[bytes.startIndex + 2] {
            // A mouse report of three bytes, and a function key of the Linux console.
            case UInt8(ascii: "M"): return bytes.count < 6 ? nil : (nil, 6)
            case UInt8(ascii: "["):
                guard bytes.count >= 4 else { return nil }
                let letter = Int(bytes[bytes.startIndex + 3]) - Int(UInt8(ascii: "A"))
                return (0...4 ~= letter ? KeyPress(.function(letter + 1)) : nil, 4)
            default: break
            }
        }
        guard let end = bytes.dropFirst(2).firstIndex(where: { 0x40...0x7E ~= $0 }) else {
            return bytes.count > maximumSequence ? (nil, bytes.count) : nil
        }
        let count = end - bytes.startIndex + 1
        let parameters = String(decoding: bytes[(bytes.startIndex + 2)..<end], as: UTF8.self)
        // `ESC [ … M` is a report of the mouse, and `ESC O M` the Enter key of the keypad.
        if bytes[end] == UInt8(ascii: "M"), second == UInt8(ascii: "["), !parameters.hasPrefix("<") {
            return (nil, count)
        }
        return (sequence(parameters, bytes[end]), count)
    }

    private static func sequence(_ parameters: String, _ final: UInt8) -> KeyPress? {
        if parameters.hasPrefix("<") { return mouse(parameters.dropFirst(), isPress: final == UInt8(ascii: "M")) }
        let numbers = parameters.split(separator: ";").map { Int(UInt16($0) ?? 0) }
        let modifiers = max(0, (numbers.count > 1 ? numbers[1] : 1) - 1)
        guard let key = key(Unicode.Scalar(final), numbers.first ?? 1) else { return nil }
        return KeyPress(key, isControl: modifiers & 4 != 0, isAlt: modifiers & 2 != 0)
    }

    private static func key(_ final: Unicode.Scalar, _ number: Int) -> KeyPress.Key? {
        switch (final, number) {
        case ("A", _): .up
        case ("B", _): .down
        case ("C", _): .right
        case ("D", _): .left
        case ("H", _), ("~", 1), ("~", 7): .home
        case ("F", _), ("~", 4), ("~", 8): .end
        case ("Z", _): .backTab
        case ("M", _): .enter
        case ("~", 3): .delete
        case ("~", 5): .pageUp
        case ("~", 6): .pageDown
        case ("P", _): .function(1)
        case ("Q", _): .function(2)
        case ("R", _): .function(3)
        case ("S", _): .function(4)
        case ("~", 11...15): .function(number - 10)
        case ("~", 17...21): .function(number - 11)
        case ("~", 23...24): .function(number - 12)
        default: nil
        }
    }

    /// Parses a report of the mouse: `BUTTON;COLUMN;ROW`, counted from 1.
    private static func mouse(_ text: Substring, isPress: Bool) -> KeyPress? {
        let numbers = text.split(separator: ";").compactMap { UInt16($0).map(Int.init) }
        guard numbers.count == 3, isPress else { return nil }
        switch numbers[0] {
        case 0: return KeyPress(.click(column: max(0, numbers[1] - 1), row: max(0, numbers[2] - 1)))
        case 64: return KeyPress(.wheel(-1))
        case 65: return KeyPress(.wheel(1))
        default: return nil
        }
    }
}
