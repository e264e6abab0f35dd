package import PropertyLists

extension DecodingFailure.Problem {
    /// The name of the case in the source.
    package var name: String {
        if let label = Mirror(reflecting: self).children.first?.label { return label }
        return Self.plain.first { $0.value == self }?.key ?? "unnamed"
    }

    /// The name with the associated values: `unknownElement("strnig")`, `nestedTooDeeply(limit: 512)`.
    package var notation: String {
        guard let value = Mirror(reflecting: self).children.first?.value else { return name }
        if let text = value as? String { return "\(name)(\(text.debugDescription))" }
        let text = String(describing: value)
        return text.hasPrefix("(") ? name + text : "\(name)(\(text))"
    }

    /// The cases without associated values, whose names `Mirror` does not provide.
    private static let plain: [String: Self] = [
        "emptyInput": .emptyInput, "trailingContent": .trailingContent, "loneSurrogate": .loneSurrogate,
        "internalSubset": .internalSubset, "misplacedText": .misplacedText,
        "valueWithoutKey": .valueWithoutKey,
        "noValue": .noValue, "severalValues": .severalValues, "null": .null, "cycle": .cycle,
        "overlappingObjects": .overlappingObjects, "keyIsNotText": .keyIsNotText,
        "unterminatedString": .unterminatedString, "bareAmpersand": .bareAmpersand, "commentInJSON": .commentInJSON,
    ]
}
