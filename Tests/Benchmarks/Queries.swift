import FoundationEssentials
import Glibc
import PropertyLists

/// Measures how `prefs query` and jq select some of 100,000 records of 10 fields, as whole processes.
enum QueriesBenchmark {
    private static let peer = "jq"

    static func run(_ options: Options, _ report: Report) throws {
        let folder = try newFolder("queries")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let prefs = try PackagedCommand.make()
        guard try succeeds("jq --version") else { throw Failure("jq is not installed") }
        try writeRecords(to: "\(folder)/records.json")
        let environment = ["PATH": "/usr/bin:/bin", "HOME": folder]
        let words = ["convert", "\(folder)/records.json", "binary", "-o", "\(folder)/records.plist"]
        try Command(words: [prefs] + words, environment: environment).succeed()
        let contenders: [(name: String, command: Command)] = [
            (Row.ours, ["\(prefs)", "query", "\(folder)/records.json"] + request),
            ("prefs, binary", ["\(prefs)", "query", "\(folder)/records.plist"] + request),
            (peer, ["jq", "-c", filter, "\(folder)/records.json"]),
        ].map { ($0, Command(words: $1, environment: environment)) }
        var times = contenders.map { _ in [Int64]() }
        var memory = contenders.map { _ in 0 }
        for _ in 0..<(options.isQuick ? 3 : 15) {
            let outcomes = try contenders.map { try $0.command.succeed() }
            let results = try outcomes.map { try PropertyList(parsing: Array($0.output.utf8), as: .json) }
            guard results[0].arrayValue?.isEmpty == false, results[0] == results[1], results[0] == results[2] else {
                throw Failure("the contenders select different records")
            }
            for (index, outcome) in outcomes.enumerated() {
                times[index].append(outcome.nanoseconds)
                memory[index] = max(memory[index], outcome.mostMemory)
            }
        }
        report.add(
            Row(
                title: "select, sort and print some of 100,000 records of 10 fields",
                cells: zip(contenders, times).map { ($0.name, .time(Double($1.percentile(50)))) },
                floor: .faster(3, than: peer)))
        report.add(
            Row(
                title: "the memory of the same", cells: zip(contenders, memory).map { ($0.name, .bytes($1)) },
                floor: .within(2, of: peer)))
    }

    /// Writes the records one by one to keep this process small: on Linux, the peak memory of a program includes that
    /// of the process that started it.
    private static func writeRecords(to path: String) throws {
        guard let file = fopen(path, "w") else { throw Failure("\(path) cannot be written") }
        defer { fclose(file) }
        for number in 0..<100_000 {
            let text = String(decoding: try record(number).serialized(as: .json), as: UTF8.self)
            fputs((number == 0 ? "[" : ",") + text, file)
        }
        fputs("]", file)
    }

    private static let request = [
        "age > 90 AND enabled == YES AND host ENDSWITH '.org' AND ANY tags == 'work'", "--sort", "-age,id", "--select",
        "id,name,age", "--format", "json",
    ]

    private static let filter = """
        [.[] | select(.age > 90 and .enabled == true and (.host | endswith(".org")) and any(.tags[]; . == "work"))] \
        | sort_by([-.age, .id]) | map({id, name, age})
        """

    private static func record(_ number: Int) -> PropertyList {
        var random = SmallRandom(state: UInt64(number))
        func text(_ length: Int) -> String {
            String(decoding: (0..<length).map { _ in UInt8(0x61 + random.next(below: 26)) }, as: UTF8.self)
        }
        return [
            "id": .integer(PropertyList.Integer(number)), "name": .string(text(12)),
            "host": .string(text(8) + (number % 3 == 0 ? ".org" : ".com")),
            "age": .integer(PropertyList.Integer(random.next(below: 100))), "enabled": .boolean(number % 2 == 0),
            "score": .real(Double(random.next(below: 10_000)) / 8), "note": .string(text(40)),
            "tags": [.string(text(4)), number % 5 == 0 ? "work" : "home"],
            "path": .string("/home/\(text(6))/\(text(6))"),
            "window": ["width": 640, "height": .integer(PropertyList.Integer(random.next(below: 1000)))],
        ]
    }
}
