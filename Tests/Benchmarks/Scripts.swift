import FoundationEssentials
import PropertyLists

/// Measures whole scripts that parse arguments with `prefs args`, with getopt(1), and with neither.
enum ScriptsBenchmark {
    static func run(_ options: Options, _ report: Report) throws {
        let folder = try newFolder("scripts")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Command(words: ["cp", try PackagedCommand.make(), folder + "/prefs"]).succeed()
        try schema.write(toFile: folder + "/bench.schema.plist", atomically: false, encoding: .utf8)
        for shell in ["bash", "sh"] {
            let commands = try Tool.allCases.map { tool in
                let script = "\(folder)/\(shell)-\(tool)"
                let head = "#!/bin/\(shell)\n# prefs-schema: bench.schema.plist\nset -eu\n"
                try (head + body(tool)).write(toFile: script, atomically: false, encoding: .utf8)
                return Command(
                    words: [shell, script] + flags, environment: ["PATH": "\(folder):/usr/bin:/bin", "HOME": folder])
            }
            var times = Tool.allCases.map { _ in [Int64]() }
            for _ in 0..<(options.isQuick ? 100 : 1000) {
                let outcomes = try commands.map { try $0.succeed() }
                guard outcomes[0].output == outcomes[1].output, !outcomes[0].output.isEmpty else {
                    throw Failure("the scripts print different settings in \(shell)")
                }
                for (index, outcome) in outcomes.enumerated() { times[index].append(outcome.nanoseconds) }
            }
            report.add(
                Row(
                    title: "a script's arguments in \(shell)",
                    cells: zip(Tool.allCases, times).map { ($0.rawValue, .time(Double($1.percentile(50)))) },
                    floor: .within(1.8, of: Tool.getopt.rawValue)))
        }
    }

    private enum Tool: String, CaseIterable {
        case prefs
        case getopt = "getopt(1)"
        case none = "neither"
    }

    private static let flags = [
        "--keep", "3", "--mode", "incremental", "-n", "--target", "/mnt/it's", "--exclude", "a", "--exclude", "b",
        "one", "two",
    ]

    private static let schema = """
        { Domain = "com.example.bench"; Title = "Nightly backup";
          Settings = (
            { Key = keep; Type = integer; Default = 7; Minimum = 1; Maximum = 365; Flag = keep; Short = k; },
            { Key = mode; Choices = (full, incremental); Default = full; Flag = mode; Short = m; },
            { Key = dry_run; Type = boolean; Default = NO; Flag = "dry-run"; Short = n; },
            { Key = target; Required = YES; Kind = folder; Flag = target; Short = t; },
            { Key = verbose; Type = boolean; Default = NO; Flag = verbose; Short = v; },
            { Key = exclude; Default = ""; Flag = exclude; Short = x; }
          ); }
        """

    private static let end = "echo \"$keep $mode $dry_run $target $verbose $exclude $# $1 $2\"\n"

    private static func body(_ tool: Tool) -> String {
        switch tool {
        case .prefs: "eval \"$(prefs args \"$0\" -- \"$@\" || echo exit $?)\"\n" + end
        case .getopt:
            """
            keep=7 mode=full dry_run=false target= verbose=false exclude=
            options=$(getopt -n "$0" -o k:m:nt:vx: -l keep:,mode:,dry-run,target:,verbose,exclude: -- "$@") || exit 2
            eval "set -- $options"
            while :; do
                case $1 in
                    -k | --keep) keep=$2; shift 2 ;;
                    -m | --mode) mode=$2; shift 2 ;;
                    -n | --dry-run) dry_run=true; shift ;;
                    -t | --target) target=$2; shift 2 ;;
                    -v | --verbose) verbose=true; shift ;;
                    -x | --exclude) exclude=$2; shift 2 ;;
                    --) shift; break ;;
                esac
            done

            """ + end
        case .none: ": \"$@\"\n"
        }
    }
}
