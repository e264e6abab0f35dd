internal import PropertyLists
internal import Queries
import SchemaTools
internal import SettingsSchema

/// The longest text that is used as a pattern or arguments. Slow inputs are not the goal of the search.
private let mostBytes = 4096

extension Target {
    /// A schema is read, or rejected with errors of one line each. A schema that is read without an error is written
    /// and read back unchanged.
    func checkSchema(_ bytes: UnsafeBufferPointer<UInt8>) throws(BrokenProperty) {
        guard bytes.count <= 1 << 16 else { return }
        let (schema, mistakes) = Schema.read(bytes)
        for mistake in mistakes {
            guard !mistake.description.contains("\n") else { throw BrokenProperty(self, "an error of several lines") }
        }
        if let (imported, _) = Schema.read(jsonSchema: Array(bytes), domain: "d") {
            let mistakes = Schema.read(imported.propertyList).mistakes
            guard mistakes.isEmpty else {
                throw BrokenProperty(self, "an invalid schema of a JSON Schema: \(mistakes)")
            }
        }
        guard let schema, mistakes.isEmpty else { return }
        guard let again = Schema.read(schema.propertyList).schema, again == schema else {
            throw BrokenProperty(self, "a schema that is written is another one")
        }
        // All output that is derived from the schema is made without a trap.
        let form = Form(schema)
        guard form.controls.count <= schema.settings.count + schema.commands.flatMap(\.settings).count else {
            throw BrokenProperty(self, "a form with more controls than settings")
        }
        let faces = [
            schema.helpText(program: "p", width: 60), schema.table(), schema.markdown(), schema.jsonSchemaText(),
            schema.manualPage(program: "p", date: "January 31, 2026"), schema.completions(for: .bash, program: "p"),
            schema.completions(for: .zsh, program: "p"), schema.completions(for: .fish, program: "p"),
        ]
        guard !faces.contains(where: \.isEmpty) else { throw BrokenProperty(self, "a face without a line") }
    }

    /// The first line as a pattern for the rest; all lines as arguments; all of it as a script.
    func checkSettings(_ bytes: UnsafeBufferPointer<UInt8>) throws(BrokenProperty) {
        guard bytes.count <= mostBytes else { return }
        let text = String(decoding: bytes, as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let pattern = Pattern(lines[0])
        guard pattern.stateCount <= Pattern.maximumStateCount else {
            throw BrokenProperty(self, "a pattern of too many states")
        }
        if pattern.stateCount <= 500 { _ = pattern.matches(lines.dropFirst().joined()) }
        if case .mistakes(let mistakes) = sample.arguments(lines), mistakes.isEmpty {
            throw BrokenProperty(self, "arguments that are rejected without an error")
        }
        if case .values(let arguments) = sample.arguments(lines) {
            guard sample.problems(in: arguments.values).allSatisfy({ $0.reason == .missing }) else {
                throw BrokenProperty(self, "arguments that were taken and break a rule")
            }
        }
        _ = try? ScriptReference(script: text)
    }

    /// A schema with settings of every kind.
    private var sample: Schema {
        Schema("com.example.fuzz") {
            Setting("keep", default: 7).range(1...365).flag("keep", "k")
            Setting("every", default: 60).kind(.duration).flag("every", "e")
            Setting("color", default: true).flag("color", "c").negatable()
            Setting("verbose", default: 0).flag("verbose", "v").repeats()
            Setting("exclude", default: [""]).flag("exclude", "x").repeats().pattern("[a-z*]+").count(...3)
            Setting("server", default: ["host": "a"]).flag("server")
            Setting("token", default: "").sensitive().flag("token")
            Setting("numbers", default: [0.5]).positional(1)
        }
    }
}
