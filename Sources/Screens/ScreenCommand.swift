internal import SchemaTools

/// What a key does in a list of entries or settings. Both screens have one table, so that a key means the same in both.
package enum ScreenCommand: String, Hashable, Sendable, CaseIterable {
    case up, down, pageUp, pageDown, halfPageUp, halfPageDown, first, last, left, right
    case nextPane, previousPane, enter, toggle
    case add, rename, copy, changeType, delete, reset, editText, moveUp, moveDown
    case dropChange, undo, redo, save
    case search, nextMatch, previousMatch, modified
    case history, historyOfAll, difference, details, watch, copyReading, copyWriting
    case prompt, cancel, help, quit, interrupt

    /// A row of the table: the keys of a command, and its meaning in the browser and in a form, if it has one there.
    private struct Row {
        let command: ScreenCommand
        let keys: [String]
        let browse: String?
        let form: String?

        init(_ command: ScreenCommand, _ keys: String..., both: String) {
            (self.command, self.keys, browse, form) = (command, keys, both, both)
        }

        init(_ command: ScreenCommand, _ keys: String..., browse: String? = nil, form: String? = nil) {
            (self.command, self.keys, self.browse, self.form) = (command, keys, browse, form)
        }
    }

    private static let table = [
        Row(.up, "Up", "k", "^P", both: "select the previous row"),
        Row(.down, "Down", "j", "^N", both: "select the next row"),
        Row(.pageUp, "PageUp", "^B", both: "go to the previous page"),
        Row(.pageDown, "PageDown", "^F", both: "go to the next page"),
        Row(.halfPageUp, "^U", both: "go half a page up"), Row(.halfPageDown, "^D", both: "go half a page down"),
        Row(.first, "Home", "g", both: "go to the first row"), Row(.last, "End", "G", both: "go to the last row"),
        Row(.left, "Left", "-", browse: "close, or go outside", form: "the previous choice, or a smaller number"),
        Row(.right, "Right", "+", browse: "open, or go inside", form: "the next choice, or a greater number"),
        Row(.nextPane, "Tab", browse: "domains or entries", form: "the next group"),
        Row(.previousPane, "Shift-Tab", browse: "domains or entries", form: "the previous group"),
        Row(.enter, "Enter", browse: "edit, or open", form: "edit; a digit types a new number"),
        Row(.toggle, "Space", both: "turn on or off"),
        Row(.add, "a", browse: "add an entry, or a domain"), Row(.rename, "r", browse: "rename"),
        Row(.copy, "c", browse: "copy to another key"), Row(.changeType, "t", browse: "change the type"),
        Row(.delete, "x", "Delete", browse: "delete from the user's layer", form: "remove the user's value"),
        Row(.reset, "R", browse: "remove the user's value of the key", form: "remove the user's value"),
        Row(.editText, "e", both: "edit as text in $EDITOR"),
        Row(.moveUp, "Alt-Up", "K", browse: "move an element of an array up"),
        Row(.moveDown, "Alt-Down", "J", browse: "move an element of an array down"),
        Row(.dropChange, "Backspace", form: "drop the change of this setting"),
        Row(.undo, "u", browse: "undo the last change made here", form: "undo the last change"),
        Row(.redo, "^R", both: "redo what was undone"),
        Row(.save, "^S", browse: "nothing: changes are saved at once", form: "save"),
        Row(.search, "/", both: "search: words, the first letters of words, or \(SearchQuery.markList)"),
        Row(.nextMatch, "n", browse: "the next match"), Row(.previousMatch, "N", browse: "the previous match"),
        Row(.modified, "m", both: "search for values of the user"),
        Row(.history, "h", browse: "versions of the entry, or of the domain", form: "earlier values of the setting"),
        Row(.historyOfAll, "H", browse: "versions of all domains"),
        Row(.difference, "d", browse: "what was changed here", form: "show the changes"),
        Row(.details, "i", both: "all details"), Row(.watch, "w", browse: "highlight changes by other processes"),
        Row(.copyReading, "y", browse: "copy the command that reads the value"),
        Row(.copyWriting, "Y", browse: "copy the command that writes it"),
        Row(.prompt, ":", both: "a command: \(Prompt.list)"), Row(.cancel, "Esc", both: "end the search"),
        Row(.help, "?", "F1", both: "this list"), Row(.quit, "q", both: "quit"),
        Row(.interrupt, "^C", both: "quit, if pressed twice"),
    ]

    package enum Place: Sendable { case browser, form }

    /// Returns what the command does in a screen; nil if it does nothing there.
    package func meaning(in place: Place) -> String? {
        Self.table.first { $0.command == self }.flatMap { place == .browser ? $0.browse : $0.form }
    }

    fileprivate var standardKeys: [String] { Self.table.first { $0.command == self }?.keys ?? [] }
}

/// The keys of commands.
package struct Keymap: Sendable {
    private var keys: [ScreenCommand: [KeyPress]] = [:]
    private var commands: [KeyPress: ScreenCommand] = [:]

    package static let standard = Keymap()

    private init() {
        for command in ScreenCommand.allCases {
            set(command.standardKeys.compactMap { KeyPress(name: $0) }, for: command)
        }
    }

    /// Creates the standard keys with changes: the names of commands, each with the names of its keys.
    ///
    /// - Returns: The keys, and what is invalid in the changes.
    package static func changed(by changes: [(command: String, keys: [String])]) -> (Keymap, problems: [String]) {
        var (keymap, problems) = (Keymap.standard, [String]())
        for (name, words) in changes {
            guard let command = ScreenCommand(rawValue: name) else {
                problems.append("unknown command \(name)")
                continue
            }
            let presses = words.compactMap { word -> KeyPress? in
                let press = KeyPress(name: word)
                if press == nil { problems.append("\(name): unknown key \(word)") }
                return press
            }
            if !presses.isEmpty { keymap.set(presses, for: command) }
        }
        // Without a key for these, the screen could not be left or explained.
        let needed = [ScreenCommand.quit, .help, .enter]
        while let command = needed.first(where: { keymap.keys[$0]?.isEmpty ?? true }) {
            // The standard keys of these are different ones.
            keymap.set(command.standardKeys.compactMap { KeyPress(name: $0) }, for: command)
            problems.append("\(command.rawValue) needs a key")
        }
        return (keymap, problems)
    }

    /// Gives a command keys, which other commands lose.
    private mutating func set(_ presses: [KeyPress], for command: ScreenCommand) {
        for press in keys[command] ?? [] { commands[press] = nil }
        for press in presses {
            if let other = commands.updateValue(command, forKey: press), other != command {
                keys[other]?.removeAll { $0 == press }
            }
        }
        keys[command] = presses
    }

    func command(for press: KeyPress) -> ScreenCommand? { commands[press] }

    /// Returns a key hint, such as `x delete`.
    func hint(_ command: ScreenCommand, _ text: String) -> String {
        keys[command]?.first.map { "\($0.name) \(text)" } ?? text
    }

    /// Returns the keys of all commands of a screen, with their meanings.
    package func help(in place: ScreenCommand.Place) -> [(String, String)] {
        ScreenCommand.allCases.compactMap { command in
            guard let meaning = command.meaning(in: place), let keys = keys[command], !keys.isEmpty else { return nil }
            return (keys.map(\.name).joined(separator: ", "), meaning)
        }
    }
}

extension KeyPress {
    private static let named: [(name: String, key: Key)] = [
        ("Enter", .enter), ("Tab", .tab), ("Shift-Tab", .backTab), ("Esc", .escape), ("Backspace", .backspace),
        ("Delete", .delete), ("Up", .up), ("Down", .down), ("Left", .left), ("Right", .right), ("Home", .home),
        ("End", .end), ("PageUp", .pageUp), ("PageDown", .pageDown), ("Space", .character(" ")),
    ]

    /// Creates the key with a name such as `x`, `^X`, `Alt-Up`, `F1` or `PageDown`.
    init?(name: String) {
        if let (_, key) = Self.named.first(where: { $0.name.lowercased() == name.lowercased() }) {
            self.init(key)
        } else if name.lowercased().hasPrefix("alt-"), let press = KeyPress(name: String(name.dropFirst(4))),
            !press.isAlt
        {
            self.init(press.key, isControl: press.isControl, isAlt: true)
        } else if name.first == "F", let number = Int(name.dropFirst()), 1...12 ~= number {
            self.init(.function(number))
        } else if name.count == 2, name.first == "^", let letter = name.last, letter.isASCII {
            self.init(.character(Character(letter.lowercased())), isControl: true)
        } else {
            guard name.count == 1, let character = name.first, !character.isWhitespace else { return nil }
            self.init(.character(character))
        }
    }

    var name: String {
        let name =
            switch key {
            case .character(" "): "Space"
            case .character(let character): isControl ? "^" + character.uppercased() : String(character)
            case .function(let number): "F\(number)"
            default: Self.named.first { $0.key == key }?.name ?? ""
            }
        return (isAlt ? "Alt-" : "") + name
    }
}

/// A command that is typed after a colon.
enum Prompt: Hashable, Sendable {
    case write, quit, writeAndQuit, discard, help
    case unknown(String)

    init(_ text: String) {
        switch text.filter({ !$0.isWhitespace }) {
        case "w": self = .write
        case "q": self = .quit
        case "wq", "x": self = .writeAndQuit
        case "q!": self = .discard
        case "h", "help": self = .help
        default: self = .unknown(text)
        }
    }

    static let list = "w, q, wq, q! and help"
}
