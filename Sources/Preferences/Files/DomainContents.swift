package import Platform
package import PropertyLists

/// The contents of a domain's file at the time of reading.
package struct DomainContents: Sendable {
    package var values: PropertyList.Dictionary
    /// The format of the file, or nil if there is none.
    package var format: PropertyList.Format?
    /// The status of the file, or nil if there is none.
    package var status: FileStatus?
    /// The origin of the values if the file is damaged.
    package var recovery: Recovery?
    /// The files of a domain that is a folder, or nil for one that has no folder.
    package var members: [FolderMember]?
    /// Whether this writer wrote these contents, so that the history does not lack them.
    package var isOwn = false

    /// The contents of a file that does not exist.
    package static let absent = DomainContents(values: [:])

    package init(
        values: PropertyList.Dictionary, format: PropertyList.Format? = nil, status: FileStatus? = nil,
        recovery: Recovery? = nil, members: [FolderMember]? = nil
    ) {
        self.members = members
        self.values = values
        self.format = format
        self.status = status
        self.recovery = recovery
    }

    package var exists: Bool { status != nil }
    /// Whether the domain exists and is a folder.
    package var isFolder: Bool { exists && members?.isEmpty == false }
    package var generation: FileGeneration? { status?.generation }
}

/// A damaged file, and the kept version that is used instead.
package struct Recovery: Sendable, Hashable {
    package let damage: StoreFailure
    /// The version, or nil if there is none and the file is replaced without its contents.
    package let version: KeptVersion?
    /// The other damaged files of a domain that is a folder.
    package var others: [StoreFailure] = []
}

extension Recovery: CustomStringConvertible {
    package var description: String {
        let damage = ([damage] + others).map(\.description).joined(separator: "; ")
        guard let version else { return "\(damage); no earlier version is kept, and the damaged file is set aside" }
        return "\(damage); the version of \(version.time) is used instead"
    }
}
