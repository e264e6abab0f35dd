import FoundationEssentials
import PropertyLists

/// Measures whole commands against programs that do the same work: the wall time, on the disk of the package, with the
/// inputs in the page cache.
struct VerbsBenchmark {
    private let folder: String
    private let command: String
    private let loads: LoadFiles
    private let rounds: Int

    static func run(_ options: Options, _ report: Report) throws {
        let folder = try newFolder("verbs")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let prefs = try PackagedCommand.make()
        guard try succeeds("mkdir \(folder)/bin && cp \(prefs) \(folder)/bin/prefs && ln -s prefs \(folder)/bin/plutil")
        else { throw Failure("cannot copy \(prefs)") }
        let benchmark = try VerbsBenchmark(
            folder: folder, command: "\(folder)/bin/prefs", loads: LoadFiles(), rounds: options.isQuick ? 5 : 21)
        let hasPeer = try succeeds("cc -O2 -static -o \(folder)/bin/replace Tests/Peers/replace.c")
        if !hasPeer { report.problem("no static C program (apt-get install gcc libc6-dev)") }
        for contest in benchmark.contests where options.selects(contest.title) && (hasPeer || !contest.isAgainstC) {
            let row = report.measuring(contest.title) { try benchmark.row(contest) }
            if let row { report.add(row) }
        }
    }

    /// A command, and a program that does the same.
    private struct Contest {
        let title: String
        let ours: String
        let peer: String
        let theirs: String
        let most: Double
        /// A shell command before ours, and one before that of the peer.
        var preparation = (ours: "", theirs: "")
        /// The number of rounds, if they take long.
        var rounds: Int?

        var isAgainstC: Bool { peer == "C" }
    }

    private var contests: [Contest] {
        let (plutil, replace) = ("\(folder)/bin/plutil", "\(folder)/bin/replace")
        let (xml, out) = (loads.path("N", .xml), "\(folder)/out")
        let conversions = [("xml", "xml1"), ("binary", "binary1")].map { ours, theirs in
            Contest(
                title: "convert of 8.5 MB of XML to \(ours)", ours: "\(command) convert \(xml) \(ours) -o \(out)",
                peer: "plutil", theirs: "\(plutil) -convert \(theirs) -o \(out) \(xml)", most: 1.3)
        }
        let files = "rm -rf \(folder)/files && mkdir \(folder)/files"
        return [
            Contest(
                title: "lint of 8.5 MB of XML", ours: "\(command) lint \(xml)", peer: "plutil",
                theirs: "\(plutil) -lint \(xml)", most: 1.3)
        ] + conversions + [
            Contest(
                title: "write on a disk", ours: "\(command) write d key --int $$", peer: "C",
                theirs: "\(replace) \(folder)/files 1 120 1", most: 1.3, preparation: ("", files)),
            Contest(
                title: "apply of 1,000 domains", ours: "\(command) apply --quiet \(folder)/set", peer: "C",
                theirs: "\(replace) \(folder)/files 2000 120", most: 1.5, preparation: (newSet, files), rounds: 5),
            Contest(
                title: "import of 192 MB", ours: "\(command) import large \(folder)/large.xml", peer: "plutil",
                theirs: "\(plutil) -convert binary1 -o \(out) \(folder)/large.xml", most: 1.5,
                preparation: ("\(large); rm -rf \(home); sync", ""), rounds: 3),
            Contest(
                title: "convert of a domain with 100,000 keys to a folder",
                ours: "\(command) convert many folder && sync -f \(folder)", peer: "cp",
                theirs: "cp -r \(home)/config/prefs/many.prefs \(folder)/files/copy && sync -f \(folder)", most: 3,
                preparation: ("\(many); sync", files), rounds: 1),
        ]
    }

    private var home: String { "\(folder)/home" }

    /// A folder with a file for each of 1,000 domains, with a value that it did not have before.
    private var newSet: String {
        """
        rm -rf \(home) \(folder)/set && mkdir \(folder)/set && n=0 &&
        while [ $n -lt 1000 ]; do n=$((n + 1)); echo "{\\"key\\": $n, \\"name\\": \\"value\\"}" > \(folder)/set/d$n.json; done
        """
    }

    private var large: String {
        """
        [ -e \(folder)/large.xml ] || { echo '<plist version="1.0"><dict>'
        seq 3000000 | sed 's|.*|<key>key &</key><string>a value of the key &</string>|'
        echo '</dict></plist>'; } > \(folder)/large.xml
        """
    }

    private var many: String {
        """
        rm -rf \(home); { echo '{'; seq 99999 | sed 's|.*|"key &": "value &",|'; echo '"last": 1}'; } > \(folder)/many.json
        \(command) import many \(folder)/many.json
        """
    }

    private func row(_ contest: Contest) throws -> Row {
        var times: [[Int64]] = [[], []]
        for _ in 0..<(contest.rounds ?? rounds) {
            let turns = [
                (contest.preparation.ours, contest.ours), (contest.preparation.theirs, contest.theirs),
            ]
            for (index, turn) in turns.enumerated() {
                try shell(turn.0).succeed()
                times[index].append(try shell(turn.1).succeed().nanoseconds)
            }
        }
        let figures = times.map { Figure.time(Double($0.percentile(50))) }
        return Row(
            title: contest.title, cells: [(Row.ours, figures[0]), (contest.peer, figures[1])],
            floor: .within(contest.most, of: contest.peer))
    }

    private func shell(_ line: String) -> Command {
        Command(
            words: ["/bin/sh", "-c", line],
            environment: [
                "PATH": "/usr/bin:/bin", "HOME": home, "XDG_CONFIG_HOME": "\(home)/config",
                "XDG_STATE_HOME": "\(home)/state",
            ])
    }
}
