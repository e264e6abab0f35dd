internal import PropertyLists

/// A file ready to be created: its name inside the writer's folder, and its bytes.
package struct EncodedPack: Hashable, Sendable {
    package let name: PackName
    package let bytes: [UInt8]
    package let hash: ContentHash
    /// The blobs that must be created before the file.
    package var blobs: [Blob] = []

    /// The number of bytes that the file and its blobs add to the directory.
    package var size: Int { bytes.count + blobs.reduce(0) { $0 + $1.value.count } }
}

/// A complete and valid file of a writer's folder.
package struct Pack: Hashable, Sendable {
    package let content: Content
    package let hash: ContentHash
    /// The size of the file in bytes.
    package let size: Int
    /// Whether the file has fields that this version does not know.
    package let hasUnknownFields: Bool

    package enum Content: Hashable, Sendable {
        case log(LogPack)
        case base(BasePack)
        case note(WriterNote)
    }

    init(content: Content, hash: ContentHash, size: Int, hasUnknownFields: Bool) {
        self.content = content
        self.hash = hash
        self.size = size
        self.hasUnknownFields = hasUnknownFields
    }

    /// Returns this file with another base as its contents.
    package func with(_ base: BasePack) -> Pack {
        Pack(content: .base(base), hash: hash, size: size, hasUnknownFields: hasUnknownFields)
    }

    /// Returns the version of the format that a file declares, or nil if it cannot be read.
    package static func version(of bytes: [UInt8]) -> UInt64? {
        try? Envelope(decoding: bytes).required(.version)
    }

    /// Decodes a file of any kind. Throws `missingBlobs` if it refers to values that are not in `blobs`.
    ///
    /// - Parameter hasAll: Whether the reader has all values of a base, with the hash of its file. Then they are not
    ///   decoded.
    package init(
        decoding bytes: [UInt8], blobs: [BlobName: Blob] = [:],
        unless hasAll: (BasePack, ContentHash) -> Bool = { _, _ in false }
    ) throws(PackFault) {
        let envelope = try Envelope(decoding: bytes)
        (hash, size) = (envelope.hash, bytes.count)
        hasUnknownFields = envelope.hasUnknownFields
        switch PackName.Kind(rawValue: envelope.kind) {
        case .log: content = .log(try LogPack(envelope, blobs))
        case .base: content = .base(try BasePack(envelope, blobs) { hasAll($0, envelope.hash) })
        case .note: content = .note(try WriterNote(envelope))
        case nil: throw .notThisFormat
        }
    }

    /// Decodes a file, and throws unless its name and mirror match its contents.
    package init(
        decoding bytes: [UInt8], at address: PackAddress, of mirror: MirrorID, blobs: [BlobName: Blob] = [:],
        unless hasAll: (BasePack, ContentHash) -> Bool = { _, _ in false }
    ) throws(PackFault) {
        try self.init(decoding: bytes, blobs: blobs, unless: hasAll)
        guard self.address == address else { throw .contradiction("name") }
        guard self.mirror == mirror else { throw .otherMirror }
    }

    /// Returns the mirror that a file names, or nil if it cannot be read.
    package static func mirror(of bytes: [UInt8]) -> MirrorID? { try? Envelope(decoding: bytes).mirror() }

    /// Whether bytes are a file whose hash is correct, and that belongs at an address of a mirror as far as this
    /// version can tell. Its contents are not decoded.
    package static func isFile(_ bytes: [UInt8], at address: PackAddress, of mirror: MirrorID) -> Bool {
        do throws(PackFault) {
            let envelope = try Envelope(decoding: bytes)
            guard let kind = PackName.Kind(rawValue: envelope.kind) else { return false }
            let name = PackName(
                kind: kind, number: try envelope.required(kind == .base ? .last : .first), hash: envelope.hash)
            let (writer, other) = (try envelope.writer(), try envelope.mirror())
            return other == mirror && address == PackAddress(writer: writer, name: name)
        } catch {
            return error.isOfNewerVersion
        }
    }

    package var address: PackAddress {
        switch content {
        case .log(let log): named(.log, log.first, log.writer)
        case .base(let base): named(.base, base.last, base.writer)
        case .note(let note): named(.note, note.number, note.writer)
        }
    }

    package var mirror: MirrorID {
        switch content {
        case .log(let log): log.mirror
        case .base(let base): base.mirror
        case .note(let note): note.mirror
        }
    }

    /// The last transactions that the writer of this file knew.
    var knowledge: VersionVector {
        switch content {
        case .log(let log): log.knowledge
        case .base(let base): base.state(hash: hash).vector
        case .note(let note): note.knowledge
        }
    }

    private func named(_ kind: PackName.Kind, _ number: UInt64, _ writer: WriterID) -> PackAddress {
        PackAddress(writer: writer, name: PackName(kind: kind, number: number, hash: hash))
    }
}

extension Envelope {
    mutating func setWriter(_ writer: WriterID) {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: writer.number)
        fields[.writer] = bytes
    }
}

/// The contents of a file of a mirror as readable text, one fact per line.
extension Pack {
    package var lines: [String] {
        let head = ["file \(address)", "mirror \(mirror)", "hash \(hash)", "bytes \(size)"]
        switch content {
        case .log(let log): return head + log.lines
        case .base(let base): return head + base.lines
        case .note(let note): return head + note.lines
        }
    }
}

extension LogPack {
    fileprivate var lines: [String] {
        var lines = ["log of \(writer), transactions \(first) to \(last)"]
        lines.append("previous \(previous?.description ?? "none")")
        lines.append("knows more: \(knowledge)")
        for (sequence, transaction) in zip(first..., transactions) {
            lines.append("transaction \(sequence)")
            for change in transaction.changes {
                let value = change.value.map { " = \($0)" } ?? " as it is"
                lines.append("    \(change.path)\(value) at \(change.stamp) as \(change.id)\(change.reason.words)")
                lines += change.covers.map { "        over \($0.name) in \($0.region)" }
            }
        }
        return lines
    }
}

extension BasePack {
    fileprivate var lines: [String] {
        var lines = ["base of \(writer) as of \(last)"]
        lines.append("knows \(state.vector)")
        lines += state.forks.sorted { $0.key < $1.key }.map { "fork of \($0) from \($1)" }
        state.live.visit { atom in
            let region = atom.isWhole ? "" : " in \(atom.region)"
            lines.append(
                "    \(atom.path) = \(atom.value) at \(atom.stamp) as \(atom.name)\(atom.reason.words)\(region)")
        }
        lines += state.gone.sorted { $0.key < $1.key }.map { "    replaced \($0) in \($1)" }
        return lines
    }
}

extension WriterNote {
    fileprivate var lines: [String] {
        [
            "note \(number) of \(writer)", "label \(EntryPath([.init(label)]))",
            "platform \(EntryPath([.init(platform)]))",
            "software \(EntryPath([.init(software)]))", hasLeft ? "has left" : "active",
        ]
    }
}

extension WrittenValue: CustomStringConvertible {
    package var description: String {
        switch self {
        case .deleted: return "deleted"
        case .left: return "left to each host"
        case .value(let value):
            // Data and long strings would hide the rest.
            let text = try? value.propertyList.serialized(as: .json, options: .oneLine)
            guard let text, let line = String(validating: text, as: UTF8.self) else {
                return "\(value.bytes.count) bytes"
            }
            return line.utf8.count <= 500 ? line : "\(value.bytes.count) bytes"
        }
    }
}

extension PropertyList.WritingOptions {
    fileprivate static var oneLine: Self {
        var options = Self.default
        options.wrapsInJSON = true
        return options
    }
}

extension Stamp: CustomStringConvertible {
    package var description: String { "\(milliseconds).\(number & 0xFFFF)" }
}

extension WriteID: CustomStringConvertible {
    package var description: String { Base32.text(number, bits: 64) }
}

extension AtomName: CustomStringConvertible {
    package var description: String { "\(id)\(dot.map { "@\($0)" } ?? "")" }
}

extension Atom.Reason {
    fileprivate var words: String {
        switch self {
        case .written: ""
        case .reverted: " (written back)"
        case .found: " (found)"
        case .older: " (older values)"
        }
    }
}
