// Coders with the members and the forms of Foundation's, on the readers and writers of PropertyLists. Pure code.
//
// The forms of keys, dates, data and numbers are given to the coder of PropertyLists, as `EncodingForms` and
// `DecodingForms`. What two of the coders share is here.

internal import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension Double {
    /// The number nearest to an integer, or nil for any other value.
    init?(nearestTo value: PropertyList) {
        guard case .integer(let number) = value else { return nil }
        self = Int64(exactly: number).map { Double($0) } ?? Double(number.magnitude)
    }
}

/// A value together with the configuration for its encoding.
struct ConfiguredValue<Value: EncodableWithConfiguration>: Encodable {
    let value: Value
    let configuration: Value.EncodingConfiguration

    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder, configuration: configuration) }
}

// MARK: Errors

/// Runs a reader, and turns its failure into the error of a decoder.
func decodingErrors<Result>(_ read: () throws -> Result) throws -> Result {
    do { return try read() } catch let failure as DecodingFailure {
        throw DecodingError.dataCorrupted(
            .init(codingPath: [], debugDescription: failure.description, underlyingError: failure))
    }
}

/// Runs a writer, and turns its failure into the error of an encoder.
func encodingErrors(of value: Any, _ write: () throws -> Data) throws -> Data {
    do { return try write() } catch let failure as EncodingFailure {
        let path = failure.path.components.map { $0.index.map(PathKey.index) ?? PathKey.key($0.text) }
        throw EncodingError.invalidValue(
            value, .init(codingPath: path, debugDescription: failure.description, underlyingError: failure))
    }
}
