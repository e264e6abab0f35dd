internal import PropertyLists

/// The code to test: the reader of one format, the detection of formats, the uses of schemas, or the readers of a
/// mirror.
enum Target: String, CaseIterable {
    case xml, binary, openstep, gnustep, json, toml, cross
    /// A text that is edited.
    case edit
    /// Bytes that are a keyed archive in any format.
    case archive
    /// Bytes that are a schema, and bytes that are a pattern, arguments and a script for one.
    case schema, settings
    /// Bytes that are a predicate, and after a newline a value.
    case query
    /// Bytes that are a file of a mirror, the contents of two bases, or the journal of a host.
    case pack, base, local
    /// Lines of words for the command.
    case command

    /// The format of the bytes, or nil if it is detected.
    var format: PropertyList.Format? { PropertyList.Format(rawValue: rawValue) }

    /// The options with which the input is read. Empty for a target that has only its own check.
    var readings: [PropertyList.ReadingOptions] {
        let strict = PropertyList.ReadingOptions(refusesDuplicateKeys: true)
        switch self {
        case .json, .cross:
            return [.init(), strict, .init(nulls: .refused), .init(unwrapsJSON: true)]
        case .xml, .binary, .openstep, .gnustep, .toml: return [.init(), strict]
        case .edit, .archive, .schema, .settings, .query, .pack, .base, .local, .command: return []
        }
    }
}
