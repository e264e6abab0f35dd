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

extension StoreFailure {
    /// Whether the contents of the file are invalid, so that a kept version can be used instead.
    package var isDamage: Bool {
        switch problem {
        case .damaged, .notADictionary: true
        default: false
        }
    }
}

extension DomainFile {
    /// Returns the newest readable version in place of the damaged file.
    func recovered(from damage: StoreFailure, on system: SystemServices) throws(StoreFailure) -> DomainContents {
        guard let newest = History(of: self, on: system)?.newestGood else { throw damage }
        let status = try reporting { () throws(SystemFailure) in try system.fileSystem.status(of: path) }
        return DomainContents(
            values: newest.values, format: damagedFormat(damage), status: status,
            recovery: Recovery(damage: damage, version: newest.version))
    }

    /// Returns the format that the damaged file appears to have, in which its replacement is written.
    private func damagedFormat(_ damage: StoreFailure) -> PropertyList.Format {
        guard case .damaged(let failure, _) = damage.problem, failure.offset > 0, failure.format != .openstep else {
            return newFormat
        }
        return failure.format
    }

    private static let damagedEnding: FileName = ".damaged-"

    /// Keeps the damaged file that is about to be replaced, beside it and under another name.
    func setAside(_ target: FilePath, on system: SystemServices) throws(SystemFailure) {
        guard let name = target.lastComponent else { return }
        if try isSetAside(target, on: system) { return }
        for number in 1...100 {
            let count = number == 1 ? "" : "-\(number)"
            guard let ending = FileName("\(Self.damagedEnding)\(system.clock.wall.milliseconds)\(count)") else {
                return
            }
            let kept = target.parent.appending(name.appending(ending))
            do throws(SystemFailure) {
                return try system.fileSystem.link(target, to: kept)
            } catch  where error.code == .exists {
                continue
            } catch  where error.code == .noSpace || error.code == .readOnly {
                throw error
            } catch {
                // Some file systems do not support links.
                guard
                    let bytes = try system.fileSystem.contents(
                        of: target, limit: PropertyList.Limits.default.inputBytes)
                else { return }
                return try system.fileSystem.replace(kept, with: bytes)
            }
        }
        throw SystemFailure(.exists, .link, target)
    }

    /// Whether a failed attempt to replace the damaged file has kept it already.
    private func isSetAside(_ target: FilePath, on system: SystemServices) throws(SystemFailure) -> Bool {
        let (files, limit) = (system.fileSystem, PropertyList.Limits.default.inputBytes)
        guard let name = target.lastComponent?.appending(Self.damagedEnding),
            let status = try files.status(of: target)
        else {
            return false
        }
        for kept in try files.names(in: target.parent) ?? [] where kept.bytes.starts(with: name.bytes) {
            let path = target.parent.appending(kept)
            guard let other = try files.status(of: path), other.size == status.size else { continue }
            if other.number == status.number { return true }
            if try files.contents(of: path, limit: limit) == files.contents(of: target, limit: limit) { return true }
        }
        return false
    }
}
