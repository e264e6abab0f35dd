import PropertyLists

/// What is read and written: fifty settings, nested records, flat keys.
enum Load: String, CaseIterable {
    case settings = "S"
    case nested = "N"
    case flat = "F"
}

/// The files of the loads, which Tests/Peers/loads.py writes: the bytes are not ours.
struct LoadFiles {
    private static let folder = ".build/benchmarks"
    private static let generator = "Tests/Peers/loads.py"

    /// Writes the files where they are missing or older than what writes them.
    init() throws {
        guard let generatorChange = lastChange(of: Self.generator) else {
            throw Failure("\(Self.generator) is not there: run this in the folder of the package")
        }
        let isFresh = Self.all.allSatisfy { lastChange(of: $0).map { $0 > generatorChange } ?? false }
        guard !isFresh else { return }
        Console.note("writing the loads into \(Self.folder)")
        guard try Subprocess.run("python3 \(Self.generator) \(Self.folder)") else {
            throw Failure("without the loads there is nothing to measure (apt-get install python3)")
        }
    }

    func path(_ load: Load, _ format: PropertyList.Format) -> String { Self.path(load.rawValue, format) }

    /// A binary file with 50 000 references to shared containers: `wide`, or `deep` in one another.
    func sharedReferences(_ shape: String) -> String { Self.path("shared-\(shape)", .binary) }

    private static func path(_ name: String, _ format: PropertyList.Format) -> String {
        "\(folder)/\(name).\(format.rawValue)"
    }

    private static var all: [String] {
        Load.allCases.flatMap { load in
            [PropertyList.Format.xml, .binary, .json, .openstep].map { path(load.rawValue, $0) }
        }
    }
}
