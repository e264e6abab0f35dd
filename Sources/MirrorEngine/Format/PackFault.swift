/// An error in bytes that should be a pack, a value or a record.
package enum PackFault: Error, Hashable, Sendable {
    case endsEarly
    case bytesLeftOver
    case notThisFormat
    /// Requires a reader of at least this version.
    case newerVersion(UInt64)
    case unknownField(UInt64)
    /// Written in an earlier format, which is not read.
    case olderVersion
    case unknownTag
    case notUTF8
    /// The same contents could be encoded in other bytes.
    case notCanonical
    case beyondLimit(String)
    case wrongChecksum
    case wrongHash
    case contradiction(String)
    /// The file belongs to another mirror.
    case otherMirror
    /// The file has no valid signature of an admitted host.
    case unsigned
    /// The file is valid, but these blobs are missing.
    case missingBlobs([BlobReference])
}

extension PackFault {
    /// The error as a clause for a message to the user.
    package var phrase: String {
        switch self {
        case .endsEarly: "it is truncated"
        case .bytesLeftOver: "it has unexpected bytes at the end"
        case .notThisFormat: "it is not a mirror file"
        case .newerVersion, .unknownField: "it was written by a newer version"
        case .olderVersion: "it was written by an earlier version, whose files are not read"
        case .unknownTag: "it has a value of unknown type"
        case .notUTF8: "it has text that is not UTF-8"
        case .notCanonical: "it is not in canonical form"
        case .beyondLimit(let what): "it exceeds a limit: \(what)"
        case .wrongChecksum: "a checksum does not match"
        case .wrongHash: "its hash does not match"
        case .contradiction(let what): "it is inconsistent: \(what)"
        case .otherMirror: "it belongs to another mirror"
        case .unsigned: "it has no valid signature of an admitted host"
        case .missingBlobs: "large values that it refers to are missing"
        }
    }
}

extension PackFault {
    /// Whether values are missing to which the bytes refer.
    var isOfMissingBlobs: Bool { if case .missingBlobs = self { true } else { false } }

    /// Whether the file is valid, but requires a newer version.
    var isOfNewerVersion: Bool {
        switch self {
        case .newerVersion, .unknownField: true
        default: false
        }
    }
}
