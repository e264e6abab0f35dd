/// The rows as text: a line for each contender, with its multiple of what we take.
struct ComparisonTable {
    let rows: [ComparisonRow]

    var lines: [String] {
        ["Less is better in all of these. All contenders ran in turn on this machine: take the ratios, not the times."]
            + rows.flatMap { row in ["", row.title] + row.cells.map { line($0, in: row) } }
    }

    private func line(_ cell: ComparisonCell, in row: ComparisonRow) -> String {
        let multiple = row.multiple(of: cell)
        let figure = cell.figure.description
        return "    " + cell.contender.padded(to: 14) + (multiple.isEmpty ? figure : figure.padded(to: 12) + multiple)
    }
}

extension ComparisonRow {
    /// How many times as much as ours a figure is; empty for ours itself, and where that says nothing.
    func multiple(of cell: ComparisonCell) -> String {
        guard cell.contender != StorePeer.ownName, cell.size.isFinite,
            let ours = cells.first(where: { $0.contender == StorePeer.ownName })?.size, ours > 0
        else { return "" }
        let multiple = cell.size / ours
        return "  \(decimal(multiple, digits: multiple < 10 ? 1 : 0)) ×"
    }
}
