import Foundation
import PreferencesCoders
import TestSupport

/// A coding key with any text.
struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ text: String) { stringValue = text }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
}

/// Decoders of the kinds that the facts need.
extension JSONDecoder {
    static func with(json5: Bool = false, dictionary: Bool = false, snake: Bool = false) -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = json5
        decoder.assumesTopLevelDictionary = dictionary
        if snake { decoder.keyDecodingStrategy = .convertFromSnakeCase }
        return decoder
    }

    func read<T: Decodable>(_ text: String, as type: T.Type = T.self) throws -> T {
        try decode(type, from: Data(text.utf8))
    }
}

/// Encoders of the kinds that the facts need.
extension JSONEncoder {
    static func with(_ formatting: OutputFormatting = [], snake: Bool = false) -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting
        if snake { encoder.keyEncodingStrategy = .convertToSnakeCase }
        return encoder
    }

    func write<T: Encodable>(_ value: T) throws -> String {
        String(decoding: try encode(value), as: UTF8.self)
    }
}

/// Checks that a value is written as `text`, where that is given, and that reading gives the value again.
func survives<T: Codable & Equatable>(
    _ value: T, as text: String? = nil, _ encoder: JSONEncoder = JSONEncoder(),
    _ decoder: JSONDecoder = JSONDecoder(), line: Int = #line
) throws {
    let written = try encoder.write(value)
    try equal(written, text ?? written, line: line)
    try equal(try decoder.read(written, as: T.self), value, line: line)
}

/// Checks that each text is read as the value beside it, or is refused where that is nil.
func reads<T: Decodable & Equatable>(
    _ rows: [(String, T?)], _ decoder: JSONDecoder = JSONDecoder(), line: Int = #line
) throws {
    for (text, expected) in rows {
        let found = try? decoder.read(text, as: T.self)
        guard found == expected else {
            throw Difference(description: "line \(line): \(text) gave \(String(describing: found))")
        }
    }
}

/// Checks that none of the texts can be read as a `T`.
func refuses<T: Decodable>(
    _ type: T.Type, _ texts: [String], _ decoder: JSONDecoder = JSONDecoder(), line: Int = #line
) throws {
    for text in texts {
        guard let found = try? decoder.read(text, as: type) else { continue }
        throw Difference(description: "line \(line): \(text) gave \(found)")
    }
}

/// The coding path of an error for a wrong type or a value that cannot be written.
func codingPath(_ error: any Error) -> [String]? {
    switch error {
    case DecodingError.typeMismatch(_, let context): context.codingPath.map(\.stringValue)
    case EncodingError.invalidValue(_, let context): context.codingPath.map(\.stringValue)
    default: nil
    }
}
