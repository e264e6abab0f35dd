// Variants of the file operations that take an array, so that callers need no spans.

extension FileSystem {
    /// `replace(_:with:like:for:)` with an array.
    package func replace(
        _ path: FilePath, with bytes: [UInt8], like model: FileStatus? = nil, for audience: Audience = .owner
    ) throws(SystemFailure) {
        try replace(path, with: bytes.span.bytes, like: model, for: audience)
    }

    /// `writeTemporary(_:beside:like:for:)` with an array.
    package func writeTemporary(
        _ bytes: [UInt8], beside path: FilePath, like model: FileStatus? = nil, for audience: Audience = .owner
    ) throws(SystemFailure) -> FilePath {
        try writeTemporary(bytes.span.bytes, beside: path, like: model, for: audience)
    }

    /// `startTemporary(_:beside:like:for:)` with an array.
    package func startTemporary(
        _ bytes: [UInt8], beside path: FilePath, like model: FileStatus? = nil, for audience: Audience = .owner
    ) throws(SystemFailure) -> (FilePath, any OpenFile) {
        try startTemporary(bytes.span.bytes, beside: path, like: model, for: audience)
    }
}

extension OpenFile {
    /// Writes all of `bytes`, starting at `offset`.
    package func write(_ bytes: [UInt8], at offset: Int) throws(SystemFailure) {
        try write(bytes.span.bytes, at: offset)
    }
}
