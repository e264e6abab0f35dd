import Foundation
import Preferences
import PreferencesMirror
import TestSupport
import Testing

extension Setting where Value == Int {
    static let fontSize = Setting("fontSize", default: 12).range(6...96).flag("font-size").title("Size of the text")
}

/// The Swift of the library's documentation does what the pages say.
@Suite struct `The documentation` {
    /// Each line of it stands in this file, where it is compiled and run.
    @Test func `shows nothing but what is run here`() throws {
        let own = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
        let lines = Set(own.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) })
        var count = 0
        for module in ["Preferences", "PreferencesMirror"] {
            let folder = packageRoot.appending(path: "Sources/\(module)/\(module).docc")
            for page in try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false)) {
                let text = try String(contentsOf: folder.appending(path: page), encoding: .utf8)
                for line in MarkdownBlock.all(in: text).flatMap(\.lines) {
                    count += 1
                    #expect(lines.contains(line.trimmingCharacters(in: .whitespaces)), "\(page): \(line)")
                }
            }
        }
        #expect(count > 20)
    }

    @Test func `on moving over from UserDefaults is so`() throws {
        let store = Store.memory
        let defaults = Defaults("com.example.editor", in: store)
        defaults.register(defaults: ["theme": "light", "zoom": 1.5])
        defaults.set("dark", forKey: "theme")
        let theme = defaults.string(forKey: "theme")
        let zoom = defaults.double(forKey: "zoom")
        #expect(theme == "dark" && zoom == 1.5)
        try defaults.transaction { $0[.fontSize] += 1 }
        #expect(defaults.integer(forKey: "fontSize") == 13)
    }

    @Test func `on declaring settings is so`() throws {
        let store = Store.memory
        let defaults = Defaults("com.example.editor", in: store)
        defaults[.fontSize] = 14
        let size = defaults[.fontSize]
        #expect(size == 14)
        let schema = Schema("com.example.editor", title: "A small editor") {
            Setting.fontSize
        }
        let settings = try schema.parsing(["editor", "--font-size", "20", "notes.txt"], in: store)
        #expect(settings[.fontSize] == 20 && settings.operands == ["notes.txt"])
    }

    @Test func `on the memory store is so`() {
        let store = Store.memory
        let defaults = Defaults("com.example.editor", in: store)
        defaults[.fontSize] = 20
        let same = Defaults("com.example.editor", in: store)
        let other = Defaults("com.example.editor", in: .memory)
        #expect(same[.fontSize] == 20 && other[.fontSize] == 12)
    }

    @Test func `on mirroring is so`() throws {
        let folder = try TemporaryFolder()
        func path(_ name: String) throws -> String {
            let url = folder.url.appending(path: name)
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            return url.resolvingSymlinksInPath().path(percentEncoded: false)
        }
        let shared = try path("shared")
        let desk = try #require(Store.folder(path("desk")))
        let laptop = try #require(Store.folder(path("laptop")))
        let defaults = Defaults("com.example.editor", in: desk)
        defaults[.fontSize] = 20
        try defaults.flush()
        let mirror = try SettingsMirror.create(at: shared, of: desk, domains: ["com.example.*"])
        try mirror.sync()
        let joined = try SettingsMirror(at: shared, of: laptop, domains: ["com.example.*"])
        try joined.sync()
        #expect(Defaults("com.example.editor", in: laptop)[.fontSize] == 20)
    }
}
