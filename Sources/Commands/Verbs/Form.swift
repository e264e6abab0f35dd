internal import Platform
internal import Preferences
internal import PropertyLists
internal import SettingsSchema

extension Verb {
    package static let form = Verb(
        "form", .new, "ask for the settings of a domain or script, one by one",
        details: [
            "The domain's schema determines the questions. An empty answer keeps the current value, ? explains the setting, :factory removes the user's value, :empty is the empty text or list, :back returns to the previous question, :save saves and ends, and :quit ends without saving. A backslash precedes an answer that itself begins with a colon or a question mark.",
            "All answers are saved in one step at the end. If the input ends early, or the form is left, nothing is saved and the exit status is 8.",
        ],
        options: [Option("--plain", "one question per line; currently the only mode"), .schema], forms: [[.domain]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout, .different]
    ) { invocation, context in
        let script = try SchemaFile.ofScript(invocation[operand: Operand.domain.name] ?? "", context)?.schema()
        let access = try StoreAccess(invocation, context)
        let domain =
            try script.map { try access.domain(DomainName($0.domain)) }
            ?? StoreAccess.ofDomain(invocation, context).domain
        let schema = try script ?? Verb.schema(of: domain, access, invocation)
        let stored = try access.storedLayers(domain)
        let settings = StoredSettings(schema: schema, domain: domain, access: access)
        try Verb.checkVersion(settings, stored)
        // A form stores values for all processes, whatever the variables of this one.
        let layers = access.layers(domain, stored: stored, EffectiveSchema(schema, program: .init(environment: [:])))
        let form = Form(schema, values: layers.shownValues(), forced: layers.forcedKeys)
        var filling = FormSession(form, context) { try settings.save($0) }
        let isFilled = try filling.run()
        context.dialogue.endIfInterrupted()
        return isFilled ? .done : .different
    }

    /// Returns the schema given by `--schema`, or the installed one.
    private static func schema(
        of domain: AddressedDomain, _ access: StoreAccess, _ invocation: Invocation
    ) throws -> Schema {
        if let word = invocation[.schema] {
            let schema = try SchemaFile(word, access.context).schema()
            guard domain.name == nil || schema.domain == domain.name?.text else {
                throw CommandFailure(
                    .usage, "\(word.onOneLine) is the schema of \(schema.domain.onOneLine), not of \(domain.word)")
            }
            return schema
        }
        return try access.installedSchema(mustBeThereFor: domain, hint: "; --schema names a file")
    }

    /// Throws if the stored settings are not of the schema's version, since the form would show and overwrite them
    /// unmigrated.
    private static func checkVersion(_ settings: StoredSettings, _ stored: [LayerSource]) throws {
        let (schema, domain) = (settings.schema, settings.domain)
        if let newer = settings.newerVersion(stored) { throw CommandFailure(.invalidValue, "\(newer)") }
        for found in stored where found.layer.isOfUser {
            guard schema.needsMigration(found.values) else { continue }
            throw CommandFailure(
                .invalidValue,
                "\(domain.word.onOneLine) holds settings of version \(schema.storedVersion(of: found.values)); prefs schema migrate \(domain.word.onOneLine) makes them those of version \(schema.version)"
            )
        }
    }
}

extension LayerStack {
    /// The keys whose values the administrator forces.
    fileprivate var forcedKeys: Set<String> {
        let keys = schema?.declarations.keys.map(\.text) ?? []
        return Set(keys.filter { explanation(of: $0).answers.first?.origin.layer == .forced })
    }
}
