import FoundationEssentials
import Glibc

/// Whoever has a column in the table.
struct StoreContender {
    let title: String
    /// What it shows, or nil where the question does not arise.
    let figure: (StoreFact) throws -> StoreFigure?
}

/// What a settings store must be able to do, shown by the stores that others made.
///
/// A row of `StorePeer.all` more is a column more: the scenarios ask for nothing but its commands and its driver.
struct StoreBenchmark {
    let sizes: StoreSizes
    private let contenders: [StoreContender]
    private let absent: [String]

    init(_ options: Options) throws {
        let sizes = options.rounds == 1 ? StoreSizes.hasty : .whole
        var (contenders, absent) = ([StoreContender](), [String]())
        for peer in StorePeer.all {
            Console.note("preparing \(peer.name)")
            if try peer.preparation.allSatisfy(Subprocess.run) {
                let trials = StoreTrials(peer: peer, sizes: sizes)
                contenders.append(StoreContender(title: peer.name, figure: trials.figure))
            } else {
                absent.append("\(peer.name): not measured (\(peer.hint))")
            }
        }
        (self.sizes, self.contenders, self.absent) = (sizes, contenders, absent)
    }

    /// Prints the table; whether every contender is there and could be measured.
    func run() throws -> Bool {
        for line in absent { Console.show(line) }
        var problems: [String] = []
        let rows = StoreFact.allCases.map { fact in
            (fact, contenders.map { contender in cell(fact, contender, &problems) })
        }
        StoreTable(columns: contenders.map(\.title), rows: rows).lines.forEach(Console.show)
        for problem in problems { Console.show(problem) }
        let bare = try BareReplacement().nanoseconds(bytes: 4096)
        Console.show("\nTemporary file, fsync, rename, fsync of the folder, 4 KiB: \(duration(bare))")
        return absent.isEmpty && problems.isEmpty
    }

    private func cell(_ fact: StoreFact, _ contender: StoreContender, _ problems: inout [String]) -> String {
        Console.note("measuring \(contender.title): \(fact.title)")
        do {
            return try contender.figure(fact)?.description ?? "–"
        } catch {
            problems.append("\(contender.title): \(fact.title): \(error)")
            return "not measured"
        }
    }
}

/// The facts, one below the other with what each contender showed.
struct StoreTable {
    let columns: [String]
    let rows: [(fact: StoreFact, cells: [String])]

    var lines: [String] {
        ["Wall time, the one in the middle; processor time for get and set in the process."]
            + rows.flatMap { row in
                ["", row.fact.title]
                    + zip(columns, row.cells).filter { $0.1 != "–" }.map { column, cell in
                        "    \(column)".padded(to: 20) + cell
                    }
            }
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}

/// What a durable write costs without a store around it: the measure for those that are durable.
struct BareReplacement {
    /// Of 100 replacements the one in the middle, by the clock on the wall.
    func nanoseconds(bytes: Int) throws -> Double {
        let folder = FileManager.default.currentDirectoryPath + "/.build/benchmarks/bare"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let contents = [UInt8](repeating: 0x41, count: bytes)
        let times = try (0..<100).map { _ in
            let start = now()
            try replace(folder, contents)
            return now() - start
        }
        return Double(times.sorted()[times.count / 2])
    }

    private func replace(_ folder: String, _ contents: [UInt8]) throws {
        let (temporary, path) = (folder + "/temporary", folder + "/file")
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure.system(temporary) }
        defer { close(file) }
        guard write(file, contents, contents.count) == contents.count, fsync(file) == 0,
            rename(temporary, path) == 0
        else {
            throw Failure.system(temporary)
        }
        let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw Failure.system(folder) }
    }
}
