extension PropertyList {
    /// The value that `value` encodes itself as.
    ///
    /// A property list has no null. Under a key, nil is left out; anywhere else it is an `EncodingError`, and so is a
    /// type that encodes nothing, or is nested deeper than 384 levels. Of several values under one key the last one
    /// counts, but a container that is asked for again is filled on. Dates, data and property lists stand as they are;
    /// a `Float` becomes the double with the same shortest digits; `Decimal` and `URL` become strings.
    public init(encoding value: some Encodable, userInfo: [CodingUserInfoKey: any Sendable] = [:]) throws {
        self = try EncodingSession.pool.code(userInfo) { session in
            let root = EncodingNode(rootOf: session)
            guard let encoded = try root.encode(value, as: .itself) else {
                throw root.invalid(value, as: .itself, EncodingProblem.null)
            }
            return encoded
        }
    }

    /// The value of type `T` that this one stands for.
    ///
    /// Kinds are not mixed: a boolean is never a number, nor a string either. A number may change its type where
    /// nothing is lost: an integer into a `Double`, a real without a fraction into an `Int`. Nil is what was left out;
    /// the text `$null`, which stands for it in files of Foundation's encoder, is a text.
    public func decoded<T: Decodable>(
        as type: T.Type = T.self, userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) throws -> T {
        try DecodingSession.pool.code(userInfo) { session in
            try ValueDecoder(node: DecodingNode(root: self, session: session), position: 0).decode(type)
        }
    }
}
