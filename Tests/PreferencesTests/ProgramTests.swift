import Foundation
import Preferences
import PropertyLists
import SimulatedPlatform
import Synchronization
import Testing

// A program that uses the library as documented.

private enum Theme: String, Codable, CaseIterable { case light, dark, system }
private enum Sorting: String, Codable { case byName, byDate }

private struct Note: Codable, Hashable, Sendable, Identifiable {
    var id: UUID
    var title: String
    var tags: Set<String> = []
    var due: Date?
    var price: Decimal?
    var origin: URL?
}

private struct Notebook: Codable, Equatable, Sendable {
    var notes: [Note] = []
    var sorting = Sorting.byName
    var archive: [String: [Note]] = [:]
}

extension Setting where Value == Theme {
    fileprivate static let theme = Setting("theme", default: .system).flag("theme").title("Colours of the window")
}

extension Setting where Value == Int {
    fileprivate static let fontSize = Setting("fontSize", default: 12).range(6...96).flag("font-size", "s").unit(
        "points")
}

extension Setting where Value == Duration {
    fileprivate static let autosave = Setting("autosave", default: .seconds(30)).range(.zero ... .seconds(3600))
        .flag("autosave").title("Time between two automatic saves")
}

extension Setting where Value == URL? {
    fileprivate static let folder = Setting("folder").flag("folder").title("Where notebooks are")
}

extension Setting where Value == Notebook {
    fileprivate static let notebook = Setting("notebook", default: Notebook()).transient()
}

extension Setting where Value == String {
    fileprivate static let greeting = Setting("greeting", computed: { "Hello" })
}

private let schema = Schema("com.example.notes", title: "A notebook") {
    Setting.theme
    Setting.fontSize
    Setting.autosave
    Setting.folder
    Setting.notebook
}

/// The model of the program, with its settings injected.
private final class Library: Sendable {
    let defaults: Defaults
    let fontSize: SettingBinding<Int>
    private let changedKeys = Mutex<[String]>([])
    private let observation: Mutex<SettingsObservation?>

    init(defaults: Defaults = .standard) {
        self.defaults = defaults
        fontSize = Preference(.fontSize, in: defaults).projectedValue
        observation = Mutex(nil)
        let observation = defaults.observe { [weak self] batch in
            self?.changedKeys.withLock { $0 += batch.changes.map(\.key) }
        }
        self.observation.withLock { $0 = observation }
    }

    var changes: [String] { changedKeys.withLock(\.self) }

    func add(_ title: String, price: Decimal? = nil) throws {
        try defaults.transaction { draft in
            draft[.notebook].notes.append(Note(id: UUID(), title: title, tags: ["new"], price: price))
        }
    }

    func export() throws -> Data { try PropertyList(encoding: defaults[.notebook]).serialized(as: .binary) }

    func importNotes(_ data: Data) throws {
        defaults[.notebook] = try PropertyList.decode(Notebook.self, from: data)
    }
}

private struct Window {
    @Preference var theme: Theme
    @Preference var width: Int

    init(defaults: Defaults) {
        _theme = Preference(.theme, in: defaults)
        _width = Preference(wrappedValue: 640, "width", in: defaults)
    }
}

@Suite struct `A program that follows the documentation` {
    @Test func `keeps its settings and documents`() throws {
        let library = Library(defaults: Defaults("com.example.notes", in: .memory()))
        try library.add("Letter", price: Decimal(string: "12.34"))
        try library.add("List")
        #expect(library.defaults[.notebook].notes.map(\.title) == ["Letter", "List"])
        let copy = Library(defaults: Defaults("com.example.notes", in: .memory()))
        try copy.importNotes(library.export())
        #expect(copy.defaults[.notebook] == library.defaults[.notebook])
        #expect(library.changes == ["notebook", "notebook"] && copy.changes == ["notebook"])
        #expect(library.defaults[.greeting] == "Hello" && library.defaults.isDefault(.greeting))
        let window = Window(defaults: library.defaults)
        window.theme = .dark
        window.width += 10
        #expect(library.defaults[.theme] == .dark && library.defaults.integer(forKey: "width") == 650)
        library.fontSize.value = 20
        #expect(library.defaults[.fontSize] == 20)
        library.defaults.reset(.theme, .fontSize)
        #expect(library.defaults[.theme] == .system && library.fontSize.value == 12)
    }

    @Test func `parses its arguments`() throws {
        let store = Store.memory()
        let library = Library(defaults: Defaults("com.example.notes", in: store))
        let words = ["notes", "--theme", "dark", "-s", "30", "--autosave", "5m", "--folder", "https://example.com/n"]
        let settings = try schema.parse(words, in: store)
        #expect(settings[.theme] == .dark && settings[.autosave] == .seconds(300))
        #expect(library.fontSize.value == 30 && library.defaults[.folder]?.host() == "example.com")
        for (word, sentence) in [
            ("--theme=pink", "--theme pink: must be light, dark or system"),
            ("--font-size=3", "--font-size 3: must be from 6 to 96"),
            ("--autosave=2h", "--autosave 2h: must be from 0s to 1h"),
            ("--autosave=soon", "--autosave soon: must be a valid Duration"),
        ] {
            let ending = #expect(throws: Schema.EarlyExit.self) { try schema.parse(["notes", word], in: .memory()) }
            #expect(ending?.description == sentence)
        }
        try schema.validate()
    }

    @Test func `notices what another process changes`() async throws {
        let bench = try StoreBench()
        let library = Library(defaults: Defaults("com.example.notes", in: bench.store()))
        let other = Defaults("com.example.notes", in: bench.store())
        var themes = library.defaults.changes(of: .theme, includingOwn: false).makeAsyncIterator()
        library.defaults[.theme] = .light
        try library.defaults.flush()
        other[.theme] = .dark
        try other.flush()
        bench.settle()
        let change = await themes.next()
        #expect(change?.newValue == .dark && change?.isOwn == false && library.defaults[.theme] == .dark)
    }
}
