extension ValueDecoder {
    /// Why the value is no `type`: it is missing, or of another kind.
    @inline(never)
    func failure(_ type: any Any.Type, at key: (any CodingKey)? = nil) -> DecodingError {
        guard let value else { return .valueNotFound(type, context("There is no value.", key)) }
        return .typeMismatch(type, context(value.kind.finding, key))
    }

    /// Why the value is no `type`: it is missing, or of another kind, or does not fit.
    @inline(never)
    func scalarFailure<Value: Scalar>(_ type: Value.Type, at key: (any CodingKey)? = nil) -> DecodingError {
        guard let value, type.isNear(value.kind) else { return failure(type, at: key) }
        return .dataCorrupted(context("The \(value.kind.rawValue) \(value.excerpt) is no value of type \(type).", key))
    }

    private func context(_ description: String, _ key: (any CodingKey)?) -> DecodingError.Context {
        var path = codingPath
        if let key, !path.isEmpty { path[path.count - 1] = key }
        return DecodingError.Context(codingPath: path, debugDescription: description)
    }
}

extension PropertyList.Kind {
    /// What was found, as a text that costs nothing: a type may try what a value is by failing.
    fileprivate var finding: String {
        switch self {
        case .string: "The value is a string."
        case .integer: "The value is an integer."
        case .real: "The value is a real."
        case .boolean: "The value is a boolean."
        case .date: "The value is a date."
        case .data: "The value is data."
        case .array: "The value is an array."
        case .dictionary: "The value is a dictionary."
        case .uid: "The value is a uid."
        }
    }
}

extension PropertyList {
    fileprivate var excerpt: String {
        switch self {
        case .string(let text): "“\(text.prefix(40))”"
        case .integer(let number): number.description
        case .real(let number): number.description
        case .uid(let number): number.description
        default: ""
        }
    }
}
