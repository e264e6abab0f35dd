import Glibc

/// A result of a contender. Less is always better.
enum Figure: CustomStringConvertible {
    /// In nanoseconds.
    case time(Double)
    case share(Int, of: Int, note: String = "")
    case bytes(Int)

    /// A number to compare with other figures of the same row.
    var size: Double {
        switch self {
        case .time(let nanoseconds): nanoseconds
        case .share(let part, let whole, _): Double(part) / Double(max(whole, 1))
        case .bytes(let count): Double(count)
        }
    }

    /// The figure without its note.
    var amount: String {
        switch self {
        case .time(let time) where time >= 1e9: decimal(time / 1e9, digits: 1) + " s"
        case .time(let time) where time >= 1e6: decimal(time / 1e6, digits: 2) + " ms"
        case .time(let time) where time >= 1e3: decimal(time / 1e3, digits: 2) + " µs"
        case .time(let time): decimal(time, digits: 0) + " ns"
        case .share(let part, let whole, _): "\(part) of \(whole)"
        case .bytes(let count) where count >= 1 << 20: decimal(Double(count) / 1_048_576, digits: 1) + " MiB"
        case .bytes(let count): "\(count) bytes"
        }
    }

    var description: String {
        if case .share(_, _, let note) = self, !note.isEmpty { amount + ", " + note } else { amount }
    }
}

/// The limit for our figure in a row.
enum Floor {
    case atMost(Figure)
    /// At most this multiple of the peer's figure.
    case within(Double, of: String)
    /// At least this many times as fast as the peer.
    case faster(Double, than: String)
}

/// A measured quantity, and the figure of each contender.
struct Row {
    static let ours = "prefs"

    let title: String
    var cells: [(contender: String, figure: Figure)]
    var floor: Floor?

    func figure(of contender: String) -> Figure? { cells.first { $0.contender == contender }?.figure }

    /// The ratio of a figure to ours. Empty for ours, and if ours is zero.
    func multiple(of cell: (contender: String, figure: Figure)) -> String {
        guard cell.contender != Self.ours, let ours = figure(of: Self.ours)?.size, ours > 0 else { return "" }
        let multiple = cell.figure.size / ours
        return "  \(decimal(multiple, digits: multiple < 10 ? 2 : 0)) ×"
    }

    /// The floor as text, and whether it holds. Nil without a floor; `holds` is nil if the peer was not measured.
    fileprivate var verdict: (floor: String, holds: Bool?)? {
        func ratio(_ peer: String) -> Double? {
            guard let ours = figure(of: Self.ours), let theirs = figure(of: peer) else { return nil }
            return ours.size / theirs.size
        }
        switch floor {
        case nil: return nil
        case .atMost(let most):
            return ("at most \(most.amount)", figure(of: Self.ours).map { $0.size <= most.size } ?? false)
        case .within(let most, let peer):
            return ("at most \(decimal(most, digits: 2)) × \(peer)", ratio(peer).map { $0 <= most })
        case .faster(let least, let peer):
            return ("at least \(decimal(least, digits: 2)) × as fast as \(peer)", ratio(peer).map { $0 * least <= 1 })
        }
    }
}

/// Prints rows as they are measured, and counts the floors that hold.
final class Report {
    private(set) var rows: [Row] = []
    private var (met, missed, open, problems) = (0, 0, 0, 0)

    func add(_ row: Row) {
        rows.append(row)
        Console.show("\n" + row.title)
        for cell in row.cells {
            let multiple = row.multiple(of: cell)
            let figure = cell.figure.description
            Console.show(
                "    " + cell.contender.padded(to: 16) + (multiple.isEmpty ? figure : figure.padded(to: 14) + multiple))
        }
        guard let (floor, holds) = row.verdict else { return }
        switch holds {
        case true?: met += 1
        case false?: missed += 1
        case nil: open += 1
        }
        Console.show("    \(floor): \(holds.map { $0 ? "met" : "MISSED" } ?? "not judged")")
    }

    /// Notes a row or a contender that could not be measured.
    func problem(_ text: String) {
        problems += 1
        Console.show(text)
    }

    /// Runs `body`, and notes its error as a problem with `title`.
    func measuring<Value>(_ title: String, _ body: () throws -> Value?) -> Value? {
        Console.note("measuring \(title)")
        do {
            return try body()
        } catch {
            problem("\(title): \(error)")
            return nil
        }
    }

    /// Prints the counts, and returns whether all floors hold and nothing is missing.
    func conclude() -> Bool {
        Console.show("\n\(met) met, \(missed) missed, \(open) not judged, \(problems) not measured")
        return missed + open + problems == 0
    }
}

/// Standard output for results, standard error for progress.
enum Console {
    static func show(_ line: String) { write(line + "\n", to: STDOUT_FILENO) }
    static func note(_ line: String) { write(line + "\n", to: STDERR_FILENO) }

    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { exit(2) }
            rest = rest.dropFirst(max(count, 0))
        }
    }
}

struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// The error of the last system call, for `subject`.
    static func system(_ subject: String) -> Failure { Failure("\(subject): \(String(cString: strerror(errno)))") }
}

/// A number with a fixed number of digits after the point.
func decimal(_ number: Double, digits: Int) -> String {
    let scale = (0..<digits).reduce(1) { scale, _ in scale * 10 }
    let scaled = Int((number * Double(scale)).rounded())
    guard digits > 0 else { return "\(scaled)" }
    let fraction = "\(scaled % scale)"
    return "\(scaled / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
}

extension String {
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}

extension Array where Element: Comparable {
    /// Returns the element at a percentile. The array must not be empty.
    func percentile(_ share: Int) -> Element { sorted()[Swift.min(count - 1, count * share / 100)] }
}
