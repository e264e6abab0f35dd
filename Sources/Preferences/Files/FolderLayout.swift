internal import Digests
package import Platform
package import PropertyLists

/// The name of a file in a domain that is a folder: `KEY.txt` for a string, `KEY.data` for data and `KEY.plist` for any
/// other value. Characters that some file system does not allow are percent-encoded. A key without such a name is
/// stored in `%HASH.plist`, together with its value.
package struct MemberName: Sendable {
    package let name: FileName
    let kind: Kind
    /// The key, or nil if it is inside the file.
    let key: String?

    enum Kind: String, Sendable {
        case text = ".txt"
        case data = ".data"
        case list = ".plist"
        /// A dictionary with the key and the value.
        case hashed = ""
    }

    /// Returns nil for the name of a file that is not part of a domain.
    package init?(_ name: FileName) {
        guard name.bytes.first != UInt8(ascii: "."),
            let kind = [Kind.text, .data, .list].first(where: {
                name.bytes.suffix($0.rawValue.utf8.count).elementsEqual($0.rawValue.utf8)
            })
        else {
            return nil
        }
        let stem = name.bytes.dropLast(kind.rawValue.utf8.count)
        self.name = name
        if kind == .list, Self.isHash(stem) {
            (self.kind, key) = (.hashed, nil)
            return
        }
        let decoded = KeptVersion.decoded(stem)
        // A name that spells its key in another way is ignored, because the key could then have two files. The plain
        // name of a device comes from a file system that allows it.
        guard let own = Self.stem(of: decoded), own.elementsEqual(stem) || decoded.utf8.elementsEqual(stem) else {
            return nil
        }
        (self.kind, key) = (kind, decoded)
    }

    /// Returns the proper name of a file that is ignored because its name spells its key in another way, or nil.
    package static func properName(of name: FileName) -> FileName? {
        guard MemberName(name) == nil, name.bytes.first != UInt8(ascii: "."),
            let kind = [Kind.text, .data, .list].first(where: {
                name.bytes.suffix($0.rawValue.utf8.count).elementsEqual($0.rawValue.utf8)
            }),
            let stem = Self.stem(of: KeptVersion.decoded(name.bytes.dropLast(kind.rawValue.utf8.count)))
        else { return nil }
        return FileName(stem + Array(kind.rawValue.utf8))
    }

    /// The file for a key and its value.
    ///
    /// - Parameter isHashed: Whether the key cannot be the name of the file, because another key of the domain differs
    ///   only in case, or because the file system refuses the name.
    init(_ key: String, _ value: PropertyList, isHashed: Bool) {
        let kind: Kind =
            switch value {
            case .string: .text
            case .data: .data
            default: .list
            }
        if !isHashed, let stem = Self.stem(of: key), let name = FileName(stem + Array(kind.rawValue.utf8)) {
            (self.name, self.kind, self.key) = (name, kind, key)
        } else {
            (self.name, self.kind, self.key) = (Self.hashName(of: key), .hashed, nil)
        }
    }

    /// Returns the name of the file for a key that cannot be a file name.
    static func hashName(of key: String) -> FileName {
        let hash = Hexadecimal.digits(of: Array(SHA256.hash(Array(key.utf8)).prefix(16)))
        return FileName([UInt8(ascii: "%")] + hash + Array(Kind.list.rawValue.utf8)) ?? ".plist"
    }

    /// The limit for names without their extension, which leaves room for the ending of a damaged file.
    private static let mostBytes = 200

    /// Returns the key as part of a file name, or nil if that is not possible.
    private static func stem(of key: String) -> [UInt8]? {
        var stem: [UInt8] = []
        for byte in key.utf8 {
            if byte < 0x20 || byte == 0x7F || encoded.contains(byte) || byte == UInt8(ascii: ".") && stem.isEmpty {
                stem += Array("%\(Hexadecimal.text(of: [byte]).uppercased())".utf8)
            } else {
                stem.append(byte)
            }
        }
        if let first = stem.first, isDevice(stem) {
            stem.replaceSubrange(..<1, with: Array("%\(Hexadecimal.text(of: [first]).uppercased())".utf8))
        }
        return stem.isEmpty || stem.count > mostBytes || isHash(stem) ? nil : stem
    }

    /// Whether FAT refuses a name, with any extension, because it is that of a device in MS-DOS.
    private static func isDevice(_ stem: [UInt8]) -> Bool {
        let name = String(decoding: stem.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self).lowercased()
        if ["con", "prn", "aux", "nul"].contains(name) { return true }
        return name.utf8.count == 4 && ["com", "lpt"].contains { name.hasPrefix($0) }
            && name.utf8.last != UInt8(ascii: "0")
            && name.last?.isNumber == true
    }

    /// The key as a file system that ignores case may see it.
    static func folded(_ key: String) -> String { key.uppercased().lowercased() }

    /// The characters that FAT or Unix does not allow in a name, and the one that begins an encoded character.
    private static let encoded = Array("\"%*/:<>?\\|".utf8)

    private static func isHash(_ stem: some Collection<UInt8>) -> Bool {
        stem.count == 33 && stem.first == UInt8(ascii: "%")
            && stem.dropFirst().allSatisfy { Hexadecimal.value(ofDigit: $0).map(Hexadecimal.digit) == $0 }
    }
}

/// A file of a domain that is a folder, as it was read or written.
package struct FolderMember: Sendable {
    let name: FileName
    /// The key, or nil if the file that contains it is damaged.
    let key: String?
    let status: FileStatus
    var isDamaged = false
}

extension FileStatus {
    /// Combines the statuses of the files of a domain that is a folder. Returns nil if there are none.
    ///
    /// The inode is a hash over all files, so that any change of one gives another generation.
    init?(of members: [FolderMember], in folder: FileStatus) {
        guard let first = members.first else { return nil }
        self = first.status
        var (text, all) = ([UInt8](), FilePermissions())
        (kind, device, owner, group, size) = (.file, folder.device, folder.owner, folder.group, 0)
        for member in members {
            let status = member.status
            text += member.name.bytes
            text += "/\(status.inode)/\(status.size)/\(status.changed.nanoseconds)/".utf8
            size = size.addingReportingOverflow(status.size).partialValue
            modified = max(modified, status.modified)
            changed = max(changed, status.changed)
            all.formUnion(status.permissions)
            if status.owner != folder.owner { owner = status.owner }
        }
        inode = SHA256.hash(text).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        // Files in a folder that others cannot search are private. Users who can write the folder can write the domain.
        let others = FilePermissions(rawValue: 0o077)
        let isClosed = folder.permissions.isDisjoint(with: FilePermissions(rawValue: 0o011))
        permissions = isClosed ? all.subtracting(others) : all
        permissions.formUnion(folder.permissions.intersection(FilePermissions(rawValue: 0o022)))
        links = 1
    }
}

// MARK: Contents

extension DomainFile {
    /// The keys of the dictionary in a file whose name does not contain the key.
    private static let (keyKey, valueKey) = ("Key", "Value")

    /// Returns the bytes of a file with one value. Values that XML would change are written in binary.
    func bytes(of value: PropertyList, for key: String, in member: MemberName) throws(StoreFailure) -> [UInt8] {
        switch (member.kind, value) {
        case (.text, .string(let text)): return Array(text.utf8) + [UInt8(ascii: "\n")]
        case (.data, .data(let data)): return Array(data)
        default: break
        }
        let entry: PropertyList =
            member.kind == .hashed ? .dictionary([Self.keyKey: .string(key), Self.valueKey: value]) : value
        if let bytes = (try? entry.serialized(as: .xml)).map({ Array($0) }), (try? parseValue(bytes))?.0 == entry {
            return bytes
        }
        do throws(EncodingFailure) {
            return Array(try entry.serialized(as: .binary))
        } catch {
            throw StoreFailure(.unwritable(error), name, file: (folder ?? path).appending(member.name))
        }
    }

    /// Returns the key and the value in a file.
    func entry(
        of bytes: [UInt8], in member: MemberName
    ) throws(DecodingFailure) -> (key: String, value: PropertyList) {
        if member.kind == .hashed {
            let value = try parseValue(bytes).0
            guard value.dictionaryValue?.count == 2, let key = value[Self.keyKey]?.stringValue,
                let inner = value[Self.valueKey], MemberName.hashName(of: key) == member.name
            else {
                throw DecodingFailure(.expected("the key of this name, and its value"), offset: 0, format: .xml)
            }
            return (key, inner)
        }
        let key = member.key ?? ""
        switch member.kind {
        case .text:
            let text = bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...]
            guard let text = String(validating: text, as: UTF8.self) else {
                throw DecodingFailure(.invalidText(encoding: "UTF-8"), offset: 0, format: .openstep)
            }
            return (key, .string(text))
        case .data: return (key, .data(Data(bytes)))
        case .list, .hashed: return (key, try parseValue(bytes).0)
        }
    }
}

// MARK: Versions

extension DomainFile {
    /// Returns the bytes that represent all values of a folder in its history, in the mark of its writer and for a
    /// mirror. They are a binary property list with a mark in its trailer.
    package func image(of values: PropertyList.Dictionary) throws(StoreFailure) -> [UInt8] {
        var file = self
        file.path = folder ?? path
        var bytes = try file.serialized(values, as: .binary)
        bytes[bytes.count - Self.trailerLength] = Self.folderMark
        return bytes
    }

    /// Whether bytes are those of a folder.
    package static func isImage(_ bytes: [UInt8]) -> Bool {
        bytes.count > trailerLength && bytes[bytes.count - trailerLength] == folderMark && PropertyList.isBinary(bytes)
    }

    /// Readers ignore the first bytes of the trailer.
    private static let (trailerLength, folderMark) = (32, UInt8(ascii: "F"))
}

/// A domain at the time of reading.
struct PresentDomain {
    var contents: DomainContents
    /// The bytes of the file, or nil for a folder or a damaged file.
    var bytes: [UInt8]?
    /// The open files. While a file is open, its inode number is not reused.
    var files: [any OpenFile] = []
}

/// The result of reading the files of a folder one after the other.
private struct FolderReading {
    var values = PropertyList.Dictionary()
    var members: [FolderMember] = []
    var status: FileStatus?
    /// The damaged files, with their names.
    var damages: [(name: FileName, failure: StoreFailure)] = []
    /// The open files. While a file is open, its inode number is not reused.
    var files: [any OpenFile] = []
}

extension DomainFile {
    /// Returns the status of the domain: of its file, or of all files in its folder together. Returns nil if it does
    /// not exist. A committed transaction that is not complete is taken into account.
    package func status(on system: SystemServices) throws(SystemFailure) -> FileStatus? {
        try reading(on: system) { system throws(SystemFailure) in try presentStatus(on: system) }
    }

    /// Returns the status according to these services.
    func presentStatus(on system: SystemServices) throws(SystemFailure) -> FileStatus? {
        if let status = try system.fileSystem.status(of: path) { return status }
        return try statusOfFolder(on: system)
    }

    /// The status of the domain's folder itself, or nil if there is none.
    func folderPlace(on system: SystemServices) throws(SystemFailure) -> FileStatus? {
        guard let folder, let place = try system.fileSystem.status(of: folder), place.kind == .folder else {
            return nil
        }
        return place
    }

    /// The place that messages name: the domain's folder if it is one, or else its file.
    package func place(on system: SystemServices) -> FilePath {
        guard let folder, (try? folderPlace(on: system)) != nil else { return path }
        // If both exist, reading fails with an error that names both.
        return (try? system.fileSystem.status(of: path)) == nil ? folder : path
    }

    /// The place of a domain with this form in messages.
    func place(_ form: StorageForm?) -> FilePath { form == .folder ? folder ?? path : path }

    /// Returns the target as messages name it: a file in the folder, or the file as it was requested.
    func shown(_ target: FilePath) -> FilePath { target.parent == folder ? target : path }

    private func statusOfFolder(on system: SystemServices) throws(SystemFailure) -> FileStatus? {
        guard let folder, let place = try folderPlace(on: system) else { return nil }
        var members: [FolderMember] = []
        for name in try system.fileSystem.names(in: folder) ?? [] where MemberName(name) != nil {
            if let status = try system.fileSystem.status(of: folder.appending(name), followingLink: false) {
                members.append(FolderMember(name: name, key: nil, status: status))
            }
        }
        return FileStatus(of: members, in: place)
    }

    // MARK: Reading

    /// Reads a domain that has a folder. The values are those of one moment, although writers replace one file after
    /// the other.
    ///
    /// The files are read without a lock, through the pending transactions, and again if one of them has changed since.
    /// After a few attempts, the domain's lock is taken.
    func contentsOfFolder(on system: SystemServices) throws(StoreFailure) -> DomainContents {
        for attempt in 1...Self.mostAttempts {
            let locks = attempt > Self.optimisticAttempts ? try? lock(on: system) : nil
            defer { locks?.release() }
            do throws(StoreFailure) {
                let completed = completed(on: system)
                let former = try reporting { () throws(SystemFailure) in try presentStatus(on: completed) }
                let read = Result { () throws(StoreFailure) in try presentContents(on: completed) }
                let present = try reporting { () throws(SystemFailure) in try status(on: system) }
                let expected = if case .success(let found) = read { found.contents.status } else { former }
                if present?.generation == expected?.generation { return try read.get().contents }
            } catch  where error.meansOtherContents {}
        }
        throw StoreFailure(.locked(holder: nil), name, file: folder ?? path)
    }

    private static let (optimisticAttempts, mostAttempts) = (4, 64)

    private func lock(on system: SystemServices) throws(StoreFailure) -> DomainLocks {
        try DomainLocks(of: [ResolvedFile(self, on: system)], on: system, patience: .seconds(1))
    }

    /// Reads the domain as it is now. The caller holds its lock, or checks that nothing has changed.
    ///
    /// - Parameter acceptsLoss: Whether to leave out damaged values that no version contains.
    func presentContents(
        acceptsLoss: Bool = false, on system: SystemServices
    ) throws(StoreFailure) -> PresentDomain {
        let reading = try readFolder(on: system)
        if let file = try open(on: system) {
            if let folder, reading?.members.isEmpty == false {
                throw StoreFailure(
                    .notAllowed("exists twice: \(path) and \(folder); remove one of them"), name, file: folder)
            }
            do throws(StoreFailure) {
                var (contents, bytes) = try load(file)
                // A writer that made it a folder was killed, and has left temporary files there.
                contents.members = reading?.members
                return PresentDomain(contents: contents, bytes: bytes, files: [file])
            } catch  where error.isDamage {
                var contents = try recovered(from: error, acceptsLoss: acceptsLoss, on: system)
                // Another program may have replaced the file since.
                contents.status = try status(of: file)
                return PresentDomain(contents: contents, files: [file])
            }
        }
        guard let reading else { return PresentDomain(contents: .absent) }
        var contents = DomainContents(
            values: reading.values, form: reading.status.map { _ in .folder }, status: reading.status,
            members: reading.members)
        guard let damage = reading.damages.first?.failure else {
            return PresentDomain(contents: contents, files: reading.files)
        }
        var newest = History(of: self, on: system)?.newestGood
        if let version = newest?.version, !isRecoverable(on: system) {
            guard acceptsLoss else { throw damage.with(goodVersion: version) }
            newest = nil
        }
        guard newest != nil || acceptsLoss else { throw damage }
        contents.recovery = Recovery(
            damage: damage, version: newest?.version, others: reading.damages.dropFirst().map(\.failure))
        for (name, _) in reading.damages {
            let key = MemberName(name)?.key ?? newest?.values.keys.first { MemberName.hashName(of: $0) == name }
            if let key, contents.values[key] == nil { contents.values[key] = newest?.values[key] }
        }
        return PresentDomain(contents: contents, files: reading.files)
    }

    /// Reads the files in the domain's folder. Returns nil if there is no folder.
    private func readFolder(on system: SystemServices) throws(StoreFailure) -> FolderReading? {
        var (reading, seen) = (FolderReading(), [Name: FileName]())
        let place = try reporting { () throws(SystemFailure) in try folderPlace(on: system) }
        guard let folder, let place else { return nil }
        let names = try reporting { () throws(SystemFailure) in try system.fileSystem.names(in: folder) ?? [] }
        var bytesLeft = PropertyList.Limits.default.inputBytes
        for member in names.compactMap({ MemberName($0) }) {
            let path = folder.appending(member.name)
            guard let (bytes, file, status) = try readMember(path, limit: bytesLeft, on: system) else { continue }
            bytesLeft -= bytes.count
            // A process may have 1024 files open.
            if names.count <= 256 { reading.files.append(file) }
            let (key, value): (String, PropertyList)
            do throws(DecodingFailure) {
                (key, value) = try entry(of: bytes, in: member)
            } catch {
                let location = member.kind == .text || member.kind == .data ? nil : error.location(in: bytes)
                reading.damages.append((member.name, StoreFailure(.damaged(error, location), name, file: path)))
                reading.members.append(
                    FolderMember(name: member.name, key: member.key, status: status, isDamaged: true))
                continue
            }
            reading.members.append(FolderMember(name: member.name, key: key, status: status))
            if let other = seen.updateValue(member.name, forKey: Name(key)) {
                throw StoreFailure(
                    .notAllowed("\(folder.appending(other)) and \(path) have the same key; remove one of them"), name,
                    file: path)
            }
            reading.values[key] = value
        }
        reading.status = FileStatus(of: reading.members, in: place)
        return reading
    }

    /// Reads one file of the folder. Returns nil if it was removed meanwhile, and throws for anything but a file.
    private func readMember(
        _ path: FilePath, limit: Int, on system: SystemServices
    ) throws(StoreFailure) -> (bytes: [UInt8], file: any OpenFile, status: FileStatus)? {
        do throws(SystemFailure) {
            guard let file = try system.fileSystem.open(path, .readingNoFollow) else { return nil }
            let status = try file.status()
            return (try file.contents(status, limit: limit), file, status)
        } catch  where error.code == .noSuchAddress {
            throw StoreFailure(SystemFailure(.invalidArgument, .readSpecial, path), name)
        } catch {
            guard error.code == .tooManySymbolicLinks else { throw StoreFailure(error, name) }
            throw StoreFailure(
                .system(code: error.code.rawValue, description: "cannot read \(path): it is a symbolic link"), name,
                file: path)
        }
    }
}

// MARK: The mirror

extension DomainFile {
    /// Returns the bytes of the domain and its status under its lock, or nil if it does not exist. The bytes of a
    /// folder are its image. If the contents are damaged, the bytes are nil.
    package func versionBytes(on system: SystemServices) throws(SystemFailure) -> (
        bytes: [UInt8]?, status: FileStatus
    )? {
        let system = completed(on: system)
        if let file = try system.fileSystem.open(path, .reading), try folderPlace(on: system) == nil {
            let status = try file.status()
            return (try file.contents(status, limit: PropertyList.Limits.default.inputBytes), status)
        }
        guard let status = try presentStatus(on: system) else { return nil }
        do throws(StoreFailure) {
            let present = try presentContents(on: system)
            guard present.contents.recovery == nil, let found = present.contents.status else { return (nil, status) }
            return (try versionBytes(of: present), found)
        } catch {
            guard case .system(let code, _) = error.problem else { return (nil, status) }
            throw SystemFailure(ErrorCode(rawValue: code), .read, error.file.flatMap { FilePath($0) } ?? path)
        }
    }

    /// Returns the bytes of the domain as it was read, or nil if it does not exist or its file is damaged.
    func versionBytes(of present: PresentDomain) throws(StoreFailure) -> [UInt8]? {
        present.contents.form == .folder ? try image(of: present.contents.values) : present.bytes
    }

    /// Syncs the domain's file, or all files in its folder.
    package func synchronize(on system: SystemServices) throws(SystemFailure) {
        if let file = try system.fileSystem.open(path, .reading) { try file.synchronize() }
        if let folder, try folderPlace(on: system) != nil {
            for name in try system.fileSystem.names(in: folder) ?? [] where MemberName(name) != nil {
                try system.fileSystem.open(folder.appending(name), .readingNoFollow)?.synchronize()
            }
            try system.fileSystem.synchronizeFolder(folder)
        }
        try system.fileSystem.synchronizeFolder(path.parent)
    }
}
