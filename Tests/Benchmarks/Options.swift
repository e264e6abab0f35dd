import PropertyLists

/// What the arguments behind the name of a benchmark ask for.
struct Options {
    private(set) var loads = Load.allCases
    private(set) var formats: [PropertyList.Format] = [.xml, .binary, .json, .openstep]
    /// How often each contender's turn comes.
    private(set) var rounds = 7
    /// What the title of a line must have in it.
    private var words: String?
    /// Whether a miss is no failure.
    private(set) var isReportOnly = false

    static let usage = """
        --load S|N|F                        only this load
        --format xml|binary|json|openstep   only this format
        --only TEXT                         of `mirror`, only the lines that have this in their titles
        --quick                             one round instead of seven
        --report-only                       exit with 0, whatever is missed
        """

    init(_ arguments: some Sequence<String>) throws {
        var arguments = arguments.makeIterator()
        while let option = arguments.next() {
            switch option {
            case "--load": loads = [try Self.value(of: option, arguments.next(), Load.init)]
            case "--format": formats = [try Self.value(of: option, arguments.next(), known(in: formats))]
            case "--only": words = try Self.value(of: option, arguments.next()) { $0.isEmpty ? nil : $0 }
            case "--quick": rounds = 1
            case "--report-only": isReportOnly = true
            default: throw Failure("unknown option \(option); known are\n\(Self.usage)")
            }
        }
    }

    func names(_ title: String) -> Bool { words.map { title.contains($0) } ?? true }

    private static func value<Value>(
        of option: String, _ text: String?, _ parse: (String) -> Value?
    ) throws -> Value {
        guard let text, let value = parse(text) else { throw Failure("\(option) cannot be \(text ?? "empty")") }
        return value
    }
}

/// Finds, by its name, one of `formats`.
private func known(in formats: [PropertyList.Format]) -> (String) -> PropertyList.Format? {
    { name in formats.first { $0.rawValue == name } }
}
