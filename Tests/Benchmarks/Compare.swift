import FoundationEssentials
import PropertyLists

/// A part of the benchmarks `store` and `formats` with fewer rounds, as a table and as the picture of the README.
enum Comparison {
    /// The picture of the README.
    private static let picture = "Tests/Peers/comparison.svg"

    private static let facts: [StoreFact] = [.start, .read, .write, .memory, .lostUpdates, .killed, .damagedFile]

    static func run(_ options: Options, _ report: Report) throws {
        Console.show("Less is better. All contenders ran in turn on this machine: compare ratios, not times.")
        var rows = try StoreBenchmark.rows(facts, StoreSizes(isQuick: true), report)
        let files = try LoadFiles()
        let formats: [PropertyList.Format] = [.xml, .binary, .json]
        let peers = Peer.contenders(in: formats, report)
        for format in formats {
            for operation in [Operation.read, .write] {
                let trial = Trial(operation: operation, format: format, load: .nested)
                rows.append(trial.row(at: files, peers, rounds: 1, report))
            }
        }
        for row in rows { report.add(row) }
        try Data(Picture(rows: rows).text.utf8).write(to: URL(filePath: picture))
        Console.show("\nwritten: \(picture)")
    }
}

/// The rows as an SVG: a panel for each row, a bar for each contender, in the light or dark colors of the reader.
private struct Picture {
    let rows: [Row]

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

    private static func height(of row: Row) -> Int { (row.cells.count + 2) * line }

    /// Two columns, each filled from its top.
    private var panels: [(row: Row, left: Int, top: Int)] {
        var tops = [0, 0]
        return rows.map { row in
            let column = tops[0] <= tops[1] ? 0 : 1
            defer { tops[column] += Self.height(of: row) }
            return (row, column * Self.width, tops[column])
        }
    }

    // MARK: Drawing

    private func drawing(of row: Row, left: Int, top: Int) -> String {
        let longest = row.cells.map(\.figure.size).max() ?? 0
        let bars = row.cells.indices.map { index in
            bar(row.cells[index], in: row, left: left, baseline: top + (index + 2) * Self.line - 4, longest: longest)
        }
        let title = "<text class=\"title\" x=\"\(left + 8)\" y=\"\(top + Self.line - 4)\">\(escaped(row.title))</text>"
        return ([title] + bars).joined(separator: "\n")
    }

    private func bar(
        _ cell: (contender: String, figure: Figure), in row: Row, left: Int, baseline: Int, longest: Double
    ) -> String {
        // At least one pixel, so that the bar is visible.
        let length = longest > 0 ? max(1, cell.figure.size / longest * Self.longestBar) : 1
        let kind = cell.contender == Row.ours ? "ours" : "other"
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
