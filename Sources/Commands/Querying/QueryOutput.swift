internal import Platform
internal import PropertyLists
internal import Queries
internal import SettingsSchema

/// The text of the result of a query.
struct QueryOutput {
    private enum Format: String {
        case table, json, tsv, lines, nul
    }

    private let format: Format

    init(_ invocation: Invocation, _ context: CommandContext) {
        format =
            invocation[.queryFormat].flatMap { Format(rawValue: $0) }
            ?? (context.terminal.isTerminal(.output) ? .table : .json)
    }

    func bytes(of rows: QueryRows) throws -> [UInt8] {
        switch rows {
        case .value(let value): try bytes(of: value)
        case .table(_, _, let records?) where format == .json: try json(.array(records))
        case .table(let columns, let rows, _): try bytes(columns, rows)
        }
    }

    private func bytes(of value: PropertyList?) throws -> [UInt8] {
        if format == .json { return try value.map(json) ?? Array("null\n".utf8) }
        return Array((text(value) + (format == .nul ? "\0" : "\n")).utf8)
    }

    private func bytes(_ columns: [String], _ rows: [[PropertyList?]]) throws -> [UInt8] {
        switch format {
        case .json:
            return try json(.array(rows.map { row in .dictionary(entries(columns, row)) }))
        case .table: return Array(table(columns, rows).utf8)
        case .tsv:
            return Array(
                ([columns.map(LineText.escaped).joined(separator: "\t")] + lines(rows)).map { $0 + "\n" }.joined().utf8)
        case .lines: return Array(lines(rows).map { $0 + "\n" }.joined().utf8)
        case .nul:
            var text = ""
            for cell in rows.joined() {
                let word = self.text(cell)
                guard !word.utf8.contains(0) else {
                    throw CommandFailure(.invalidValue, "a value contains a NUL, which the format nul cannot express")
                }
                text += word + "\0"
            }
            return Array(text.utf8)
        }
    }

    private func entries(_ columns: [String], _ row: [PropertyList?]) -> PropertyList.Dictionary {
        PropertyList.Dictionary(zip(columns, row).compactMap { column, value in value.map { (column, $0) } })
    }

    private func json(_ value: PropertyList) throws -> [UInt8] {
        var options = PropertyList.WritingOptions.default
        options.isPretty = true
        options.coerces = true
        options.keepsKeyOrder = true
        return try Rendering(.json, options: options).bytes(of: value)
    }

    /// Returns the text of a value, and no text for NULL.
    private func text(_ value: PropertyList?) -> String { value.map(LineText.text) ?? "" }

    /// Returns a line for each row, with tabs between the values.
    private func lines(_ rows: [[PropertyList?]]) -> [String] {
        rows.map { row in row.map { LineText.escaped(text($0)) }.joined(separator: "\t") }
    }

    /// Returns aligned columns under their names, with numbers to the right.
    private func table(_ columns: [String], _ rows: [[PropertyList?]]) -> String {
        let cells = rows.map { row in row.map { shortened(text($0), to: 60) } }
        let names = columns.map { shortened($0, to: 60) }
        let isNumber = columns.indices.map { at in
            rows.allSatisfy { row in row[at].map { $0.kind == .integer || $0.kind == .real } ?? true }
        }
        let widths = columns.indices.map { at in
            cells.reduce(names[at].columns) { width, row in max(width, row[at].columns) }
        }
        return ([names] + cells).map { row in
            var line = ""
            for at in columns.indices {
                let gap = String(repeating: " ", count: widths[at] - row[at].columns)
                if at > 0 { line += "  " }
                line += isNumber[at] ? gap + row[at] : at == columns.count - 1 ? row[at] : row[at] + gap
            }
            while line.last == " " { line.removeLast() }
            return line + "\n"
        }.joined()
    }
}
