import FoundationEssentials

/// Measures what a package pays that depends on a version of this one: the processor time of its release build, and the
/// size of its executable with symbols, beyond those of a program without dependencies.
enum DependentsBenchmark {
    private static let (peer, program) = ("no dependency", "Sources/program/main.swift")

    static func run(_ options: Options, _ report: Report) throws {
        let folder = try newFolder("dependents")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let release = """
            mkdir '\(folder)/prefs' && git archive HEAD | tar -x -C '\(folder)/prefs' && cd '\(folder)/prefs' &&
            git init --quiet && git add --all && git -c user.name=tests -c user.email=tests@localhost commit --quiet \\
                --message 'Release' && git tag 1.0.0
            """
        guard try succeeds(release) else { throw Failure("cannot make a repository of this package") }
        let alone = try build("alone", "", "", "print(12)", in: folder)
        let dependent = try build(
            "dependent", #".package(url: "file://\#(folder)/prefs", from: "1.0.0")"#,
            #".product(name: "Preferences", package: "prefs")"#,
            #"import Preferences; print(Defaults("com.example.editor").integer(forKey: "fontSize"))"#, in: folder)
        report.add(
            Row(
                title: "release build of a program with the store, processor time",
                cells: [
                    (Row.ours, .time(dependent.processor - alone.processor)), (peer, .time(alone.processor)),
                ], floor: .atMost(.time(90e9))))
        report.add(
            Row(
                title: "its executable with symbols",
                cells: [(Row.ours, .bytes(dependent.size - alone.size)), (peer, .bytes(alone.size))],
                floor: .atMost(.bytes(12 << 20))))
    }

    /// Builds a package of one program, and returns what its build and its executable take.
    private static func build(
        _ name: String, _ package: String, _ product: String, _ code: String, in folder: String
    ) throws -> (processor: Double, size: Int) {
        let place = "\(folder)/\(name)"
        try FileManager.default.createDirectory(atPath: place + "/Sources/program", withIntermediateDirectories: true)
        let manifest = """
            // swift-tools-version: 6.2
            import PackageDescription

            let package = Package(
                name: "\(name)", dependencies: [\(package)],
                targets: [.executableTarget(name: "program", dependencies: [\(product)])])

            """
        try Data(manifest.utf8).write(to: URL(filePath: place + "/Package.swift"))
        try Data((code + "\n").utf8).write(to: URL(filePath: "\(place)/\(program)"))
        Console.note("building \(name)")
        let outcome = try Command.shell(
            "cd '\(place)' && exec swift build -c release --cache-path cache --quiet 1>&2"
        ).succeed()
        let executable = try Data(contentsOf: URL(filePath: place + "/.build/release/program"))
        return (outcome.processor, executable.count)
    }
}
