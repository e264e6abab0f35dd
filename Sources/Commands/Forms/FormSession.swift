internal import Platform
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
