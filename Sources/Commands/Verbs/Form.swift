internal import Platform
internal import Preferences
internal import PropertyLists
internal import SchemaTools
internal import Screens
internal import SettingsSchema

extension Verb {
    package static let form = Verb(
        "form", .new, "show and change the settings of a domain, schema, script or bundle",
        details: [
            "The domain's schema determines the settings. A schema, a script or a settings bundle of iOS is named by its path; a bundle requires --domain. On a terminal the form fills the screen: arrow keys select a setting, Enter edits it, x removes the user's value, u undoes a change, ^S saves, q quits, and ? lists all keys. Changes by other processes are shown at once.",
            "With --plain, without a terminal, or if TERM is dumb, the form asks one question per line. An empty answer keeps the current value, ? explains the setting, :default removes the user's value, :empty is the empty text or list, :back returns to the previous question, :find WORDS lists settings by a search, :go N goes to one of them, :changed lists the changes, :save saves and ends, and :quit ends without saving. A backslash precedes an answer that itself begins with a colon or a question mark.",
            "All changes are shown and saved in one step. If the form is left without saving changes, or its input ends early, the exit status is 8.",
        ],
        options: [.plain, .formSchema, .bundleDomain], forms: [[Operand("DOMAIN", .declaredDomain)]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout, .different]
    ) { invocation, context in
        let named = try SchemaFile.ofOperand(invocation, context)?.schema()
        let terminal = invocation.has(.plain) ? nil : context.fullScreen
        let captured = context.capturingErrors()
        let quiet = terminal == nil ? context : captured.context
        let access = try StoreAccess(invocation, quiet)
        let domain =
            try named.map { try access.domain(DomainName($0.domain)) }
            ?? StoreAccess.ofDomain(invocation, quiet).domain
        try access.checkSecrecy(of: domain, "the form is not shown")
        // The schema masks what it declares as sensitive, so it has to declare what another one does.
        let schema = try (named ?? Verb.schema(of: domain, access, invocation)).concealing(access.secrecy(domain))
        let stored = try access.storedLayers(domain)
        let settings = StoredSettings(schema: schema, domain: domain, access: access)
        try Verb.checkVersion(settings, stored)
        // A form stores values for all processes, so the variables of this one are ignored.
        let layers = access.layers(domain, stored: stored, EffectiveSchema(schema, program: .init(environment: [:])))
        var form = Form(
            schema, values: layers.shownValues(.none), layers: layers.shownValuesInLayers(), forced: layers.forcedKeys)
        form.mirrorConflicts = try access.openConflicts(of: domain, at: form.controls)
        if let terminal {
            let folders = try FolderWatches(access, domain) { terminal.wake() }
            let actions = FormActions(
                context: context, errors: captured.errors, form: form,
                save: { changes in
                    let lines = try settings.save(changes).map { layer in
                        let spelling = access.spelling(domain.word, in: layer)
                        return ShellWord.visibleLine(spelling.words([Verb.undo.name]))
                    }
                    return lines.joined(separator: "; ")
                },
                read: {
                    for (_, file) in try access.files(domain) { folders.watchPlaces(of: file) }
                    let stored = try access.storedLayers(domain)
                    let layers = access.layers(
                        domain, stored: stored, EffectiveSchema(schema, program: .init(environment: [:])))
                    return (
                        layers.shownValues(.none), layers.shownValuesInLayers(),
                        try access.openConflicts(of: domain, at: form.controls)
                    )
                },
                earlier: { try access.earlierValues(of: $0, in: domain) })
            let (keymap, problem) = access.keymap
            var session = ScreenSession(FormScreen(form, keymap), actions, on: terminal, context)
            let kept = KeptEdits(of: domain, schema, access)
            let offered = kept?.offered(to: form).map { changes, time in
                FormScreen.Event.offered(changes, heading: time.occasion(at: context.clock.wall))
            }
            let end = try session.run(
                actions.changes() + [problem.map { .noted($0) }, offered].compactMap(\.self))
            // The screen is gone, and with it the hint.
            if let text = session.content.saved { try context.after("saved the settings") { try context.say(text) } }
            switch end {
            case .interrupted(let signal):
                kept?.keep(session.content.form)
                terminal.end(with: signal)
            case .lost:
                kept?.keep(session.content.form)
                return .different
            case .finished(let isComplete):
                if !session.content.hasOffer { kept?.forget() }
                return isComplete ? .done : .different
            }
        }
        var filling = FormSession(form, context) { _ = try settings.save($0) }
        let isFilled = try filling.run()
        context.dialogue.endIfInterrupted()
        return isFilled ? .done : .different
    }

    /// Returns the schema given by `--schema`, or the installed one.
    private static func schema(
        of domain: AddressedDomain, _ access: StoreAccess, _ invocation: Invocation
    ) throws -> Schema {
        if let word = invocation[.schema] {
            let schema = try SchemaFile(word, domain: domain.name?.text, access.context).schema()
            guard domain.name == nil || schema.domain == domain.name?.text else {
                throw CommandFailure(
                    .usage, "\(word.onOneLine) is the schema of \(schema.domain.onOneLine), not of \(domain.word)")
            }
            return schema
        }
        return try access.requiredSchema(of: domain, hint: "; --schema names a file")
    }

    /// Throws if the stored settings are not of the schema's version, since the form would show and overwrite them
    /// unmigrated.
    private static func checkVersion(_ settings: StoredSettings, _ stored: [LayerSource]) throws {
        let (schema, domain) = (settings.schema, settings.domain)
        if let newer = schema.newerVersion(in: stored) { throw CommandFailure(.invalidValue, "\(newer)") }
        for found in stored where found.layer.isOfUser {
            guard schema.needsMigration(found.values) else { continue }
            throw CommandFailure(
                .invalidValue,
                "\(domain.word.onOneLine) holds settings of version \(schema.storedVersion(of: found.values)); run prefs schema migrate \(domain.word.onOneLine) to migrate them to version \(schema.version)"
            )
        }
    }
}

extension StoreAccess {
    /// Returns the values that a setting had in the domain's file, newest first.
    fileprivate func earlierValues(
        of control: Form.Control, in domain: AddressedDomain
    ) throws -> [FormScreen.Earlier] {
        guard let path = control.setting.storedPaths.first else { return [] }
        let now = context.clock.wall
        return try HistoryListing(history(of: domain)).changes(of: path).map { entry in
            FormScreen.Earlier(
                heading: entry.version.occasion(at: now),
                value: entry.state.flatMap { PropertyList.dictionary($0.values)[path] })
        }
    }
}

extension Option {
    fileprivate static let plain = Option("--plain", "ask one question per line instead of filling the screen")
    fileprivate static let formSchema = Option(
        "--schema", Argument("FILE", .file), "the schema to use instead of the installed one")
}

extension LayerStack {
    /// The keys whose values the administrator forces.
    fileprivate var forcedKeys: Set<Name> {
        let keys = schema?.declarations.keys.map(\.self) ?? []
        return Set(keys.filter { explanation(of: $0.text).answers.first?.origin.layer == .forced })
    }
}

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
                    try context.after("saved the settings") {
                        try context.say("Saved \(counted(changes.count, "setting")).")
                    }
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
    /// The values in force, those in all layers, and the open conflicts of mirrors.
    typealias Values = (
        inForce: [Name: Schema.ValueInForce], layers: [Name: [Schema.ValueInForce]], conflicts: [Name: [String]]
    )

    let context: CommandContext
    let errors: CapturedErrors
    /// The form as it was at first, which has the rules for values.
    let form: Form
    /// Saves changes, and returns the command line that undoes them.
    let save: (Form.Changes) throws -> String
    let read: () throws -> Values
    /// Returns the values that a setting had, newest first.
    let earlier: (Form.Control) throws -> [FormScreen.Earlier]

    /// The stored values; none if they cannot be read now, as while an administrator replaces a file.
    func changes() -> [FormScreen.Event] {
        guard let values = try? read() else { return [] }
        return [.stored(values.inForce, layers: values.layers), .mirrorConflicts(values.conflicts)]
            + (note.map { [.noted($0)] } ?? [])
    }

    /// The last note of the store since the last call.
    private var note: String? { errors.takeLines().last?.onOneLine }

    func perform(
        _ effect: FormScreen.Effect, on terminal: any ScreenTerminal
    ) throws -> ScreenStep<FormScreen.Event> {
        switch effect {
        case .finish(let isComplete): return .finished(isComplete: isComplete)
        case .complete(let text): return .events([.completed(context.paths(beginningWith: text))])
        case .history(let key):
            do {
                return .events([.history(key: key, try form.control(key).map(earlier) ?? [])])
            } catch {
                return .events([.refused(error.asLine)])
            }
        case .save(let changes):
            do {
                let command = try save(changes)
                let values = try context.after("saved the settings", read)
                let undo = command + (note.map { "  " + $0 } ?? "")
                return .events([
                    .saved(values.inForce, layers: values.layers, undo: undo), .mirrorConflicts(values.conflicts),
                ])
            } catch {
                return .failed(.refused(error.asLine))
            }
        case .edit(let key, let value):
            do {
                let edited = try context.edited(value, key, on: terminal) { value in
                    var form = form
                    let value = form.control(key)?.setting.rule.adapted(value) ?? value
                    guard case .refused(let reason) = form.set(value, for: key) else { return value }
                    let sentence = reason.hasSuffix(".") ? String(reason.dropLast()) : reason
                    throw CommandFailure(.invalidValue, "\(key.onOneLine): \(sentence)")
                }
                return .redrawn([.edited(edited)])
            } catch {
                return .redrawn([.refused(error.asLine)])
            }
        }
    }
}
