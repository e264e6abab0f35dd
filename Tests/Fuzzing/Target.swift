internal import PropertyLists

/// What is attacked: the reader of one format, the one that finds out the format by itself, what schemas are for, or
/// what a mirror reads.
enum Target: String, CaseIterable {
    case xml, binary, openstep, gnustep, json, cross
    /// A text that is edited.
    case edit
    /// Bytes that are a keyed archive in any format.
    case archive
    /// Bytes that are a schema, and bytes that are a pattern, arguments and a script for one.
    case schema, settings
    /// Bytes that are a predicate, and after a newline a value.
    case query
    /// Bytes that are a file of a mirror, that say what stands in two bases, and that are a store's own journal.
    case pack, base, local
    /// Lines of words for the command.
    case command

    /// The format that the bytes are read as; nil where they are sniffed.
    var format: PropertyList.Format? { PropertyList.Format(rawValue: rawValue) }

    /// The ways to read that differ in this target.
    var readings: [PropertyList.ReadingOptions] {
        let strict = PropertyList.ReadingOptions(refusesDuplicateKeys: true)
        switch self {
        case .json, .cross:
            return [.init(), strict, .init(nulls: .omitted), .init(nulls: .refused), .init(unwrapsJSON: true)]
        case .xml, .binary, .openstep, .gnustep: return [.init(), strict]
        case .edit, .archive, .schema, .settings, .query, .pack, .base, .local, .command: return []
        }
    }
}
