/// The description that a writer publishes of itself.
package struct WriterNote: Hashable, Sendable {
    package var mirror: MirrorID
    package var writer: WriterID
    /// The number of the note. Of the valid notes of a writer, the one with the greatest number is used.
    package var number: UInt64
    package var label: String
    package var platform: String
    package var software: String
    /// Whether the writer has left the mirror permanently.
    package var hasLeft: Bool
    /// The last transactions of other writers that the writer knows.
    package var knowledge: VersionVector
    /// The hosts that may write to a signed mirror, as far as the writer knows; nil in a mirror without signatures.
    package var signers: Signers?

    package init(
        mirror: MirrorID, writer: WriterID, number: UInt64, label: String, platform: String, software: String,
        hasLeft: Bool = false, knowledge: VersionVector = VersionVector(), signers: Signers? = nil
    ) {
        self.mirror = mirror
        self.writer = writer
        self.number = number
        self.label = label
        self.platform = platform
        self.software = software
        self.hasLeft = hasLeft
        self.knowledge = knowledge
        self.signers = signers
    }

    /// The length limit of a text, in bytes.
    package static let longestText = 256
}

extension WriterNote {
    package func encoded() -> EncodedPack {
        var envelope = Envelope(kind: PackName.Kind.note.rawValue)
        envelope.fields[.mirror] = mirror.bytes
        envelope.setWriter(writer)
        envelope.set(.first, number)
        envelope.set(.version, Envelope.version)
        envelope.set(knowledge)
        envelope.fields[.label] = Array(label.utf8)
        envelope.fields[.platform] = Array(platform.utf8)
        envelope.fields[.software] = Array(software.utf8)
        envelope.set(.hasLeft, hasLeft ? 1 : 0)
        envelope.fields[.signers] = signers?.encoded
        let (bytes, hash) = envelope.encoded()
        return EncodedPack(name: PackName(kind: .note, number: number, hash: hash), bytes: bytes, hash: hash)
    }

    init(_ envelope: Envelope) throws(PackFault) {
        try envelope.expect(
            [.mirror, .writer, .first, .version, .label, .platform, .software, .hasLeft, .vector],
            optional: [.signers])
        knowledge = try envelope.versionVector()
        mirror = try envelope.mirror()
        writer = try envelope.writer()
        number = try envelope.required(.first)
        guard number <= 9999 else { throw .beyondLimit("number of a note") }
        label = try envelope.text(.label)
        platform = try envelope.text(.platform)
        software = try envelope.text(.software)
        switch try envelope.required(.hasLeft) {
        case 0: hasLeft = false
        case 1: hasLeft = true
        default: throw .notCanonical
        }
        signers = try envelope.signers()
        let longest = max(label.utf8.count, platform.utf8.count, software.utf8.count)
        guard longest <= Self.longestText else { throw .beyondLimit("bytes of a label") }
        guard try envelope.decodedRecords().isEmpty else { throw .contradiction("a note with records") }
    }
}
