package import Platform
internal import PropertyLists

/// The files of a folder as they were read, one after the other.
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
    /// not exist.
    package func status(on machine: Machine) throws(SystemFailure) -> FileStatus? {
        if let status = try machine.fileSystem.status(of: path) { return status }
        return try statusOfFolder(on: machine)
    }

    /// The status of the domain's folder itself, or nil if there is none.
    func folderPlace(on machine: Machine) throws(SystemFailure) -> FileStatus? {
        guard let folder, let place = try machine.fileSystem.status(of: folder), place.kind == .folder else {
            return nil
        }
        return place
    }

    /// The place that messages name: the domain's folder if it is one, or else its file.
    package func place(on machine: Machine) -> FilePath {
        guard let folder, ((try? folderPlace(on: machine)) ?? nil) != nil else { return path }
        // Both are an error, which names both.
        return ((try? machine.fileSystem.status(of: path)) ?? nil) == nil ? folder : path
    }

    /// Returns the target as messages name it: a file in the folder, or the file as it was requested.
    func shown(_ target: FilePath) -> FilePath { target.parent == folder ? target : path }

    private func statusOfFolder(on machine: Machine) throws(SystemFailure) -> FileStatus? {
        guard let folder, let place = try folderPlace(on: machine) else { return nil }
        var members: [FolderMember] = []
        for name in try machine.fileSystem.names(in: folder) ?? [] where MemberName(name) != nil {
            if let status = try machine.fileSystem.status(of: folder.appending(name), followingLink: false) {
                members.append(FolderMember(name: name, key: nil, status: status))
            }
        }
        return FileStatus(of: members, in: place)
    }

    // MARK: Reading

    /// Reads a domain that has a folder, so that the values of all files belong together although writers replace one
    /// after the other.
    ///
    /// The files are read when no transaction is pending, and again if one of them has changed meanwhile. If that does
    /// not succeed soon, the domain's lock is taken.
    func contentsOfFolder(on machine: Machine) throws(StoreFailure) -> DomainContents {
        var attempt = 0
        while true {
            attempt += 1
            finishTransactions(on: machine)
            let locks = attempt > Self.optimisticAttempts ? try? lock(on: machine) : nil
            defer { locks?.release() }
            let former = try reporting { () throws(SystemFailure) in try status(on: machine) }
            let read = Result { () throws(StoreFailure) in try presentContents(on: machine) }
            if locks != nil || attempt == Self.mostAttempts { return try read.get().contents }
            let pending = PendingTransactions(in: transactions, on: machine)
            let isPending = pending.noteOfOthers != nil || pending.concern(self)
            let present = try reporting { () throws(SystemFailure) in try status(on: machine) }
            let expected = if case .success(let found) = read { found.contents.status } else { former }
            if !isPending, present?.generation == expected?.generation {
                return try read.get().contents
            }
        }
    }

    private static let (optimisticAttempts, mostAttempts) = (4, 64)

    private func lock(on machine: Machine) throws(StoreFailure) -> DomainLocks {
        try DomainLocks(of: [ResolvedFile(self, on: machine)], on: machine, patience: .seconds(1))
    }

    /// Reads a domain that has a folder as it is now. The caller holds its lock, or checks that nothing has changed.
    ///
    /// - Parameter acceptsLoss: Whether to leave out damaged values that no version contains.
    /// - Returns: The contents, and the open files.
    func presentContents(
        acceptsLoss: Bool = false, on machine: Machine
    ) throws(StoreFailure) -> (contents: DomainContents, files: [any OpenFile]) {
        let reading = try readFolder(on: machine)
        if let file = try open(on: machine) {
            if let folder, !reading.members.isEmpty {
                throw StoreFailure(
                    .notAllowed("exists twice: \(path) and \(folder); remove one of them"), name, file: folder)
            }
            do throws(StoreFailure) {
                return (try load(file).0, [file])
            } catch  where error.isDamage {
                return (try recovered(from: error, on: machine), [file])
            }
        }
        var contents = DomainContents(values: reading.values, members: reading.members)
        if let status = reading.status { (contents.format, contents.status) = (.binary, status) }
        guard let damage = reading.damages.first?.failure else { return (contents, reading.files) }
        let newest = History(of: self, on: machine)?.newestGood
        guard newest != nil || acceptsLoss else { throw damage }
        contents.recovery = Recovery(
            damage: damage, version: newest?.version, others: reading.damages.dropFirst().map(\.failure))
        for (name, _) in reading.damages {
            let key = MemberName(name)?.key ?? newest?.values.keys.first { MemberName.hashName(of: $0) == name }
            if let key, contents.values[key] == nil { contents.values[key] = newest?.values[key] }
        }
        return (contents, reading.files)
    }

    private func readFolder(on machine: Machine) throws(StoreFailure) -> FolderReading {
        var (reading, seen) = (FolderReading(), [ExactKey: FileName]())
        let place = try reporting { () throws(SystemFailure) in try folderPlace(on: machine) }
        guard let folder, let place else { return reading }
        let names = try reporting { () throws(SystemFailure) in try machine.fileSystem.names(in: folder) ?? [] }
        var bytesLeft = PropertyList.Limits.default.inputBytes
        for member in names.compactMap({ MemberName($0) }) {
            let path = folder.appending(member.name)
            guard let (bytes, file, status) = try readMember(path, limit: bytesLeft, on: machine) else { continue }
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
            if let other = seen.updateValue(member.name, forKey: ExactKey(key)) {
                throw StoreFailure(
                    .notAllowed("\(folder.appending(other)) and \(path) have the same key; remove one of them"), name,
                    file: path)
            }
            reading.values[key] = value
        }
        reading.status = FileStatus(of: reading.members, in: place)
        return reading
    }

    /// Reads one file of the folder, or returns nil if it was removed meanwhile. Anything but a file is refused.
    private func readMember(
        _ path: FilePath, limit: Int, on machine: Machine
    ) throws(StoreFailure) -> (bytes: [UInt8], file: any OpenFile, status: FileStatus)? {
        do throws(SystemFailure) {
            guard let file = try machine.fileSystem.open(path, .readingItself) else { return nil }
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
    package func mirroredBytes(on machine: Machine) throws(SystemFailure) -> (bytes: [UInt8]?, status: FileStatus)? {
        if let file = try machine.fileSystem.open(path, .reading), try folderPlace(on: machine) == nil {
            let status = try file.status()
            return (try file.contents(status, limit: PropertyList.Limits.default.inputBytes), status)
        }
        guard let status = try status(on: machine) else { return nil }
        let (found, bytes): (FileStatus?, [UInt8]?)
        do throws(StoreFailure) {
            let (contents, _) = try presentContents(on: machine)
            found = contents.recovery == nil ? contents.status : nil
            bytes = contents.isFolder ? try image(of: contents.values) : nil
        } catch {
            guard case .system(let code, _) = error.problem else { return (nil, status) }
            throw SystemFailure(ErrorCode(rawValue: code), .read, error.file.flatMap { FilePath($0) } ?? path)
        }
        guard let found else { return (nil, status) }
        guard let bytes else { return (try machine.fileSystem.contents(of: path), found) }
        return (bytes, found)
    }

    /// Syncs the domain's file, or all files in its folder.
    package func synchronize(on machine: Machine) throws(SystemFailure) {
        if let file = try machine.fileSystem.open(path, .reading) { try file.synchronize() }
        if let folder, try folderPlace(on: machine) != nil {
            for name in try machine.fileSystem.names(in: folder) ?? [] where MemberName(name) != nil {
                try machine.fileSystem.open(folder.appending(name), .readingItself)?.synchronize()
            }
            try machine.fileSystem.synchronizeFolder(folder)
        }
        try machine.fileSystem.synchronizeFolder(path.parent)
    }
}
