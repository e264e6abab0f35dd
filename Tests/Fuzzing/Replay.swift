#if !FUZZER
    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// Runs the same checks on existing inputs, without the fuzzer.
    @main
    struct Replay {
        private var targets = Target.allCases
        private var isVerbose = false
        private var paths: [String] = []

        static func main() {
            do {
                if CommandLine.arguments.dropFirst().first == "--flood" {
                    endProcess(try flood(named: CommandLine.arguments.dropFirst(2).first) ? 0 : 1)
                }
                if CommandLine.arguments.dropFirst().first == "--command-lines" {
                    endProcess(try runCommandLines(CommandLine.arguments.dropFirst(2)) ? 0 : 1)
                }
                let replay = try Replay(arguments: CommandLine.arguments.dropFirst())
                let failures = try replay.run()
                endProcess(failures == 0 ? 0 : 1)
            } catch {
                say("\(error)", to: 2)
                endProcess(2)
            }
        }

        /// Measures one flood. Without a name, prints the names of all floods.
        private static func flood(named name: String?) throws -> Bool {
            guard let name else {
                for flood in Flood.all { say(flood.name, to: 1) }
                return true
            }
            guard let flood = Flood.all.first(where: { $0.name == name }) else { throw Misuse() }
            return try flood.isBounded()
        }

        private static func runCommandLines(_ arguments: ArraySlice<String>) throws -> Bool {
            let numbers = arguments.map { UInt64($0) ?? 0 }
            guard let count = numbers.first, count > 0, count < 1 << 32, numbers.count <= 2 else { throw Misuse() }
            return CommandLines.run(Int(count), seed: numbers.count == 2 ? numbers[1] : .random(in: 1...(1 << 32)))
        }

        private init(arguments: ArraySlice<String>) throws {
            var rest = arguments
            while let argument = rest.popFirst() {
                switch argument {
                case "--target":
                    guard let target = rest.popFirst().flatMap(Target.init(rawValue:)) else { throw Misuse() }
                    targets = [target]
                case "--verbose": isVerbose = true
                case _ where argument.hasPrefix("-"): throw Misuse()
                default: paths.append(argument)
                }
            }
        }

        /// Replays every file, and prints the number of those that violate a property.
        private func run() throws -> Int {
            var (inputs, failures) = (0, 0)
            for file in try paths.flatMap(Self.files(under:)) {
                // If an input ends the process, the last line names it.
                if isVerbose { say(file, to: 1) }
                let bytes = [UInt8](try Data(contentsOf: URL(filePath: file)))
                inputs += 1
                if !holds(file, bytes) { failures += 1 }
            }
            say("\(inputs) inputs replayed", to: 1)
            return failures
        }

        private func holds(_ file: String, _ bytes: [UInt8]) -> Bool {
            var holds = true
            for target in targets {
                do throws(BrokenProperty) {
                    try bytes.withUnsafeBufferPointer { (bytes) throws(BrokenProperty) in try target.check(bytes) }
                } catch {
                    say("\(file): error: \(error)", to: 2)
                    holds = false
                }
            }
            return holds
        }

        private static func files(under path: String) throws -> [String] {
            var isFolder = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
                throw CocoaError(.fileNoSuchFile)
            }
            guard isFolder else { return [path] }
            return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
                .flatMap { try files(under: path + "/" + $0) }
        }

        private struct Misuse: Error, CustomStringConvertible {
            var description: String {
                """
                usage: Fuzzing [--target \(Target.allCases.map(\.rawValue).joined(separator: "|"))] [--verbose] PATH…
                       Fuzzing --flood [NAME]   the memory that reading a prepared input takes; no name: their names
                       Fuzzing --command-lines COUNT [SEED]   runs the command on lines made at random
                """
            }
        }
    }
#endif
