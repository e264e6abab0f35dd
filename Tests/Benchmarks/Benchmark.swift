/// A benchmark that can be asked for by name.
struct Benchmark {
    let name: String
    let summary: String
    /// Whether everything came to what it has to.
    let run: (Options) throws -> Bool
}

extension Benchmark {
    static var all: [Benchmark] {
        [
            Benchmark(name: "formats", summary: "reading and writing, against what others made") {
                try Heap.keepFreed()
                return try FormatsBenchmark($0).run()
            },
            Benchmark(name: "store", summary: "keeping settings, as the stores that others made do it") {
                try StoreBenchmark($0).run()
            },
            Benchmark(name: "args", summary: "a script's arguments, against getopt(1)") {
                try ScriptsBenchmark($0).run()
            },
            Benchmark(name: "mirror", summary: "what a mirror costs, against what it may cost") {
                try MirrorBenchmark(options: $0).run()
            },
            Benchmark(name: "compare", summary: "stores and formats in one table, and the picture of the README") { _ in
                try Comparison().run()
            },
        ]
    }

    private static var usage: String {
        let names = all.map { "  \($0.name)   \($0.summary)" }.joined(separator: "\n")
        return "Benchmarks NAME [OPTION …]\n\(names)\n\n\(Options.usage)"
    }

    /// 0: all met; 1: something missed, or not judged; 2: wrong arguments, or nothing to measure with.
    static func exitStatus(of arguments: [String]) -> Int32 {
        guard let benchmark = all.first(where: { $0.name == arguments.first }) else {
            Console.note(usage)
            return 2
        }
        do {
            let options = try Options(arguments.dropFirst())
            return try benchmark.run(options) || options.isReportOnly ? 0 : 1
        } catch {
            Console.note("\(error)")
            return 2
        }
    }
}
