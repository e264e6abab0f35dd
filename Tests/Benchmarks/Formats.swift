import FoundationEssentials
import Glibc
import PropertyLists

/// Measures how fast prefs and its peers read and write the loads in every format. The contenders run in turn, each in
/// its own process.
enum FormatsBenchmark {
    static func run(_ options: Options, _ report: Report) throws {
        try keepFreedMemory()
        let files = try LoadFiles()
        let peers = Peer.contenders(in: options.formats, report)
        Console.show(
            """
            Processor time, median of \(options.isQuick ? 1 : 7).
            S: 50 settings, N: nested records, F: 100 000 keys.
            """)
        for operations in [[Operation.read, .write], [.decode, .encode]] {
            for format in options.formats where ![.openstep, .toml].contains(format) || operations == [.read, .write] {
                for load in options.loads {
                    for operation in operations {
                        let trial = Trial(operation: operation, format: format, load: load)
                        report.add(trial.row(at: files, peers, rounds: options.isQuick ? 1 : 7, report))
                    }
                }
            }
        }
        if options.formats.contains(.binary) { try bounds(files, report) }
    }

    /// Restarts this process, so that it and its children keep the memory that they free.
    ///
    /// Otherwise it depends on the layout of the heap whether the pages of a value are returned to the system after
    /// each call and cleared for the next one. That took a third of the time of reading.
    private static func keepFreedMemory() throws {
        let variable = "GLIBC_TUNABLES"
        guard getenv(variable) == nil else { return }
        setenv(variable, "glibc.malloc.trim_threshold=\(Int32.max):glibc.malloc.mmap_threshold=33554432", 1)
        execv("/proc/self/exe", CommandLine.unsafeArgv)
        throw Failure.system("/proc/self/exe")
    }

    // MARK: Absolute floors

    private static func bounds(_ files: LoadFiles, _ report: Report) throws {
        for shape in ["wide", "deep"] {
            let bytes = try contents(of: files.path("shared-\(shape)", .binary))
            report.add("50 000 shared references in 200 KB, \(shape)", milliseconds: 50) {
                // An error is a valid result: the file may expand to too many values.
                _ = try? PropertyList(parsing: bytes, as: .binary)
            }
        }
        let value = try PropertyList(parsing: contents(of: files.path("F", .binary)), as: .binary)
        guard case .dictionary(let dictionary) = value else { throw Failure("the load F is not a dictionary") }
        var options = PropertyList.WritingOptions.default
        options.marksSortedRoot = true
        let path = files.path("F", .binary) + "-sorted"
        try value.serialized(as: .binary, options: options).write(to: URL(filePath: path))
        let (file, keys) = (try CountingFile(path), dictionary.map(\.key))
        var (turn, most) = (0, 0)
        report.add("one key of F from an open file", milliseconds: 0.1) {
            // A different key each time, because the previous one is in the caches.
            turn = (turn + 7919) % keys.count
            file.copied.pointee = 0
            guard try BinaryPropertyList(file)[keys[turn]] == dictionary[keys[turn]] else {
                throw Failure("found another value")
            }
            most = max(most, file.copied.pointee)
        }
        report.add(
            Row(
                title: "bytes copied for one key of F", cells: [(Row.ours, .bytes(most))],
                floor: .atMost(.bytes(65_536))))
    }
}

extension Report {
    fileprivate func add(_ title: String, milliseconds: Double, _ work: () throws -> Void) {
        let measured = measuring(title) {
            try Measurement.of {
                try work()
                return 0
            }
        }
        guard let measured else { return }
        let floor = Floor.atMost(.time(milliseconds * 1e6))
        add(Row(title: title, cells: [(Row.ours, .time(measured.nanoseconds))], floor: floor))
    }
}

/// An open file that counts the bytes read from it; unchecked because only the one thread that measures uses it.
private struct CountingFile: ByteSource, @unchecked Sendable {
    let descriptor: CInt
    let byteCount: Int
    let copied = UnsafeMutablePointer<Int>.allocate(capacity: 1)

    init(_ path: String) throws {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        byteCount = Int(lseek(descriptor, 0, SEEK_END))
        guard descriptor >= 0, byteCount > 0 else { throw Failure.system(path) }
    }

    func bytes(at offset: Int, count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        guard pread(descriptor, &bytes, count, offset) == count else { throw Failure("the file became shorter") }
        copied.pointee += count
        return bytes
    }
}

// MARK: Loads and trials

enum Load: String, CaseIterable {
    case settings = "S"
    case nested = "N"
    case flat = "F"
}

/// The files of the loads. Tests/Peers/loads.py writes them, not this package.
struct LoadFiles {
    private static let folder = ".build/benchmarks"
    private static let generator = "Tests/Peers/loads.py"

    /// Writes the files where they are missing or older than their generator.
    init() throws {
        let files = Load.allCases.flatMap { load in
            [PropertyList.Format.xml, .binary, .json, .openstep, .toml].map { path(load.rawValue, $0) }
        }
        let isFresh = files.map { "[ \($0) -nt \(Self.generator) ]" }.joined(separator: " && ")
        guard try succeeds(isFresh) || succeeds("python3 \(Self.generator) \(Self.folder)") else {
            throw Failure("cannot write the loads: run in the folder of the package, with python3 installed")
        }
    }

    func path(_ name: String, _ format: PropertyList.Format) -> String { "\(Self.folder)/\(name).\(format.rawValue)" }
}

enum Operation: String {
    case read, write
    /// From and to `Codable` types.
    case decode, encode
}

/// An operation on a load in a format.
struct Trial: CustomStringConvertible {
    let operation: Operation
    let format: PropertyList.Format
    let load: Load

    var description: String { "\(format.rawValue) \(load.rawValue) \(operation.rawValue)" }

    private var floor: Floor? {
        switch (format, operation) {
        case (_, .decode), (_, .encode): .faster(2, than: "Foundation")
        case (.xml, .read): .faster(3, than: "libplist")
        case (.xml, .write): .faster(load == .nested ? 3 : 2.5, than: "libplist")
        case (.binary, .read):
            .faster([.settings: 0.8, .nested: 1.7, .flat: 0.9][load] ?? 1, than: "libplist")
        case (.binary, .write): .faster([.settings: 2, .nested: 15, .flat: 20][load] ?? 1, than: "libplist")
        case (.json, .read): .faster(load == .settings ? 0.5 : 1, than: "orjson")
        case (.json, .write): .faster(0.8, than: "orjson")
        case (.toml, .read), (.toml, .write): load == .flat ? nil : .faster(0.5, than: "rtoml")
        case (.openstep, .read), (.gnustep, .read): .faster(2, than: "GNUstep")
        case (.openstep, .write), (.gnustep, .write): .faster(5, than: "GNUstep")
        }
    }

    /// Measures all contenders in turn, `rounds` times, so that other work on the machine slows each of them.
    func row(at files: LoadFiles, _ peers: [Peer], rounds: Int, _ report: Report) -> Row {
        var contenders = [Peer.ours] + peers.filter { $0.measures(self) }
        var measured: [String: [Measurement]] = [:]
        for _ in 0..<rounds {
            contenders.removeAll { peer in
                let measurement = report.measuring("\(peer.name): \(self)") {
                    try peer.measure(self, files.path(load.rawValue, format))
                }
                if let measurement { measured[peer.name, default: []].append(measurement) }
                return measurement == nil
            }
        }
        let bytes = measured[Row.ours]?.first?.bytes ?? 0
        return Row(
            title: "\(self), \(decimal(Double(bytes) / 1e6, digits: bytes < 100_000 ? 3 : 1)) MB",
            cells: contenders.compactMap { peer in
                Measurement.median(of: measured[peer.name] ?? []).map { (peer.name, .time($0.nanoseconds)) }
            }, floor: floor)
    }
}

// MARK: Peers

/// A reader or writer of property lists, and its driver, which follows the protocol in Tests/Peers/driver.h.
struct Peer {
    let name: String
    let formats: [PropertyList.Format]
    var isTyped = false
    /// A shell command that builds the driver.
    var build: String?
    /// A shell command that runs the driver.
    let driver: String
    /// How to install what these commands require.
    let hint: String

    private static let folder = ".build/peers"

    static let ours = Peer(
        name: Row.ours, formats: [.xml, .binary, .json, .openstep, .toml], isTyped: true,
        driver: "exec .build/release/Benchmarks formats-driver", hint: "swift build -c release")

    private static let others = [
        Peer(
            name: "Foundation", formats: [.xml, .binary, .json], isTyped: true,
            build: "swift build -c release --package-path Tests/Peers --scratch-path \(folder)/foundation",
            driver: "exec \(folder)/foundation/release/FoundationPeer", hint: "part of the Swift toolchain"),
        Peer(
            name: "plistlib", formats: [.xml, .binary], driver: "exec python3 Tests/Peers/python.py plistlib",
            hint: "apt-get install python3"),
        Peer(
            name: "orjson", formats: [.json], driver: "exec python3 Tests/Peers/python.py orjson",
            hint: "pip install orjson==3.8.3"),
        Peer(
            name: "rtoml", formats: [.toml], driver: "exec python3 Tests/Peers/python.py rtoml",
            hint: "pip install rtoml==0.9.0"),
        Peer(
            name: "libplist", formats: [.xml, .binary],
            build: """
                cc -O2 -DVERSION="\\"$(pkg-config --modversion libplist-2.0)\\"" -o \(folder)/libplist \
                Tests/Peers/libplist.c $(pkg-config --cflags --libs libplist-2.0)
                """,
            driver: "exec \(folder)/libplist", hint: "apt-get install gcc pkg-config libplist-dev"),
        Peer(
            name: "GNUstep", formats: [.openstep],
            build: """
                gcc -std=gnu11 $(gnustep-config --objc-flags) -MF \(folder)/gnustep.d -o \(folder)/gnustep \
                Tests/Peers/gnustep.m $(gnustep-config --base-libs)
                """,
            driver: "exec \(folder)/gnustep", hint: "apt-get install gcc gobjc libgnustep-base-dev"),
    ]

    /// Returns the peers that support one of the formats and whose drivers start. Reports the others as problems.
    static func contenders(in formats: [PropertyList.Format], _ report: Report) -> [Peer] {
        others.filter { peer in
            guard formats.contains(where: peer.formats.contains) else { return false }
            Console.note("preparing \(peer.name)")
            do {
                guard try peer.build.map({ try succeeds("mkdir -p \(folder) && \($0)") }) ?? true else {
                    throw Failure("its driver does not build")
                }
                Console.show(try peer.start().version)
                return true
            } catch {
                report.problem("\(peer.name): \(error) (\(peer.hint))")
                return false
            }
        }
    }

    func measures(_ trial: Trial) -> Bool {
        formats.contains(trial.format) && (isTyped || [.read, .write].contains(trial.operation))
    }

    private func start() throws -> (driver: Child, version: String) {
        let child = try Child(.shell(driver))
        guard let words = child.line()?.split(separator: " ", maxSplits: 1), words.count == 2, words[0] == "ready"
        else { throw Failure("its driver does not start") }
        return (child, String(words[1]))
    }

    /// Measures in a new process, because earlier reading fragments memory.
    func measure(_ trial: Trial, _ path: String) throws -> Measurement {
        let child = try start().driver
        try child.send("\(trial.operation.rawValue) \(trial.format.rawValue) \(trial.load.rawValue) \(path)")
        let answer = child.line() ?? "nothing"
        let words = answer.split(separator: " ")
        guard words.count == 2, let nanoseconds = Double(words[0]), let bytes = Int(words[1]) else {
            throw Failure("its driver answers: \(answer)")
        }
        return Measurement(nanoseconds: nanoseconds, bytes: bytes)
    }
}

/// This package as a driver.
enum FormatsDriver {
    static func answerCommands() {
        Console.show("ready \(Row.ours)")
        while let command = readLine() {
            do {
                let measured = try answer(command)
                Console.show("\(measured.nanoseconds) \(measured.bytes)")
            } catch {
                Console.show("\(error)")
            }
        }
    }

    private static func answer(_ command: String) throws -> Measurement {
        let words = command.split(separator: " ", maxSplits: 3).map(String.init)
        guard words.count == 4, let operation = Operation(rawValue: words[0]),
            let format = PropertyList.Format(rawValue: words[1])
        else { throw Failure("no command: \(command)") }
        let bytes = try contents(of: words[3])
        switch operation {
        case .read:
            return try Measurement.of {
                _ = try PropertyList(parsing: bytes, as: format)
                return bytes.count
            }
        case .write:
            let (value, options) = (try PropertyList(parsing: bytes, as: format), options(of: format))
            return try Measurement.of { try value.serialized(as: format, options: options).count }
        case .decode, .encode:
            guard let type = typeOfLoad(words[2], inJSON: format == .json) else {
                throw Failure("no type for the load \(words[2])")
            }
            return try measure(type, operation, format, bytes)
        }
    }

    private static func measure<Value: Codable>(
        _ type: Value.Type, _ operation: Operation, _ format: PropertyList.Format, _ bytes: [UInt8]
    ) throws -> Measurement {
        func decoded() throws -> Value { try PropertyList(parsing: bytes, as: format).decoded(as: type) }
        guard operation == .encode else {
            return try Measurement.of {
                _ = try decoded()
                return bytes.count
            }
        }
        let (value, options) = (try decoded(), options(of: format))
        return try Measurement.of { try PropertyList(encoding: value).serialized(as: format, options: options).count }
    }

    /// Sorts keys, except in JSON, whose peers do not.
    private static func options(of format: PropertyList.Format) -> PropertyList.WritingOptions {
        var options = PropertyList.WritingOptions()
        options.keepsKeyOrder = format == .json
        return options
    }
}
