import FoundationEssentials
import Glibc

/// Measures how `prefs browse` and less show a file of 100,000 entries, in terminals of 80 by 24.
///
/// The values in a file can be seen with less in the text of `prefs read`. By itself, less shows the start of any file
/// without reading the rest, and that is shown for comparison.
enum ScreensBenchmark {
    private static let peer = "read | less"

    static func run(_ options: Options, _ report: Report) throws {
        let folder = try newFolder("screens")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let prefs = try PackagedCommand.make()
        guard try succeeds("less --version") else { throw Failure("less is not installed") }
        let file = folder + "/large.plist"
        try writeEntries(to: file)
        let environment = ["PATH": "/usr/bin:/bin", "HOME": folder, "TERM": "xterm", "LC_ALL": "C.UTF-8"]
        let contenders: [(name: String, words: [String])] = [
            (Row.ours, [prefs, "browse", file]), (peer, ["sh", "-c", "'\(prefs)' read '\(file)' | less"]),
            ("less", ["less", file]),
        ]
        // The browser scrolls when the selection leaves the screen, and less at once. The browser also draws the
        // details of the selected entry, so a key that moves by a line may take longer than in less. When keys arrive
        // faster than they can be shown, the browser draws only the last screen.
        let keys: [(title: String, key: String, count: Int, most: Double)] = [
            ("a key that selects the next entry, to its screen", "j", 10, 1.75),
            ("a key that scrolls by a line, to its screen", "j", 40, 1.75),
            ("a key that scrolls by a page, to its screen", "\u{1B}[6~", 40, 1),
            ("500 keys at once that scroll by a line, to the last screen", String(repeating: "j", count: 500), 3, 1),
        ]
        var (paint, memory) = ([[Int64](), [], []], [0, 0, 0])
        var times = keys.map { _ in [[Int64](), [], []] }
        for _ in 0..<(options.isQuick ? 3 : 15) {
            for (index, contender) in contenders.enumerated() {
                let terminal = try TerminalProgram(contender.words, environment)
                paint[index].append(try terminal.wait(for: "entry.000004"))
                for (row, (_, key, count, _)) in keys.enumerated() {
                    for _ in 0..<count { times[row][index].append(try terminal.press(key)) }
                    // The next key starts to scroll.
                    if row == 0 { for _ in 0..<20 { _ = try terminal.press(key) } }
                }
                memory[index] = max(memory[index], try terminal.end("q"))
            }
        }
        report.add(
            Row(
                title: "the first screen of 100,000 entries",
                cells: zip(contenders, paint).map { ($0.name, .time(Double($1.percentile(50)))) },
                floor: .within(1, of: peer)))
        for (key, times) in zip(keys, times) {
            report.add(
                Row(
                    title: key.title,
                    cells: zip(contenders, times).map { ($0.name, .time(Double($1.percentile(50)))) },
                    floor: .within(key.most, of: peer)))
        }
        report.add(
            Row(
                title: "the memory of the same", cells: zip(contenders, memory).map { ($0.name, .bytes($1)) },
                floor: .atMost(.bytes(100_000_000))))
        try search(options, report, contenders[0].words, environment, folder)
    }

    /// Measures the processor time of the letters of a search that all entries match, against fzf on one thread, less
    /// the time that fzf takes to read and print the same lines without a search.
    private static func search(
        _ options: Options, _ report: Report, _ words: [String], _ environment: [String: String], _ folder: String
    ) throws {
        guard try succeeds("fzf --version") else { throw Failure("fzf is not installed") }
        let lines = folder + "/lines"
        let text = (0..<100_000).map { "entry.\(String($0 + 1_000_000).dropFirst()) value\n" }.joined()
        try Data(text.utf8).write(to: URL(filePath: lines))
        let letters = "ent".map { String($0) }
        var (ours, peer) = (letters.map { _ in Int64.max }, [Int64](repeating: .max, count: letters.count + 1))
        var (index, mostMemory) = (Int64.max, 0)
        for _ in 0..<(options.isQuick ? 3 : 15) {
            let terminal = try TerminalProgram(words, environment)
            _ = try terminal.wait(for: "entry.000004")
            index = min(index, try terminal.processorTime(of: "/"))
            for (place, letter) in letters.enumerated() {
                ours[place] = min(ours[place], try terminal.processorTime(of: letter))
            }
            mostMemory = max(mostMemory, try terminal.end("\u{3}q"))
            for count in peer.indices {
                let command = Command(
                    words: ["fzf", "--filter", letters.prefix(count).joined()],
                    environment: environment.merging(["GOMAXPROCS": "1"]) { $1 }, input: lines)
                peer[count] = min(peer[count], Int64(try command.succeed().processor))
            }
        }
        for (place, letter) in letters.enumerated() {
            report.add(
                Row(
                    title: "the letter \(letter) of a search in 100,000 entries",
                    cells: [
                        (Row.ours, .time(Double(ours[place]))), ("fzf", .time(Double(peer[place + 1] - peer[0]))),
                    ],
                    floor: .within(1, of: "fzf")))
        }
        report.add(Row(title: "the key that begins a search", cells: [(Row.ours, .time(Double(index)))]))
        report.add(
            Row(
                title: "the memory of a search", cells: [(Row.ours, .bytes(mostMemory))],
                floor: .atMost(.bytes(60_000_000))))
    }

    /// Writes the entries one by one to keep this process small: on Linux, the peak memory of a program includes that
    /// of the process that started it.
    private static func writeEntries(to path: String) throws {
        guard let file = fopen(path, "w") else { throw Failure("\(path) cannot be written") }
        defer { fclose(file) }
        fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\">\n<dict>\n", file)
        for number in 1_000_000..<1_100_000 {
            let digits = String(number).dropFirst()
            fputs("\t<key>entry.\(digits)</key>\n\t<string>value \(digits)</string>\n", file)
        }
        fputs("</dict>\n</plist>\n", file)
    }
}

/// A program in a pseudo-terminal of 80 by 24.
private final class TerminalProgram {
    private let master: Int32
    /// Kept open until the program ends, because a terminal that nothing has opened yet reads as closed.
    private var slave: Int32
    private let start: Int64
    private var process = pid_t()
    /// `POSIX_SPAWN_SETSID`, which the system declares for GNU programs only.
    private static let newSession: Int16 = 0x80

    init(_ words: [String], _ environment: [String: String]) throws {
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (locked, number) = (Int32(0), UInt32(0))
        // `TIOCSPTLCK` and `TIOCGPTN`, which are macros that Swift does not import.
        guard master >= 0, ioctl(master, 0x4004_5431, &locked) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
            throw Failure.system("a terminal")
        }
        let path = "/dev/pts/\(number)"
        slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw Failure.system(path) }
        var size = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(master, UInt(TIOCSWINSZ), &size)
        // The first terminal that a session leader opens becomes the controlling terminal of the session.
        var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawnattr_setflags(&attributes, Self.newSession)
        for descriptor in 0..<Int32(3) {
            posix_spawn_file_actions_addopen(&actions, descriptor, path, O_RDWR, 0)
        }
        var arguments = words.map { (word: String) in strdup(word) } + [nil]
        var variables = environment.map { (entry) in strdup("\(entry.key)=\(entry.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        start = now()
        guard posix_spawnp(&process, words[0], &actions, &attributes, &arguments, &variables) == 0 else {
            throw Failure.system(words[0])
        }
    }

    deinit {
        close(slave)
        close(master)
    }

    /// Waits for a text, and returns the time since the start.
    func wait(for text: String) throws -> Int64 {
        var output = ""
        while !output.contains(text) {
            let more = read(milliseconds: 10_000)
            guard !more.isEmpty else { throw Failure("no \(text) in \(output)") }
            output += String(decoding: more, as: UTF8.self)
        }
        let time = now() - start
        while !read(milliseconds: 50).isEmpty {}
        return time
    }

    /// Presses a key, and returns the time until the last byte of the screen that it changes.
    func press(_ key: String) throws -> Int64 {
        let start = now()
        _ = write(master, key, key.utf8.count)
        guard !read(milliseconds: 10_000).isEmpty else { throw Failure("the key \(key) does nothing") }
        var end = now()
        while !read(milliseconds: 5).isEmpty { end = now() }
        return end - start
    }

    /// Presses a key, and returns the processor time until the screen is complete.
    func processorTime(of key: String) throws -> Int64 {
        let start = try processorTime()
        _ = try press(key)
        while !read(milliseconds: 50).isEmpty {}
        return try processorTime() - start
    }

    /// The processor time that the kernel has counted for the program's first thread.
    private func processorTime() throws -> Int64 {
        let text = try String(decoding: contents(of: "/proc/\(process)/schedstat"), as: UTF8.self)
        guard let time = text.split(separator: " ").first.flatMap({ Int64($0) }) else { throw Failure.system(text) }
        return time
    }

    /// Ends the program with keys, and returns the most memory that it used.
    func end(_ key: String) throws -> Int {
        _ = write(master, key, key.utf8.count)
        close(slave)
        slave = -1
        while !read(milliseconds: 10_000).isEmpty {}
        var (status, usage) = (Int32(0), rusage())
        wait4(process, &status, 0, &usage)
        guard status == 0 else { throw Failure("the program ends with \(status)") }
        return usage.ru_maxrss * 1024
    }

    /// Returns the output that arrives within a time, or nothing after that time and at the end.
    private func read(milliseconds: Int32) -> [UInt8] {
        var polled = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        guard poll(&polled, 1, milliseconds) > 0 else { return [] }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = Glibc.read(master, &buffer, buffer.count)
        return Array(buffer.prefix(max(0, count)))
    }
}
