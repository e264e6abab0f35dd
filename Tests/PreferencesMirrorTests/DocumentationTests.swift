import Foundation
import Observation
import Preferences
import PreferencesMirror
import PropertyLists
import Synchronization
import TestSupport
import Testing

extension Setting where Value == Int {
    static let fontSize = Setting("fontSize", default: 12).range(6...96).flag("font-size").title("Size of the text")
}

extension Setting where Value == Int {
    static let timeout = Setting("timeout", default: 30).range(1...60).flag("timeout")
}

extension Setting where Value == String? {
    static let author = Setting("author")
}

struct Document: Codable, Equatable, Sendable {
    var title = "Untitled"
    var tags: Set<String> = []
    var price: Decimal?
}

struct Sidebar {
    @Preference("sidebarWidth") var width = 240
    @Preference("sidebarTitle") var title: String?
}

@Observable final class Page {
    @ObservationIgnored @Preference("pageZoom") var zoom = 1.0
}

final class Model: Sendable {
    let width: SettingBinding<Int>

    init(defaults: Defaults = .standard) {
        width = Preference(Setting("sidebarWidth", default: 240), in: defaults).projectedValue
    }
}

struct AddKeys: SettingKeys {
    let text = Setting("text", default: "").positional().required().transient()
    let tags = Setting("tags", default: [String]()).flag("tag", "t").repeats().transient()
}

enum NotesCommand {
    case list
    case add(Settings<AddKeys>)
}

struct RepeatKeys: SettingKeys {
    let phrase = Setting("phrase", default: "").positional().required().transient()
    let count = Setting("count", default: 2).range(1...100).flag("count", "c")
    let marks = Setting("marks", default: [String]()).flag("mark", "m").repeats()
    let numbers = Setting("numbers", default: false).flag("numbers").negatable()
}

struct HTTPKeys: SettingKeys {
    let timeout = Setting("timeout", default: 30).range(1...600)
    let maxRetries = Setting("maxRetries", default: 3)
}

struct Mail: Decodable {
    var sentAt: Date
}

/// The Swift examples of the library's documentation behave as the pages describe.
@Suite struct `The documentation` {
    /// Each line of the examples is in a file with the name of this one, where it is compiled and run.
    @Test func `shows only code that runs in tests`() throws {
        func files(in folder: String, _ matches: (URL) -> Bool) throws -> [(name: String, text: String)] {
            let urls = FileManager.default.enumerator(
                at: packageRoot.appending(path: folder), includingPropertiesForKeys: nil)
            return try (urls?.compactMap { $0 as? URL } ?? []).filter(matches).map {
                ($0.lastPathComponent, try String(contentsOf: $0, encoding: .utf8))
            }
        }
        let tests = try files(in: "Tests") { $0.lastPathComponent == "DocumentationTests.swift" }
        let lines = Set(
            tests.flatMap { $0.text.split(separator: "\n") }.map { $0.trimmingCharacters(in: .whitespaces) })
        var count = 0
        for page in try files(
            in: "Sources", { $0.pathExtension == "md" && $0.pathComponents.contains { $0.hasSuffix(".docc") } })
        {
            for line in MarkdownBlock.all(in: page.text).flatMap(\.lines) where !line.isEmpty {
                count += 1
                #expect(lines.contains(line.trimmingCharacters(in: .whitespaces)), "\(page.name): \(line)")
            }
        }
        #expect(count > 100)
    }

    @Test func `on moving from UserDefaults is correct`() throws {
        let store = Store.memory()
        let defaults = Defaults("com.example.editor", in: store)
        defaults.register(defaults: ["theme": "light", "zoom": 1.5])
        defaults.set("dark", forKey: "theme")
        let theme = defaults.string(forKey: "theme")
        let zoom = defaults.double(forKey: "zoom")
        #expect(theme == "dark" && zoom == 1.5)
        try defaults.transaction { $0[.fontSize] += 1 }
        #expect(defaults.integer(forKey: "fontSize") == 13)
        // It is compiled, and not run, because it reads the files of the user.
        func migrate() {
            let former = Defaults("com.example.editor", in: .foundation).persistentDomain(forName: "com.example.editor")
            if let former, defaults.persistentDomain(forName: "com.example.editor") == nil {
                defaults.setPersistentDomain(former, forName: "com.example.editor")
            }
        }
        _ = migrate
    }

    @Test func `on declaring settings is correct`() throws {
        let store = Store.memory()
        let defaults = Defaults("com.example.editor", in: store)
        defaults[.fontSize] = 14
        let size = defaults[.fontSize]
        #expect(size == 14)
        let schema = Schema("com.example.editor", title: "A small editor") {
            Setting.fontSize
        }
        .operands(0...)
        let settings = try schema.parse(["editor", "--font-size", "20", "notes.txt"], in: store)
        #expect(settings[.fontSize] == 20 && settings.operands == ["notes.txt"])
        try schema.validate()
        let notes = Program(Schema("com.example.notes", title: "Keeps notes")) {
            CommandCase("list", title: "Lists the notes", NotesCommand.list)
            CommandCase("add", title: "Adds a note", AddKeys.self, NotesCommand.add)
        }
        var added: [String] = []
        let all = ["all"]
        func show(_ titles: [String]) { added = titles }
        func add(_ title: String, _ tags: [String]) { added = [title] + tags }
        switch try notes.parse(["notes", "add", "Letter", "-t", "home"], in: store).command {
        case .list: show(all)
        case .add(let settings): add(settings.text, settings.tags)
        }
        #expect(added == ["Letter", "home"])
        let server = Schema("com.example.server", title: "Serves files") {
            Setting("port", default: 80).flag("port")
            Schema.scope("http", title: "Client") { HTTPKeys.self }
        }
        let served = try server.parse(["server", "--http-timeout", "10"], in: store)
        let http = Settings<HTTPKeys>(served.defaults.scoped("http"))
        let seconds = http.timeout
        #expect(seconds == 10)
        let help = #expect(throws: Schema.EarlyExit.self) { try server.parse(["server", "--help"], in: store) }
        #expect(help?.description.contains("variable SERVER_HTTP_MAX_RETRIES") ?? false)
        let pack = Schema("com.example.pack", title: "Packs files") {
            Setting("level", default: 6).range(1...9).flag("level").flag("9", sets: 9)
            Setting("color", default: "auto").flag("color").choices(["auto", "always"]).implied("always")
            Setting("files", default: [String]()).rest().transient()
        }
        .programVersion("2.36", flag: "V").examples("pack -9 letter.txt")
        let packed = try pack.parse(["pack", "-9", "--color", "letter.txt"], in: store).defaults
        #expect(packed.integer(forKey: "level") == 9 && packed.string(forKey: "color") == "always")
        #expect(packed.stringArray(forKey: "files") == ["letter.txt"])
        let next = Schema("com.example.editor", version: 2) {
            Setting.fontSize
        }
        .migrating(from: 1, rename: ["size": "fontSize"], convert: ["fontSize": .integer])
        let old = Store.memory()
        Defaults("com.example.editor", in: old).set("30", forKey: "size")
        #expect(try next.parse(["editor"], in: old)[.fontSize] == 30)
    }

    @Test func `on storing a setting is correct`() throws {
        let editor = Defaults("com.example.editor", in: .memory())
        editor[.author] = "Ada"
        let author = editor[.author] ?? "nobody"
        #expect(author == "Ada")
        let recent = Setting("recent", default: [Document()])
        editor[recent].append(Document(title: "Letter", tags: ["a"], price: 12.5))
        #expect(editor[recent].map(\.title) == ["Untitled", "Letter"])
        try editor.transaction { draft in
            draft[.fontSize] += 1
            draft[.author] = nil
        }
        #expect(editor[.author] == nil && editor[.fontSize] == 13 && !editor.isDefault(.fontSize))
        let request = editor.snapshot()
        let title = "\(request[.author] ?? "nobody"), \(request[.fontSize])"
        #expect(title == "nobody, 13")
        let http = editor.scoped("http")
        http.set(30, forKey: "timeout")
        #expect(editor.propertyList(forKey: "http") == ["timeout": 30])
        editor.reset(.fontSize, recent)
        #expect(editor.isDefault(.fontSize) && editor[recent].count == 1)
        editor[.author] = "Grace"
        editor.removeAll()
        #expect(editor[.author] == nil)
        let model = Model(defaults: editor)
        model.width.value = 300
        #expect(editor.integer(forKey: "sidebarWidth") == 300)
    }

    @Test func `on moving from swift-argument-parser is correct`() throws {
        let store = Store.memory()
        let repeating = Schema("com.example.repeat", title: "Repeats a phrase") { RepeatKeys.self }
        let given = Settings<RepeatKeys>(
            try repeating.parse(["repeat", "-c", "3", "--mark=!", "hello"], in: store).defaults)
        let lines = Array(repeating: given.phrase + given.marks.joined(), count: given.count)
        #expect(lines == ["hello!", "hello!", "hello!"] && !given.numbers)
        #expect(throws: Schema.EarlyExit.self) { try repeating.parse(["repeat", "--count=0", "hello"], in: store) }
    }

    @Test func `on moving from swift-configuration is correct`() throws {
        let store = Store.memory()
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "files.json")
        try Data(#"{"http": {"timeout": 15}}"#.utf8).write(to: file)
        let json = file.path(percentEncoded: false)
        let memory = MemoryProvider(["http": ["timeout": 60, "retries": 2]], name: "built in")
        let config = try Defaults(
            "com.example.files", in: store, layers: [.arguments, .environment, .file(json), .provider(memory)])
        let timeout = config.scoped("http").integer(forKey: "timeout")
        #expect(timeout == 15 && config.scoped("http").integer(forKey: "retries") == 2)
    }

    @Test func `on a daemon is correct`() async throws {
        let service = Schema("com.example.service", title: "Serves files") {
            Setting("config", default: "~/.config/service.toml").configuration().flag("config", "c")
            Setting.timeout
        }
        let folder = try TemporaryFolder()
        let (store, path) = (Store.memory(), folder.url.appending(path: "service.toml").path(percentEncoded: false))
        try Data("timeout = 20\n".utf8).write(to: URL(filePath: path))
        #expect(try service.parse(["service", "--config", path], in: .memory())[.timeout] == 20)
        #expect(try service.parse(["service", "--config", path, "--timeout=7"], in: .memory())[.timeout] == 7)
        #expect(throws: Schema.EarlyExit.self) {
            try service.parse(["service", "--config", path + "x"], in: .memory())
        }
        let defaults = try Defaults(
            "com.example.service", in: store, layers: [.arguments, .environment, .file(path, isRequired: true), .user])
        let timeout = defaults[.timeout]
        #expect(timeout == 20 && defaults.origin(of: .timeout)?.file == path)
        #expect(defaults.explain(.timeout).inForce?.line == 1)
        let settings = defaults.snapshot()
        let limit = settings[.timeout]
        #expect(limit == 20)
        let vault = MemoryProvider(["timeout": 25], name: "vault")
        let provided = try Defaults("com.example.service", in: store, layers: [.environment, .provider(vault), .user])
        #expect(provided[.timeout] == 25 && provided.origin(of: .timeout)?.name == "vault")
        var values = provided.values(of: .timeout).makeAsyncIterator()
        vault.values = ["timeout": 26]
        while let value = await values.next(), value != 26 {}
        let log = Mutex<[String]>([])
        let observation = defaults.observeReads { read in
            log.withLock { $0.append("\(read.key) from \(read.origin?.description ?? "the program")") }
        }
        #expect(defaults[.timeout] == 20)
        #expect(log.withLock(\.self) == ["timeout from file (\(path))"])
        observation.cancel()
    }

    @Test func `on observing changes is correct`() async throws {
        let editor = Defaults("com.example.editor", in: .memory())
        let log = Mutex<[String]>([])
        let observation = editor.observe { batch in
            for change in batch.changes { log.withLock { $0.append(change.key) } }
        }
        let foreign = editor.changes(of: .fontSize, includingOwn: false)
        var seen: [String] = []
        for await (size, author) in editor.values(of: Setting.fontSize, Setting.author) {
            seen.append("\(size) \(author ?? "-")")
            if seen.count == 2 { break }
            try editor.transaction { draft in
                draft[.fontSize] += 1
                draft[.author] = "Ada"
            }
        }
        #expect(seen == ["12 -", "13 Ada"])
        #expect(Set(log.withLock(\.self)) == ["fontSize", "author"])
        observation.cancel()
        _ = foreign
    }

    @Test func `on threads is correct`() {
        let counter = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<10_000 { counter.withLock { $0 += 1 } }
        }
        #expect(counter.withLock(\.self) == 80_000)
    }

    @Test func `on reading property lists is correct`() throws {
        let text = #"{"name": "Ada", "servers": [{"port": 80}]}"#
        let (found, format) = try PropertyList.sniffed(text.utf8)
        #expect(format == .json)
        var list = found
        list["name"] = "Grace"
        list[path: ":servers:0:port"] = .integer(8080)
        let port = list["servers"]?[0]?["port"]?.integerValue
        let data = try list.serialized(as: .xml)
        #expect(port == 8080 && !data.isEmpty && "\(list)" == #"{name: "Grace", servers: [{port: 8080}]}"#)
        let prices = try PropertyList.decode([Decimal].self, from: "[0.1234567890123456789]".utf8)
        let encoded = try PropertyList(encoding: Document(title: "Letter")).serialized(as: .json)
        #expect(prices.map(\.description) == ["0.1234567890123456789"])
        #expect(try PropertyList.decode(Document.self, from: encoded) == Document(title: "Letter"))
    }

    @Test func `on the forms of other programs is correct`() throws {
        let web = PropertyList.CodingStrategies(keys: .snakeCase, dates: .iso8601, data: .base64)
        let text = #"{"sent_at": "2026-01-31T12:00:00Z"}"#
        let mail = try PropertyList.decode(Mail.self, from: text.utf8, strategies: web)
        #expect(mail.sentAt == Date(timeIntervalSince1970: 1_769_860_800))
    }

    @Test func `on the memory store is correct`() throws {
        let store = Store.memory()
        let defaults = Defaults("com.example.editor", in: store)
        defaults[.fontSize] = 20
        let same = Defaults("com.example.editor", in: store)
        let other = Defaults("com.example.editor", in: .memory())
        #expect(same[.fontSize] == 20 && other[.fontSize] == 12)
        let schema = Schema("com.example.editor") { Setting.fontSize }
        let settings = try schema.parse(["editor", "--font-size=24"], in: store)
        #expect(settings[.fontSize] == 24 && same[.fontSize] == 24)
    }

    @Test func `on mirroring is correct`() throws {
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
