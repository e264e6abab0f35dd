extension PropertyList {
    /// Decodes a value from the bytes of a property list. Throws a `DecodingFailure` if they cannot be read, and a
    /// `DecodingError` if the type cannot be decoded.
    ///
    /// A `Decimal` or an integer of 128 bits has all digits of the number in a JSON text. `PropertyList(parsing:)`
    /// would round it, because it reads fractions and integers beyond 64 bits as reals.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - bytes: The property list.
    ///   - format: The format, or nil to detect it.
    ///   - limits: The limits of the input. Input that exceeds one is an error.
    ///   - options: The options of the reader.
    ///   - strategies: The forms of keys, dates and data.
    ///   - userInfo: Values that the decoder makes available to the decoded types.
    public static func decode<T: Decodable>(
        _ type: T.Type = T.self, from bytes: some Sequence<UInt8>, as format: Format? = nil,
        limits: Limits = .default, options: ReadingOptions = .default,
        strategies: CodingStrategies = CodingStrategies(), userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) throws -> T {
        let bytes = bytes as? [UInt8] ?? Array(bytes)
        let known = try format.map {
            (value: try PropertyList(parsing: bytes, as: $0, limits: limits, options: options), format: $0)
        }
        let read = try known ?? sniffed(bytes, limits: limits, options: options)
        return try decoder(of: read, bytes, options, DecodingOptions(forms: strategies, userInfo: userInfo))
            .decode(type)
    }

    /// The decoder of a value that was read from these bytes.
    package static func decoder(
        of read: (value: PropertyList, format: Format), _ bytes: [UInt8], _ options: ReadingOptions,
        _ decoding: DecodingOptions
    ) -> any Decoder & SingleValueDecodingContainer {
        if read.format == .json { decoding.exactNumbers = ExactNumbers(json: bytes, options) }
        return read.value.decoder(decoding)
    }
}

/// The numbers of a JSON text with all their digits, found when the first one is needed.
final class ExactNumbers {
    private let json: [UInt8]
    private let options: PropertyList.ReadingOptions
    private lazy var sources = SourceMap(json, as: .json, options: options)

    init(json: [UInt8], _ options: PropertyList.ReadingOptions) { (self.json, self.options) = (json, options) }

    /// The text of the real at a path, or nil if a dictionary stands for it.
    subscript(path: EntryPath) -> String? {
        // A number is ASCII, whose other bytes are zeros in UTF-16 and UTF-32.
        guard let text = sources?[path].map({ json[$0.value].filter { $0 != 0 } }), text.first != UInt8(ascii: "{")
        else {
            return nil
        }
        return String(decoding: text, as: UTF8.self).plainNumber
    }
}

extension ValueDecoder {
    /// Returns the value as a scalar of type `T`, or nil if it is not one.
    func scalar<T: Scalar>(_ type: T.Type) -> T? {
        guard let value else { return nil }
        if T.isExact, case .real = value, let numbers = node.options.exactNumbers,
            let text = numbers[node.entryPath(to: position)]
        {
            return T(spelling: text)
        }
        return T(scalar: value)
    }

    /// Returns an entry of the value as a scalar of type `T`, or nil if it is not one. Creates the node of the entry
    /// only for a number that may have more digits.
    func scalar<T: Scalar>(
        _ entry: PropertyList, as type: T.Type, at node: (ValueDecoder) -> () throws -> DecodingNode, _ position: Int
    ) throws -> T? {
        guard T.isExact, case .real = entry, self.node.options.exactNumbers != nil else {
            return T(scalar: entry)
        }
        return ValueDecoder(node: try node(self)(), position: position).scalar(type)
    }
}
