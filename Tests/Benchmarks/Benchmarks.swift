// Measures prefs and its peers in the same run and by the same rule, and compares the ratios with floors.
//
// `formats`: reading and writing property lists. `store`: settings stores, through their commands and libraries.
// `args`: parsing the arguments of shell scripts. `verbs`: whole commands. `queries`: selecting records. `screens`: the
// browser in a terminal. `dependents`: the build of a package that depends on this one.
// `mirror`: the time, memory and bytes that a mirror takes. `compare`: a part of `formats` and `store`, as a table and
// a picture.
// The drivers of the peers are in Tests/Peers.
import PropertyLists

/// A benchmark with the name that selects it.
struct Benchmark: Sendable {
    let name: String
    let summary: String
    /// Measures, and adds the rows to the report.
    let run: @Sendable (Options, Report) throws -> Void

    static let all = [
        Benchmark(name: "formats", summary: "reading and writing property lists", run: FormatsBenchmark.run),
        Benchmark(name: "store", summary: "settings stores", run: StoreBenchmark.run),
        Benchmark(name: "args", summary: "a script's arguments, against getopt(1)", run: ScriptsBenchmark.run),
        Benchmark(name: "verbs", summary: "whole commands, against programs that do the same", run: VerbsBenchmark.run),
        Benchmark(name: "queries", summary: "queries of records, against jq", run: QueriesBenchmark.run),
        Benchmark(name: "screens", summary: "the browser, against less", run: ScreensBenchmark.run),
        Benchmark(name: "dependents", summary: "a package that depends on this one", run: DependentsBenchmark.run),
        Benchmark(name: "mirror", summary: "what a mirror costs", run: MirrorBenchmark.run),
        Benchmark(name: "compare", summary: "stores and formats, and the README's picture", run: Comparison.run),
    ]

    private static var usage: String {
        let names = all.map { "  \($0.name.padded(to: 12))\($0.summary)" }.joined(separator: "\n")
        return "Benchmarks NAME [OPTION …]\n\(names)\n\n\(Options.usage)"
    }

    /// Returns 0 if every floor holds, 1 if one does not or cannot be judged, and 2 for wrong arguments or an error.
    static func exitStatus(of arguments: [String]) -> Int32 {
        guard let benchmark = all.first(where: { $0.name == arguments.first }) else {
            Console.note(usage)
            return 2
        }
        do {
            let options = try Options(arguments.dropFirst())
            let report = Report()
            try benchmark.run(options, report)
            return report.conclude() || options.isReportOnly ? 0 : 1
        } catch {
            Console.note("\(error)")
            return 2
        }
    }
}

/// The arguments after the name of a benchmark.
struct Options {
    private(set) var loads = Load.allCases
    private(set) var formats: [PropertyList.Format] = [.xml, .binary, .json, .openstep, .toml]
    /// Whether to run fewer rounds.
    private(set) var isQuick = false
    private(set) var isReportOnly = false
    /// Text that the titles to measure contain, or nil to measure all.
    private var words: String?

    static let usage = """
        --load S|N|F                        only this load
        --format xml|binary|json|openstep   only this format
        --only TEXT                         only the rows of `mirror` and `verbs` that have this in their titles
        --quick                             fewer rounds
        --report-only                       exit with 0 although a floor does not hold
        """

    init(_ arguments: some Sequence<String>) throws {
        var arguments = arguments.makeIterator()
        while let option = arguments.next() {
            func value<Value>(_ parse: (String) -> Value?) throws -> Value {
                let text = arguments.next()
                guard let value = text.flatMap(parse) else { throw Failure("\(option): invalid \(text ?? "end")") }
                return value
            }
            switch option {
            case "--load": loads = [try value(Load.init)]
            case "--format":
                let known = formats
                formats = [try value { name in known.first { $0.rawValue == name } }]
            case "--only": words = try value(\.self)
            case "--quick": isQuick = true
            case "--report-only": isReportOnly = true
            default: throw Failure("unknown option \(option)\n\(Self.usage)")
            }
        }
    }

    func selects(_ title: String) -> Bool { words.map(title.contains) ?? true }
}
