import Foundation
import PropertyLists
import SchemaTools
import Screens
import SettingsSchema
import TestSupport
import Testing

/// The pictures of the README, and more of them to look at.
@Suite struct `The pictures of the screens` {
    private struct Theme {
        let name: String
        let colors: Colors
        let background: String, text: String, dim: String

        static let dark = Theme(name: "", colors: .dark, background: "#1e1e2e", text: "#cdd6f4", dim: "#7f849c")
        static let light = Theme(name: "-light", colors: .light, background: "#fafafa", text: "#202020", dim: "#707070")
    }

    /// `PREFS_DRAW=1 swift test` draws the pictures of the README anew, and with the path of a folder in the place of
    /// the 1, all pictures are drawn there.
    @Test func `are in the README as they are drawn`() throws {
        let target = ProcessInfo.processInfo.environment["PREFS_DRAW"]
        let own = packageRoot.appending(path: "Tests/ScreensTests")
        for (name, canvas) in try Self.screens() {
            for theme in [Theme.dark, .light] {
                let picture = Self.picture(of: canvas, theme)
                let file = "\(name)\(theme.name).svg"
                if let target, target.hasPrefix("/") {
                    try Data(picture.utf8).write(to: URL(filePath: target).appending(path: file))
                }
                guard ["form.svg", "history.svg"].contains(file) else { continue }
                if target != nil { try Data(picture.utf8).write(to: own.appending(path: file)) }
                let kept = try String(contentsOf: own.appending(path: file), encoding: .utf8)
                #expect(kept == picture, "\(file): PREFS_DRAW=1 swift test draws it anew")
            }
        }
    }

    private static func screens() throws -> [(name: String, canvas: Canvas)] {
        var history = try BrowserDisplay(rows: 18)
        history.press("end right home down down down h")
        let versions = (9...16).reversed().map { number in
            BrowseScreen.Version(domain: "com.example.editor", number: number, heading: "2 h ago (12:07) from laptop")
        }
        history.send(.history(["size"], versions))
        history.press("left left")
        var search = try BrowserDisplay(rows: 18)
        search.press("/ f s i z")
        var conflict = try BrowserDisplay(rows: 18)
        conflict.press("down down down")
        conflict.send(
            .conflicts(
                ["size"], place: ["size"], names: ["abc"],
                values: ["in force  13  laptop, 2026-01-01T12:00:00Z", "lost      16  desk, 2026-01-01T11:58:00Z"]))
        return [
            ("form", try form()), ("browser", try BrowserDisplay(rows: 18).canvas), ("search", search.canvas),
            ("history", history.canvas), ("conflict", conflict.canvas),
        ]
    }

    private static func form() throws -> Canvas {
        let schema = """
            {
                Domain = "com.example.editor"; Title = Editor;
                Settings = (
                    { Key = theme; Choices = (dark, light); Default = light; Title = Theme; Group = Appearance; },
                    { Key = size; Type = integer; Minimum = 6; Maximum = 96; Unit = points; Title = "Font size";
                        Flag = "font-size"; Environment = EDITOR_FONT; Group = Appearance; },
                    { Key = lines; Type = boolean; Title = "Show line numbers"; Group = Appearance; },
                    { Key = backup; Kind = folder; Title = "Backup folder"; Group = Files; },
                    { Key = every; Type = integer; Kind = duration; Title = "Save every"; Group = Files; },
                    { Key = token; Sensitive = YES; Title = "Access token"; Group = Network; }
                );
            }
            """
        let values: [Name: Schema.ValueInForce] = [
            "theme": .init("dark", layer: .user), "size": .init(13, layer: .user),
            "lines": .init(false, layer: .default), "every": .init(300, layer: .other("site")),
            "backup": .init("/srv/backup", layer: .forced), "token": .init("hush", layer: .user),
        ]
        let form = Form(
            try Schema(parsing: Array(schema.utf8)), values: values, layers: Display.layers, forced: ["backup"])
        var screen = FormScreen(form)
        _ = screen.handle(.resized(columns: 80, rows: 18))
        for key in ["down", "right"] { _ = screen.handle(.key(Key.named(key))) }
        var canvas = Canvas(columns: 80, rows: 18)
        screen.draw(on: &canvas)
        return canvas
    }

    /// Returns a color of the cube of six levels that a terminal with 256 colors has.
    private static func hex(_ number: Int) -> String {
        let levels = [0, 95, 135, 175, 215, 255]
        let place = number - 16
        let parts = [place / 36, place / 6 % 6, place % 6].map { levels[$0] }
        return "#" + parts.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// A canvas as SVG: a line of text for each row, and the selected row on a bar.
    private static func picture(of canvas: Canvas, _ theme: Theme) -> String {
        let (width, height) = (canvas.columns * 9 + 20, canvas.rows * 20 + 20)
        var lines = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(width) \(height)\" font-family=\"monospace\" font-size=\"15\">",
            "<rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"\(theme.background)\"/>",
        ]
        for row in 0..<canvas.rows {
            for column in 0..<canvas.columns {
                let cell = canvas[column, row]
                let (x, y) = (column * 9 + 10, row * 20 + 10)
                if cell.style.isReversed {
                    lines.append("<rect x=\"\(x)\" y=\"\(y)\" width=\"9\" height=\"20\" fill=\"\(theme.text)\"/>")
                }
                guard cell.text != " ", !cell.text.isEmpty else { continue }
                let plain = cell.style.isDim ? theme.dim : theme.text
                let shown = cell.style.color.flatMap { theme.colors.number(of: $0) }.map { Self.hex($0) } ?? plain
                let color = cell.style.isReversed ? theme.background : shown
                let weight = cell.style.isBold ? " font-weight=\"bold\"" : ""
                let text = cell.text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
                lines.append("<text x=\"\(x)\" y=\"\(y + 15)\" fill=\"\(color)\"\(weight)>\(text)</text>")
            }
        }
        return (lines + ["</svg>"]).joined(separator: "\n") + "\n"
    }
}
