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
        case .complete(let text): return .events([.completed(context.paths(beginningWith: text))])
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
}
