internal import Platform
internal import Preferences
internal import PropertyLists
internal import Screens
internal import SettingsSchema

extension Verb {
    package static let explain = Verb(
        "explain", .new, "show where a value comes from: every layer that has it, highest priority first",
        details: [
            "An invalid stored value is skipped, and the reason is shown. An invalid value that is forced or comes from a variable is an error: it has an exclamation mark, no layer wins, and a program or script that reads its command line ends with status 2.",
            "An asterisk marks the value in force. Each line has the layer, the value in lossless JSON, and the file.",
            "With --effective, the variables of the environment are a layer, as for a program.",
            "Without KEY the keys of the domain's own layers are shown; --global adds those of the global domain.",
            "An open conflict of a mirror is a line of its own after the layers of its key.",
            "With --format the output is an array with a dictionary for each layer, or, without KEY, a dictionary of such arrays.",
        ],
        options: [.effective, .globalKeys, .format(FormatName.ofValues)], forms: [[.domain, .anyDeclaredKey]],
        statuses: [.notFound, .invalidValue, .damaged, .systemFailed], scope: .allHosts
    ) { invocation, context in
        let (access, domain) = try StoreAccess.ofDomain(invocation, context)
        let key = try invocation.key
        let explained = try access.explanations(domain, key, withGlobal: invocation.has(.globalKeys))
        guard explained.contains(where: \.isPresent) else {
            throw try access.failure(ofMissing: key, in: domain)
        }
        let masking = access.masking(domain)
        if invocation.format == nil {
            try context.print(lines: explained.flatMap { $0.text(masking) })
            return .done
        }
        let values = explained.map {
            ($0.key.rest.components.isEmpty ? $0.key.key : $0.key.spelling, $0.value(masking))
        }
        let value = key == nil ? .dictionary(PropertyList.Dictionary(values)) : values.first?.1 ?? .array([])
        try context.print(value, Rendering(invocation), under: key)
        return .done
    }
}

/// The output of `explain` for one key.
///
///     theme
///       * user  /home/ada/.config/prefs/com.example.app.plist  "dark"
///         site  /etc/xdg/prefs/com.example.app.plist           "light"
private struct Explained {
    let key: KeyArgument
    let resolution: Resolution
    /// The path of the entry within the values of the layers.
    let rest: EntryPath
    /// The line of the entry in each layer that is a file of the program.
    let lines: [Int?]
    /// The open conflicts of mirrors at, above or below the entry.
    let conflicts: [ConflictAtKey]

    /// Whether a layer has the entry, or an invalid value in its place.
    var isPresent: Bool { resolution.answers.contains { $0.isError || $0.shown[rest] != nil } }

    /// The longest value whose file is aligned with others.
    private static let mostAligned = 40

    func text(_ masking: Masking) -> [StyledText] {
        let names = resolution.answers.map(\.origin.layer.name)
        let files = zip(resolution.answers, lines).map { answer, line in
            (answer.origin.file?.onOneLine ?? "-") + (line.map { ":\($0)" } ?? "")
        }
        let values = resolution.answers.map { answer in
            answer.shown[rest].map { masking.text(of: $0, at: key.path) } ?? "no such entry"
        }
        let faults = resolution.answers.map { answer in
            answer.fault.map { "  \(answer.isError ? "error" : "ignored"): \($0.onOneLine)" } ?? ""
        }
        let lengths = zip(values, faults).map { $0.columns + $1.columns }
        // A long value does not move the files of the others out of sight.
        let widths = (names.map(\.columns).max() ?? 0, min(lengths.max() ?? 0, Self.mostAligned))
        var text = [StyledText(key.spelling.onOneLine, .key)]
        for (index, answer) in resolution.answers.enumerated() {
            let isInForce = resolution.isInForce(answer)
            let layer = answer.origin.layer
            // A default is not set by anyone.
            let set = isInForce && layer != .default ? Style.set : Style()
            var line = StyledText("  ")
            let mark = answer.isError ? "!" : isInForce ? "*" : " "
            line.append(
                "\(mark) \(names[index].padded(to: widths.0))",
                answer.isError ? .invalid : layer == .forced ? .forced : set)
            line.append("  ")
            line.append(values[index], set)
            line.append(faults[index], .invalid)
            line.append(String(repeating: " ", count: max(0, widths.1 - lengths[index])) + "  " + files[index])
            text.append(line)
        }
        for conflict in conflicts {
            var line = StyledText("  ")
            line.append("! conflict \(conflict.name)", .conflict)
            line.append(": \(conflict.text(masking)); \(conflict.advice)")
            text.append(line)
        }
        return text
    }

    func value(_ masking: Masking) -> PropertyList {
        .array(
            zip(resolution.answers, lines).map { answer, line in
                var entries: PropertyList.Dictionary = ["layer": .string(answer.origin.layer.name)]
                entries["file"] = answer.origin.file.map { .string($0) }
                entries["line"] = line.map { .integer(PropertyList.Integer($0)) }
                entries["value"] = answer.shown[rest].map { masking.hidden($0, at: key.path) }
                entries["inForce"] = .boolean(resolution.isInForce(answer))
                entries["fault"] = answer.fault.map { .string($0) }
                if answer.isError { entries["error"] = true }
                return .dictionary(entries)
            })
    }
}

extension Resolution {
    /// Whether a program uses the value. With an error, it uses none.
    fileprivate func isInForce(_ answer: Answer) -> Bool { error == nil && answer.layer == winner?.layer }
}

extension Resolution.Answer {
    fileprivate var shown: PropertyList { value ?? stored }
}

extension StoreAccess {
    /// Every key that a layer has, sorted, or the one that is asked for, with all layers that have it.
    ///
    /// - Parameter withGlobal: Whether to list keys that only layers of the global domain have.
    fileprivate func explanations(
        _ domain: AddressedDomain, _ key: KeyArgument?, withGlobal: Bool
    ) throws -> [Explained] {
        let layers = try layers(domain)
        let keys: [KeyArgument]
        if let key {
            keys = key.key.isHidden ? [] : [key]
        } else {
            let listed = layers.layers.filter {
                withGlobal || domain.name?.isGlobal == true || !$0.origin.layer.isGlobal
            }
            let names = Set(listed.flatMap { $0.values.keys.map { EntryPath.Component($0) } })
            keys = try names.sorted { $0.text.isBefore($1.text) }.flatMap { name in
                try layers.paths(under: EntryPath([name])).map { path throws(KeyFailure) in try KeyArgument(path) }
            }
        }
        let conflicts = try openConflicts(of: domain)
        let found = keys.map { ($0, layers.explanation(at: $0.path)) }
        var lines = layers.lines(
            of: found.flatMap { key, found in found.resolution.answers.map { ($0, key.path, found.rest) } }, on: system
        )[...]
        return try found.map { key, found in
            let (resolution, rest) = found
            for case let value? in resolution.answers.map({ $0.shown[rest] }) {
                try checkExact(value, at: key.path, in: domain)
            }
            let own = conflicts.filter { $0.concerns(key.path) }
            defer { lines.removeFirst(resolution.answers.count) }
            return Explained(
                key: key, resolution: resolution, rest: rest, lines: Array(lines.prefix(resolution.answers.count)),
                conflicts: own)
        }
    }
}
