import FoundationEssentials
import PropertyLists

/// The facts that a person asks for first, of all that can be measured here, in one table and one picture.
///
/// It measures nothing by itself: the trials of the stores and of the formats do, with fewer rounds than in benchmarks
/// of their own.
struct Comparison {
    /// Where the picture goes: the README shows it.
    static let picture = "Tests/Peers/comparison.svg"

    private static let facts: [StoreFact] = [.start, .read, .write, .memory, .lostUpdates, .killed, .damagedFile]
    private static let formats: [PropertyList.Format] = [.xml, .binary, .json]

    /// Prints the table and writes the picture; whether we were measured in all and lost nothing.
    func run() throws -> Bool {
        var (problems, notes) = ([String](), [String]())
        let rows = try storeRows(&notes, &problems) + formatRows(&notes, &problems)
        let table = ComparisonTable(rows: rows)
        table.lines.forEach(Console.show)
        for line in notes + problems { Console.show(line) }
        try Data(ComparisonPicture(rows: rows).text.utf8).write(to: URL(filePath: Self.picture))
        Console.show("\nThe picture is \(Self.picture).")
        return problems.isEmpty && rows.allSatisfy(\.isWithoutLossOfOurs)
    }

    private func storeRows(_ notes: inout [String], _ problems: inout [String]) throws -> [ComparisonRow] {
        let (contenders, absent) = try StoreTrials.contenders(.hasty)
        notes += absent
        return Self.facts.map { fact in
            let cells = contenders.compactMap { contender in
                contender.figure(fact, noting: &problems).map { ComparisonCell(contender.peer.name, $0) }
            }
            return ComparisonRow(title: fact.title, cells: cells)
        }
    }

    private func formatRows(_ notes: inout [String], _ problems: inout [String]) throws -> [ComparisonRow] {
        let files = try LoadFiles()
        let (peers, absent) = Peer.contenders(in: Self.formats)
        notes += absent
        return Self.formats.flatMap { format in
            FormatTable.operations(isTyped: false).map { operation in
                let trial = Trial(operation: operation, format: format, load: .nested)
                Console.note("measuring \(trial)")
                let result = TrialResult(
                    of: trial, at: files.path(trial.load, format),
                    peers: peers.filter { $0.description.measures(trial) }, rounds: 1)
                problems += result.problems
                return ComparisonRow(result)
            }
        }
    }
}

/// A question, and what each that was asked showed.
struct ComparisonRow {
    let title: String
    let cells: [ComparisonCell]
}

/// What one contender showed: less is better in all of them.
struct ComparisonCell {
    let contender: String
    let figure: StoreFigure

    init(_ contender: String, _ figure: StoreFigure) { (self.contender, self.figure) = (contender, figure) }

    /// How long its bar is beside others of its row.
    var size: Double {
        switch figure {
        case .time(let amount), .ratio(let amount): amount
        case .kilobytes(let count): Double(count)
        case .share(let part, let whole, _): Double(part) / Double(max(whole, 1))
        case .never: .infinity
        }
    }
}

extension ComparisonRow {
    /// The times of one trial, by contender.
    init(_ result: TrialResult) {
        let peers = PeerDescription.measuring(result.trial).map { ($0.name, result.peers[$0.name] ?? nil) }
        let all = [(StorePeer.ownName, result.ours)] + peers
        let megabytes = decimal(Double(result.ours?.bytes ?? 0) / 1e6, digits: 1)
        let verb = result.trial.operation == .read ? "parse" : "write"
        title = "\(verb) \(megabytes) MB of \(result.trial.format.rawValue), nested records"
        cells = all.compactMap { name, measurement in
            measurement.map { ComparisonCell(name, .time($0.nanoseconds)) }
        }
    }

    /// Whether we are there, and kept what we were given.
    var isWithoutLossOfOurs: Bool {
        guard let figure = cells.first(where: { $0.contender == StorePeer.ownName })?.figure else { return false }
        if case .share(let lost, _, _) = figure { return lost == 0 }
        return true
    }
}
