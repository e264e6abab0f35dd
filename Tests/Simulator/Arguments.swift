import Foundation

/// The parsed command line.
struct Arguments {
    struct Mistake: Error, CustomStringConvertible {
        let text: String
        var description: String {
            text
                + "\nusage: Simulator RUNS [--threads N] | --exhaustive DEPTH [--sample N] [--profile NAME] | --scenario NAME --round N [--without STEP,…] [--tell]"
        }
    }

    private(set) var runs = 0
    /// The number of events of the exhaustive search.
    private(set) var depth = 0
    /// One in this many of the longest executions is carried out.
    private(set) var sample = 1
    /// The only profile to search, or nil for all.
    private(set) var profile: String?
    private(set) var threads = ProcessInfo.processInfo.activeProcessorCount
    private(set) var scenario: String?
    private(set) var round = 0
    private(set) var omitted: Set<Int> = []
    private(set) var tells = false

    init(_ words: some Sequence<String>) throws {
        var words = words.makeIterator()
        while let word = words.next() {
            switch word {
            case "--scenario": scenario = words.next()
            case "--tell": tells = true
            case "--exhaustive": depth = try Self.number(words.next())
            case "--sample": sample = max(1, try Self.number(words.next()))
            case "--profile": profile = words.next()
            case "--round": round = try Self.number(words.next())
            case "--threads": threads = try Self.number(words.next())
            case "--without":
                let steps = (words.next() ?? "").split(separator: ",")
                omitted = Set(try steps.map { try Self.number(String($0)) })
            default: runs = try Self.number(word)
            }
        }
        if runs == 0, depth == 0, scenario == nil { throw Mistake(text: "how many runs?") }
    }

    private static func number(_ word: String?) throws -> Int {
        guard let word, let number = Int(word), number >= 0 else { throw Mistake(text: "not a number: \(word ?? "")") }
        return number
    }
}
