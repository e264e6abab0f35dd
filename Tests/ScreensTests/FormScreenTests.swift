import Foundation
import PropertyLists
import SchemaTools
import Screens
import SettingsSchema
import TestSupport
import Testing

/// A form with every control on a simulated terminal.
struct Display {
    var screen: FormScreen
    var canvas: Canvas
    private(set) var effects: [FormScreen.Effect] = []

    static let schema = """
        {
            Domain = "com.example.editor"; Title = Editor;
            Settings = (
                { Key = theme; Choices = (dark, light, "界"); Default = dark; Title = Theme; Summary = "How it looks"; Group = Appearance; },
                { Key = size; Type = integer; Default = 12; Minimum = 6; Maximum = 96; Unit = points; Title = "Font size"; Flag = "font-size"; Environment = EDITOR_FONT; Group = Appearance; },
                { Key = lines; Type = boolean; Title = "Show line numbers"; Default = NO; Group = Appearance; },
                { Key = opacity; Type = real; Default = "0.5"; Title = Opacity; Group = Appearance; },
                { Key = name; Required = YES; MaximumLength = 10; Title = "Café 界 👩‍👩‍👧"; Group = Files; },
                { Key = folder; Kind = folder; Title = Folder; Group = Files; },
                { Key = token; Sensitive = YES; Title = Token; Group = Network; },
                { Key = ports; Type = array; Elements = { Type = integer; Maximum = 99; }; Title = Ports; Group = Network; },
                { Key = headers; Type = dictionary; Title = Headers; Group = Network; },
                { Key = since; Type = date; Title = Since; Group = Network; },
                { Key = every; Type = integer; Kind = duration; Title = Every; Group = Network; },
                { Key = proxy; Title = Proxy; Group = Network; Requires = (folder); },
                { Key = scratch; Transient = YES; }, { Key = file; Positional = 1; }
            );
        }
        """

    static let values: [Name: Schema.ValueInForce] = [
        "theme": .init("dark", layer: .user), "size": .init(13, layer: .user),
        "lines": .init(false, layer: .default),
        "opacity": .init(.real(0.5), layer: .forced, file: "/etc/prefs/forced/com.example.editor.plist"),
        "token": .init("hush", layer: .user),
        "ports": .init([1, 2], layer: .user), "name": .init("Ada", layer: .user),
    ]
    static let layers: [Name: [Schema.ValueInForce]] = [
        "size": [.init(13, layer: .user), .init(11, layer: .other("site")), .init(12, layer: .default)]
    ]

    init(
        columns: Int = 80, rows: Int = 24, _ schema: String = Self.schema,
        values: [Name: Schema.ValueInForce] = Self.values
    ) throws {
        let form = Form(
            try Schema(parsing: Array(schema.utf8)), values: values, layers: Self.layers, forced: ["opacity"])
        screen = FormScreen(form)
        canvas = Canvas(columns: columns, rows: rows)
        send(.resized(columns: columns, rows: rows))
    }

    mutating func send(_ event: FormScreen.Event) {
        effects += screen.handle(event)
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

@Suite struct `A form on a screen` {
    /// The keys, the changes that they make, and a text on the screen after them.
    @Test(arguments: [
        ("right", "theme=light", "‹ light ›"), ("left", "theme=界", "‹ 界 ›"),
        ("enter down enter", "theme=light", "•Theme"),
        ("enter l enter", "theme=light", "edited"), ("enter down escape", "", "‹ dark ›"),
        ("down right", "size=14", "14 points"), ("down -", "size=12", "12 points"),
        ("down enter ^u 2 0 enter", "size=20", "20 points"),
        ("down enter up enter", "size=14", "14 points"), ("down enter ^u 2 0 tab", "size=20", "20 points"),
        ("down enter ^u 2 0 backTab", "size=20", "‹ dark ›"), ("down enter ^u 3 tab", "", "Esc cancels."),
        ("down enter ^u 2 0 ^s", "size=20", "Save these changes?"), ("down enter ^u 3 ^s", "", "[3 ]"),
        ("down 2 0 enter", "size=20", "20 points"), ("tab 2", "", "The key 2 has no meaning here"),
        ("down enter ^u 3 enter", "", "Must be from 6 to 96."),
        ("down enter ^u x", "", "Must be an integer."), ("down enter 9 escape", "", "13 points"),
        ("down enter enter", "", "user"),
        ("down R", "-size", "11 points"), ("down backspace", "", "13 points"),
        ("down r", "", "It removed the value before;"),
        ("down right x", "-size", "Backspace drops the change instead."),
        ("down i", "", "┌ Font size ─"), ("down i escape", "", "? help"), ("s", "", "The key s has no meaning here"),
        ("a", "", "The key a has no meaning here"), ("f1", "", "┌ Keys"),
        ("right u ^r", "theme=light", "Redone: Theme"),
        ("^r", "", "Nothing to redo."), ("right u left ^r", "theme=界", "Nothing to redo."),
        ("right : w enter", "theme=light", "Save these changes?"),
        ("right : q enter", "theme=light", "Unsaved changes"),
        (": z enter", "", "Unknown command z."), ("right : escape", "theme=light", "edited"),
        ("right ^c", "theme=light", "and drops 1 unsaved change"), ("G", "", "key proxy"), ("G g", "", "Theme"),
        ("down down x", "", "Show line numbers has no user value to remove."),
        ("down down space R", "", "Show line numbers is now no."), ("down delete d", "-size", "+ 11 (site)"),
        ("down down space", "lines=true", "[x]"), ("down down enter enter", "", "[ ]"),
        ("down down down right", "", "forced by an administrator"),
        ("down down down enter", "", "forced by an administrator"),
        ("down down down", "", "Forced by the administrator in"),
        ("down down down", "", "/etc/prefs/forced/com.example.editor.plist."),
        ("tab enter ^u B o b enter", "name=Bob", "Bob"), ("tab R", "", "A value is required."),
        ("tab enter aaaaaaaaaaaa", "", "Must be at most 10 long."),
        ("tab tab enter n e w enter", "token=new", "••••"), ("tab tab e", "", "A secret cannot be edited as text."),
        ("tab tab down enter a 7 enter", "ports=[1, 2, 7]", "7"), ("tab tab down enter x", "ports=[2]", "a add"),
        ("tab tab down enter M-down", "ports=[2, 1]", "a add"), ("tab tab down enter a x enter", "", "an integer"),
        ("tab tab down enter a 100 enter escape escape", "", "Ports"),
        ("tab tab down enter enter 5 enter", "ports=[15, 2]", "15"),
        ("tab tab down down enter a k e y enter v enter", "headers={key: v}", "key = v"),
        ("tab tab down down enter a k enter v enter a k enter", "headers={k: v}", "The key k exists already."),
        ("tab tab down down down enter n o w", "", "Must be a date"),
        ("tab tab down down down down enter 5 m enter", "every=300", "5m"),
        ("end enter h enter ^s", "proxy=h", "requires a value for Folder."),
        ("right u", "", "Undone: Theme"), ("right right backspace", "", "dark"),
        ("u", "", "Nothing to undo in this form."),
        ("right d", "theme=light", "- dark"), ("right ^s", "theme=light", "Save these changes?"),
        ("d", "", "Nothing is changed."),
        ("right m", "theme=light", "/@modified"), ("m", "", "Font size"), ("m", "", "Ports"),
        ("tab m", "", "▸Files"), ("/ f o l d e r enter m", "", "Nothing matches."),
        ("/ f o n t enter right", "size=14", "/font"),
        ("/ E D I T O R _", "", "Nothing matches."), ("/ - - f o n t", "", "Font size"), ("?", "", "┌ Keys"),
        ("? escape", "", "? help"),
        ("right q", "theme=light", "Unsaved changes"), ("right q escape", "theme=light", "edited"),
        ("right q d", "theme=light", "Unsaved changes"), ("right q j", "theme=light", "x discard"),
        ("right ^s h", "theme=light", "Save these"), ("right q ^d", "theme=light", "edited"),
        ("right q ^c", "theme=light", "edited"),
        ("escape", "", "q quits"), ("down enter ^u enter", "-size", "Font size is now 11."),
        ("tab tab down down down enter ^u enter", "", "Since"),
        ("tab tab enter", "", "an empty field keeps the secret"),
        ("tab tab enter enter", "", "••••"), ("/ z z enter / s i z e enter right", "size=14", "/size"),
        ("tab down down right m backspace", "", "/@modified"), ("right down m", "theme=light", "•Theme"),
        ("enter down ^s", "theme=light", "Save these changes?"), ("/ s i z e ^s", "", "Nothing is changed."),
        ("tab tab down enter a 7 ^s", "ports=[1, 2, 7]", "Save these changes?"),
        ("tab tab down enter K space", "", "a add"), ("tab tab down enter enter up enter", "ports=[2, 2]", "2"),
        ("tab tab down down down down 5 m enter", "every=300", "5m"),
        ("tab tab down down down down 5 m up up enter", "every=420", "7m"),
        ("tab tab down down down down 5 m enter left", "every=240", "4m"),
        ("tab tab down down down down 1 h enter left", "every=3540", "59m"),
        ("tab tab down down down down 1 h space 5 m enter", "every=3900", "1h5m"),
        ("tab tab down down down 2 0 2 6 - 0 1 - 0 5 enter", "since=2026-01-05T00:00:00Z", "2026-01-05"),
        ("$", "", "The key $ has no meaning here"),
    ])
    func `changes settings with keys`(_ keys: String, _ changes: String, _ shown: String) throws {
        var display = try Display()
        display.press(keys)
        let made = display.screen.form.changes
        let texts = made.values.map { "\($0.key)=\($0.value.plainText)" } + made.resets.map { "-\($0)" }
        let expected = changes.isEmpty ? [] : [changes]
        #expect(texts.map(Self.compact) == expected.map(Self.compact))
        #expect(display.text.contains(shown), "\(display.text)")
    }

    /// Settings with titles, entries and rules for whole values.
    @Test(arguments: [
        ("enter d d enter", "lang=de", "‹ Deutsch ›"), ("enter 日 enter", "lang=ja", "‹ 日本語 ›"),
        ("enter j enter", "lang=da", "‹ Dansk ›"), ("right d", "lang=da", "- Čeština"),
        ("down enter a enter", "", "Must not have duplicate elements."),
        ("down enter a enter escape", "", "Esc again drops what is not stored."),
        ("down enter a enter escape escape", "", "left, right"), ("down enter a enter x", "", "a add"),
        ("down enter a enter ^s", "", "Must not have duplicate elements."),
        ("down enter a down down enter", "outputs=[left,right,rear]", "rear"),
        ("down down enter", "", "width = –  (default 800)"),
        ("down down enter enter 5 enter", "", "Must be at least 100."),
        ("down down enter enter 5 0 0 enter", "window={width:500}", "width = 500"),
        ("down down enter down space", "window={full:true}", "full = true"),
        ("down down enter down space space x", "window={}", "full = –"),
        ("down down enter a", "", "All entries that are allowed"),
        ("down down down", "", "Deprecated: The mixer is new."),
        ("down down down down 2 G up enter", "cache=3221225472", "3G"),
        ("down down down down right", "cache=537919488", "513M"),
        (
            "down down down down down space", "online=true",
            "Online and Offline cannot both have a value. x removes one."
        ),
    ])
    func `shows titles, and keeps what cannot be stored apart`(
        _ keys: String, _ changes: String, _ shown: String
    ) throws {
        let schema = """
            {
                Domain = "com.example.studio";
                Settings = (
                    { Key = lang; Choices = (cs, da, de, ja); ChoiceTitles = ("Čeština", Dansk, Deutsch, "日本語"); Default = cs; Title = Language; },
                    { Key = outputs; Type = array; Elements = { Choices = (left, right, rear); }; Unique = YES; Title = Outputs; },
                    { Key = window; Type = dictionary; Entries = ({ Key = width; Type = integer; Minimum = 100; Default = 800; }, { Key = full; Type = boolean; }); Title = Window; },
                    { Key = mixer; Type = boolean; Deprecated = "The mixer is new."; Title = Mixer; },
                    { Key = cache; Type = integer; Kind = size; Default = 512M; Title = Cache; },
                    { Key = online; Type = boolean; Conflicts = (offline); Title = Online; },
                    { Key = offline; Type = boolean; Conflicts = (online); Title = Offline; }
                );
            }
            """
        var display = try Display(
            schema,
            values: [
                "lang": .init("cs", layer: .default), "outputs": .init(["left", "right"], layer: .default),
                "cache": .init(.integer(512 << 20), layer: .default), "offline": .init(true, layer: .user),
            ])
        display.press(keys)
        let made = display.screen.form.changes.values.map { "\($0.key)=\($0.value.plainText)" }
        #expect(made.map(Self.compact) == (changes.isEmpty ? [] : [changes]))
        #expect(display.text.contains(shown), "\(display.text)")
    }

    @Test func `breaks long texts on a small screen`() throws {
        var display = try Display(columns: 40, rows: 10)
        display.press("right ^s enter")
        display.send(.saved(Display.values, layers: [:], undo: "prefs undo com.example.editor"))
        #expect(
            display.text.hasSuffix("\n Saved 1 setting. To undo: prefs undo\n com.example.editor"), "\(display.text)")
        display.press("?")
        #expect(display.text.contains("│ Up, k, ^P    select the previous"))
    }

    /// Clicks, as in the rows above.
    @Test(arguments: [
        // A title is selected, and a value or what is selected is changed.
        ("click:Font_size", "", "From 6 to 96 points."), ("click:Font_size click:Font_size", "", "[13 ]"),
        ("click:13_points", "", "[13 ]"), ("click:[_]", "lines=true", "[x]"), ("click:0.5", "", "forced by an admin"),
        ("click:‹_dark", "", "│ light"), ("click:Network", "", "▸Network"), ("click:Appearance", "", "▸Appearance"),
        ("click:••••", "", "an empty field keeps the secret"), ("click:1,_2", "", "┌ Ports"),
        // In a field the cursor goes where the click was; a click elsewhere accepts the text.
        ("click:Ada", "", "[Ada ]"), ("click:Ada click:da_] X enter", "name=AXda", "AXda"),
        ("click:Ada X click:Folder", "name=AdaX", "key folder"),
        ("click:Ada X click:Folder click:Folder", "name=AdaX", "[ ]"),
        ("click:13 2 click:Folder", "", "[132 ]"),
        ("click:13 click:Esc_cancel", "", "13 points"),
        ("click:13 backspace click:accept", "", "Must be from 6 to 96."),
        // A choice, and a line beside the box.
        ("enter click:light", "theme=light", "‹ light ›"), ("enter click:Font", "", "‹ dark ›"),
        ("enter down click:Enter_choose", "theme=light", "‹ light ›"), ("enter down click:Esc_back", "", "‹ dark ›"),
        ("enter down click:choose", "theme=light", "‹ light ›"),
        // The boxes of changes and of keys.
        ("right click:q_quit click:Esc_stay", "theme=light", "‹ light ›"),
        ("right click:^S_save click:-_dark", "theme=light", "Save these changes?"),
        ("right click:^S_save click:back", "theme=light", "‹ light ›"), ("right click:u_undo", "", "Undone: Theme"),
        ("click:?_help click:Up,", "", "┌ Keys"), ("click:?_help click:back", "", "? help"),
        ("click:?_help click:Esc", "", "? help"), ("down click:x_remove", "-size", "Font size is now 11."),
        ("right u click:Undone", "", "? help"), ("right click:1_changed", "theme=light", "‹ light ›"),
        // Searching.
        ("click:/_search s i z e enter right", "size=14", "/size"), ("/ t h e m e click:‹_dark", "", "│ light"),
        // A list: an element, its field, and the keys of the box.
        ("tab tab down enter click:2 click:2 5 enter", "ports=[1, 25]", "25"),
        ("tab tab down enter click:a_add 7 click:Enter_accept", "ports=[1, 2, 7]", "7"),
        ("tab tab down enter click:a_add 7 click:Network", "", "+ 7"),
        ("tab tab down enter click:x_remove click:Esc_back", "ports=[2]", "2"),
        ("tab tab down enter click:a_add 7 8 click:8 9 enter", "", "Must be at most 99."),
    ])
    func `is clicked`(_ keys: String, _ changes: String, _ shown: String) throws {
        try `changes settings with keys`(keys, changes, shown)
    }

    /// With more groups than rows, the pane scrolls with the selection. A click selects the group that is shown there.
    @Test func `selects a group in a pane that is scrolled`() throws {
        let settings = (1...40).map { "{ Key = k\($0); Title = \"Setting \($0)\"; Group = \"Group \($0)\"; }" }
        var display = try Display(
            "{ Domain = \"com.example.many\"; Settings = (\(settings.joined(separator: ", "))); }", values: [:])
        display.press("end click:Group_30")
        #expect(display.text.contains("▸Group 30") && display.text.contains("key k30"), "\(display.text)")
    }

    /// The text of a value without what differs between notations.
    private static func compact(_ text: String) -> String { text.filter { !" \"'".contains($0) } }

    @Test(arguments: [(80, 24), (40, 10), (200, 60), (40, 8), (1, 1), (60, 14), (20, 5)])
    func `fits in a terminal of any size, and never shows a secret`(_ columns: Int, _ rows: Int) throws {
        for keys in [
            "", "down down", "enter", "tab tab down enter a", "right ^s", "right q", "?", "/ f o", "end enter h o s t",
        ] {
            var display = try Display(columns: columns, rows: rows)
            display.press(keys)
            #expect(display.canvas.lines.count == rows)
            for line in display.canvas.lines { #expect(line.shownColumns <= columns, "\(line)") }
            #expect(!display.text.contains("hush"))
            if let cursor = display.canvas.cursor, rows > 7 {
                #expect(cursor.column < columns && cursor.row < rows, "\(keys)")
            }
        }
    }

    /// Keys at random, while another process changes settings and effects fail. No secret is shown, a save follows only
    /// a key that confirms it, and all changes can be undone.
    @Test func `stays in order whatever is pressed`() throws {
        var generator = SeededGenerator(stream: "keys in a form")
        let letters =
            "adeghijkmnqrsuxyGR/?:@ 15+-".map { KeyPress(.character($0)) }
            + "bdfrsu".map { KeyPress(.character($0), isControl: true) }
        let others: [KeyPress.Key] = [
            .enter, .tab, .backTab, .escape, .backspace, .delete, .up, .down, .left, .right, .home, .end, .pageUp,
            .pageDown, .paste("界\u{301}"), .wheel(1), .wheel(-1), .click(column: 30, row: 5), .click(column: 2, row: 3),
        ]
        let keys = letters + others.map { KeyPress($0) }
        for _ in 0..<60 {
            let columns = Int.random(in: 1...130, using: &generator)
            var display = try Display(columns: columns, rows: Int.random(in: 1...40, using: &generator))
            for _ in 0..<60 {
                let key = keys.randomElement(using: &generator) ?? KeyPress(.enter)
                let count = display.effects.count
                display.send(.key(key))
                for effect in display.effects.dropFirst(count) {
                    switch effect {
                    case .save:
                        let isClick = if case .click = key.key { true } else { false }
                        let confirms = key == KeyPress(.enter) || key.isControl("s") || isClick
                        #expect(confirms || "sy".contains(key.character ?? " "), "\(key)")
                        display.send(.refused("the disk is full"))
                    case .history(let key):
                        let earlier = [PropertyList?]([nil, "x", 7]).prefix(Int.random(in: 0...3, using: &generator))
                        display.send(.history(key: key, earlier.map { .init(heading: "1 h ago", value: $0) }))
                    case .edit: display.send(.edited([13, nil, "y"].randomElement(using: &generator) ?? nil))
                    case .complete: display.send(.completed(["/a", "/ab"]))
                    case .finish: break
                    }
                }
                switch Int.random(in: 0..<12, using: &generator) {
                case 0:
                    var values = Display.values
                    values["size"] = .init(Bool.random(using: &generator) ? 20 : 30, layer: .user)
                    values["theme"] = Bool.random(using: &generator) ? nil : .init("light", layer: .user)
                    display.send(.stored(values, layers: [:]))
                case 1: display.send(.refused("no"))
                case 2: display.send(.mirrorConflicts(["name": ["lost at :name"]]))
                default: break
                }
                #expect(!display.text.contains("hush"), "\(display.text)")
            }
            display.press("escape escape escape escape")
            for _ in 0..<80 { display.press("u") }
            #expect(display.screen.form.changes.isEmpty, "\(display.text)")
        }
    }

    @Test func `shows groups, values, origins and layers`() throws {
        var display = try Display()
        display.press("down right")
        #expect(
            display.text == """
                 Editor  com.example.editor                                 / search  1 changed
                ┌─ Groups ──────┬──────────────────────────────────────────────────────────────┐
                │▸Appearance 1• │ Appearance                                                   │
                │ Files         │ Theme              dark                                user  │
                │ Network       │•Font size          14 points                         edited  │
                │               │ Show line numbers  [ ]                              default  │
                │               │■Opacity            0.5                               forced  │
                │               │ Files                                                        │
                │               │ Café 界 👩‍👩‍👧     Ada                                 user  │
                │               │ Folder             –                                         │
                │               │ Network                                                      │
                │               │ Token              ••••                                user  │
                │               │ Ports              1, 2                                user  │
                │               │ Headers            –                                         │
                │               │ Since              –                                         │
                │               │ Every              –                                         │
                │               │ Proxy              –                                         │
                │               ├──────────────────────────────────────────────────────────────┤
                │               │ From 6 to 96 points.                                         │
                │               │ user 13   site 11   default 12                               │
                │               │ key size   --font-size N   $EDITOR_FONT                      │
                │               │                                                              │
                └───────────────┴──────────────────────────────────────────────────────────────┘
                 Enter edit  ←→ step  ^S save  ? help  q quit  x remove  u undo  d changes
                """)
        display = try Display(columns: 40, rows: 10)
        display.press("down right")
        #expect(
            display.text == """
                 Editor  com.examp… / search  1 changed
                 Appearance
                 Theme             dark           user
                •Font size         14 points    edited
                 Show line numbe…  [ ]         default
                ■Opacity           0.5          forced
                 Files                                 ↓
                 From 6 to 96 points.
                 user 13   site 11   default 12
                 Enter edit  ←→ step  ^S save  ? help
                """)
    }

    @Test func `goes to the first error instead of saving`() throws {
        var display = try Display()
        var values = Display.values
        values["name"] = nil
        display.send(.stored(values, layers: [:]))
        display.press("end enter x enter ^s")
        #expect(display.effects.isEmpty)
        #expect(display.footer.contains("Proxy requires a value for Folder."), "\(display.text)")
        // A value that is missing from the start is another matter: a variable may give it.
        display.press("x home right ^s")
        #expect(display.text.contains("Save these changes?") && display.text.contains("! Café 界 👩‍👩‍👧 is required."))
        #expect(display.text.contains("!Café"))
        display.press("enter")
        #expect(display.effects == [.save(.init(values: ["theme": "light"]))])
    }

    @Test func `saves, names the undo, and goes on`() throws {
        var display = try Display()
        display.press("right ^s enter")
        #expect(display.effects == [.save(.init(values: ["theme": "light"]))])
        var values = Display.values
        values["theme"] = .init("light", layer: .user)
        display.send(.saved(values, layers: [:], undo: "prefs undo com.example.editor"))
        #expect(display.footer.contains("Saved 1 setting. To undo: prefs undo com.example.editor"))
        #expect(display.screen.form.changes.isEmpty)
        display.press("q")
        #expect(display.effects.last == .finish(isComplete: true))
    }

    @Test(arguments: [
        ("q", [FormScreen.Effect.finish(isComplete: true)]), ("right q x", [.finish(isComplete: false)]),
        ("right q s", [.save(.init(values: ["theme": "light"])), .finish(isComplete: true)]),
        ("e", [.edit(key: "theme", "dark")]), ("tab down enter / t tab", [.complete("/t")]),
    ])
    func `asks the caller to act`(_ keys: String, _ effects: [FormScreen.Effect]) throws {
        var display = try Display()
        display.press(keys)
        #expect(display.effects == effects)
    }

    @Test func `shows what another process changed, and marks a conflict`() throws {
        var display = try Display()
        display.press("right")
        var values = Display.values
        values["size"] = .init(20, layer: .user)
        display.send(.stored(values, layers: [:]))
        #expect(display.text.contains("20 points") && display.footer.contains("Changed by another process: Font size"))
        values["theme"] = .init("界", layer: .user)
        display.send(.stored(values, layers: [:]))
        #expect(display.text.contains("Another process set 界.") && display.text.contains("‹ light ›"))
        display.press("backspace")
        #expect(display.screen.form.changes.isEmpty && display.text.contains("‹ 界 ›"))
        // A value that is typed in the meantime stays.
        display.press("down enter ^u 4")
        values["size"] = .init(30, layer: .user)
        display.send(.stored(values, layers: [:]))
        #expect(display.text.contains("[4 ]"))
    }

    /// The keys before another process changes a setting, its new value, the keys after that, the changes that they
    /// make, and a text on the screen after them.
    @Test(
        arguments: [
            ("tab enter", "name", "Bob", "", "", "[Bob ]"), ("tab enter", "name", "Bob", "enter", "", "Bob"),
            ("tab enter x", "name", "Bob", "", "", "[Adax ]"),
            ("tab enter x", "name", "Bob", "", "", "Another process set Bob."),
            (
                "tab enter x", "name", "Bob", "enter", "name=Adax",
                "Another process set Bob. Backspace drops your change."
            ),
            ("tab enter x", "name", "Bob", "enter backspace", "", "   Bob "),
            ("tab enter x", "name", "Bob", "escape", "", "   Bob "),
            ("tab enter x", "name", "Adax", "enter", "", "   Adax "),
            ("tab enter x enter m enter y", "name", "Adax", "enter", "name=Adaxy", "Adaxy"),
            ("down enter", "size", 20, "enter", "", "20 points"), ("down 5", "size", 20, "enter", "", "[5 ]"),
            ("tab tab enter n", "token", "t", "enter", "token=n", "Another process set ••••."),
            ("enter", "theme", "light", "enter", "", "‹ light ›"),
            ("enter down", "theme", "界", "enter", "theme=light", "Another process set 界."),
            ("tab tab down enter", "ports", [1, 2, 3], "a 5 enter", "ports=[1, 2, 3, 5]", "│ 5 "),
            ("tab tab down enter down", "ports", [3, 4, 5], "x", "ports=[3, 5]", "a add"),
            (
                "tab tab down enter a 5", "ports", [1, 2, 3], "enter escape", "ports=[1, 2, 5]",
                "Another process set 1, 2, 3. Backspace drops your"
            ),
            (
                "tab tab down enter a 5", "ports", [1, 2, 3], "enter x escape", "ports=[1, 2]",
                "Backspace drops your change."
            ),
        ] as [(String, String, PropertyList, String, String, String)])
    func `shows a change by another process in an open field, or marks a conflict if the user has edited it`(
        _ before: String, _ key: String, _ value: PropertyList, _ after: String, _ changes: String, _ shown: String
    ) throws {
        var display = try Display()
        display.press(before)
        var values = Display.values
        values[Name(key)] = .init(value, layer: .user)
        display.send(.stored(values, layers: [:]))
        display.press(after)
        let made = display.screen.form.changes.values.map { "\($0.key)=\($0.value.plainText)" }
        #expect(made.map(Self.compact) == (changes.isEmpty ? [] : [Self.compact(changes)]))
        #expect(display.text.contains(shown), "\(display.text)")
    }

    @Test func `ignores an invalid value of a lower layer, and a reset that another process makes first`() throws {
        var display = try Display()
        let lower: [Schema.ValueInForce] = [
            .init(999, layer: .other("site"), fault: "must be from 6 to 96"), .init(12, layer: .default),
        ]
        display.send(.stored(Display.values, layers: ["size": [.init(13, layer: .user)] + lower]))
        display.press("down")
        #expect(display.text.contains("user 13   site 999 (ignored)   default 12"), "\(display.text)")
        display.press("R")
        #expect(display.footer.contains("Font size is now 12."))
        display.press("d")
        #expect(display.text.contains("+ 12 (default)"))
        var values = Display.values
        values["size"] = .init(12, layer: .default)
        display.send(.stored(values, layers: ["size": lower]))
        #expect(display.screen.form.changes.isEmpty)
    }

    /// The keys in a list and a dictionary of any values, and the changes that they make.
    @Test(
        arguments: [
            ("enter enter enter", [:]), ("enter enter ^u 5 enter", ["list": [5, true, "x", .real(2.5)]]),
            ("enter enter ^u x enter", [:]),
            ("enter down enter ^u n o enter", ["list": [1, false, "x", .real(2.5)]]),
            ("enter down down enter ^u 5 enter", ["list": [1, true, "5", .real(2.5)]]),
            ("enter end enter ^u 3 enter", ["list": [1, true, "x", .real(3)]]),
            ("enter a 7 enter", ["list": [1, true, "x", .real(2.5), 7]]),
            ("enter a y enter", ["list": [1, true, "x", .real(2.5), "y"]]),
            ("enter a [ 7 ] enter", ["list": [1, true, "x", .real(2.5), [7]]]),
            ("down enter enter enter", [:]), ("down enter enter ^u 8 enter", ["map": ["a": 8, "b": [1]]]),
            ("down enter down enter enter", [:]),
            ("down enter down enter ^u [ 2 ] enter", ["map": ["a": 1, "b": [2]]]),
            ("down enter a c enter 9 enter", ["map": ["a": 1, "b": [1], "c": 9]]),
            // Two spellings of a letter are two keys.
            (
                "down enter a \u{E9} enter 8 enter a e\u{301} enter 9 enter",
                ["map": ["a": 1, "b": [1], "\u{E9}": 8, "e\u{301}": 9]]
            ),
        ] as [(String, PropertyList.Dictionary)])
    func `keeps the types of elements without a rule`(_ keys: String, _ changes: PropertyList.Dictionary) throws {
        var display = try Display(
            "{ Domain = com.example.any; Settings = ({ Key = list; Type = array; }, { Key = map; Type = dictionary; }); }",
            values: [
                "list": .init([1, true, "x", .real(2.5)], layer: .user),
                "map": .init(["a": 1, "b": [1]], layer: .user),
            ])
        display.press(keys)
        #expect(display.screen.form.changes == .init(values: changes), "\(display.text)")
    }

    /// Keys that go beyond the end of a box, and keys that show the same.
    @Test(arguments: [
        ("? end", "? end"), ("? end up", "? end up"), ("? end pageUp", "? end pageUp"), ("?", "? end home"),
    ])
    func `scrolls a box only as far as its lines`(_ keys: String, _ others: String) throws {
        var (display, other) = (try Display(columns: 40, rows: 10), try Display(columns: 40, rows: 10))
        let far = keys.replacing("end", with: Array(repeating: "down", count: 99).joined(separator: " "))
        display.press(far)
        other.press(others)
        #expect(display.text == other.text && display.text.contains("┌ Keys"))
    }

    @Test(arguments: ["enter", "tab tab down enter", "right ^s", "right q", "?"])
    func `shows only the keys of an open box`(_ keys: String) throws {
        var display = try Display()
        display.press(keys)
        #expect(display.footer.isEmpty && display.text.contains("Esc"), "\(display.text)")
    }

    @Test func `shows a note of the store`() throws {
        var display = try Display()
        display.send(.noted("prefs: a file is damaged"))
        #expect(display.footer.contains("prefs: a file is damaged"))
    }

    @Test func `completes paths`() throws {
        var display = try Display()
        display.press("tab down enter")
        display.send(.completed(["/tmp/one/", "/tmp/onto/", "/tmp/o"]))
        #expect(display.text.contains("[/tmp/on") && display.footer.contains("one  onto"))
        display.send(.completed(["/tmp/o"]))
        #expect(display.footer.contains("No such folder."))
    }

    @Test func `is clicked and scrolled`() throws {
        var display = try Display()
        let row = try #require(display.canvas.lines.firstIndex { $0.contains("Show line numbers") })
        display.send(.key(KeyPress(.click(column: 30, row: row))))
        display.send(.key(KeyPress(.click(column: 30, row: row))))
        #expect(display.screen.form.changes.values["lines"] == true)
        display.send(.key(KeyPress(.wheel(1))))
        display.send(.key(KeyPress(.click(column: 500, row: 500))))
        display.send(.key(KeyPress(.paste("q"))))
        #expect(display.effects.isEmpty)
    }
}

@Suite struct `A canvas` {
    @Test(arguments: [
        ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("界界", 4, "界界"), ("界界", 3, "界…"), ("a界", 2, "a…"),
        ("e\u{301}x", 2, "e\u{301}x"),
        ("\u{1B}[2J", 4, "␛[2J"), ("\u{202E}a", 4, "\u{FFFD}a"), ("👩‍👩‍👧x", 7, "👩‍👩‍👧x"), ("\u{301}", 1, "◌\u{301}"),
        ("a\r\nb", 4, "a␍b"), ("abc\u{301}", 3, "abc\u{301}"), ("abc\u{301}d", 3, "ab…"), ("ab界", 3, "ab…"),
        ("│─┐x", 3, "│─…"), ("a👍🏽", 4, "a…"), ("👍🏽", 1, "…"), ("नि", 1, "…"),
        ("\u{600}1x", 8, "\u{FFFD}1x"), ("\u{6DD}\u{600}12", 4, "\u{FFFD}\u{FFFD}12"), ("\u{941}\u{93E}x", 2, "…"),
    ])
    func `cuts text at its edge and obeys nothing in it`(_ text: String, _ width: Int, _ expected: String) {
        var canvas = Canvas(columns: width, rows: 1)
        canvas.put(text, 0, 0)
        #expect(canvas.lines == [expected])
    }

    @Test(arguments: [
        // Half of a wide character does not stay, and both halves are written together.
        ("界x", 0, "a", "a x", "a x z"), ("界x", 1, "a", " ax", " ax z"), ("a界", 0, "界", "界", "界z"),
        ("界界", 1, "界", " 界", " 界z"), ("ae\u{301}", 1, "e\u{301}", "ae\u{301}", ""),
        ("ae\u{301}", 1, "e\u{302}", "ae\u{302}", "e\u{302}z"),
        // A run of text that terminals measure differently is written as a whole.
        ("निक", 2, "ख", "निख", "निखz"), ("निक", 0, "x", "x क", "x कz"), ("ab", 0, "✅", "✅", "✅z"),
    ])
    func `writes over wide and composed characters`(
        _ before: String, _ column: Int, _ text: String, _ line: String, _ written: String
    ) {
        var old = Canvas(columns: 5, rows: 1)
        old.put("x\u{301}", 4, 0)
        old.put(before, 0, 0)
        var new = old
        new.put(text, column, 0)
        #expect(new.lines == [line.padded(to: 4) + "x\u{301}"])
        let update = new.updateText(from: old, colors: .none)
        // The row is written up to its end.
        let rest = written.replacing("z", with: "x\u{301}")
        #expect(update.replacing(/\x1B\[[?0-9;]*[a-zA-Z]/, with: "") == rest)
    }

    @Test(arguments: [
        ("✅", 2), ("⚡", 2), ("🇩🇪", 2), ("☺\u{FE0F}", 1), ("☺", 1), ("🌡\u{FE0F}", 1), ("🌡", 1), ("🫠", 2), ("🥑", 2),
        ("🀄", 2), ("1\u{FE0F}\u{20E3}", 1), ("♥", 1), ("①", 1), ("─", 1), ("e\u{301}", 1), ("é", 1), ("ａ", 2), ("한", 2),
        ("\u{1112}\u{1161}\u{11AB}", 2), ("👩‍👩‍👧", 6), ("নি", 2), ("বাংলা", 5), ("\u{7}", 1), ("", 0), ("\u{600}12", 3),
        ("\u{301}", 1), ("\u{941}\u{93E}", 2), ("\u{600}\u{301}", 2),
    ])
    func `knows the width of text`(_ text: String, _ columns: Int) { #expect(text.shownColumns == columns) }

    @Test func `fills part of a row, and clears the other halves of wide characters`() {
        var canvas = Canvas(columns: 7, rows: 1)
        canvas.put("a界x界b", 0, 0)
        canvas.fill(0..<1, 2..<5, with: "─")
        #expect(canvas.lines == ["a ─── b"])
        canvas.fill(-1..<1, -1..<9)
        canvas.fill(1..<2, 0..<7, with: "x")
        #expect(canvas.lines == [""])
    }

    /// Draws at random, applies each update to a terminal, and compares the terminal with the canvas.
    ///
    /// - Parameter isNarrow: Whether the terminal shows each character whose width is not certain in one column. Such
    ///   characters may then be elsewhere in their run, but everything else must be where it belongs.
    @Test(arguments: [false, true])
    func `changes a terminal from any canvas to any other`(_ isNarrow: Bool) {
        let texts = [
            "a", "hello", "  ", "界", "x界y", "✅", "👩‍👩‍👧", "e\u{301}", "─│┐", "long enough to be cut", "☺\u{FE0F}", "নিক",
            "বাংলা x",
        ]
        let styles = [Style(), Style(.red), Style(isReversed: true), Style(.green, isBold: true)]
        var generator = SeededGenerator(stream: "updates")
        for _ in 0..<300 {
            var canvas = Canvas(columns: 12, rows: 3)
            var terminal = TerminalModel(columns: 12, rows: 3, isNarrow: isNarrow)
            var shown: Canvas?
            for _ in 0..<20 {
                // Half of the screens are drawn anew, as screens do it, and the others over the former one.
                if Bool.random(using: &generator) { canvas.clear() }
                for _ in 0..<Int.random(in: 0...6, using: &generator) {
                    let (column, row) = (
                        Int.random(in: 0..<12, using: &generator), Int.random(in: 0..<3, using: &generator)
                    )
                    let style = styles.randomElement(using: &generator) ?? Style()
                    switch Int.random(in: 0..<4, using: &generator) {
                    case 0: canvas.fill(row..<(row + 1), column..<min(12, column + 4), with: "─", style: style)
                    case 1: canvas.paint(row, from: 0, to: 12, style)
                    default: canvas.put(texts.randomElement(using: &generator) ?? "", column, row, style: style)
                    }
                }
                let update = canvas.updateText(from: shown, colors: .own)
                terminal.write(update)
                shown = canvas
                for row in 0..<3 {
                    for column in 0..<12 {
                        let (cell, expected) = (terminal.cells[row][column], canvas[column, row])
                        // The columns of uncertain text may have any part of it, but nothing else.
                        let isUncertain = canvas.hasUncertainText(column, row)
                        let isSame =
                            isNarrow && isUncertain
                            ? cell.text == " " || TerminalModel.isUncertain(cell.text)
                            : cell.text == expected.text && (cell.text.isEmpty || cell.style == expected.style)
                        #expect(
                            isSame, "\(column), \(row) in \(canvas.lines): \(cell) after \(update.debugDescription)")
                        if !isSame { return }
                    }
                }
            }
        }
    }

    @Test(arguments: [
        ("নিক", 3, "\u{1B}[1;1H\u{1B}[0mনিক\u{1B}[0m"), ("aনিক", 3, "\u{1B}[1;2H\u{1B}[0mনি\u{1B}[0m"),
        ("নি a", 4, "\u{1B}[1;5H"), ("নি", 0, "\u{1B}[1;1H"), ("界a", 2, "\u{1B}[1;3H"),
    ])
    func `moves the cursor after uncertain text by writing that`(_ text: String, _ column: Int, _ expected: String) {
        var canvas = Canvas(columns: 8, rows: 1)
        canvas.put(text, 0, 0)
        let shown = canvas
        canvas.cursor = (column, 0)
        #expect(canvas.updateText(from: shown, colors: .none) == "\u{1B}[?25l\(expected)\u{1B}[?25h")
    }

    @Test func `writes only cells that differ`() {
        var (old, new) = (Canvas(columns: 10, rows: 2), Canvas(columns: 10, rows: 2))
        old.put("hello", 0, 0)
        new.put("hallo", 0, 0)
        #expect(new.updateText(from: old, colors: .own) == "\u{1B}[?25l\u{1B}[1;2H\u{1B}[0ma\u{1B}[0m")
        #expect(new.updateText(from: new, colors: .own) == "")
        old.cursor = (2, 0)
        #expect(new.updateText(from: old, colors: .own).hasPrefix("\u{1B}[?25l"))
        (old, old.cursor) = (new, (2, 0))
        #expect(old.updateText(from: new, colors: .own) == "\u{1B}[?25l\u{1B}[1;3H\u{1B}[?25h")
        #expect(new.updateText(from: old, colors: .own) == "\u{1B}[?25l")
        old.put("x", 0, 1, style: Style(.red))
        #expect(old.updateText(from: new, colors: .none).contains("31") == false)
    }
}

extension Canvas {
    /// Whether a column belongs to a character whose width is not certain.
    fileprivate func hasUncertainText(_ column: Int, _ row: Int) -> Bool {
        var first = column
        while self[first, row].text.isEmpty { first -= 1 }
        return TerminalModel.isUncertain(self[first, row].text)
    }

    func updateText(from shown: Canvas?, colors: Colors) -> String {
        String(decoding: update(from: shown, colors: colors), as: UTF8.self)
    }
}

/// A terminal that obeys the sequences of `Canvas.update`. Half of a wide character that is overwritten leaves a mark.
private struct TerminalModel {
    var cells: [[(text: String, style: Style)]]
    private let columns: Int
    private let isNarrow: Bool
    private var (column, row, style) = (0, 0, Style())

    /// - Parameter isNarrow: Whether uncertain characters have one column.
    init(columns: Int, rows: Int, isNarrow: Bool) {
        (self.columns, self.isNarrow) = (columns, isNarrow)
        cells = Array(repeating: Array(repeating: ("?", Style()), count: columns), count: rows)
    }

    mutating func write(_ text: String) {
        var rest = text[...]
        while let first = rest.first {
            if first == "\u{1B}", let end = rest.firstIndex(where: { $0.isLetter }) {
                obey(rest[end], rest[rest.index(rest.startIndex, offsetBy: 2)..<end])
                rest = rest[rest.index(after: end)...]
            } else {
                show(String(first))
                rest.removeFirst()
            }
        }
    }

    private mutating func obey(_ letter: Character, _ text: Substring) {
        let numbers = text.split(separator: ";").compactMap { Int($0) }
        switch letter {
        case "H": (row, column) = (numbers[0] - 1, numbers[1] - 1)
        case "J": for row in cells.indices { cells[row] = Array(repeating: (" ", Style()), count: columns) }
        case "K": for place in column..<columns { cells[row][place] = (" ", Style()) }
        case "m":
            let color = numbers.first { $0 >= 30 }.flatMap { Style.Color(rawValue: UInt8($0 - 30)) }
            style = Style(
                color, isBold: numbers.contains(1), isDim: numbers.contains(2), isReversed: numbers.contains(7))
        default: break
        }
    }

    static func isUncertain(_ text: String) -> Bool {
        text.unicodeScalars.count > 1 || text.unicodeScalars.contains { 0x900..<0xA00 ~= $0.value || $0 == "✅" }
    }

    private mutating func show(_ character: String) {
        let width = isNarrow && Self.isUncertain(character) ? 1 : character.shownColumns
        for place in column..<(column + width) {
            if cells[row][place].text.isEmpty { cells[row][place - 1].text = "?" }
            if place + 1 < columns, cells[row][place + 1].text.isEmpty { cells[row][place + 1].text = "?" }
            cells[row][place] = (place == column ? character : "", style)
        }
        column += width
    }
}
