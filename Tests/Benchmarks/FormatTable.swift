import PropertyLists

/// The results of one format: a column a load, a row a contender, two numbers a cell.
struct FormatTable {
    let format: PropertyList.Format
    let isTyped: Bool
    let loads: [Load]
    /// The names of the peers, and their titles in the table.
    let peers: [(name: String, title: String)]
    let results: [Trial: TrialResult]
}

extension FormatTable {
    var lines: [String] {
        var lines = ["", heading, row(Ourselves.description.name) { speed($0.ours) }]
        for peer in peers { lines.append(row(peer.title) { speed($0.peers[peer.name] ?? nil) }) }
        lines.append(row("ours / \(target.peer ?? "best peer")") { $0.ratio.map { decimal($0, digits: 2) } ?? "–" })
        lines.append(row("at least") { decimal($0.trial.target.ratio, digits: 2) })
        lines.append(row("") { $0.verdict.rawValue })
        return lines
    }

    /// Reading and writing, or their like with types.
    static func operations(isTyped: Bool) -> [Operation] { isTyped ? [.decode, .encode] : [.read, .write] }

    private var operations: [Operation] { Self.operations(isTyped: isTyped) }

    /// The peer is the same for all cells of a table.
    private var target: Target { Trial(operation: operations[0], format: format, load: loads[0]).target }

    private var heading: String {
        let title = "\(format.rawValue), MB/s " + operations.map(\.rawValue).joined(separator: " | ")
        return loads.reduce(title.padded(to: Self.labelWidth)) { line, load in
            line + load.rawValue.indented(to: Self.cellWidth / 2 + 1).padded(to: Self.cellWidth)
        }.trimmed
    }

    private func row(_ label: String, _ text: (TrialResult) -> String) -> String {
        loads.reduce(("  " + label).padded(to: Self.labelWidth)) { line, load in line + cell(load, text) }.trimmed
    }

    private func cell(_ load: Load, _ text: (TrialResult) -> String) -> String {
        let texts = operations.map { operation in
            results[Trial(operation: operation, format: format, load: load)].map(text) ?? "–"
        }
        return texts[0].indented(to: Self.numberWidth) + " | " + texts[1].padded(to: Self.numberWidth)
    }

    private static let labelWidth = 31
    private static let numberWidth = 10
    private static let cellWidth = 2 * numberWidth + 3
}

/// Megabytes a second, to as many digits as mean something.
private func speed(_ measurement: Measurement?) -> String {
    guard let speed = measurement?.megabytesPerSecond else { return "–" }
    return decimal(speed, digits: speed < 10 ? 1 : 0)
}

/// A number with so many digits behind the point.
func decimal(_ number: Double, digits: Int) -> String {
    let scale = (0..<digits).reduce(1) { scale, _ in scale * 10 }
    let scaled = Int((number * Double(scale)).rounded())
    guard digits > 0 else { return "\(scaled)" }
    let fraction = "\(scaled % scale)"
    return "\(scaled / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
}

extension String {
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
    fileprivate func indented(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
    fileprivate var trimmed: String { String(reversed().drop { $0 == " " }.reversed()) }
}
