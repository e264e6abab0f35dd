package import PropertyLists

/// What a domain was at some time, as far as it can be brought back.
package struct DomainState: Hashable, Sendable {
    package var values: PropertyList.Dictionary
    /// The format of the file; nil where there was none.
    package var format: PropertyList.Format?
    /// The bytes of a version, which may hold numbers more exactly than the values.
    package private(set) var bytes: [UInt8]?

    package init(values: PropertyList.Dictionary, format: PropertyList.Format?, bytes: [UInt8]? = nil) {
        (self.values, self.format, self.bytes) = (values, format, bytes)
    }

    package init(_ contents: DomainContents) {
        self.init(values: contents.values, format: contents.exists ? contents.format : nil)
    }

    package init(_ draft: DomainDraft) {
        self.init(values: draft.values, format: draft.exists ? draft.format : nil)
    }

    package static func == (left: DomainState, right: DomainState) -> Bool {
        left.values == right.values && left.format == right.format
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(values)
        hasher.combine(format)
    }

    /// There was no file.
    package static let absent = DomainState(values: [:], format: nil)

    /// What stands for a file that is gone, where there must be one: no values, in words that no other file has.
    static let tombstone = Array("<plist version=\"1.0\"><!-- removed --><dict/></plist>\n".utf8)
}

extension History {
    /// What the domain was in a version; nil for one that is gone or does not parse whole.
    package func state(of version: KeptVersion) -> DomainState? {
        guard let bytes = bytes(of: version) else { return nil }
        if bytes == DomainState.tombstone { return .absent }
        guard let (values, format) = try? file.parse(bytes) else { return nil }
        return DomainState(values: values, format: format, bytes: file.isOfDomain ? nil : bytes)
    }
}
