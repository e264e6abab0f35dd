package import Platform
internal import PropertyLists

/// The files that one transaction changed.
struct Participants: Sendable {
    var paths: [FilePath] = []
    /// The list in the history of one of them, to which the others link.
    fileprivate(set) var list: FilePath?
}

/// The files that one transaction changed, as the history of each of them lists them.
///
/// The name of a version has no room for them, so they are in a file of their own beside the versions. A transaction
/// over a single file has none.
extension History {
    /// Keeps the list of the files of a transaction. Returns false if that failed.
    func record(_ participants: inout Participants, of transaction: String) -> Bool {
        guard let path = Self.nameOfParticipants(transaction).map(folder.appending) else { return false }
        // A list of a thousand files in each of their histories would take 30 MB.
        if let list = participants.list {
            // A new domain has no folder yet.
            let isLinked: Void? = try? system.makingFolder(folder, for: audience) { () throws(SystemFailure) in
                try system.fileSystem.link(list, to: path)
            }
            if isLinked != nil { return true }
        }
        let listed = PropertyList.array(participants.paths.map { .data(Data($0.relative(to: store).bytes)) })
        guard let bytes = try? listed.serialized(as: .binary), write(Array(bytes), to: path) else { return false }
        participants.list = path
        return true
    }

    /// Returns the paths of the files that a transaction changed, or nil if it changed only this one or was made by an
    /// earlier version of this library, which kept no list.
    package func participants(of transaction: String) throws(StoreFailure) -> [FilePath]? {
        guard let name = Self.nameOfParticipants(transaction) else { return nil }
        let path = folder.appending(name)
        let bytes = try file.reporting { () throws(SystemFailure) in
            try system.fileSystem.contents(of: path, limit: PropertyList.Limits.default.inputBytes)
        }
        guard let bytes else { return nil }
        let elements = (try? PropertyList(parsing: bytes, as: .binary))?.arrayValue ?? []
        let paths = elements.compactMap { $0.dataValue.flatMap { FilePath($0) } }
        guard !paths.isEmpty, paths.count == elements.count else {
            throw StoreFailure(.notAllowed("\(path) is damaged"), file.name, file: path)
        }
        return paths.map { (store ?? .root).resolving($0) }
    }

    /// Returns whether a file lists the participants of a transaction, and no version of that transaction is kept.
    func isLeftoverList(_ name: FileName, among versions: [KeptVersion]) -> Bool {
        guard name.bytes.suffix(Self.ending.bytes.count).elementsEqual(Self.ending.bytes) else { return false }
        let stem = name.bytes.dropLast(Self.ending.bytes.count)
        return !versions.contains { $0.transaction.utf8.elementsEqual(stem) }
    }

    private var store: FilePath? { file.transactions?.parent }

    private static let ending: FileName = ".files"

    private static func nameOfParticipants(_ transaction: String) -> FileName? {
        FileName(transaction)?.appending(ending)
    }
}

extension FilePath {
    /// Returns the path relative to a folder, or the path itself if it is not in the folder. A store can be moved.
    fileprivate func relative(to folder: FilePath?) -> FilePath {
        guard let folder, components.starts(with: folder.components), components.count > folder.components.count
        else { return self }
        return FilePath(Array(components.dropFirst(folder.components.count).joined(separator: [UInt8(ascii: "/")])))
            ?? self
    }
}

extension StoreFolder {
    /// Returns the domain and the host of a file in this store; the host is nil for all hosts. Returns nil for any
    /// other file.
    package func address(of path: FilePath) -> (name: DomainName, host: String?)? {
        guard let stem = path.lastComponent.flatMap({ $0.propertyListStem }) else { return nil }
        if path.parent == folder { return (try? DomainName(stem)).map { ($0, nil) } }
        guard arrangement == .own, path.parent == folder.appending(Self.hostFolder) else { return nil }
        return Self.address(ofHostStem: stem)
    }

    private static func address(ofHostStem stem: String) -> (name: DomainName, host: String?)? {
        // The host follows the last dot.
        let scalars = stem.unicodeScalars
        guard let dot = scalars.lastIndex(of: "."), let name = try? DomainName(String(stem[..<dot])) else { return nil }
        return (name, String(stem[scalars.index(after: dot)...]))
    }

    /// Returns the domains that have a history or a file, for all hosts and for each, also those that were removed.
    package func domainsWithHistory(
        in files: some FileSystem
    ) throws(SystemFailure) -> [(name: DomainName, host: String?)] {
        guard arrangement == .own else { return try domains(in: files).map { ($0, nil) } }
        let names = try files.names(in: history) ?? []
        let hosts = try files.names(in: history.appending(Self.hostHistory)) ?? []
        return names.compactMap { name in
            String(validating: name.bytes, as: UTF8.self).flatMap { try? DomainName($0) }.map { ($0, nil) }
        }
            + hosts.compactMap { name in
                String(validating: name.bytes, as: UTF8.self).flatMap(Self.address(ofHostStem:))
            }
    }
}
