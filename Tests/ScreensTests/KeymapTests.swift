import PropertyLists
import Screens
import TestSupport
import Testing

@Suite struct `The keys of the screens` {
    /// Changes, what is invalid in them, and keys with the effects that they then have in a browser.
    @Test(
        arguments: [
            ([("delete", ["D"])], [], "D", [BrowseScreen.Effect.change(.delete(["lines"]))]),
            ([("delete", ["D"])], [], "x", []), ([("undo", ["^X", "F5"])], [], "^x", [.undo]),
            ([("undo", ["q"])], ["quit needs a key"], "q", [.finish]), ([("undo", ["x"])], [], "x", [.undo]),
            ([("delet", ["D"])], ["unknown command delet"], "x", [.change(.delete(["lines"]))]),
            ([("delete", ["Del"])], ["delete: unknown key Del"], "x", [.change(.delete(["lines"]))]),
            ([("delete", ["del", "Alt-d"])], ["delete: unknown key del"], "M-d", [.change(.delete(["lines"]))]),
            ([("quit", [])], [], "q", [.finish]), ([("history", ["ü"])], [], "ü", [.history(["lines"])]),
        ] as [([(String, [String])], [String], String, [BrowseScreen.Effect])])
    func `can be changed`(
        _ changes: [(String, [String])], _ problems: [String], _ keys: String, _ effects: [BrowseScreen.Effect]
    ) throws {
        let (keymap, found) = Keymap.changed(by: changes.map { (command: $0.0, keys: $0.1) })
        #expect(found == problems)
        var display = try BrowserDisplay(BrowserDisplay.entries, keymap)
        display.press(keys)
        #expect(display.effects == effects)
    }

    @Test func `mean the same in both screens, and each is in the list of keys`() {
        for command in ScreenCommand.allCases {
            #expect(command.meaning(in: .browser) != nil || command.meaning(in: .form) != nil, "\(command)")
        }
        for place in [ScreenCommand.Place.browser, .form] {
            let count = ScreenCommand.allCases.count { $0.meaning(in: place) != nil }
            #expect(Keymap.standard.help(in: place).count == count)
        }
        // A key has one command.
        let keys = Keymap.standard.help(in: .browser).flatMap { $0.0.split(separator: ", ") }
        #expect(Set(keys).count == keys.count)
    }
}
