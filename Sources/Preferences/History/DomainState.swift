package import PropertyLists

/// The state of a domain at some time, as far as it can be restored.
package struct DomainState: Hashable, Sendable {
    package var values: PropertyList.Dictionary
    /// The format of the file, or nil if there was none.
    package var format: PropertyList.Format?
    /// The bytes of a version, which is restored as it was.
    package private(set) var bytes: [UInt8]?
    /// Whether the domain is a folder.
    package private(set) var isFolder = false

    package init(values: PropertyList.Dictionary, format: PropertyList.Format?, bytes: [UInt8]? = nil) {
        (self.values, self.format, self.bytes) = (values, format, bytes)
        isFolder = bytes.map { DomainFile.isImage($0) } ?? false
    }

    package init(_ contents: DomainContents) {
        self.init(values: contents.values, format: contents.exists ? contents.format : nil)
        isFolder = contents.isFolder
    }

    package init(_ draft: DomainDraft) {
        self.init(values: draft.values, format: draft.exists ? draft.format : nil)
        isFolder = draft.exists && draft.isFolder
    }

    package static func == (left: DomainState, right: DomainState) -> Bool {
        left.values == right.values && left.format == right.format && left.isFolder == right.isFolder
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(values)
        hasher.combine(format)
    }

    /// The state without a file.
    package static let absent = DomainState(values: [:], format: nil)

    /// The contents of a version that records a removal. No other file has these bytes.
    static let tombstone = Array("<plist version=\"1.0\"><!-- removed --><dict/></plist>\n".utf8)
}

extension History {
    /// Returns the state of a domain in a version, or nil if it is missing or damaged.
    package func state(of version: KeptVersion) -> DomainState? {
        guard let bytes = bytes(of: version) else { return nil }
        if bytes == DomainState.tombstone { return .absent }
        guard let (values, format) = try? file.parse(bytes) else { return nil }
        return DomainState(values: values, format: format, bytes: bytes)
    }
}
