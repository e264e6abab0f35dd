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

struct NotebookKeys: SettingKeys {
    let notes = Setting("notes", default: [Note]())
    let order = Setting("order", default: Order.added).flag("order", "o").environment("NOTES_ORDER")
        .title("What the notes are sorted by")
    let width = Setting("width", default: 72).range(20...200).flag("width", "w").title("Columns of the list")
}

struct AddKeys: SettingKeys {
    let text = Setting("text", default: "").positional().required().transient().title("The title of the note")
    let tags = Setting("tags", default: [String]()).flag("tag", "t").repeats().transient().title("Tags of the note")
}

struct WatchKeys: SettingKeys {
    let until = Setting("until", default: 1).range(1...).flag("until").transient().title("Notes to wait for")
}

enum NotesCommand {
    case list, export
    case add(Settings<AddKeys>)
    case watch(Settings<WatchKeys>)
}

/// A notebook in the settings of a program. It has the settings as a parameter, so that a test can use its own.
struct Notebook: Sendable {
    static let domain: DomainName = "com.example.notes"

    static let program = Program(Schema(domain.text, title: "Keeps notes"), NotebookKeys.self) {
        CommandCase("list", title: "Lists the notes", NotesCommand.list)
        CommandCase("add", title: "Adds a note", AddKeys.self, NotesCommand.add)
        CommandCase("export", title: "Prints the notes as JSON", NotesCommand.export)
        CommandCase("watch", title: "Waits for notes that other processes add", WatchKeys.self, NotesCommand.watch)
    }

    let settings: Settings<NotebookKeys>

    /// The titles, as they are shown.
    var lines: [String] {
        let notes = settings.notes
        let sorted =
            switch settings.order {
            case .added: notes.sorted { $0.addedAt < $1.addedAt }
            case .title: notes.sorted { $0.title < $1.title }
            }
        return sorted.map { note in
            let tags = note.tags.map { " #\($0)" }.joined()
            return String("\(note.title)\(tags)".prefix(settings.width))
        }
    }

    /// Adds a note. A transaction loses no note that another process adds at the same time.
    func add(_ note: Note) throws {
        let notes = settings.setting(\.notes)
        try settings.defaults.transaction { draft in
            guard !draft[notes].contains(where: { $0.title == note.title }) else { throw Duplicate(title: note.title) }
            draft[notes].append(note)
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
        try PropertyList(encoding: settings.notes, strategies: Self.strategies).serialized(as: .json)
    }

    /// Replaces the notes with those of a file.
    func replace(with file: Data) throws {
        let notes = try PropertyList.decode([Note].self, from: file, strategies: Self.strategies)
        try settings.defaults.set(notes, for: settings.setting(\.notes))
    }

    /// The number of notes now, and after each change by any process.
    var counts: some AsyncSequence<Int, Never> {
        settings.defaults.values(of: settings.setting(\.notes)).map(\.count)
    }
}
