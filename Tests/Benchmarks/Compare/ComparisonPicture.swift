/// The rows as an SVG: a panel a row, a bar a contender, its colors those of the reader's screen, light or dark.
struct ComparisonPicture {
    let rows: [ComparisonRow]

    var text: String {
        let panels = panels
        let height = panels.map { $0.top + Self.height(of: $0.row) }.max() ?? 0
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(2 * Self.width) \(height)" role="img" \
            aria-label="What prefs and its alternatives take; shorter bars are better">
            <style>
            text { font: 13px system-ui, sans-serif; fill: #24292f }
            .title { font-weight: 600 }
            .ours { fill: #1a7f37 }
            .other { fill: #8c959f }
            @media (prefers-color-scheme: dark) {
            text { fill: #e6edf3 }
            .ours { fill: #3fb950 }
            .other { fill: #6e7681 }
            }
            </style>
            \(panels.map(drawing).joined(separator: "\n"))
            </svg>

            """
    }

    // MARK: Layout

    private static let width = 460
    private static let line = 20
    private static let barStart = 98
    private static let longestBar = 180.0

    private static func height(of row: ComparisonRow) -> Int { (row.cells.count + 2) * line }

    /// Two columns, each filled from its top.
    private var panels: [(row: ComparisonRow, left: Int, top: Int)] {
        var tops = [0, 0]
        return rows.map { row in
            let column = tops[0] <= tops[1] ? 0 : 1
            defer { tops[column] += Self.height(of: row) }
            return (row, column * Self.width, tops[column])
        }
    }

    // MARK: Drawing

    private func drawing(of row: ComparisonRow, left: Int, top: Int) -> String {
        let longest = row.cells.map(\.size).filter(\.isFinite).max() ?? 0
        let bars = row.cells.indices.map { index in
            bar(row.cells[index], in: row, left: left, baseline: top + (index + 2) * Self.line - 4, longest: longest)
        }
        let title = "<text class=\"title\" x=\"\(left + 8)\" y=\"\(top + Self.line - 4)\">\(escaped(row.title))</text>"
        return ([title] + bars).joined(separator: "\n")
    }

    private func bar(
        _ cell: ComparisonCell, in row: ComparisonRow, left: Int, baseline: Int, longest: Double
    ) -> String {
        // A hair's breadth stays of what is next to nothing, so that it is seen to be there.
        let length = longest > 0 ? max(1, min(cell.size / longest, 1) * Self.longestBar) : 1
        let kind = cell.contender == StorePeer.ownName ? "ours" : "other"
        let start = left + Self.barStart
        let label = cell.figure.amount + row.multiple(of: cell)
        return """
            <text x="\(start - 8)" y="\(baseline)" text-anchor="end">\(escaped(cell.contender))</text>
            <rect class="\(kind)" x="\(start)" y="\(baseline - 11)" width="\(decimal(length, digits: 1))" height="13"/>
            <text x="\(start + Int(length) + 7)" y="\(baseline)">\(escaped(label))</text>
            """
    }

    private func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
