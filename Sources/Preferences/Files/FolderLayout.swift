internal import Digests
package import Platform
internal import PropertyLists

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
        // Another spelling of a key would be a second file of it. The plain name of a device is from a file system that
        // allows it.
        guard let own = Self.stem(of: decoded), own.elementsEqual(stem) || decoded.utf8.elementsEqual(stem) else {
            return nil
        }
        (self.kind, key) = (kind, decoded)
    }

    /// Returns the proper name of a file that is ignored because its name spells a key in another way, or nil.
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

    /// Whether a name is refused on FAT, with any extension, because it means a device in MS-DOS.
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
    /// Returns the bytes that stand for all values of a folder: in its history, in the mark of its writer and for the
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
