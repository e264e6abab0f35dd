internal import Platform
internal import PropertyLists
internal import Screens
internal import SettingsSchema

/// Runs a plain form on a terminal, and saves the answers at the end.
struct FormSession {
    let context: CommandContext
    private var form: PlainForm
    private let save: (Form.Changes) throws -> Void

    init(_ form: Form, _ context: CommandContext, save: @escaping (Form.Changes) throws -> Void) {
        self.context = context
        self.form = PlainForm(form)
        self.save = save
    }

    /// Asks all questions, and returns whether the form was completed.
    mutating func run() throws -> Bool {
        var actions = form.begin()
        while true {
            var event: PlainForm.Event?
            for action in actions {
                switch action {
                case .write(let text): try context.terminal.write(text, to: .output)
                case .ask(let prompt, let isSecret): event = try ask(prompt, isSecret)
                case .save(let changes):
                    try save(changes)
                    try context.say("Saved \(counted(changes.count, "setting")).")
                case .finish(let isComplete): return isComplete
                }
            }
            // Each iteration asks or finishes.
            guard let event else { return false }
            actions = form.handle(event)
        }
    }

    private func ask(_ prompt: String, _ isSecret: Bool) throws -> PlainForm.Event {
        while true {
            switch try context.dialogue.answer(to: prompt, isSecret: isSecret) {
            case .endOfInput: return .endOfInput
            case .interrupted: return .interrupted
            case .line(let bytes):
                if let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) { return .line(text) }
                try context.terminal.write("  The answer is not valid UTF-8.\n", to: .output)
            }
        }
    }
}

/// Saves a form, and lets its values be edited.
struct FormActions: ScreenActions {
    typealias Content = FormScreen
    /// The values in force and those in all layers.
    typealias Values = (inForce: [String: Schema.ValueInForce], layers: [String: [Schema.ValueInForce]])

    let context: CommandContext
    let errors: CapturedErrors
    /// The form as it was at first, which has the rules for values.
    let form: Form
    /// Saves changes, and returns the command line that undoes them.
    let save: (Form.Changes) throws -> String
    let read: () throws -> Values

    /// The stored values; none if they cannot be read now, as while an administrator replaces a file.
    func changes() -> [FormScreen.Event] {
        guard let values = try? read() else { return [] }
        return [.stored(values.inForce, layers: values.layers)] + (note.map { [.noted($0)] } ?? [])
    }

    /// The last note of the store since the last call.
    private var note: String? { errors.takeLines().last?.onOneLine }

    func perform(
        _ effect: FormScreen.Effect, on terminal: any ScreenTerminal
    ) throws -> ScreenStep<FormScreen.Event> {
        switch effect {
        case .finish(let isComplete): return .finished(isComplete: isComplete)
        case .complete(let text): return .events([.completed(context.paths(beginningWith: text))])
        case .save(let changes):
            do {
                let command = try save(changes)
                let values = try read()
                let undo = command + (note.map { "  " + $0 } ?? "")
                return .events([.saved(values.inForce, layers: values.layers, undo: undo)])
            } catch {
                return .failed(.refused(error.asLine))
            }
        case .edit(let key, let value):
            do {
                let edited = try context.edited(value, key, on: terminal) { value in
                    var form = form
                    let value = form.control(key)?.setting.rule.adapted(value) ?? value
                    guard case .refused(let reason) = form.set(value, for: key) else { return value }
                    throw CommandFailure(.invalidValue, "\(key.onOneLine): \(reason)")
                }
                return .redrawn([.edited(edited)])
            } catch {
                return .redrawn([.refused(error.asLine)])
            }
        }
    }
}
