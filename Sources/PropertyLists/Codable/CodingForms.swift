/// The forms in which an encoder writes keys and scalars: `PropertyList.CodingStrategies`, or those of an encoder in
/// another module.
package protocol EncodingForms {
    /// Whether keys are converted.
    var convertsKeys: Bool { get }
    /// Whether values are converted.
    var convertsValues: Bool { get }

    /// The name under which a key is encoded. The path is that of its container. It is called if keys are converted.
    func encodedName(of key: any CodingKey, in path: () -> [any CodingKey]) -> String
    /// The form of a value of one of the types that have several. It is called if values are converted.
    func encodedForm(of value: any Encodable) throws -> EncodedForm
}

/// How a value of a type with several forms is encoded.
package enum EncodedForm {
    /// In the usual form of its type.
    case usual
    /// As this value.
    case value(PropertyList)
    /// As a function encodes it. A function that encodes nothing stands for an empty dictionary.
    case custom((any Encoder) throws -> Void)
    /// Not at all, for this reason.
    case impossible(String)
}

/// The forms in which a decoder reads keys and scalars: `PropertyList.CodingStrategies`, or those of a decoder in
/// another module.
package protocol DecodingForms {
    /// Whether keys are converted.
    var convertsKeys: Bool { get }
    /// Whether values are converted.
    var convertsValues: Bool { get }

    /// The name that is looked up first for a key, or nil if only converted names are.
    func soughtName(of key: any CodingKey) -> String?
    /// The name of the key that a name in a file stands for. The path is that of its container.
    func decodedName(of name: String, in path: () -> [any CodingKey]) -> String
    /// Returns a value of a type that has several forms, or nil if the value has its usual form.
    func decoded<T>(_ type: T.Type, of value: PropertyList, from decoder: any Decoder) throws -> T?
    /// Whether a value of this kind can be converted to this type if its contents are valid.
    func areNear(_ kind: PropertyList.Kind, _ type: any Any.Type) -> Bool
}

extension EncodingForms {
    package func encodedName(of key: any CodingKey, in path: () -> [any CodingKey]) -> String { key.stringValue }
}

extension DecodingForms {
    package func soughtName(of key: any CodingKey) -> String? { nil }
    package func decodedName(of name: String, in path: () -> [any CodingKey]) -> String { name }
    package func areNear(_ kind: PropertyList.Kind, _ type: any Any.Type) -> Bool { false }
}
