/// What a settings store must be able to do, shown by the stores that others made.
///
/// A row of `StorePeer.all` more is a column more: the scenarios ask for nothing but its commands and its driver.
struct StoreBenchmark {
    private let contenders: [StoreTrials]
    private let absent: [String]

    init(_ options: Options) throws {
        (contenders, absent) = try StoreTrials.contenders(options.rounds == 1 ? .hasty : .whole)
    }

    /// Prints the table; whether every contender is there and could be measured, and we met our targets.
    func run() throws -> Bool {
        for line in absent { Console.show(line) }
        var problems: [String] = []
        var figures: [String: [StoreFact: StoreFigure]] = [:]
        for fact in StoreFact.allCases {
            for contender in contenders {
                figures[contender.peer.name, default: [:]][fact] = contender.figure(fact, noting: &problems)
            }
        }
        let rows = StoreFact.allCases.map { fact in
            (fact, contenders.map { figures[$0.peer.name]?[fact]?.description ?? "–" })
        }
        StoreTable(columns: contenders.map(\.peer.name), rows: rows).lines.forEach(Console.show)
        for problem in problems { Console.show(problem) }
        let bare = try BareReplacement().nanoseconds(bytes: 4096)
        Console.show("\nTemporary file, fsync, rename, fsync of the folder, 4 KiB: \(duration(bare))\n")
        let isMet = StoreTargets(figures: figures, bareReplacement: bare).judge()
        return absent.isEmpty && problems.isEmpty && isMet
    }
}
