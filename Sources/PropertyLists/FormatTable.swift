#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PropertyList.Format {
    /// The facts about a format: one row of the table, which is all that other files know of it.
    struct Facts: Sendable {
        /// What an edit must know of the text, or nil if a file is rewritten as a whole.
        var syntax: TextSyntax?
        /// Whether dates keep their fractions of a second.
        var keepsFractions = false
        /// Whether it has other scalars than strings and data.
        var hasTypes = true
        /// Whether it has a notation for all values of a domain.
        var canBeDomain = true
        var hasNull = false
        /// Whether a dictionary with only the key of a uid is read as a uid.
        var hasUIDDictionaries = false
        let read:
            @Sendable (
                [UInt8], PropertyList.Limits, PropertyList.ReadingOptions, inout SourceMap?
            ) throws(DecodingFailure) -> PropertyList
        /// What other readers may refuse or read differently, in bytes that were read without a failure.
        var notes: @Sendable ([UInt8]) -> [(message: String, offset: Int)] = { _ in [] }
        let write: @Sendable (PropertyList) -> (PropertyList.WritingOptions) throws(EncodingFailure) -> Data
    }

    /// The row of this format.
    var facts: Facts {
        switch self {
        case .xml: .xml
        case .binary: .binary
        case .json: .json
        case .openstep: .openstep
        case .gnustep: .gnustep
        case .toml: .toml
        }
    }
}

extension PropertyList.Format.Facts {
    static let xml = Self(
        syntax: .xml, hasUIDDictionaries: true, read: PropertyList.readXML, notes: PropertyList.xmlNotes,
        write: PropertyList.writtenAsXML)
    static let binary = Self(
        keepsFractions: true, hasNull: true, read: PropertyList.readBinary, notes: PropertyList.binaryNotes,
        write: PropertyList.writtenAsBinary)
    static let json = Self(
        syntax: .json, keepsFractions: true, hasNull: true, read: PropertyList.readJSON, notes: PropertyList.jsonNotes,
        write: PropertyList.writtenAsJSON)
    static let openstep = openStep(.openstep, hasTypes: false)
    /// This package writes fractions in GNUstep domains. Other GNUstep files have none, because GNUstep ignores them.
    static let gnustep = openStep(.gnustep, hasTypes: true)

    static let toml = Self(
        syntax: .toml, keepsFractions: true, canBeDomain: false, read: PropertyList.readTOML,
        notes: PropertyList.tomlNotes, write: PropertyList.writtenAsTOML)

    private static func openStep(_ dialect: PropertyList.OpenStepDialect, hasTypes: Bool) -> Self {
        Self(syntax: .openStep(dialect), hasTypes: hasTypes, canBeDomain: hasTypes, hasUIDDictionaries: hasTypes) {
            bytes, limits, options, sources throws(DecodingFailure) in
            try PropertyList.readOpenStep(bytes, dialect: dialect, limits: limits, options: options, sources: &sources)
        } write: { value in
            { options throws(EncodingFailure) in try value.writtenAsOpenStep(options, dialect: dialect) }
        }
    }
}

extension PropertyList.Format {
    /// Whether an edit changes only the bytes of the edited entries. Files in other formats are rewritten as a whole.
    package var isEditedInPlace: Bool { facts.syntax != nil }
    /// Whether dates keep their fractions of a second.
    package var keepsFractions: Bool { facts.keepsFractions }
    /// Whether it has other scalars than strings and data.
    package var hasTypes: Bool { facts.hasTypes }
    /// Whether a domain of the store can be in the format.
    package var canBeDomain: Bool { facts.canBeDomain }
    /// The formats in which a domain of the store can be, with the names by which settings choose them.
    package static let ofDomains = allCases.filter(\.canBeDomain).map { format in
        (name: format == .xml || format == .binary ? "\(format.rawValue)1" : format.rawValue, format: format)
    }
    /// Whether it has null.
    package var hasNull: Bool { facts.hasNull }
}

/// The syntax of a text format, as far as an edit must know it.
struct TextSyntax: Sendable {
    /// The brackets or tags of a container, and the separator of its entries.
    struct Container: Sendable {
        let open, close: String
        let separator: UInt8?
        /// The space inside the brackets, if there are entries.
        var padding = ""
    }

    let dictionary: Container
    let array: Container
    /// Whether values are elements with tags, as in XML.
    var hasTags = false
    /// Whether the separator also follows the last entry of a dictionary.
    var endsEntries = false
    /// Whether the brackets of an empty container are on two lines.
    var breaksEmpty = false
    /// The characters of strings without quotes, or nil if strings have quotes.
    var bareCharacters: BareCharacters?
    /// Whether a key may have no quotes, although strings have them.
    var isBareKey: @Sendable (String) -> Bool = { _ in false }
    /// Whether dictionaries and arrays of them are sections with headers, and are one line within brackets.
    var hasSections = false
    /// Whether comments begin with a number sign.
    var hasHashComments = false
    /// Whether values of other types are dictionaries with one key (`JSONWrapping`).
    var hasWrappings = false
    /// The text between a key and its value, with its mark.
    let between: String
    let mark: UInt8?
    /// The letter of an escape with four digits, or nil for references.
    var escape: Character?
    let unit: String
    let space: String
    /// The text of a scalar, with quotes if a string may lack them.
    let scalar: @Sendable (PropertyList, Bool, PropertyList.WritingOptions) throws(Refusal) -> [UInt8]
    /// The string between single quotes, made of its text in double quotes.
    var singleQuoted: @Sendable (String, [UInt8]) -> [UInt8] = { $1.inSingleQuotes }
    /// The text of a scalar in the notation of the text that it replaces, or nil.
    var scalarLike: @Sendable (PropertyList, [UInt8]) -> [UInt8]? = { _, _ in nil }
    /// The length of the white space beyond ASCII at an offset of a text, or 0.
    var lengthOfWideSpace: @Sendable ([UInt8], Int) -> Int = { _, _ in 0 }
}

extension TextSyntax {
    static let xml = Self(
        dictionary: Container(open: "<dict>", close: "</dict>", separator: nil),
        array: Container(open: "<array>", close: "</array>", separator: nil),
        hasTags: true, between: "", mark: nil, unit: "\t", space: "",
        scalar: { scalar, _, options throws(Refusal) in try XMLWriter.element(scalar, options) })

    static let json = Self(
        dictionary: Container(open: "{", close: "}", separator: UInt8(ascii: ",")),
        array: Container(open: "[", close: "]", separator: UInt8(ascii: ",")),
        isBareKey: \.isIdentifier, hasWrappings: true, between: ": ", mark: UInt8(ascii: ":"), escape: "u", unit: "  ",
        space: " ", scalar: { scalar, _, options throws(Refusal) in try JSONWriter.text(scalar, options) },
        lengthOfWideSpace: { $0.lengthOfUnicodeSpace(at: $1) })

    static let toml = Self(
        dictionary: Container(open: "{", close: "}", separator: UInt8(ascii: ","), padding: " "),
        array: Container(open: "[", close: "]", separator: UInt8(ascii: ",")),
        isBareKey: TOMLText.isBare, hasSections: true, hasHashComments: true, between: " = ", mark: UInt8(ascii: "="),
        unit: "    ", space: " ",
        scalar: { scalar, _, options throws(Refusal) in try TOMLWriter.text(scalar, options) },
        singleQuoted: { TOMLText.isLiteral($0) ? Array("'\($0)'".utf8) : $1 }, scalarLike: TOMLText.scalar)

    static func openStep(_ dialect: PropertyList.OpenStepDialect) -> Self {
        Self(
            dictionary: Container(open: "{", close: "}", separator: UInt8(ascii: ";")),
            array: Container(open: "(", close: ")", separator: UInt8(ascii: ",")),
            endsEntries: true, breaksEmpty: true, bareCharacters: .openstep, between: " = ", mark: UInt8(ascii: "="),
            escape: "U", unit: "    ", space: " ",
            scalar: { scalar, isQuoted, options throws(Refusal) in
                try OpenStepWriter.text(scalar, dialect: dialect, isQuoted: isQuoted, options)
            },
            lengthOfWideSpace: { $0.isLineSeparator(at: $1) ? 3 : 0 })
    }
}
