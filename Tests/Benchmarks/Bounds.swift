import PropertyLists

/// Something that must end within a time, whatever others take for it.
struct Bound {
    let name: String
    let milliseconds: Double
    /// Does it once, and says what came of it.
    let work: () throws -> String
}

extension Bound {
    static func all(_ files: LoadFiles) throws -> [Bound] {
        let shared = try ["wide", "deep"].map { shape in
            let bytes = try contents(of: files.sharedReferences(shape))
            return Bound(name: "50 000 shared references in 200 KB, \(shape)", milliseconds: 50) {
                outcome(ofReading: bytes)
            }
        }
        return shared + [try lazyLookup(files)]
    }

    /// A refusal is an outcome too: the file may stand for more than anybody wants in memory.
    private static func outcome(ofReading bytes: [UInt8]) -> String {
        do {
            _ = try PropertyList(parsing: bytes, as: .binary)
            return "read"
        } catch {
            return "refused (\(error.problem))"
        }
    }

    /// Measures it, says how long it took, and judges.
    func judge() -> Verdict {
        var outcome = ""
        do {
            let took = try Measurement.of {
                outcome = try work()
                return 0
            }.milliseconds
            let verdict = took < milliseconds ? Verdict.met : .missed
            let times = "in \(decimal(took, digits: 3)) ms (limit \(decimal(milliseconds, digits: 2)) ms)"
            Console.show("\(name): \(outcome) \(times): \(verdict.rawValue)")
            return verdict
        } catch {
            Console.show("\(name): \(error): \(Verdict.missed.rawValue)")
            return .missed
        }
    }
}
