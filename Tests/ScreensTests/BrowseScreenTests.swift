import PropertyLists
import Screens
import SettingsSchema
import TestSupport
import Testing

/// A browser with two domains on a simulated terminal. The first is open, and changes are made in its entries.
struct BrowserDisplay {
    var screen: BrowseScreen
    var canvas: Canvas
    private(set) var effects: [BrowseScreen.Effect] = []
    private(set) var entries: PropertyList.Dictionary
    /// The reason the store refuses all changes, or nil.
    var refusal: String?

    static let schema = """
        {
            Domain = "com.example.editor";
            Settings = (
                { Key = size; Type = integer; Minimum = 6; Maximum = 96; },
                { Key = theme; Choices = (dark, light); },
                { Key = token; Sensitive = YES; }
            );
        }
        """

    static let entries: PropertyList.Dictionary = [
        "lines": true, "list": ["a", ["b": 1]], "name": "Café 界", "size": 13, "theme": "dark", "token": "hush",
        "window": ["frame": ["height": 480, "width": 640], "title": "Notes"],
    ]

    static let others = [
        BrowseScreen.Contents(
            name: "com.example.other", entries: ["colour": "red", "fontSize": 11, "fontName": "Mono"]),
        BrowseScreen.Contents(name: "org.example.backup", entries: [:]),
    ]

    init(
        columns: Int = 80, rows: Int = 24, _ entries: PropertyList.Dictionary = Self.entries,
        _ keymap: Keymap = .standard
    ) throws {
        screen = BrowseScreen("com.example.editor", keymap)
        canvas = Canvas(columns: columns, rows: rows)
        self.entries = entries
        send(.resized(columns: columns, rows: rows))
        send(.contents(try contents()))
        send(.domains(["com.example.editor", "com.example.other", "org.example.backup"]))
    }

    func contents() throws -> BrowseScreen.Contents {
        var shown = entries
        if shown["token"] != nil { shown["token"] = "••••" }
        return BrowseScreen.Contents(
            name: "com.example.editor", entries: shown, origins: ["lines": "site"],
            secrets: entries["token"].map { [["token"]: $0.hashValue] } ?? [:],
            schema: try Schema(parsing: Array(Self.schema.utf8)))
    }

    mutating func send(_ event: BrowseScreen.Event) {
        let new = screen.handle(event)
        effects += new.filter { effect in
            switch effect {
            case .explain, .catalog, .moment: false
            default: true
            }
        }
        if let all = try? [contents()] + Self.others {
            if new.contains(.catalog) { send(.catalog(all)) }
            for case .open(let name) in new where refusal == nil {
                if let found = all.first(where: { $0.name == name }) { send(.contents(found)) }
            }
        }
        for case .explain(let path) in new {
            _ = screen.handle(
                .details(
                    path, [.init("user", "raw of \(path)  (/home/ada/f.plist)"), .init("changed", "today  prefs")]))
        }
        for case .moment(let version, _) in new {
            var (former, entries) = (entries, entries)
            former["token"] = "••••"
            former["size"] = .integer(version.number - 1)
            entries["size"] = .integer(version.number)
            entries["token"] = "••••"
            let changes = [
                BrowseScreen.Detail("", "- size: \(version.number - 1)", style: .removed),
                .init("", "+ size: \(version.number)", style: .added),
            ]
            send(.moment(.init(version, entries: entries, former: former, changes: changes)))
        }
        for effect in new {
            switch effect {
            case .change, .restore: _ = screen.handle(refusal.map { .refused($0) } ?? .done("Saved.", at: ["none"]))
            default: break
            }
        }
        draw()
    }

    /// What another process has made of the entries.
    mutating func store(_ new: PropertyList.Dictionary) throws {
        entries = new
        send(.contents(try contents()))
    }

    mutating func draw() {
        canvas = Canvas(columns: canvas.columns, rows: canvas.rows)
        screen.draw(on: &canvas)
    }

    /// Presses keys, named and separated by spaces.
    mutating func press(_ keys: String) {
        for key in keys.split(separator: " ") { send(.key(Key.named(String(key), on: canvas))) }
    }

    var text: String { canvas.lines.joined(separator: "\n") }
    var footer: String { canvas.lines.last ?? "" }
}

@Suite struct `A browser on a screen` {
    @Test func `draws domains, entries and details`() throws {
        var display = try BrowserDisplay()
        display.press("end right down right")
        #expect(
            display.text == """
                 com.example.editor                                                    / search
                ┌─ Domains ─────────────┬──────────────────────────────────────────────────────┐
                │▸com.example.editor    │   lines       boolean     true                  site │
                │ com.example.other     │ ▸ list        array       2 elements                 │
                │ org.example.backup    │   name        string      Café 界                    │
                │                       │   size        integer     13                         │
                │                       │   theme       string      dark                       │
                │                       │   token       string      ••••                       │
                │                       │ ▾ window      dictionary  2 entries                  │
                │                       │   ▾ frame     dictionary  2 entries                  │
                │                       │       height  integer     480                        │
                │                       │       width   integer     640                        │
                │                       │     title     string      Notes                      │
                │                       │                                                      │
                │                       │                                                      │
                │                       │                                                      │
                │                       ├──────────────────────────────────────────────────────┤
                │                       │ user     raw of :window:frame  (/home/ada/f.plist)   │
                │                       │ changed  today  prefs                                │
                │                       │                                                      │
                │                       │                                                      │
                │                       │                                                      │
                └───────────────────────┴──────────────────────────────────────────────────────┘
                 ← close  a add  ? help  q quit  x delete  u undo  h history  y copy  i details
                """)
    }

    @Test func `opens each of two domains whose names look alike`() throws {
        let names = ["com.cafe\u{301}", "com.caf\u{E9}"]
        var display = try BrowserDisplay()
        display.send(.contents(BrowseScreen.Contents(name: names[0], entries: ["first": 1])))
        display.send(.domains(names))
        display.press("tab down")
        let opened = display.effects.compactMap { if case .open(let name) = $0 { name } else { nil } }
        #expect(opened.map { Array($0.utf8) } == [Array(names[1].utf8)])
        display.send(.contents(BrowseScreen.Contents(name: names[1], entries: ["second": 1])))
        #expect(display.text.contains("second") && !display.text.contains("first"), "\(display.text)")
    }

    @Test func `draws one list at a time on a small screen`() throws {
        var display = try BrowserDisplay(columns: 40, rows: 10)
        display.press("down right down")
        #expect(
            display.text == """
                 com.example.editor            / search
                   lines  true                     site
                 ▾ list   2 elements
                     0    a
                   ▸ 1    1 entry
                   name   Café 界
                   size   13                           ↓
                 user     raw of :list:0  (/home/ada/f…
                 changed  today  prefs
                 Enter edit  a add  ? help  q quit
                """)
        display.press("tab")
        #expect(
            display.text == """
                 com.example.editor            / search
                ▸com.example.editor
                 com.example.other
                 org.example.backup



                 domain   com.example.editor
                 keys     7, 6 of layer user
                 → entries  / search  ? help  a add
                """)
    }

    @Test func `fills a large screen`() throws {
        let display = try BrowserDisplay(columns: 200, rows: 60)
        #expect(display.canvas.lines.count == 60 && display.text.contains("raw of :lines  (/home/ada/f.plist)"))
        #expect(display.canvas.lines.allSatisfy { $0.count <= 200 })
        #expect(!display.canvas.updateText(from: nil, colors: .none).contains("\u{1B}[0;32m"))
    }

    /// The keys, the effects that they lead to, and a text on the screen after them.
    @Test(arguments: [
        ("q", [BrowseScreen.Effect.finish], ""), ("^c ^c", [.finish], ""), ("^c", [], "^C again quits."),
        ("^c down", [], "2 elements"),
        ("space", [.change(.set(["lines"], false))], ""), ("enter", [.change(.set(["lines"], false))], ""),
        ("down enter", [], "▾ list"), ("down enter down enter x enter", [.change(.set(["list", 0], "ax"))], ""),
        ("down down enter ! enter", [.change(.set(["name"], "Café 界!"))], ""),
        ("down down enter enter", [], "Café 界"), ("down down enter x escape", [], "Café 界"),
        ("down down down enter up enter", [.change(.set(["size"], 14))], ""),
        ("down down down enter ^u 5 enter", [], "Must be from 6 to 96."),
        ("down down down enter ^u x", [], "Must be an integer."),
        ("down down down down enter down enter", [.change(.set(["theme"], "light"))], ""),
        ("down down down down enter escape", [], "dark"),
        ("down down down down down enter s enter", [.change(.set(["token"], "s"))], ""),
        ("down down down down down enter s", [], "[•"),
        ("down down down down down y", [], "A secret cannot be copied."),
        ("down down down down down e", [], "cannot be edited as text"),
        ("down down down down down t", [], "cannot be changed"),
        ("end right down right down a n enter 5 enter", [.change(.set(["window", "frame", "n"], 5))], ""),
        ("a n e w enter t e x t enter", [.change(.set(["new"], "text"))], ""),
        ("a n e w enter [ 1 ] enter", [.change(.set(["new"], [1]))], ""),
        ("a s i z e enter", [], "The key size exists already."),
        ("a n enter 5", [], "type integer"), ("a n enter [ 5 ]", [], "type array"), ("a n enter", [], "New entry n"),
        ("down right a x tab", [.change(.set(["list", .end], "x"))], ""),
        ("down right a", [], "A new element of list"), ("end right down right a", [], "New entry in :window:frame"),
        ("down down enter ! ^s", [.change(.set(["name"], "Café 界!"))], ""), ("^s", [], "saved at once"),
        ("backspace", [], "The key Backspace has no meaning here"), ("f1", [], "┌ Keys"),
        ("d", [.differences], ""), ("^r", [.redo], ""), (": q enter", [.finish], ""), (": w q enter", [.finish], ""),
        (": w enter", [], "saved at once"), (": z enter", [], "Unknown command z."), (": escape", [], "/ search"),
        ("down right down x", [.change(.delete(["list", 0]))], ""),
        ("down right down R", [.change(.delete(["list"]))], ""),
        ("G enter", [], "▸ frame"), ("G g", [], "lines"), ("^d", [], "window"), ("m", [], "/@modified"),
        ("down right down J", [.change(.move(["list", 0], to: ["list", 1]))], ""),
        ("down right down down M-up", [.change(.move(["list", 1], to: ["list", 0]))], ""),
        ("down right down K", [], "list"), ("down right down down M-down", [], "list"),
        ("down K", [], "Only array elements can be moved"),
        ("tab a n e w enter", [.create("new")], "com.example.editor"), ("tab a enter", [], "A name is required."),
        ("tab a escape", [], "/ search"),
        ("down down down down enter l enter", [.change(.set(["theme"], "light"))], ""),
        ("a enter", [], "A key is required."),
        ("down right a x enter", [.change(.set(["list", .end], "x"))], ""), ("down right down r", [], "has no key"),
        ("down down r 2 enter", [.change(.rename(["name"], to: ["name2"]))], ""), ("down down r enter", [], "Café"),
        ("down down c 2 enter", [.change(.copy(["name"], to: ["name2"]))], ""),
        ("x", [.change(.delete(["lines"]))], ""),
        ("down delete", [.change(.delete(["list"]))], ""), ("u", [.undo], ""), ("h", [.history(["lines"])], ""),
        ("y", [.copy(["lines"], writes: false)], ""), ("Y", [.copy(["lines"], writes: true)], ""),
        ("down down down t home enter", [.change(.set(["size"], "13"))], ""), ("t escape", [], "boolean"),
        ("t down enter", [], "This boolean is not a valid"), ("down down down e", [.edit(["size"])], ""),
        ("down down t up", [], "Type of name"), ("/ t i t enter", [], "  title"),
        ("/ z z z", [], "Nothing matches. Esc shows all."), ("/ q q enter", [], "Nothing matches. Esc shows all."),
        ("down down down / b escape x", [.change(.delete(["size"]))], "size"),
        ("/ n o t e s enter", [], "▾ window"), ("/ t i t escape", [], "▸ window"), ("n", [], "Search with / first."),
        ("/ s i z e", [], "2 found"), ("/ s i z e enter n", [.open("com.example.other")], "2 of 2"),
        ("/ s i z e down enter", [.open("com.example.other")], "/size  2 of 2"),
        ("/ s i z e enter escape", [], "/ search"),
        ("/ s i z e enter N N", [.open("com.example.other"), .open("com.example.editor")], "1 of 2"),
        ("/ f n t s z", [.open("com.example.other")], "com.example.other  fontSize  11"),
        ("/ f o n t space e x", [.open("com.example.other")], "fontName  Mono"),
        ("/ @ s e c", [], "@conflict  @secret"), ("/ @ s e c r e t", [], "1 found"),
        ("/ @ l a y e r : s i", [], "1 found"), ("/ @ x", [], "No filter is named @x."),
        ("/ @ m o d i f i e d space l i", [], ":list:1:b"),
        ("/ escape", [], "/ search"), ("/ enter", [], "/ search"),
        ("w", [], "watching"), ("w w", [], "no longer highlighted."), ("i", [], "changed: today  prefs"),
        ("?", [], "┌ Keys"),
        ("? q", [], "? help"), ("? pageDown home end", [], "┌ Keys"), ("$", [], "The key $ has no meaning here"),
        ("left down", [.open("com.example.other")], "▸com.example.other"),
        ("tab / o r g", [.open("com.example.other"), .open("org.example.backup")], "1 found"),
        ("tab / q q", [], "no match"),
        ("tab / z escape", [], "com.example.o"),
        ("tab $", [], "The key $ has no meaning here"), ("tab x", [], "This key acts on entries"),
    ])
    func `answers keys`(_ keys: String, _ effects: [BrowseScreen.Effect], _ shown: String) throws {
        var display = try BrowserDisplay()
        display.press(keys)
        #expect(display.effects == effects)
        #expect(display.text.contains(shown), "\(display.text)")
    }

    @Test func `keeps its place when entries change, and highlights them if it watches`() throws {
        var display = try BrowserDisplay()
        display.press("end right down right down")
        var entries = BrowserDisplay.entries
        entries["aaa"] = 1
        try display.store(entries)
        #expect(display.text.contains("▾ frame") && display.screen.pause == nil)
        display.press("y w")
        #expect(display.effects == [.copy(["window", "frame", "height"], writes: false)])
        entries["window"] = ["frame": ["height": 500, "width": 640], "title": "Notes"]
        try display.store(entries)
        #expect(display.footer.contains("Changed: window") && display.screen.pause != nil)
        #expect(display.canvas.lines.contains { $0.contains("*") && $0.contains("height") && $0.contains("500") })
        #expect(!display.canvas.lines.contains { $0.contains("*") && $0.contains("width") })
        display.screen.elapse()
        display.draw()
        #expect(!display.text.contains("*") && display.screen.pause == nil)
        entries["window"] = nil
        try display.store(entries)
        #expect(display.footer.contains("Changed: window") && !display.text.contains("height"))
    }

    /// The keys before another process changes a key, its new value, the keys after that, their effects, and a text on
    /// the screen at last.
    @Test(
        arguments: [
            ("down down enter x", "name", nil, "", [], "name was removed by another process."),
            ("down down enter x", "name", nil, "enter", [], "[13 ]"),
            ("down down enter", "name", "new", "enter", [], " new "),
            ("down down enter x", "name", "new", "enter", [], "name was changed by another process meanwhile"),
            ("down down enter x", "name", "new", "enter", [], "[Café 界x ]"),
            ("down down enter x", "lines", nil, "enter", [.change(.set(["name"], "Café 界x"))], ""),
            ("down down enter x", "aaa", 1, "enter", [.change(.set(["name"], "Café 界x"))], ""),
            ("down right down enter x", "list", ["z", "a"], "enter", [], ":list:0 was changed by another process"),
            ("down right down enter x", "list", [], "enter", [], "0 elements"),
            ("down right a x", "list", ["z"], "enter", [], "list was changed by another process"),
            ("down down down t home", "size", 20, "enter", [], "size was changed by another process"),
            ("down down down t home", "lines", nil, "enter", [.change(.set(["size"], "13"))], ""),
            ("down down down down enter down", "theme", "x", "enter", [], "theme was changed by another process"),
            ("down down down down down enter s", "token", "t", "enter", [], "token was changed by another process"),
            ("down down r 2", "lines", nil, "enter", [.change(.rename(["name"], to: ["name2"]))], ""),
            ("down down r 2", "name", nil, "enter", [], "[13 ]"),
            ("down down c 2", "name", "new", "enter", [], "name was changed by another process"),
            ("a n e w enter 5", "new", 1, "enter", [], "The key new exists already."),
            ("a n e w enter 5", "name", "new", "enter", [.change(.set(["new"], 5))], ""),
            ("down down h", "name", nil, "enter", [.history(["name"])], "name was changed by another process"),
            ("down down h", "name", "new", "enter", [.history(["name"])], "name was changed by another process"),
            ("down down h", "lines", nil, "enter", [.history(["name"]), .restore(["name"], version: 1)], ""),
        ] as [(String, String, PropertyList?, String, [BrowseScreen.Effect], String)])
    func `changes only the entry that was selected, and only if no other process has changed it`(
        _ before: String, _ key: String, _ value: PropertyList?, _ after: String, _ effects: [BrowseScreen.Effect],
        _ shown: String
    ) throws {
        var display = try BrowserDisplay()
        display.press(before)
        if case .history(let path, _)? = display.effects.last {
            display.send(.history(path, Self.versions(1)))
        }
        var entries = BrowserDisplay.entries
        entries[key] = value
        try display.store(entries)
        display.press(after)
        #expect(display.effects == effects)
        #expect(display.text.contains(shown), "\(display.text)")
    }

    /// Versions of the domain, newest first.
    private static func versions(_ count: Int) -> [BrowseScreen.Version] {
        (1...count).reversed().map { number in
            .init(domain: "com.example.editor", number: number, heading: "\(number) h ago by prefs (write)")
        }
    }

    @Test func `goes through the versions of an entry, and restores one`() throws {
        var display = try BrowserDisplay()
        display.press("end right home down down down h")
        display.send(.history(["size"], Self.versions(5)))
        #expect(
            display.text == """
                 com.example.editor                                             history of size
                ┌─ Domains ─────────────┬──────────────────────────────────────────────────────┐
                │▸com.example.editor    │   lines    boolean     true                          │
                │ com.example.other     │ ▸ list     array       2 elements                    │
                │ org.example.backup    │   name     string      Café 界                       │
                │                       │*  size     integer     5                             │
                │                       │   theme    string      dark                          │
                │                       │   token    string      ••••                          │
                │                       │ ▾ window   dictionary  2 entries                     │
                │                       │   ▸ frame  dictionary  2 entries                     │
                │                       │     title  string      Notes                         │
                │                       │                                                      │
                │                       │                                                      │
                │                       │                                                      │
                │                       │                                                      │
                │                       │                                                      │
                │                       ├──────────────────────────────────────────────────────┤
                │                       │ ────█  5 of 5  5 h ago by prefs (write)              │
                │                       │ - size: 4                                            │
                │                       │ + size: 5                                            │
                │                       │                                                      │
                │                       │                                                      │
                └───────────────────────┴──────────────────────────────────────────────────────┘
                 ← older  → newer  Enter restore  Esc back  ↑↓ scroll
                """)
        display.press("left left right left")
        #expect(display.text.contains("──█──  3 of 5") && display.text.contains("integer     3 "), "\(display.text)")
        display.press("home left")
        #expect(display.text.contains("█────  1 of 5") && display.text.contains("integer     1 "))
        display.press("escape")
        #expect(display.text.contains("integer     13") && display.text.contains("raw of :size"))
        #expect(display.effects == [.history(["size"])])
        display.press("h")
        display.send(.history(["size"], Self.versions(5)))
        display.press("left enter")
        #expect(display.effects.last == .restore(["size"], version: 4) && display.text.contains("integer     13"))
        display.send(.refused("size: forced by the administrator"))
        #expect(display.footer.contains("forced by the administrator"))
        // A version that cannot be read is not shown as the present one.
        display.press("h")
        display.send(.history(["size"], Self.versions(5)))
        display.press("left")
        display.send(.refused("version 4 is damaged"))
        #expect(display.footer.contains("damaged") && display.text.contains("integer     13"))
        display.press("h")
        display.send(.history(["size"], []))
        #expect(display.footer.contains("No version that is kept has changed size."))
    }

    @Test func `goes through the versions of a domain, and of all domains`() throws {
        var display = try BrowserDisplay()
        display.press("tab h")
        #expect(display.effects == [.history([])])
        display.send(.history([], Self.versions(40)))
        #expect(display.text.contains("  40 of 40"))
        var entries = BrowserDisplay.entries
        entries["aaa"] = 1
        try display.store(entries)
        #expect(display.text.contains("  40 of 40") && display.text.contains("integer     40"))
        // A version would replace what the user has not seen.
        display.press("left enter")
        #expect(display.effects == [.history([])] && display.text.contains("was changed by another process"))
        display.press("h")
        display.send(.history([], Self.versions(40)))
        display.press("left enter")
        #expect(display.effects == [.history([]), .history([]), .restore([], version: 39)])
        #expect(display.text.contains("aaa"))
        display.press("H")
        let other = BrowseScreen.Version(domain: "com.example.other", number: 7, heading: "yesterday")
        display.send(.history(nil, [other] + Self.versions(2)))
        #expect(display.text.contains("history of all domains") && display.text.contains("3 of 3  yesterday"))
        #expect(display.text.hasPrefix(" com.example.other"))
        display.press("enter")
        #expect(display.effects.suffix(2) == [.open("com.example.other"), .history([], at: 7)])
        display.send(.history([], [.init(domain: "com.example.other", number: 8, heading: "today"), other], at: 7))
        #expect(display.text.contains("1 of 2  yesterday"))
    }

    @Test func `shows copies and changes`() throws {
        var display = try BrowserDisplay()
        display.send(.copied("prefs read com.example.editor $'a\\033b'"))
        #expect(display.text.contains("prefs read com.example.editor $'a\\033b'"))
        display.send(.differences(["+ a.b size: 1"]))
        #expect(display.text.contains("Changed here") && display.text.contains("+ a.b size: 1"))
        display.press("escape")
        display.send(.done("Saved title. u undoes this.", at: ["window", "title"]))
        #expect(display.footer.contains("Saved title.") && display.text.contains("▾ window"))
    }

    @Test func `opens a domain that it creates for its first entry, and an empty dictionary`() throws {
        var display = try BrowserDisplay(["empty": [:]])
        display.press("right a k enter 1 enter")
        #expect(display.effects == [.change(.set(["empty", "k"], 1))])
        display.send(.created(.init(name: "com.example.new", entries: [:])))
        #expect(display.text.contains("┌ New entry") && display.text.contains(" com.example.new"))
        #expect(!display.text.contains("raw of"))
        display.press("x enter 1 enter")
        #expect(display.effects.last == .change(.set(["x"], 1)))
    }

    /// The keys after which the store refuses a change, and a text on the screen then.
    @Test(arguments: [
        ("down down enter ! enter", "[Café 界! ]"), ("a n e w enter 5 enter", "value: 5"),
        ("down down r 2 enter", "key: name2"), ("down down c 2 enter", "key: name2"),
        ("tab a n e w enter", "name: new"), ("down down down down enter down enter", "dark"),
    ])
    func `keeps a text that the store refuses`(_ keys: String, _ shown: String) throws {
        var display = try BrowserDisplay()
        display.refusal = "it is read-only"
        display.press(keys)
        if case .create? = display.effects.last { display.send(.refused("it is read-only")) }
        #expect(display.text.contains(shown) && display.text.contains("it is read-only"), "\(display.text)")
    }

    @Test func `stays in the search if a domain cannot be opened`() throws {
        var display = try BrowserDisplay()
        display.press("tab / o r g")
        display.send(.refused("the file is damaged"))
        #expect(display.footer.contains("the file is damaged"))
        display.press("q")
        #expect(display.text.contains("/orgq"))
    }

    @Test func `does not highlight the user's own change`() throws {
        var display = try BrowserDisplay()
        display.press("w")
        var entries = BrowserDisplay.entries
        entries["lines"] = false
        try display.store(entries)
        #expect(display.screen.pause != nil)
        display.send(.done("Saved lines.", at: ["lines"]))
        #expect(display.screen.pause == nil && !display.text.contains("*"))
    }

    @Test func `shows choices by their titles`() throws {
        var display = try BrowserDisplay()
        let schema = """
            { Domain = "com.example.editor"; Settings = ({ Key = lang; Choices = (de, en); ChoiceTitles = (Deutsch, English); }); }
            """
        display.send(
            .contents(
                .init(name: "a.b", entries: ["lang": "de"], schema: try Schema(parsing: Array(schema.utf8)))))
        display.press("enter")
        #expect(display.text.contains("│ English"))
        let row = try #require(display.canvas.lines.firstIndex { $0.contains("│ English") })
        display.send(.key(KeyPress(.click(column: 40, row: row))))
        #expect(display.effects == [.change(.set(["lang"], "en"))])
    }

    /// Clicks, the effects that follow, and a text on the screen after them.
    @Test(
        arguments: [
            ("click:size click:size", [], "[13 ]"), ("click:▸_list", [], "▾ list"),
            ("click:▸_list click:▾_list", [], "▸ list"),
            ("click:lines", [.change(.set(["lines"], false))], "lines"),
            ("click:size click:13 ^u 2 1 click:Enter_accept", [.change(.set(["size"], 21))], "size"),
            ("click:size enter click:3_] backspace 9 enter", [.change(.set(["size"], 93))], "size"),
            ("click:size enter ^u 2 0 click:name", [.change(.set(["size"], 20))], "size"),
            ("click:size enter ^u 2 click:name", [], "Must be from 6 to 96."),
            ("click:size enter click:Esc", [], "Enter edit"),
            ("click:theme click:theme click:light", [.change(.set(["theme"], "light"))], "theme"),
            ("click:theme click:theme click:name", [], "Enter edit"),
            ("click:theme click:theme click:back", [], "Enter edit"),
            ("click:a_add n e w click:accept 1 click:accept", [.change(.set(["new"], 1))], "Saved."),
            ("click:a_add n e w click:new x enter 1 enter", [.change(.set(["xnew"], 1))], "Saved."),
            ("click:a_add n e w click:lines", [], "New entry"), ("click:a_add n e w click:cancel", [], "a add"),
            ("click:size click:h_history", [.history(["size"])], "size"),
            ("click:size click:y_copy", [.copy(["size"], writes: false)], "size"),
            ("click:?_help click:select", [], "┌ Keys"), ("click:?_help click:Esc", [], "? help"),
            ("click:/_search s i z e enter", [], "/size"), ("/ s click:list", [], "/s"),
            ("click:org.example.backup", [.open("org.example.backup")], "→ entries"),
            (
                "click:com.example.editor click:/_search o t h click:com.example.other", [.open("com.example.other")],
                "/oth"
            ),
            ("click:q_quit", [.finish], "q quit"),
        ] as [(String, [BrowseScreen.Effect], String)])
    func `is clicked`(_ keys: String, _ effects: [BrowseScreen.Effect], _ shown: String) throws {
        var display = try BrowserDisplay()
        display.press("right " + keys)
        #expect(display.effects == effects)
        #expect(display.text.contains(shown), "\(display.text)")
    }

    @Test func `is clicked and scrolled`() throws {
        var display = try BrowserDisplay()
        let line = try #require(display.canvas.lines.firstIndex { $0.contains("▸ list") })
        display.send(.key(KeyPress(.click(column: 40, row: line))))
        display.send(.key(KeyPress(.click(column: 40, row: line))))
        #expect(display.text.contains("▾ list"))
        display.send(.key(KeyPress(.wheel(1))))
        display.send(.key(KeyPress(.click(column: 500, row: 500))))
        display.send(.key(KeyPress(.click(column: 3, row: 4))))
        #expect(display.effects == [.open("org.example.backup")])
    }

    /// Keys at random on screens of any size, while other processes change, delete and rename entries, and domains and
    /// versions cannot be read. At the end, the screen shows what is stored, and it never shows a secret.
    @Test func `stays in order whatever is pressed`() throws {
        var generator = SeededGenerator(stream: "keys in a browser")
        let letters =
            "abcdeghHijkmnNqrRtuwxyYG/?$: @15".map { KeyPress(.character($0)) }
            + "bdfrsu".map { KeyPress(.character($0), isControl: true) }
        let others: [KeyPress.Key] = [
            .enter, .tab, .escape, .backspace, .delete, .up, .down, .left, .right, .home, .end, .pageUp, .pageDown,
            .paste("界\u{301}"), .wheel(1), .wheel(-1), .click(column: 30, row: 5), .click(column: 2, row: 3),
        ]
        let keys = letters + others.map { KeyPress($0) }
        for _ in 0..<60 {
            let columns = Int.random(in: 1...130, using: &generator)
            var display = try BrowserDisplay(columns: columns, rows: Int.random(in: 1...40, using: &generator))
            for _ in 0..<60 {
                let count = display.effects.count
                display.send(.key(keys.randomElement(using: &generator) ?? KeyPress(.enter)))
                for effect in display.effects.dropFirst(count) {
                    switch effect {
                    case .history(let path, let shown):
                        let versions = Array(Self.versions(40).suffix(Int.random(in: 0...40, using: &generator)))
                        display.send(.history(path, versions, at: shown))
                    case .conflicts(let path):
                        let names = (0..<Int.random(in: 0...3, using: &generator)).map { "name\($0)" }
                        display.send(.conflicts(path, place: path, names: names, values: ["in force"] + names))
                    default: break
                    }
                }
                #expect(!display.text.contains("hush"))
                switch Int.random(in: 0..<12, using: &generator) {
                case 0: try display.store(["a": ["b": [1, 2, 3]]])
                case 1: try display.store(BrowserDisplay.entries)
                case 2: try display.store([:])
                case 3: display.send(.refused("no"))
                case 4: display.send(.done("done", at: ["window", "frame", "width"]))
                case 5: display.send(.history(["a"], []))
                case 6: display.send(.domains([]))
                case 7: display.send(.completed(["/a", "/ab"]))
                default: break
                }
            }
            // A second Escape can be needed where the first one ends a field or a box.
            display.press("escape escape escape escape")
            let present = try display.contents()
            guard display.screen.openedName == present.name else { continue }
            #expect(display.screen.tree.root == .dictionary(present.entries))
        }
    }

    @Test func `makes only the rows that are seen`() throws {
        // Each key makes the rows once, and the details that follow it do not.
        let entries = PropertyList.Dictionary((0..<100_000).map { ("key\(100_000 + $0)", ["a": .integer($0)]) })
        var display = try BrowserDisplay(columns: 200, rows: 60, entries)
        let (made, height) = (display.screen.tree.made, 60)
        #expect(made <= 8 * height)
        display.press("end right pageUp pageDown home down")
        #expect(display.screen.tree.made - made <= 8 * height)
        #expect(display.text.contains("key100059") == false && display.text.contains("key100010"))
        display.press("end")
        #expect(display.text.contains("key199999"))
        display.press("left / 1 5 0 0 0 0 enter")
        #expect(display.text.contains("key150000") && display.screen.tree.made - made <= 24 * height)
    }
}

@Suite struct `A tree of entries` {
    /// Opens and closes entries at random, and compares the rows with those of a plain walk.
    @Test func `has the rows of a plain walk`() {
        var generator = SeededGenerator(stream: "tree of entries")
        for _ in 0..<100 {
            let root = Self.value(&generator, depth: 0).dictionaryValue ?? [:]
            var tree = EntryTree(root)
            var open: Set<EntryPath> = []
            for _ in 0..<20 where tree.count > 0 {
                let position = Int.random(in: 0..<tree.count, using: &generator)
                let row = tree.row(at: position)
                tree.toggle(at: position)
                guard let row, row.value.isContainer else { continue }
                // What is inside a closed container is closed.
                if open.remove(row.path) == nil {
                    open.insert(row.path)
                } else {
                    open = open.filter { !$0.components.starts(with: row.path.components) }
                }
                let expected = Self.walk(.dictionary(root), [], open)
                let rows = tree.rows(0..<(tree.count + 5))
                #expect(rows.map(\.path) == expected)
                #expect(rows.allSatisfy { $0.isOpen == open.contains($0.path) })
                #expect(rows.indices.allSatisfy { tree.position(of: rows[$0].path) == $0 })
                for _ in 0..<3 {
                    let first = Int.random(in: 0..<tree.count, using: &generator)
                    let seen = tree.rows(first..<(first + 6))
                    #expect(seen.map(\.path) == Array(expected[first...].prefix(6)))
                    #expect(seen.map(\.isOpen) == rows[first...].prefix(6).map(\.isOpen))
                }
                let before = rows.map(\.path)
                tree.update(root)
                #expect(tree.rows(0..<tree.count).map(\.path) == before)
            }
        }
    }

    @Test(
        arguments: [
            ("5", .integer, 5), ("x", .integer, nil), ("", .integer, 0), (5, .string, "5"), (5, .real, .real(5)),
            (.real(2.5), .integer, nil), (.real(2), .integer, 2), (true, .integer, 1), (2, .boolean, nil),
            (1, .boolean, true),
            ("yes", .boolean, true), ("a", .array, ["a"]), (["a"], .string, "a"), (["a", "b"], .string, nil),
            (["k": "v"], .string, nil), ([:], .array, []), ("a", .dictionary, nil), ("2026-01-31", .boolean, nil),
        ] as [(PropertyList, PropertyList.Kind, PropertyList?)])
    func `converts values only without a loss`(
        _ value: PropertyList, _ kind: PropertyList.Kind, _ result: PropertyList?
    ) {
        #expect(value.converted(to: kind) == result)
    }

    private static func value(_ generator: inout SeededGenerator, depth: Int) -> PropertyList {
        let count = depth == 0 ? Int.random(in: 1...8, using: &generator) : Int.random(in: 0...4, using: &generator)
        switch depth == 0 ? 0 : Int.random(in: 0...(depth > 3 ? 0 : 2), using: &generator) {
        case 0 where depth == 0, 1:
            return .dictionary(
                PropertyList.Dictionary((0..<count).map { ("k\($0)", value(&generator, depth: depth + 1)) }))
        case 2: return .array((0..<count).map { _ in value(&generator, depth: depth + 1) })
        default: return .integer(count)
        }
    }

    private static func walk(_ value: PropertyList, _ path: EntryPath, _ open: Set<EntryPath>) -> [EntryPath] {
        let components: [EntryPath.Component] =
            value.dictionaryValue?.map { EntryPath.Component($0.key) }
            ?? (value.arrayValue ?? []).indices.map { EntryPath.Component($0) }
        return components.flatMap { component -> [EntryPath] in
            let place = EntryPath(path.components + [component])
            guard open.contains(place), let inner = value[[component]] else { return [place] }
            return [place] + walk(inner, place, open)
        }
    }
}
