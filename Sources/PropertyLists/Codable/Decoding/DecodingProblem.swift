extension ValueDecoder {
    /// Why the value is no `type`: it is missing, or of another kind, or a number that does not fit.
    @inline(never)
    func failure(_ type: any Any.Type, at key: (any CodingKey)? = nil) -> DecodingError {
        var path = codingPath
        if let key, !path.isEmpty { path[path.count - 1] = key }
        func context(_ description: String) -> DecodingError.Context {
            DecodingError.Context(codingPath: path, debugDescription: description)
        }
        guard let value else { return .valueNotFound(type, context("There is no value.")) }
        guard value.isNearly(type) else { return .typeMismatch(type, context(value.kind.finding)) }
        return .dataCorrupted(context("The \(value.kind.rawValue) \(value.excerpt) cannot be a value of type \(type)."))
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
    /// Whether the value is of a kind that may stand for a `type`, so that it is this one that does not fit.
    fileprivate func isNearly(_ type: any Any.Type) -> Bool {
        switch self {
        case .integer, .real: type is any (Scalar & Numeric).Type
        case .uid: type is any (Scalar & UnsignedInteger).Type
        case .string: type is any TextScalar.Type
        default: false
        }
    }

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
