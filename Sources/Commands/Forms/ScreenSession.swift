internal import Platform
internal import PropertyLists
internal import Screens
internal import SettingsSchema

/// Runs a form on the whole screen of a terminal: passes on keys, and carries out what the form decides.
struct ScreenSession {
    /// The values in force and those in all layers.
    typealias Values = (inForce: [String: Schema.ValueInForce], layers: [String: [Schema.ValueInForce]])

    let context: CommandContext
    let terminal: any ScreenTerminal
    private(set) var form: FormScreen
    let save: (Form.Changes) throws -> Void
    let read: () throws -> Values
    private var shown: Canvas?

    init(
        _ form: FormScreen, on terminal: any ScreenTerminal, _ context: CommandContext,
        save: @escaping (Form.Changes) throws -> Void, read: @escaping () throws -> Values
    ) {
        (self.form, self.terminal, self.context, self.save, self.read) = (form, terminal, context, save, read)
    }

    /// How a session ended.
    enum End: Hashable, Sendable {
        case finished(isComplete: Bool)
        case interrupted(signal: Int32)
    }

    /// The time after which an escape character alone is the Escape key.
    private static let escapeMilliseconds: Int32 = 40

    /// Shows the form until the user leaves it. The terminal is restored however this ends.
    mutating func run() throws -> End {
        try terminal.enter()
        defer { terminal.leave() }
        var parser = KeyParser()
        var events: [FormScreen.Event] = [resized]
        while true {
            for event in events {
                if let isComplete = try perform(form.handle(event)) { return .finished(isComplete: isComplete) }
            }
            try paint()
            switch try terminal.next(milliseconds: parser.isWaiting ? Self.escapeMilliseconds : nil) {
            case .bytes(let bytes): events = parser.take(bytes).map { .key($0) }
            case .timeout: events = parser.flush().map { .key($0) }
            case .resized: events = [resized]
            case .woken: events = stored
            case .continued:
                try terminal.enter()
                shown = nil
                events = [resized] + stored
            case .suspended: events = [.key(KeyPress(.character("z"), isControl: true))]
            case .endOfInput: return .finished(isComplete: false)
            case .ended(let signal): return .interrupted(signal: signal)
            }
        }
    }

    private var resized: FormScreen.Event {
        let size = terminal.size
        return .resized(columns: size.columns, rows: size.rows)
    }

    /// The stored values; none if they cannot be read now, as while an administrator replaces a file.
    private var stored: [FormScreen.Event] {
        guard let values = try? read() else { return [] }
        return [.stored(values.inForce, layers: values.layers)]
    }

    private mutating func paint() throws {
        let size = terminal.size
        var canvas = Canvas(columns: size.columns, rows: size.rows)
        form.draw(on: &canvas)
        let hasColors = (context.environment.variables[Variable.noColor.rawValue] ?? "").isEmpty
        try terminal.write(canvas.update(from: shown, hasColors: hasColors))
        shown = canvas
    }

    /// Carries out effects, and returns how the form was left, if it was. After a failure the rest is dropped, so that
    /// the form is not left with changes that are not saved.
    private mutating func perform(_ effects: [FormScreen.Effect]) throws -> Bool? {
        for effect in effects {
            switch effect {
            case .redraw: shown = nil
            case .suspend:
                try terminal.suspend()
                shown = nil
            case .finish(let isComplete): return isComplete
            case .save(let changes):
                do {
                    try save(changes)
                    let values = try read()
                    _ = form.handle(.saved(values.inForce, layers: values.layers))
                } catch {
                    _ = form.handle(.refused(Self.line(of: error)))
                    return nil
                }
            case .complete(let text): _ = form.handle(.completed(paths(beginningWith: text)))
            case .edit(let key, let value):
                do {
                    _ = form.handle(.edited(try edited(value, key)))
                } catch {
                    _ = form.handle(.refused(Self.line(of: error)))
                }
            }
        }
        return nil
    }

    private static func line(of error: any Error) -> String {
        ((error as? any Reportable)?.lines.first ?? "\(error)").onOneLine
    }

    /// Lets the user edit a value as a property list in an editor, and returns the new value; nil if it is unchanged.
    private mutating func edited(_ value: PropertyList?, _ key: String) throws -> PropertyList? {
        var values = PropertyList.Dictionary()
        values[key] = value ?? ""
        let text = try EditedText(values, as: .json, isWrapped: true, named: "setting", context)
        defer { text.remove() }
        terminal.leave()
        let result = Result { try context.runEditor(on: text.file) }
        try terminal.enter()
        shown = nil
        try result.get()
        let bytes = try text.bytes()
        return bytes == text.original ? nil : try text.values(bytes)[key]
    }

    /// Returns the files whose path begins with a text; folders end with a slash.
    private func paths(beginningWith text: String) -> [String] {
        let folderText = text.lastIndex(of: "/").map { String(text[...$0]) } ?? ""
        let start = text.dropFirst(folderText.count)
        guard let folder = try? context.absolutePath(folderText.isEmpty ? "." : folderText),
            let names = try? context.fileSystem.names(in: folder)
        else { return [] }
        return names.map(\.description).filter { $0.hasPrefix(start) && ($0.first != "." || start.first == ".") }
            .sorted().prefix(1000).map { name in
                let path = FilePath(name).map(folder.resolving) ?? folder
                let isFolder = (try? context.fileSystem.status(of: path))??.kind == .folder
                return folderText + name + (isFolder ? "/" : "")
            }
    }
}
