package import Platform
package import PropertyLists

/// What a domain's file held when it was looked at.
package struct DomainContents: Sendable {
    package var values: PropertyList.Dictionary
    /// The format of the file; nil where there is none.
    package var format: PropertyList.Format?
    /// Which file it was; nil where there is none.
    package var status: FileStatus?
    /// Where the values come from if the file itself is damaged.
    package var recovery: Recovery?
    /// Whether it is this writer who left it so: then there is nothing in it that a history may lack.
    package var isOwn = false

    /// No file.
    package static let absent = DomainContents(values: [:])

    package init(
        values: PropertyList.Dictionary, format: PropertyList.Format? = nil, status: FileStatus? = nil,
        recovery: Recovery? = nil
    ) {
        self.values = values
        self.format = format
        self.status = status
        self.recovery = recovery
    }

    package var exists: Bool { status != nil }
    package var generation: FileGeneration? { status?.generation }
}

/// That a file is damaged, and which kept version stands in for it.
package struct Recovery: Sendable, Hashable {
    package let damage: StoreFailure
    /// Nil where none is kept, and what replaces the file need not know what was in it.
    package let version: KeptVersion?
}

extension Recovery: CustomStringConvertible {
    package var description: String {
        guard let version else { return "\(damage); no version of it is kept, and the damaged file is set aside" }
        return "\(damage); the version of \(version.time) is used instead"
    }
}
