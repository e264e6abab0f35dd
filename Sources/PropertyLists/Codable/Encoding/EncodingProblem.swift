/// Why a value cannot be encoded, before anybody asks at which place.
enum EncodingProblem: String, Error {
    case nothing = "The value encodes nothing."
    case null = "A property list has no null; nil can only be left out under a key."
    case twice = "The value encodes itself as more than one thing."
    case outOfRange = "A property list holds integers from −2⁶³ to 2⁶⁴−1."
    case nestedTooDeeply = "The value is nested too deeply, or holds itself."
}

extension EncodingNode {
    /// The way from the root to what this node encodes.
    var path: [any CodingKey] { parent.map { $0.path + step.key } ?? [] }

    func invalid(_ value: Any, as step: Step, _ problem: EncodingProblem) -> EncodingError {
        invalid(value, at: path + step.key, problem)
    }

    func invalid(_ value: Any, at path: [any CodingKey], _ problem: EncodingProblem) -> EncodingError {
        .invalidValue(value, .init(codingPath: path, debugDescription: problem.rawValue))
    }
}

extension EncodingNode.Step {
    fileprivate var key: [any CodingKey] {
        switch self {
        case .itself: []
        case .key(let key): [PathKey(stringValue: key)]
        case .index(let index): [PathKey(intValue: index)]
        }
    }
}
