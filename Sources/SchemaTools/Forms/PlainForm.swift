internal import PropertyLists
internal import SettingsSchema

/// A form as a series of questions on a terminal. It returns what to write and to ask, and handles the answers.
///
/// An empty answer keeps the current value. `?` explains the setting, `:default` restores the default, `:empty` is an
/// empty text or list, `:back` returns to the previous question, `:find WORDS` lists settings, `:go N` goes to one of
/// them, `:changed` lists the changes, `:save` saves and ends, `:quit` ends without saving. A backslash precedes an
/// answer that itself begins with a colon or a question mark.
package struct PlainForm: Sendable {
    package enum Event: Hashable, Sendable {
        case line(String)
        case endOfInput
        case interrupted
    }

    package enum Action: Hashable, Sendable {
        case write(String)
        /// Writes a prompt and reads a line. The input of a secret is not echoed.
        case ask(prompt: String, isSecret: Bool)
        case save(Form.Changes)
        /// Ends the dialog, with whether the form was completed.
        case finish(isComplete: Bool)
    }

    package private(set) var form: Form
    private let controls: [Form.Control]
    /// The index of the current control.
    private var at = 0
    /// The group title that was written last.
    private var heading: String?
    private var isOver = false

    static let commands = [":default", ":empty", ":back", ":find", ":go", ":changed", ":save", ":quit"]
    private static let introduction =
        "An empty answer keeps the value in brackets; ? shows an explanation.\n"
        + ":back returns to the previous question, :find WORDS lists settings, :go N goes\n"
        + "to one of them, :changed lists the changes, :save saves and ends, and :quit\n"
        + "ends without saving.\n\n"

    package init(_ form: Form) {
        self.form = form
        controls = form.controls.filter { !$0.isForced }
    }

    /// Returns the actions for the first question.
    package mutating func begin() -> [Action] {
        controls.isEmpty
            ? end() : [.write(Self.introduction)] + ask()
    }

    package mutating func handle(_ event: Event) -> [Action] {
        guard !isOver else { return [] }
        switch event {
        case .endOfInput, .interrupted: return stop(saying: event == .endOfInput ? "\n" : "\nInterrupted. ")
        case .line(let line): return take(line)
        }
    }

    private mutating func take(_ line: String) -> [Action] {
        let control = controls[at]
        switch line {
        case "": return keep(control)
        case "?": return [.write(explanation(of: control))] + ask()
        case ":default": return proceed(form.reset(control.key))
        case ":empty": return proceed(form.answer("", to: control.key))
        case ":back":
            at = max(0, at - 1)
            return ask()
        case ":save": return end()
        case ":quit": return stop(saying: "", isComplete: form.changes.isEmpty)
        case ":changed": return [.write(changes.isEmpty ? "  Nothing is changed.\n" : changes)] + ask()
        default: break
        }
        let words = line.split(separator: " ", maxSplits: 1)
        switch words.first {
        case ":find": return find(words.count > 1 ? String(words[1]) : "")
        case ":go": return go(to: words.count > 1 ? String(words[1]) : "")
        default: break
        }
        if line.hasPrefix(":") {
            let nearest = Self.commands.nearest(to: line)
            let known = nearest == nil ? "; the commands are \(listed(Self.commands))" : hint(nearest)
            return [.write("  unknown command \(shortened(line))\(known)\n")] + ask()
        }
        let isEscaped = line.hasPrefix("\\:") || line.hasPrefix("\\?") || line.hasPrefix("\\\\")
        return proceed(form.answer(isEscaped ? String(line.dropFirst()) : line, to: control.key))
    }

    /// Lists the settings that match a text, each with its number.
    private mutating func find(_ text: String) -> [Action] {
        let query = SearchQuery(text)
        let rows = form.matches(query, in: controls).map { index in
            let control = controls[index]
            let value = form.shownValue(of: control.key).map { " [\(shortened($0, to: 60))]" } ?? ""
            return "  \(index + 1)  \(control.title)\(value)".printable + "\n"
        }
        let none = "  \(query.unknownText ?? "Nothing matches.")".printable + "\n"
        return [.write(rows.isEmpty ? none : rows.joined() + "  :go N goes to one of these settings.\n")] + ask()
    }

    private mutating func go(to text: String) -> [Action] {
        guard let number = Int(text.filter { $0 != " " }), 1...controls.count ~= number else {
            let reason = "\(shortened(text)) is not the number of a setting, from 1 to \(controls.count)"
            return [.write("  \(reason.printable)\n")] + ask()
        }
        at = number - 1
        return ask()
    }

    /// The changes, as lines.
    private var changes: String {
        form.review.map {
            "  \($0.control.title): \(shortened($0.old)) → \(shortened($0.new, to: 200))".printable + "\n"
        }.joined()
    }

    /// Keeps the current value. A required one that is missing may come from elsewhere, so it does not stop the form.
    private mutating func keep(_ control: Form.Control) -> [Action] {
        let isMissing = form.value(of: control.key) == nil && control.isRequired
        return (isMissing ? [.write("  A value is required; it stays unset.\n")] : []) + advance()
    }

    private mutating func proceed(_ answer: Form.Answer) -> [Action] {
        switch answer {
        case .accepted: advance()
        case .refused(let reason): [.write("  \(reason)\n")] + ask()
        }
    }

    private mutating func advance() -> [Action] {
        at += 1
        return at < controls.count ? ask() : end()
    }

    /// Saves, unless the answers contradict each other. In that case the first setting concerned is asked for again.
    private mutating func end() -> [Action] {
        let obstacles = form.obstacles
        guard let first = obstacles.first else {
            isOver = true
            let warnings = form.problems.map { Action.write("Warning: \(form.sentence(for: $0))\n".printable) }
            return
                (form.changes.isEmpty
                ? [.write("Nothing was changed.\n")]
                : [.write("\nChanges:\n" + changes), .save(form.changes)]) + warnings
                + [.finish(isComplete: true)]
        }
        let texts = obstacles.map { Action.write("  \(form.sentence(for: $0))\n") }
        guard let index = controls.firstIndex(where: { Name($0.key) == first.path.components.first?.name }) else {
            return texts + stop(saying: "")
        }
        at = index
        return texts + ask()
    }

    private mutating func stop(saying text: String, isComplete: Bool = false) -> [Action] {
        isOver = true
        return [.write("\(text)Nothing was saved.\n"), .finish(isComplete: isComplete)]
    }

    // MARK: Questions

    private mutating func ask() -> [Action] {
        let control = controls[at]
        var actions: [Action] = []
        let group = control.setting.group ?? form.schema.title ?? form.schema.domain
        if heading != group {
            actions.append(.write("\(heading == nil ? "" : "\n")\(group.printable)\n"))
            heading = group
        }
        for line in form.mirrorConflicts[Name(control.key)] ?? [] { actions.append(.write("  \(line)\n".printable)) }
        if case .choice(let choices) = control.kind {
            let rows = choices.enumerated().map { index, choice in
                let number = control.numbersChoices ? "\(index + 1)) " : ""
                return "  \(number)\(control.shownText(of: choice).printable)\n"
            }
            actions.append(.write(rows.joined()))
        }
        return actions + [.ask(prompt: prompt(for: control).printable, isSecret: control.kind == .secret)]
    }

    private func prompt(for control: Form.Control) -> String {
        let rule = control.expectation.map { " (\($0))" } ?? ""
        guard let value = form.value(of: control.key), let shown = form.shownValue(of: control.key) else {
            return "\(control.title)\(rule)\(control.isRequired ? " [required]" : ""): "
        }
        return
            "\(control.title)\(rule) [\(shortened(shown, to: 60)), \(value.layer == .default ? "" : "from ")\(value.layer)]: "
    }

    private func explanation(of control: Form.Control) -> String {
        var lines = [control.setting.explanation.isEmpty ? control.key : control.setting.explanation]
        if let shown = control.setting.shownDefault { lines.append("The default is \(shown).") }
        if control.keepsEntries { lines.append("Entries that an answer leaves out are kept.") }
        lines.append(
            "An empty answer keeps the current value. Other answers: :default for the default, :empty for an empty text or list, :back for the previous question, :find WORDS to list settings, :go N to go to one of them, :changed for the changes, :save to save and end, :quit to end without saving."
        )
        return lines.flatMap { $0.wrapped(to: 77) }.map { "  \($0)\n" }.joined().printable
    }
}
