package import Platform
package import PropertyLists

/// The contents of a domain's file at the time of reading.
package struct DomainContents: Sendable {
    package var values: PropertyList.Dictionary
    package var rootKind = FileRoot.dictionary
    /// The form of the domain, or nil if there is none or its file is damaged.
    package var form: StorageForm?
    /// The status of the file, or nil if there is none.
    package var status: FileStatus?
    /// The origin of the values if the file is damaged.
    package var recovery: Recovery?
    /// The files of a domain that is a folder, or nil for one that has no folder.
    package var members: [FolderMember]?
    /// Whether this writer wrote these contents and keeps them in the history.
    package var isOwn = false

    /// The contents of a file that does not exist.
    package static let absent = DomainContents(values: [:])

    package init(
        values: PropertyList.Dictionary, form: StorageForm? = nil, status: FileStatus? = nil,
        recovery: Recovery? = nil, members: [FolderMember]? = nil
    ) {
        self.members = members
        self.values = values
        self.form = form
        self.status = status
        self.recovery = recovery
    }

    package var exists: Bool { status != nil }
    package var format: PropertyList.Format? { form?.format }
    package var generation: FileGeneration? { status?.generation }
}

/// A damaged file, and the kept version that is used instead.
package struct Recovery: Sendable, Hashable {
    package let damage: StoreFailure
    /// The version, or nil if none is used and the file is replaced without its contents.
    package let version: KeptVersion?
    /// The other damaged files of a domain that is a folder.
    package var others: [StoreFailure] = []
}

extension Recovery: CustomStringConvertible {
    package var description: String {
        let damage = ([damage] + others).map(\.description).joined(separator: "; ")
        guard let version else { return "\(damage); it is set aside, with .damaged and the time after its name" }
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
    /// Whether a version is used in place of the file if it is damaged.
    ///
    /// A file that is named by its path, or to which a link in the store leads, belongs to other programs and to the
    /// user who edits it: its text is never replaced by an earlier one, and an earlier value is not its value.
    package func isRecoverable(on system: SystemServices) -> Bool {
        isOfDomain
            && ![path, folder].compactMap(\.self).contains { path in
                (try? system.fileSystem.status(of: path, followingLink: false))?.kind == .symbolicLink
            }
    }

    /// Returns the newest readable version in place of the damaged file. Throws the damage if there is none, or if the
    /// file is not recoverable.
    ///
    /// - Parameter acceptsLoss: Whether to return contents without values instead.
    func recovered(
        from damage: StoreFailure, acceptsLoss: Bool = false, on system: SystemServices
    ) throws(StoreFailure) -> DomainContents {
        let newest = History(of: self, on: system)?.newestGood
        let isUsed = newest != nil && isRecoverable(on: system)
        guard isUsed || acceptsLoss else { throw newest.map { damage.with(goodVersion: $0.version) } ?? damage }
        let status = try reporting { () throws(SystemFailure) in try system.fileSystem.status(of: path) }
        guard let newest, isUsed else {
            return DomainContents(values: [:], status: status, recovery: Recovery(damage: damage, version: nil))
        }
        return DomainContents(
            values: newest.values, form: .file(damagedFormat(damage)), status: status,
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

    /// Sets aside the damaged file that is about to be replaced, under another name in its folder.
    func setAside(_ target: FilePath, on system: SystemServices) throws(SystemFailure) {
        guard let name = target.lastComponent else { return }
        if try isSetAside(target, on: system) { return }
        for number in 1...100 {
            let count = number == 1 ? "" : "-\(number)"
            guard let ending = FileName("\(Self.damagedEnding)\(system.clock.wall.milliseconds)\(count)") else {
                return
            }
            let path = target.parent.appending(name.appending(ending))
            do throws(SystemFailure) {
                return try system.fileSystem.link(target, to: path)
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
                return try system.fileSystem.replace(path, with: bytes)
            }
        }
        throw SystemFailure(.exists, .link, target)
    }

    /// Returns the damaged files that were set aside when they were replaced, also those in the domain's folder.
    package func damagedCopies(on system: SystemServices) -> [FilePath] {
        let files = system.fileSystem
        let target = (try? path.followingLinks(in: files)) ?? path
        let beside = (try? files.names(in: target.parent)) ?? []
        let beginning = target.lastComponent?.appending(Self.damagedEnding).bytes
        var copies = beside.filter { name in beginning.map { name.bytes.starts(with: $0) } ?? false }
            .map(target.parent.appending)
        if let folder {
            let inside = (try? files.names(in: folder)) ?? []
            copies += inside.filter { $0.description.contains(Self.damagedEnding.description) }.map(folder.appending)
        }
        return copies
    }

    /// Whether a failed attempt to replace the damaged file has set it aside already.
    private func isSetAside(_ target: FilePath, on system: SystemServices) throws(SystemFailure) -> Bool {
        let (files, limit) = (system.fileSystem, PropertyList.Limits.default.inputBytes)
        guard let name = target.lastComponent?.appending(Self.damagedEnding),
            let status = try files.status(of: target)
        else {
            return false
        }
        for other in try files.names(in: target.parent) ?? [] where other.bytes.starts(with: name.bytes) {
            let path = target.parent.appending(other)
            guard let found = try files.status(of: path), found.size == status.size else { continue }
            if found.number == status.number { return true }
            if try files.contents(of: path, limit: limit) == files.contents(of: target, limit: limit) { return true }
        }
        return false
    }
}

extension DomainFile {
    /// Reads all values of the domain. The newest readable version is used in place of a damaged file.
    package func contents(on system: SystemServices) throws(StoreFailure) -> DomainContents {
        let contents = try reading(on: system) { system throws(StoreFailure) -> DomainContents? in
            let found = try opening(on: system) { file throws(StoreFailure) in try load(file).0 }
            switch found {
            case .folder: return nil
            case .absent where configuration == .required: throw failure(SystemFailure(.noSuchFile, .read, path))
            case .absent: return .absent
            case .success(let contents): return contents
            case .failure(let damage): return try recovered(from: damage, on: system)
            }
        }
        return if let contents { contents } else { try contentsOfFolder(on: system) }
    }

    /// Reads one value of the domain, and only the parts of the file that lead to it.
    package func value(
        at path: EntryPath, on system: SystemServices
    ) throws(StoreFailure) -> (value: PropertyList?, recovery: Recovery?) {
        typealias Found = (value: PropertyList?, recovery: Recovery?)
        let found = try reading(on: system) { system throws(StoreFailure) -> Found? in
            let found = try opening(on: system) { file throws(StoreFailure) in try readValue(at: path, in: file) }
            switch found {
            case .folder: return nil
            case .absent: return (nil, nil)
            case .success(let value): return (value, nil)
            case .failure(let damage):
                let contents = try recovered(from: damage, on: system)
                return (contents.root[path], contents.recovery)
            }
        }
        if let found { return found }
        let contents = try contentsOfFolder(on: system)
        return (PropertyList.dictionary(contents.values)[path], contents.recovery)
    }

    private enum Outcome<Found> {
        case success(Found), failure(StoreFailure), folder, absent
    }

    /// Opens the file. Returns damage as a failure, and throws other errors.
    private func opening<Result>(
        on system: SystemServices, _ body: (any OpenFile) throws(StoreFailure) -> Result
    ) throws(StoreFailure) -> Outcome<Result> {
        let file = try open(on: system)
        if folder != nil, try reporting({ () throws(SystemFailure) in try folderPlace(on: system) }) != nil {
            return .folder
        }
        guard let file else { return .absent }
        do throws(StoreFailure) {
            return .success(try body(file))
        } catch  where error.isDamage {
            return .failure(error)
        }
    }

    func open(on system: SystemServices) throws(StoreFailure) -> (any OpenFile)? {
        try reporting { () throws(SystemFailure) in try system.fileSystem.open(path, .reading) }
    }

    /// Reads the values and the bytes of an open file.
    func load(_ file: any OpenFile) throws(StoreFailure) -> (DomainContents, [UInt8]) {
        let status = try status(of: file)
        let bytes = try bytes(of: file, status)
        let (root, format) = try root(bytes)
        var contents = DomainContents(values: root.valuesOfRoot, form: .file(format), status: status)
        contents.rootKind = FileRoot(of: root)
        return (contents, bytes)
    }

    private func bytes(of file: any OpenFile, _ status: FileStatus) throws(StoreFailure) -> [UInt8] {
        try reporting { () throws(SystemFailure) in
            try file.contents(status, limit: PropertyList.Limits.default.inputBytes)
        }
    }

    func status(of file: any OpenFile) throws(StoreFailure) -> FileStatus {
        try reporting { () throws(SystemFailure) in try file.status() }
    }

    /// The limits for reading and writing. A domain written by version 0.1 must remain readable.
    package var limits: PropertyList.Limits { isOfDomain ? .ofStore : .default }

    /// The options for reading the file as it is.
    var optionsOfText: PropertyList.ReadingOptions {
        var options = isOfDomain ? PropertyList.ReadingOptions.ofDomains : PropertyList.ReadingOptions()
        options.inexactIntegers = inexactIntegers
        options.detectsTOML = !isOfDomain
        options.json = allowsJSON5 ? .json5 : .withComments
        return options.reading(fileNamed: isOfDomain ? nil : path.description)
    }

    /// Parses the values of a file.
    package func parse(_ bytes: [UInt8]) throws(StoreFailure) -> (PropertyList.Dictionary, PropertyList.Format) {
        let (root, format) = try root(bytes)
        return (root.valuesOfRoot, format)
    }

    /// Parses the root of a file, which is a dictionary if it is that of a domain.
    package func root(_ bytes: [UInt8]) throws(StoreFailure) -> (PropertyList, PropertyList.Format) {
        let (value, format): (PropertyList, PropertyList.Format)
        do throws(DecodingFailure) {
            (value, format) = try parseValue(bytes)
        } catch {
            throw StoreFailure(self, .damaged(error, error.location(in: bytes)))
        }
        guard !hasSettings || value.kind == .dictionary else { throw StoreFailure(self, .notADictionary(value.kind)) }
        return (value, format)
    }

    /// Parses a file with any value.
    func parseValue(_ bytes: [UInt8]) throws(DecodingFailure) -> (PropertyList, PropertyList.Format) {
        if let requiredFormat {
            return (
                try PropertyList(parsing: bytes, as: requiredFormat, limits: limits, options: optionsOfText),
                requiredFormat
            )
        }
        let (value, format) = try PropertyList.sniffed(
            bytes, named: isOfDomain ? nil : path.description, limits: limits, options: optionsOfText)
        guard isOfDomain, format == .openstep else { return (value, format) }
        // Plain OpenStep has no types and is never used for domains, so this is GNUstep text that needed none.
        return (try PropertyList(parsing: bytes, as: .gnustep, limits: limits), .gnustep)
    }
}

// MARK: Reading one value

extension DomainFile {
    /// Files up to this size are read completely, which is faster than several partial reads.
    private static let fewBytes = 16 << 10

    private func readValue(at path: EntryPath, in file: any OpenFile) throws(StoreFailure) -> PropertyList? {
        let status = try status(of: file)
        do {
            guard status.kind == .file, status.size > Self.fewBytes else {
                let bytes = try bytes(of: file, status)
                guard PropertyList.isBinary(bytes) else { return try root(bytes).0[path] }
                return try value(at: path, in: BinaryPropertyList(parsing: bytes, limits: limits))
            }
            let source = BytesOfFile(file: file, byteCount: status.size)
            guard try source.isBinary else { return try load(file).0.root[path] }
            return try value(at: path, in: BinaryPropertyList(source, limits: limits))
        } catch let failure as DecodingFailure {
            throw StoreFailure(self, .damaged(failure, nil))
        } catch let failure as SystemFailure {
            throw StoreFailure(failure, name)
        } catch let failure as StoreFailure {
            throw failure
        } catch {
            throw StoreFailure(self, .system(code: 0, description: "\(error)"))
        }
    }

    private func value(at path: EntryPath, in view: BinaryPropertyList) throws -> PropertyList? {
        guard try !isOfDomain || view.hasDictionary else {
            throw StoreFailure(self, .notADictionary(try view.root.kind))
        }
        let value = try view.value(at: path)
        if isOfDomain, let inner = value?.pathToNull {
            let place = EntryPath(path.components + inner.components)
            throw DecodingFailure(.null, offset: 0, path: place, format: .binary)
        }
        return value
    }
}

/// An open file as the source of the lazy parser.
private struct BytesOfFile: ByteSource {
    let file: any OpenFile
    let byteCount: Int

    var isBinary: Bool {
        get throws {
            PropertyList.isBinary(try bytes(at: 0, count: 8))
        }
    }

    func bytes(at offset: Int, count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        guard try file.fill(&bytes, at: offset) == count else { throw SystemFailure(.inputOutput, .read, file.path) }
        return bytes
    }
}
