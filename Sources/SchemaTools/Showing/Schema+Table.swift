internal import PropertyLists
package import SettingsSchema

extension Schema {
    private static let columns = ["key", "type", "default", "rule", "flags", "variable", "title"]

    /// Returns the settings as a table.
    ///
    /// - Parameter width: The width of the terminal in which the cells are wrapped, or nil for any.
    package func table(width: Int? = nil) -> String {
        var rows = [Self.columns] + allRows
        func widths() -> [Int] { rows[0].indices.map { column in rows.map { $0[column].columns }.max() ?? 0 } }
        var widths = widths()
        func isTooWide() -> Bool { width.map { widths.reduce(0, +) + 2 * (widths.count - 1) > $0 } ?? false }
        if isTooWide() {
            let used = rows[0].indices.filter { column in rows.dropFirst().contains { !$0[column].isEmpty } }
            rows = rows.map { row in used.map { row[$0] } }
            widths = used.map { widths[$0] }
        }
        // Prose becomes narrower, but not narrower than its title. Names remain whole, so that they can be copied.
        let flexible = rows[0].indices.filter { !["key", "type", "variable"].contains(rows[0][$0]) }
        while isTooWide(), let widest = flexible.max(by: { widths[$0] < widths[$1] }), widths[widest] > 10 {
            widths[widest] -= 1
        }
        return rows.map { row in
            let cells = zip(row, widths).map { $0.columns <= $1 ? [$0] : $0.broken(to: $1) }
            return (0..<(cells.map(\.count).max() ?? 0)).map { number in
                var line = zip(cells, widths).map { cell, width in
                    (number < cell.count ? cell[number] : "").padded(to: width)
                }.joined(separator: "  ")
                while line.last == " " { line.removeLast() }
                return line.printable + "\n"
            }.joined()
        }.joined()
    }

    /// Returns the settings as Markdown, with a table for each group and command.
    package func markdown() -> String {
        var text = "# \((title ?? program ?? domain).asMarkdown)\n"
        if let summary { text += "\n\(summary.asMarkdown)\n" }
        if isStored { text += "\nDomain: `\(domain.asCode)`, version \(version)\n" }
        for group in settings.grouped {
            if let title = group.title { text += "\n## \(title.asMarkdown)\n" }
            text += Self.markdown(group.settings)
        }
        for (name, command) in allCommands {
            text += "\n## `\(name.asCode)`\n"
            if let title = command.title { text += "\n\(title.asMarkdown)\n" }
            if !command.settings.isEmpty { text += Self.markdown(command.settings) }
        }
        return text
    }

    private var allRows: [[String]] {
        settings.map(\.row)
            + allCommands.flatMap { name, command in
                command.settings.map { setting in
                    var row = setting.row
                    row[0] = "\(name): \(row[0])"
                    return row
                }
            }
    }

    private static func markdown(_ settings: [SettingDeclaration]) -> String {
        let head = "\n| \(columns.joined(separator: " | ")) |\n|\(columns.map { _ in "---|" }.joined())\n"
        return head
            + settings.map { setting in
                let cells = zip(setting.row, columns).map { cell, column in
                    cell.isEmpty || column == "title" || column == "rule" ? cell.asMarkdown : "`\(cell.asCode)`"
                }
                return "| \(cells.joined(separator: " | ")) |\n"
            }.joined()
    }
}

extension SettingDeclaration {
    /// The cells of the setting's row, each on one line.
    fileprivate var row: [String] {
        let type = rule.kind.map(\.rawValue) ?? rule.element.map { "\($0.type.rawValue) …" } ?? rule.type.rawValue
        let rules = [
            isRequired ? "required" : nil, bounds, !rule.choices.isEmpty && valueName.contains("|") ? valueName : nil,
            isSensitive ? "secret" : hasSecrets ? "contains a secret" : nil,
            staysLocal && !hasSecrets ? "not mirrored" : nil,
            isByHost ? "by host" : nil,
            merge.flatMap { $0 == .value ? nil : "merged as \($0.rawValue)" },
            deprecated == nil ? nil : "deprecated",
        ]
        let operand = takesOperands ? [operandName] : []
        return [
            key, type, shownDefault ?? defaultValue.map { masked($0).shownText } ?? "",
            rules.compactMap(\.self).joined(separator: ", "),
            (flagUsage + operand).joined(separator: ", "), environment.joined(separator: ", "), title ?? "",
        ].map { shortened($0, to: 120) }
    }
}

extension String {
    /// The text with Markdown's special characters escaped.
    var asMarkdown: String {
        var result = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\\", "`", "*", "_", "{", "}", "[", "]", "<", ">", "#", "|": result += "\\\(scalar)"
            case "\n": result += " "
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// The text for a code span within a Markdown table.
    var asCode: String { replacing("`", with: "'").replacing("|", with: "\\|").replacing("\n", with: " ") }
}
