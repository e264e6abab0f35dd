import PropertyLists

/// What the arguments behind the name of a benchmark ask for.
struct Options {
    private(set) var loads = Load.allCases
    private(set) var formats: [PropertyList.Format] = [.xml, .binary, .json, .openstep]
    /// How often each contender's turn comes.
    private(set) var rounds = 7
    /// Whether a miss is no failure.
    private(set) var isReportOnly = false

    static let usage = """
        --load S|N|F                        only this load
        --format xml|binary|json|openstep   only this format
        --quick                             one round instead of seven
        --report-only                       exit with 0, whatever is missed
        """

    init(_ arguments: some Sequence<String>) throws {
        var arguments = arguments.makeIterator()
        while let option = arguments.next() {
            switch option {
            case "--load": loads = [try Self.value(of: option, arguments.next(), Load.init)]
            case "--format": formats = [try Self.value(of: option, arguments.next(), known(in: formats))]
            case "--quick": rounds = 1
            case "--report-only": isReportOnly = true
            default: throw Failure("unknown option \(option); known are\n\(Self.usage)")
            }
        }
    }

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
