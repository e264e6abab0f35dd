internal import Platform
internal import PropertyLists
internal import Screens
internal import SettingsSchema

/// Saves a form, and lets its values be edited.
struct FormActions: ScreenActions {
    typealias Content = FormScreen
    /// The values in force and those in all layers.
    typealias Values = (inForce: [String: Schema.ValueInForce], layers: [String: [Schema.ValueInForce]])

    let context: CommandContext
    let save: (Form.Changes) throws -> Void
    let read: () throws -> Values

    /// The stored values; none if they cannot be read now, as while an administrator replaces a file.
    func changes() -> [FormScreen.Event] {
        guard let values = try? read() else { return [] }
        return [.stored(values.inForce, layers: values.layers)]
    }

    func perform(
        _ effect: FormScreen.Effect, on terminal: any ScreenTerminal
    ) throws -> ScreenStep<FormScreen.Event> {
        switch effect {
        case .redraw, .suspend: return .events([])
        case .finish(let isComplete): return .finished(isComplete: isComplete)
        case .complete(let text): return .events([.completed(paths(beginningWith: text))])
        case .save(let changes):
            do {
                try save(changes)
                let values = try read()
                return .events([.saved(values.inForce, layers: values.layers)])
            } catch {
                return .failed(.refused(error.asLine))
            }
        case .edit(let key, let value):
            do {
                return .redrawn([.edited(try context.edited(value, key, on: terminal))])
            } catch {
                return .redrawn([.refused(error.asLine)])
            }
        }
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

extension CommandContext {
    /// Lets the user edit a value as a property list in an editor, and returns the new value; nil if it is unchanged.
    func edited(_ value: PropertyList?, _ key: String, on terminal: any ScreenTerminal) throws -> PropertyList? {
        var values = PropertyList.Dictionary()
        values[key] = value ?? ""
        let text = try EditedText(values, as: .json, isWrapped: true, named: "setting", self)
        defer { text.remove() }
        try terminal.lent { try runEditor(on: text.file) }
        let bytes = try text.bytes()
        return bytes == text.original ? nil : try text.values(bytes)[key]
    }
}
