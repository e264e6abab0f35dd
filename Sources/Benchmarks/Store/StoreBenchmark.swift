/// What a settings store must be able to do, shown by the stores that others made.
///
/// A row of `StorePeer.all` more is a column more: the scenarios ask for nothing but its commands and its driver.
struct StoreBenchmark {
    private let contenders: [StoreTrials]
    private let absent: [String]

    init(_ options: Options) throws {
        let sizes = options.rounds == 1 ? StoreSizes.hasty : .whole
        var (contenders, absent) = ([StoreTrials](), [String]())
        for peer in StorePeer.all {
            Console.note("preparing \(peer.name)")
            if try peer.preparation.allSatisfy(Subprocess.run) {
                contenders.append(StoreTrials(peer: peer, sizes: sizes))
            } else {
                absent.append("\(peer.name): not measured (\(peer.hint))")
            }
        }
        (self.contenders, self.absent) = (contenders, absent)
    }

    /// Prints the table; whether every contender is there and could be measured, and we met our targets.
    func run() throws -> Bool {
        for line in absent { Console.show(line) }
        var problems: [String] = []
        var figures: [String: [StoreFact: StoreFigure]] = [:]
        for fact in StoreFact.allCases {
            for contender in contenders {
                figures[contender.peer.name, default: [:]][fact] = figure(fact, contender, &problems)
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

    private func figure(
        _ fact: StoreFact, _ contender: StoreTrials, _ problems: inout [String]
    ) -> StoreFigure? {
        Console.note("measuring \(contender.peer.name): \(fact.title)")
        do {
            return try contender.figure(fact)
        } catch {
            problems.append("\(contender.peer.name): \(fact.title): \(error)")
            return nil
        }
    }
}
