#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension PropertyList {
    /// Reads a value from `bytes`; without a `format`, in the one that the bytes look like.
    public init(
        parsing bytes: some Sequence<UInt8>, as format: Format? = nil, limits: Limits = .default,
        options: ReadingOptions = ReadingOptions()
    ) throws(DecodingFailure) {
        func read(_ bytes: UnsafeBufferPointer<UInt8>) -> Result<PropertyList, DecodingFailure> {
            Result { () throws(DecodingFailure) in
                try Self.read(bytes, as: format, limits: limits, options: options)
            }
        }
        let result =
            bytes.withContiguousStorageIfAvailable(read) ?? ContiguousArray(bytes).withUnsafeBufferPointer(read)
        self = try result.get()
    }

    /// Reads a value from a text.
    public init(
        parsing text: String, as format: Format? = nil, limits: Limits = .default,
        options: ReadingOptions = ReadingOptions()
    ) throws(DecodingFailure) {
        try self.init(parsing: text.utf8, as: format, limits: limits, options: options)
    }

    /// Reads a value in the format that the name of its file or else the bytes show, and returns that format.
    ///
    /// - Parameter name: The name of the file, for its extension; nil for a domain or a stream.
    package static func sniffed(
        _ bytes: [UInt8], named name: String? = nil, limits: Limits = .default,
        options: ReadingOptions = ReadingOptions()
    ) throws(DecodingFailure) -> (value: PropertyList, format: Format) {
        let named = name.flatMap { NamedFormat(fileName: $0) }
        var options = options
        if named == .json5 || named == .jsonc { options.allowsJSON5 = true }
        let result = bytes.withUnsafeBufferPointer { bytes in
            Result { () throws(DecodingFailure) in
                guard bytes.count <= limits.inputBytes else {
                    throw DecodingFailure(.tooLarge(limit: limits.inputBytes), offset: limits.inputBytes, format: .xml)
                }
                return try readSniffed(bytes, as: named?.format, limits: limits, options: options)
            }
        }
        return try result.get()
    }

    static func read(
        _ bytes: UnsafeBufferPointer<UInt8>, as format: Format?, limits: Limits, options: ReadingOptions
    ) throws(DecodingFailure) -> PropertyList {
        guard bytes.count <= limits.inputBytes else {
            throw DecodingFailure(
                .tooLarge(limit: limits.inputBytes), offset: limits.inputBytes, format: format ?? .xml)
        }
        switch format {
        case .xml: return try readXML(bytes, limits: limits, options: options)
        case .binary: return try readBinary(bytes, limits: limits, options: options)
        case .json: return try readJSON(bytes, limits: limits, options: options)
        case .openstep: return try readOpenStep(bytes, dialect: .openstep, limits: limits, options: options)
        case .gnustep: return try readOpenStep(bytes, dialect: .gnustep, limits: limits, options: options)
        case nil: return try readSniffed(bytes, limits: limits, options: options).value
        }
    }

    /// The value in `format`. Equal values give equal bytes, unless the options keep the order of keys, or one has −0
    /// where the other has 0.
    public func serialized(as format: Format, options: WritingOptions = .default) throws(EncodingFailure) -> Data {
        let data =
            switch format {
            case .xml: try writtenAsXML(options)
            case .binary: try writtenAsBinary(options)
            case .json: try writtenAsJSON(options)
            case .openstep: try writtenAsOpenStep(options, dialect: .openstep)
            case .gnustep: try writtenAsOpenStep(options, dialect: .gnustep)
            }
        let limit = options.limits.inputBytes
        guard data.count <= limit else { throw EncodingFailure(.tooLarge(limit: limit), format: format) }
        return data
    }
}
