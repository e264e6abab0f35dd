import Preferences
import PropertyLists

/// The order in which the notes are listed.
enum Order: String, Codable, CaseIterable, Sendable { case added, title }

/// A note, which is stored as a dictionary.
struct Note: Codable, Hashable, Sendable {
    var title: String
    var tags: [String] = []
    var addedAt = Date()
}

extension Setting where Value == [Note] {
    static let notes = Setting("notes", default: [])
}

extension Setting where Value == Order {
    static let order = Setting("order", default: .added).flag("order", "o").environment("NOTES_ORDER")
        .title("What the notes are sorted by")
}

extension Setting where Value == Int {
    static let width = Setting("width", default: 72).range(20...200).flag("width", "w").title("Columns of the list")
    static let until = Setting("until", default: 1).range(1...).flag("until").transient().title("Notes to wait for")
}

extension Setting where Value == String {
    static let text = Setting("text", default: "").positional().required().transient().title("The title of the note")
}

extension Setting where Value == [String] {
    static let tags = Setting("tags", default: []).flag("tag", "t").repeats().transient().title("Tags of the note")
}

/// A notebook in the settings of a program. It has the settings as a parameter, so that a test can use its own.
struct Notebook: Sendable {
    static let domain: DomainName = "com.example.notes"

    static let schema = Schema(domain.text, title: "Keeps notes") {
        Setting.notes
        Setting.order
        Setting.width
        Schema.Command("list", title: "Lists the notes")
        Schema.Command("add", title: "Adds a note") {
            Setting.text
            Setting.tags
        }
        Schema.Command("export", title: "Prints the notes as JSON")
        Schema.Command("watch", title: "Waits for notes that other processes add") {
            Setting.until
        }
    }

    let defaults: Defaults

    /// The titles, as they are shown.
    var lines: [String] {
        let notes = defaults[.notes]
        let sorted =
            switch defaults[.order] {
            case .added: notes.sorted { $0.addedAt < $1.addedAt }
            case .title: notes.sorted { $0.title < $1.title }
            }
        return sorted.map { note in
            let tags = note.tags.map { " #\($0)" }.joined()
            return String("\(note.title)\(tags)".prefix(defaults[.width]))
        }
    }

    /// Adds a note. A transaction loses no note that another process adds at the same time.
    func add(_ note: Note) throws {
        try defaults.transaction { draft in
            guard !draft[.notes].contains(where: { $0.title == note.title }) else { throw Duplicate(title: note.title) }
            draft[.notes].append(note)
        }
    }

    struct Duplicate: Error, CustomStringConvertible {
        let title: String
        var description: String { "there is a note with the title \(title)" }
    }

    /// The form of the notes in files for other programs.
    private static let strategies = PropertyList.CodingStrategies(keys: .snakeCase, dates: .iso8601)

    /// The notes as JSON.
    func exported() throws -> Data {
        try PropertyList(encoding: defaults[.notes], strategies: Self.strategies).serialized(as: .json)
    }

    /// Replaces the notes with those of a file.
    func replace(with file: Data) throws {
        try defaults.set(PropertyList.decode([Note].self, from: file, strategies: Self.strategies), for: .notes)
    }

    /// The number of notes now, and after each change by any process.
    var counts: some AsyncSequence<Int, Never> { defaults.values(of: .notes).map(\.count) }
}
