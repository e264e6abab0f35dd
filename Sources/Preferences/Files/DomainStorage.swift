internal import Platform
package import PropertyLists

/// The form in which the values of a domain are stored.
package enum StorageForm: Hashable, Sendable {
    case file(PropertyList.Format)
    /// A folder with a file for each key.
    case folder

    /// The format of the file. For a folder, that of its versions.
    package var format: PropertyList.Format {
        switch self {
        case .file(let format): format
        case .folder: .binary
        }
    }
}

/// The files that have the values of a domain, and their changes.
///
/// A commit asks the new storage of the domain for the files to write, and the former one for those to remove.
protocol DomainStorage: Sendable {
    /// The path in messages.
    var path: FilePath { get }

    /// The file, or nil if there is one for each key. A large version is a hard link to this file instead of a copy.
    var onlyFile: FilePath? { get }

    /// Returns the changes of files that replace the former contents of this storage by a draft.
    ///
    /// - Parameter image: The bytes that represent the draft in the history.
    func changes(
        to draft: DomainDraft, image: [UInt8], from former: DomainContents, for audience: Audience,
        on system: SystemServices
    ) throws(StoreFailure) -> [FileChange]

    /// Returns the changes that remove the files of these contents.
    func removals(of contents: DomainContents) -> [FileChange]

    /// Returns the files of these contents that cannot be read.
    func damagedFiles(of contents: DomainContents) -> [FilePath]

    /// Sets the files in the contents after changes from former contents.
    func setFiles(
        of contents: inout DomainContents, after changes: [FileChange], from former: DomainContents,
        in files: any FileSystem)

    /// Syncs the files.
    func synchronize(on system: SystemServices) throws(SystemFailure)
}

extension DomainStorage {
    /// Whether a version with these bytes is a copy and not a link to the replaced file.
    func isCopied(_ bytes: [UInt8]?, _ policy: HistoryPolicy) -> Bool {
        onlyFile == nil || bytes?.count ?? 0 <= policy.mostCopiedBytes
    }
}

extension ResolvedFile {
    /// Returns the storage with this form.
    func storage(_ form: StorageForm?) -> any DomainStorage {
        if form == .folder, let folder { folder } else { StoredFile(resolved: self) }
    }

    /// The folder that replaces the file, or nil if the domain cannot be a folder.
    var folder: StoredFolder? { file.folder.map { StoredFolder(file: file, path: $0) } }

    /// Throws if the domain cannot have this form.
    func check(_ form: StorageForm) throws(StoreFailure) {
        guard form == .folder else { return }
        if folder == nil { throw StoreFailure(.notAllowed("only a domain of the store can be a folder"), file.name) }
        if isLinked {
            throw StoreFailure(
                .notAllowed("a domain whose file is a symbolic link cannot become a folder"), file.name)
        }
    }
}

/// The change of one file of a domain.
struct FileChange {
    let target: FilePath
    /// The key of a file in a folder.
    let key: String?
    /// The new contents, or nil to remove the file.
    let bytes: [UInt8]?
    /// The file to be replaced or removed.
    let former: FileStatus?
    var temporary: FilePath?
    /// The open temporary file until it is synced.
    var unsynchronized: (any OpenFile)?
    /// The status of the new file, which another program may have replaced since.
    var written: FileStatus?

    init(_ target: FilePath, _ bytes: [UInt8]?, over former: FileStatus?, key: String? = nil) {
        (self.target, self.bytes, self.former, self.key) = (target, bytes, former, key)
    }

    /// Returns the status of the file that was written, even if it was replaced since; the replacement is unread.
    func statusOfWritten(in files: any FileSystem) -> FileStatus? {
        let found = try? files.status(of: target)
        guard let written, found?.number != written.number else { return found }
        return written
    }
}

/// A domain as one file.
private struct StoredFile: DomainStorage {
    let resolved: ResolvedFile

    var path: FilePath { resolved.file.path }
    var onlyFile: FilePath? { resolved.target }

    func changes(
        to draft: DomainDraft, image: [UInt8], from former: DomainContents, for audience: Audience,
        on system: SystemServices
    ) -> [FileChange] {
        [FileChange(resolved.target, image, over: former.status)]
    }

    func removals(of contents: DomainContents) -> [FileChange] {
        contents.status.map { [FileChange(resolved.target, nil, over: $0)] } ?? []
    }

    func damagedFiles(of contents: DomainContents) -> [FilePath] { [resolved.target] }

    func setFiles(
        of contents: inout DomainContents, after changes: [FileChange], from former: DomainContents,
        in files: any FileSystem
    ) {
        contents.status = changes.first?.statusOfWritten(in: files)
    }

    func synchronize(on system: SystemServices) throws(SystemFailure) {
        try system.fileSystem.open(resolved.target, .reading)?.synchronize()
        try system.fileSystem.synchronizeFolder(resolved.target.parent)
    }
}

/// A domain as a folder with a file for each key.
struct StoredFolder: DomainStorage {
    let file: DomainFile
    let path: FilePath

    var onlyFile: FilePath? { nil }

    /// Returns the changes of the files in the folder. Files with the right values remain as they are.
    func changes(
        to draft: DomainDraft, image: [UInt8], from former: DomainContents, for audience: Audience,
        on system: SystemServices
    ) throws(StoreFailure) -> [FileChange] {
        let members = former.members ?? []
        var (present, ofKey) = ([FileName: FolderMember](), [Name: FolderMember]())
        for member in members {
            present[member.name] = member
            if let key = member.key, !member.isDamaged { ofKey[Name(key)] = member }
        }
        var alike: [String: Int] = [:]
        for key in draft.values.keys { alike[MemberName.folded(key), default: 0] += 1 }
        var (changes, names) = ([FileChange](), Set<FileName>())
        for entry in draft.values {
            if let member = ofKey[Name(entry.key)], !draft.rewrites, former.values[entry.key] == entry.value {
                names.insert(member.name)
                continue
            }
            let isAlike = alike[MemberName.folded(entry.key), default: 1] > 1
            var member = MemberName(entry.key, entry.value, isHashed: isAlike)
            if present[member.name] == nil, try !allows(member.name, for: audience, on: system) {
                member = MemberName(entry.key, entry.value, isHashed: true)
            }
            names.insert(member.name)
            changes.append(
                FileChange(
                    path.appending(member.name), try file.bytes(of: entry.value, for: entry.key, in: member),
                    over: present[member.name]?.status, key: entry.key))
        }
        for member in members where !names.contains(member.name) {
            changes.append(FileChange(path.appending(member.name), nil, over: member.status))
        }
        return changes
    }

    /// Whether the file system allows the name of a new file in the folder. The rename after the commit must not fail,
    /// so names that some file systems refuse are tried with a hidden file. ASCII names of usual length are safe.
    private func allows(
        _ name: FileName, for audience: Audience, on system: SystemServices
    ) throws(StoreFailure) -> Bool {
        let isSafe = name.bytes.count <= 100 && name.bytes.allSatisfy { $0 < 0x80 }
        guard !isSafe, let hidden = FileName([UInt8(ascii: ".")] + name.bytes) else { return true }
        let trial = path.appending(hidden)
        return try file.reporting { () throws(SystemFailure) in
            do throws(SystemFailure) {
                _ = try system.makingFolder(path, for: audience) { () throws(SystemFailure) in
                    try system.fileSystem.open(trial, .creatingNew(.privateFile))
                }
                try system.fileSystem.remove(trial)
                return true
            } catch  where error.code == .exists {
                // Left by a writer that was killed here.
                let left = try system.fileSystem.status(of: trial, followingLink: false)
                if let left, left.kind == .file, left.size == 0 { try system.fileSystem.remove(trial) }
                return true
            } catch  where [.notPermitted, .invalidArgument, .illegalBytes, .nameTooLong].contains(error.code) {
                return false
            }
        }
    }

    func removals(of contents: DomainContents) -> [FileChange] {
        (contents.members ?? []).map { FileChange(path.appending($0.name), nil, over: $0.status) }
    }

    func damagedFiles(of contents: DomainContents) -> [FilePath] {
        (contents.members ?? []).filter(\.isDamaged).map { path.appending($0.name) }
    }

    func setFiles(
        of contents: inout DomainContents, after changes: [FileChange], from former: DomainContents,
        in files: any FileSystem
    ) {
        var members: [FileName: FolderMember] = [:]
        for member in former.members ?? [] { members[member.name] = member }
        for change in changes where change.target.parent == path {
            guard let name = change.target.lastComponent else { continue }
            members[name] = nil
            guard change.bytes != nil, let status = change.statusOfWritten(in: files) else { continue }
            members[name] = FolderMember(name: name, key: change.key, status: status)
        }
        let sorted = members.values.sorted { $0.name < $1.name }
        let place = (try? files.status(of: path)) ?? sorted.first?.status
        (contents.members, contents.status) = (sorted, place.flatMap { FileStatus(of: sorted, in: $0) })
    }

    func synchronize(on system: SystemServices) throws(SystemFailure) { try file.synchronize(on: system) }

    /// Removes temporary files of killed writers. Requires the domain's lock.
    func removeLeftovers(on system: SystemServices) {
        for name in (try? system.fileSystem.names(in: path)) ?? [] where name.isTemporary {
            _ = try? system.fileSystem.remove(path.appending(name))
        }
    }

    /// Removes the folder, unless it has other files.
    func removeIfEmpty(on system: SystemServices) {
        // A symbolic link is not removed, like one to a file.
        guard let status = try? system.fileSystem.status(of: path, followingLink: false), status.kind == .folder else {
            return
        }
        _ = try? system.fileSystem.remove(path)
    }
}
