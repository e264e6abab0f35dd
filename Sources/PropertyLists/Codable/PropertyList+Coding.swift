extension PropertyList {
    /// The value that `value` encodes itself as.
    ///
    /// A property list has no null. Under a key, nil is left out; anywhere else it is an `EncodingError`, and so is a
    /// type that encodes nothing. Dates, data and property lists stand as they are; a `Float` becomes the double with
    /// the same shortest digits; `Decimal` and `URL` become strings.
    public init(encoding value: some Encodable, userInfo: [CodingUserInfoKey: any Sendable] = [:]) throws {
        let root = EncodingNode(rootWith: userInfo)
        guard let encoded = try root.encode(value, as: .itself) else {
            throw root.invalid(value, as: .itself, EncodingProblem.null)
        }
        self = encoded
    }

    /// The value of type `T` that this one stands for.
    ///
    /// Kinds are not mixed: a boolean is never a number, nor a string either. A number may change its type where
    /// nothing is lost: an integer into a `Double`, a real without a fraction into an `Int`.
    public func decoded<T: Decodable>(
        as type: T.Type = T.self, userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) throws -> T {
        try ValueDecoder(root: self, userInfo: userInfo).decode(type)
    }
}
