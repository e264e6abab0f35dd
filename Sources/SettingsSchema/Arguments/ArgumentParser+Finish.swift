internal import PropertyLists

/// The last steps of parsing: assigning operands to settings, reading variables, and checking rules.
extension ArgumentParser {
    mutating func finish() {
        if !hasUnknownCommand {
            while let defaultCommand = scope.defaultCommand,
                scope.commands.contains(where: { $0.name.hasSameBytes(as: defaultCommand) })
            { choose(defaultCommand) }
            let commands = scope.commands.filter { !$0.isHidden }
            if !scope.commands.isEmpty { return report(.missingCommand(commands.map(\.name)), at: "") }
            checkOperandCount()
            placeOperands()
        }
        readVariables()
        checkValues()
        if !hasUnknownCommand { checkRelations() }
    }

    /// Checks a command line that only stores settings. It requires no values.
    mutating func finishStoring() {
        for operand in operands { report(.unexpectedOperand, at: operand.text) }
        for setting in settings where !result.saves {
            guard let place = given[setting.key]?.place else { continue }
            report(.unusable("has no effect beside --reset without --save"), at: place)
        }
        let saved = schema.valuesToSave(result.values, of: result.command)
        if result.saves, saved.isEmpty, result.secrets.isEmpty, mistakes.isEmpty {
            report(.nothingToSave, at: "--\(schema.name(of: .save, in: result.command))")
        }
        checkValues()
        checkRelations(isComplete: false)
        guard result.saves else { return }
        for setting in settings where saved[setting.storedKey] == nil {
            let isSecret = result.secrets.contains { $0.key.hasSameBytes(as: setting.key) }
            if !isSecret, let place = given[setting.key]?.place { result.notes.append(.notSaved(place)) }
        }
    }

    // MARK: Operands

    private mutating func checkOperandCount() {
        guard let range = schema.operandCount(of: result.command) else { return }
        if operands.count < range.lowerBound { report(.missingOperands(range.lowerBound), at: "") }
        guard settings.positionals.isEmpty, !settings.contains(where: \.takesRest) else { return }
        for operand in operands.dropFirst(range.upperBound) { report(.unexpectedOperand, at: operand.text) }
    }

    private mutating func placeOperands() {
        let all = settings.positionals
        let places = all.filter { given[$0.key] == nil }
        // Unknown flags take no place.
        var words = operands.filter { !$0.isFlag }.map(\.text)[...]
        for (setting, count) in zip(places, shares(of: places, in: words.count)) where count > 0 {
            let texts = Array(words.prefix(count))
            words = words.dropFirst(count)
            if setting.rule.type == .array {
                collect(texts, into: setting)
            } else {
                set(setting, to: texts[0], shown: texts[0], from: setting.operandName)
            }
        }
        var taken = operands.count { !$0.isFlag } - words.count
        var rest: [String] = []
        for operand in operands {
            if !operand.isFlag, taken > 0 { taken -= 1 } else { rest.append(operand.text) }
        }
        if let taker = settings.first(where: \.takesRest) {
            result.operands = Array(rest)
            if !rest.isEmpty { collect(Array(rest), into: taker) }
        } else if all.isEmpty {
            result.operands = rest
        } else if let most = schema.operandCount(of: result.command)?.upperBound {
            result.operands = rest
            for operand in operands.dropFirst(most) { report(.unexpectedOperand, at: operand.text) }
        } else {
            for operand in rest { report(.unexpectedOperand, at: operand) }
        }
    }

    /// Returns the number of operands for each place: first those required, then optional ones from left to right, then
    /// the rest for the array.
    private func shares(of places: [SettingDeclaration], in count: Int) -> [Int] {
        var shares = places.map { place in
            place.rule.type == .array
                ? max(place.rule.minimumCount ?? 0, place.isRequired ? 1 : 0) : place.isRequired ? 1 : 0
        }
        var left = count
        for index in shares.indices {
            shares[index] = min(shares[index], left)
            left -= shares[index]
        }
        for index in shares.indices where left > 0 && shares[index] == 0 && places[index].rule.type != .array {
            shares[index] = 1
            left -= 1
        }
        for index in shares.indices where left > 0 && places[index].rule.type == .array {
            let more = min(left, max(0, (places[index].rule.maximumCount ?? .max) - shares[index]))
            shares[index] += more
            left -= more
        }
        return shares
    }

    private mutating func collect(_ texts: [String], into setting: SettingDeclaration) {
        let rule = setting.rule.element ?? ValueRule()
        var elements: [PropertyList] = []
        for text in texts {
            do throws(Schema.Problem.Reason) {
                elements.append(try rule.value(ofText: text, now: context.now))
            } catch {
                report(.value(text, error), at: setting.operandName)
            }
        }
        // If no element can be read, the whole array is not checked, as for a flag.
        if !elements.isEmpty || texts.isEmpty { result.values[setting.key] = .array(elements) }
        given[setting.key] = (setting.operandName, nil)
        note(setting, from: setting.operandName)
    }

    // MARK: Variables

    private mutating func readVariables() {
        for setting in settings where given[setting.key] == nil {
            guard let (name, text) = setting.variable(in: { context.variables[$0] }) else { continue }
            let shown = setting.hasSecrets ? mask : text
            guard !context.invalidVariables.contains(name) else {
                report(.notText, at: name)
                continue
            }
            do throws(Schema.Problem.Reason) {
                let value = try setting.rule.value(ofText: text, now: context.now)
                for problem in setting.rule.problems(with: value, isSecret: setting.isSensitive) {
                    let shown = problem.path.components.isEmpty ? shown : problem.value ?? shown
                    report(.value(shown, problem.reason), at: name)
                }
                result.environment[setting.key] = value
            } catch {
                report(.value(shown, error), at: name)
            }
        }
    }

    // MARK: Rules

    private mutating func checkValues() {
        for setting in settings {
            guard let value = result.values[setting.key], let source = given[setting.key] else {
                continue
            }
            for problem in setting.rule.problems(with: value, isSecret: setting.isSensitive) {
                let isWhole = problem.path.components.isEmpty
                // The elements of an array or a map can come from several arguments.
                let whole =
                    setting.rule.type == .array || setting.isMap ? source.text : source.text ?? problem.value ?? ""
                guard let text = isWhole ? whole : problem.value else {
                    report(.relation(problem.reason), at: isWhole ? source.place : "\(source.place) \(problem.path)")
                    continue
                }
                report(.value(text, problem.reason), at: source.place)
            }
        }
    }

    /// Decides which of the values that exclude each other are used, without reporting errors. Help shows them.
    mutating func resolve() {
        let former = mistakes
        readVariables()
        _ = applyRelations()
        mistakes = former
    }

    /// - Parameter isComplete: Whether settings that need a value have it, or else are errors.
    private mutating func checkRelations(isComplete: Bool = true) {
        let relations = applyRelations()
        for displaced in relations?.displaced ?? [] where displaced.layer?.kind == .environment {
            guard let setting = settings.declaration(of: displaced.key),
                let variable = setting.variable(in: { context.variables[$0] })?.name
            else { continue }
            result.notes.append(.displaced(variable, by: writtenName(of: displaced.other)))
        }
        // A value that was rejected is not reported as missing too.
        for problem in relations?.problems ?? [] {
            guard let setting = settings.declaration(of: problem.key) else { continue }
            let isDisplaced = result.environment[setting.key] != nil && result.displaced[setting.key] != nil
            let isRefused = !isDisplaced && mistakes.contains { setting.environment.contains($0.place) }
            if problem.reason == .missing, isRefused { continue }
            if !isComplete, !isOfGivenValues(problem) { continue }
            if problem.isForced, case .conflict(let other) = problem.reason {
                report(.excludedByForced(writtenName(of: other), saves: result.saves), at: place(of: setting, problem))
            } else {
                report(.relation(written(problem.reason)), at: place(of: setting, problem))
            }
        }
        guard isComplete else { return }
        // Operands with a minimum count are treated as required.
        for setting in settings where setting.needsOperands && !hasValue(setting) {
            report(.relation(.missing), at: setting.writtenName)
        }
    }

    /// Whether the given values break the rule. The same command line can remove stored values, and missing values can
    /// be given later.
    private func isOfGivenValues(_ problem: Relations.Problem) -> Bool {
        switch problem.reason {
        case .missing, .requires: false
        case .group(_, let keys): keys.contains { given[$0] != nil }
        default: given[problem.key] != nil
        }
    }

    /// Applies the rules between settings to the values of all layers, and records which of them are not used.
    private mutating func applyRelations() -> Relations? {
        guard settings.haveRelations else { return nil }
        var arguments = Relations.Layer(.arguments)
        for setting in settings where given[setting.key] != nil {
            // A secret is not read yet, and a rejected value is not reported as missing too.
            arguments.values[setting.key] = result.values[setting.key] ?? .string("")
        }
        let stored = storedLayers
        let layers =
            stored.filter { $0.kind == .forced }
            + [arguments, Relations.Layer(.environment, "", result.environment)]
            + stored.filter { $0.kind != .forced }
        let relations = Relations(settings, in: layers)
        for displaced in relations.displaced {
            result.displaced[displaced.key] = .string(writtenName(of: displaced.other))
        }
        return relations
    }

    /// The stored layers with the values of the chosen command's settings.
    var storedLayers: [Relations.Layer] { context.stored(result) }

    private func hasValue(_ setting: SettingDeclaration) -> Bool {
        given[setting.key] != nil || result.environment[setting.key] != nil
            || storedLayers.contains { $0.values[setting.key] != nil }
    }

    /// The flag, the operand, the variable or the stored setting with the value that breaks a rule.
    private func place(of setting: SettingDeclaration, _ problem: Relations.Problem) -> String {
        switch problem.layer?.kind {
        case .arguments: given[setting.key]?.place ?? setting.writtenName
        case .environment: setting.variable(in: { context.variables[$0] })?.name ?? setting.writtenName
        case .forced, .stored: "\(setting.writtenName) in \(problem.layer?.name ?? "")"
        case nil: given[setting.key]?.place ?? setting.writtenName
        }
    }

    /// The flag, the operand or the variable that gives a key its value, or else the name of the setting.
    private func placeOfValue(_ key: String) -> String {
        guard let setting = settings.declaration(of: key) else { return key }
        let variable = { setting.variable(in: { context.variables[$0] })?.name }
        return given[key]?.place ?? (result.environment[key] == nil ? nil : variable()) ?? setting.writtenName
    }

    private func writtenName(of key: String) -> String { settings.declaration(of: key)?.writtenName ?? key }

    /// Replaces keys in the reason with their spelling on the command line.
    private func written(_ reason: Schema.Problem.Reason) -> Schema.Problem.Reason {
        switch reason {
        case .conflict(let key): .conflict(with: placeOfValue(key))
        case .requires(let key): .requires(writtenName(of: key))
        case .group(let number, let keys): .group(number, of: keys.map(writtenName))
        default: reason
        }
    }
}

extension SettingDeclaration {
    fileprivate var needsOperands: Bool {
        takesOperands && !isRequired && !hasDefault && rule.minimumCount ?? 0 > 0
    }

    /// The name of the operand in usage and messages.
    package var operandName: String { placeholder ?? key.uppercased() }

    /// The spelling of the setting on a command line, or else its key.
    package var writtenName: String {
        if takesOperands { return operandName }
        if let flag = allFlags.first { return "--\(flag)" }
        if let short = shorts.first { return "-\(short)" }
        if let flag = flagValues.first?.flag { return flag }
        return environment.first ?? "--set :\(key)=…"
    }

    /// The note that a value of the setting was given, and a forced value is used instead.
    package var noteOfForcedValue: String { "\(writtenName.shown): ignored, because the administrator forces a value" }
}
