import Glibc
import PropertyLists

/// What a script pays for its arguments: with `prefs args`, with getopt(1), and without either.
///
/// Whole scripts are measured, each in a process of its own, since that is what a person waits for.
struct ScriptsBenchmark {
    /// How much longer than with getopt(1) a script may take.
    private static let mostRatio = 2.0

    private let folder: String
    private let rounds: Int

    init(_ options: Options) throws {
        rounds = options.rounds == 1 ? 100 : 1000
        var template = Array("/tmp/prefs-scripts-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure.system("a folder") }
        folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Prints a table for each shell; whether the scripts did the same, and ours took no longer than it may.
    func run() throws -> Bool {
        defer { _ = try? Subprocess.run("rm -rf \(folder)") }
        try prepare()
        var isMet = true
        for shell in ["bash", "sh"] {
            guard try agree(shell) else { throw Failure("the scripts do not do the same in \(shell)") }
            isMet = try judge(shell, medians(shell)) && isMet
        }
        return isMet
    }

    // MARK: Scripts

    private enum Manner: String, CaseIterable { case prefs, getopt, none }

    private static let flags = "--keep 3 --mode incremental -n --target /mnt/it\\'s --exclude a --exclude b one two"

    /// The same six settings, and the same said of them at the end.
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

    private static let end = "echo \"$keep $mode $dry_run $target $verbose $exclude $# $1 $2\" > /dev/null\n"

    private static func body(_ manner: Manner) -> String {
        switch manner {
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

    private func prepare() throws {
        try write(Self.schema, "bench.schema.plist")
        for shell in ["bash", "sh"] {
            for manner in Manner.allCases {
                let head = "#!/bin/\(shell)\n# prefs-schema: bench.schema.plist\nset -eu\n"
                try write(head + Self.body(manner), "\(shell)-\(manner)")
                // The same, to be seen.
                try write(
                    (head + Self.body(manner)).split(separator: "\n", omittingEmptySubsequences: false).map {
                        $0.replacing(" > /dev/null", with: "")
                    }.joined(separator: "\n"), "\(shell)-\(manner)-seen")
            }
        }
        // The command that was built beside this one.
        let build = CommandLine.arguments[0].split(separator: "/").dropLast().joined(separator: "/")
        let place = CommandLine.arguments[0].hasPrefix("/") ? "/\(build)" : build
        guard try Subprocess.run("ln -s \"$(realpath '\(place)/prefs')\" \(folder)/prefs && chmod +x \(folder)/*sh-*")
        else { throw Failure("there is no prefs beside this program; build it first") }
    }

    private func write(_ text: String, _ name: String) throws {
        guard let file = fopen("\(folder)/\(name)", "w") else { throw Failure.system(name) }
        defer { fclose(file) }
        guard fputs(text, file) >= 0 else { throw Failure.system(name) }
    }

    // MARK: Measuring

    private func command(_ script: String) -> Command {
        Command(
            words: ["sh", "-c", "exec \(folder)/\(script) \(Self.flags)"], environment: environment)
    }

    private var environment: [String: String] { ["PATH": "\(folder):/usr/bin:/bin", "HOME": folder] }

    private func agree(_ shell: String) throws -> Bool {
        let outcomes = try [Manner.prefs, .getopt].map { try command("\(shell)-\($0)-seen").run() }
        return outcomes.allSatisfy { $0.status == 0 && $0.output == outcomes[0].output && !$0.output.isEmpty }
    }

    /// The times in milliseconds, from one run of hyperfine: those in the middle, since other work on the machine makes
    /// a few runs take many times as long.
    private func medians(_ shell: String) throws -> [Double] {
        let scripts = Manner.allCases.map { "\"\(folder)/\(shell)-\($0) \(Self.flags)\"" }.joined(separator: " ")
        let line =
            "PATH=\(folder):/usr/bin:/bin HOME=\(folder) hyperfine -N --warmup 20 --runs \(rounds) --export-json \(folder)/results \(scripts)"
        guard try Subprocess.run(line) else { throw Failure("hyperfine is not there, or a script failed") }
        let results = try PropertyList(parsing: contents(of: "\(folder)/results"), as: .json)["results"]?.arrayValue
        let medians = (results ?? []).compactMap { $0["median"]?.realValue.map { $0 * 1000 } }
        guard medians.count == Manner.allCases.count else { throw Failure("hyperfine measured something else") }
        return medians
    }

    private func judge(_ shell: String, _ medians: [Double]) -> Bool {
        let ratio = medians[0] / medians[1]
        func shown(_ number: Double) -> String {
            let hundredths = Int((number * 100).rounded())
            return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
        }
        let times = zip(["prefs args", "getopt(1)", "neither"], medians).map { "\($0) \(shown($1)) ms" }
        let verdict: Verdict = ratio <= Self.mostRatio ? .met : .missed
        Console.show(
            "\(shell): \(times.joined(separator: ", ")); \(shown(ratio)) times as long, at most \(shown(Self.mostRatio)): \(verdict.rawValue)"
        )
        return verdict == .met
    }
}
