import PropertyLists

/// Reads and writes the loads in every format, ourselves and the peers in turn.
struct FormatsBenchmark {
    let options: Options
    private let files: LoadFiles
    private let peers: [Peer]
    private let absent: [String]

    init(_ options: Options) throws {
        self.options = options
        files = try LoadFiles()
        (peers, absent) = Peer.contenders(in: options.formats)
    }

    /// Prints the tables; whether everything came to what it has to.
    func run() throws -> Bool {
        Console.show(
            """
            Processor time, median of \(options.rounds), each in a process of its own that keeps the memory it frees.
            S: 50 settings, N: nested records, F: 100 000 keys.
            """)
        for peer in absent { Console.show(peer) }
        var results: [TrialResult] = []
        for isTyped in [false, true] {
            for format in options.formats where format != .openstep || !isTyped {
                results += measure(format, isTyped: isTyped)
            }
        }
        return conclude(results, try judgeBounds())
    }

    private func measure(_ format: PropertyList.Format, isTyped: Bool) -> [TrialResult] {
        let results = options.loads.flatMap { load in
            FormatTable.operations(isTyped: isTyped).map { operation in
                measure(Trial(operation: operation, format: format, load: load))
            }
        }
        let table = FormatTable(
            format: format, isTyped: isTyped, loads: options.loads,
            peers: results.first.map { titles($0.trial) } ?? [],
            results: Swift.Dictionary(uniqueKeysWithValues: results.map { ($0.trial, $0) }))
        table.lines.forEach(Console.show)
        for problem in results.flatMap(\.problems) { Console.show("  " + problem) }
        return results
    }

    private func measure(_ trial: Trial) -> TrialResult {
        Console.note("measuring \(trial)")
        return TrialResult(
            of: trial, at: files.path(trial.load, trial.format), peers: contenders(trial), rounds: options.rounds)
    }

    private func contenders(_ trial: Trial) -> [Peer] { peers.filter { $0.description.measures(trial) } }

    private func titles(_ trial: Trial) -> [(name: String, title: String)] {
        PeerDescription.measuring(trial).map { description in
            let peer = peers.first { $0.description.name == description.name }
            return (description.name, peer?.title ?? "\(description.name) (not measured)")
        }
    }

    private func judgeBounds() throws -> [Verdict] {
        guard options.formats.contains(.binary) else { return [] }
        Console.show("")
        return try Bound.all(files).map { $0.judge() }
    }

    private func conclude(_ results: [TrialResult], _ bounds: [Verdict]) -> Bool {
        let verdicts = results.map(\.verdict) + bounds
        let counts = [Verdict.met, .missed, .open].map { verdict in
            "\(verdicts.count { $0 == verdict }) \(verdict.rawValue)"
        }
        Console.show("\nOf \(verdicts.count): " + counts.joined(separator: ", "))
        return verdicts.allSatisfy { $0 == .met }
    }
}
