/// What a mirror costs, line by line of what it may cost, all in one run.
///
/// The mirror that is measured is our own command and library, on the disk that the package lies on. Where only one
/// core is free for all of it, times are longer than they are where two hosts have one each.
struct MirrorBenchmark {
    let options: Options

    /// Prints the table; whether everything came to what it has to.
    func run() throws -> Bool {
        guard try Subprocess.run("swift build -c release --product prefs") else {
            throw Failure("the command cannot be built: swift build -c release")
        }
        let sizes = options.rounds == 1 ? MirrorSizes.hasty : .whole
        Console.show("Wall time for commands and daemons, processor time within the process.")
        var verdicts: [Bool] = []
        for line in MirrorLine.all where options.names(line.title) {
            Console.note("measuring: \(line.title)")
            Console.show("\n\(line.title)")
            verdicts += show(line, sizes)
        }
        Console.show("\nOf \(verdicts.count): \(verdicts.count { $0 }) met, \(verdicts.count { !$0 }) MISSED")
        return verdicts.allSatisfy(\.self)
    }

    private func show(_ line: MirrorLine, _ sizes: MirrorSizes) -> [Bool] {
        do {
            let figures = try line.figures(sizes)
            for figure in figures { Console.show(figure.text) }
            return figures.map(\.isMet)
        } catch {
            Console.show("    \(error): \(Verdict.missed.rawValue)")
            return [false]
        }
    }
}
