internal import Platform
internal import Preferences
internal import PropertyLists
internal import SettingsSchema

extension Verb {
    package static let explain = Verb(
        "explain", .new, "show where a value comes from: every layer that has it, the highest first",
        details: [
            "A value that breaks the domain's schema does not count, and the reason stands behind it.",
            "The layer with the asterisk wins. Behind it stand the file and the value, in lossless JSON.",
            "With --format the answer is an array with a dictionary for each layer, or, without KEY, a dictionary of such arrays.",
        ],
        options: [.format(FormatName.ofValues), .sort, .losslessJSON], forms: [[.domain, .anyDeclaredKey]],
        statuses: [.notFound, .invalidValue, .damaged, .systemFailed]
    ) { invocation, surroundings in
        let (access, domain) = try StoreAccess.ofDomain(invocation, surroundings)
        let key = try invocation.key
        let explained = try access.answers(domain, key)
        guard explained.contains(where: { !$0.answers.isEmpty }) else {
            throw key.map { .noPair(domain, $0) } ?? CommandFailure.noDomain(domain)
        }
        let masking = access.masking(domain)
        if invocation.format == nil {
            let text = explained.map { ExplainedText.text(of: $0.answers, under: $0.key, masking) }.joined()
            try surroundings.terminal.write(text, to: .output)
            return .done
        }
        let values = explained.map { ($0.key.key, ExplainedText.value(of: $0.answers, under: $0.key, masking)) }
        let value = key == nil ? .dictionary(PropertyList.Dictionary(values)) : values.first?.1 ?? .array([])
        let rendering = Rendering(invocation, preset: .classic)
        try surroundings.terminal.write(rendering.bytes(of: value, under: key), to: .output)
        return .done
    }
}

/// The output of `explain` for one key.
///
///     theme
///       * user  /home/ada/.config/prefs/com.example.app.plist  "dark"
///         site  /etc/xdg/prefs/com.example.app.plist           "light"
private enum ExplainedText {
    static func text(of answers: [LayerAnswer], under key: KeyArgument, _ masking: Masking) -> String {
        let rows = answers.map { answer in
            (
                answer.isInForce ? "*" : " ", answer.origin.layer.name, answer.origin.file?.onOneLine ?? "-",
                (answer.value.map { masking.text(of: $0, at: key.path) } ?? "no such entry")
                    + (answer.fault.map { "  does not count: \($0.onOneLine)" } ?? "")
            )
        }
        let widths = (
            rows.map { $0.1.columns }.max() ?? 0, rows.map { $0.2.columns }.max() ?? 0
        )
        let lines = rows.map { mark, layer, file, value in
            "  \(mark) \(layer.padded(to: widths.0))  \(file.padded(to: widths.1))  \(value)\n"
        }
        return key.spelling.onOneLine + "\n" + lines.joined()
    }

    static func value(of answers: [LayerAnswer], under key: KeyArgument, _ masking: Masking) -> PropertyList {
        .array(
            answers.map { answer in
                var entries: PropertyList.Dictionary = ["layer": .string(answer.origin.layer.name)]
                entries["file"] = answer.origin.file.map { .string($0) }
                entries["value"] = answer.value.map { masking.hidden($0, at: key.path) }
                entries["inForce"] = .boolean(answer.isInForce)
                entries["fault"] = answer.fault.map { .string($0) }
                return .dictionary(entries)
            })
    }
}
