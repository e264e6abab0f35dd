package import Platform
package import PropertyLists

/// A domain's file: its path, its lock, and the folder of its history.
package struct DomainFile: Hashable, Sendable {
    /// The name in messages: that of the domain, or a path.
    package var name: String
    package var path: FilePath
    /// The folder that can replace the file and has a file for each key, or nil if the domain cannot be a folder.
    package var folder: FilePath?
    package var lock: LockPlace
    /// The folder of the kept versions, or nil if none are kept.
    package var history: FilePath?
    /// The folder of the records of transactions that change several files.
    package var transactions: FilePath?
    /// The format of a new file.
    package var newFormat: PropertyList.Format
    package var isReadOnly: Bool
    /// Whether this is the file of a domain, which can hold any value in any format. A file that is addressed by path
    /// has the meaning that it has for other programs.
    package var isOfDomain = true
    /// Whether the domain is a program's file, which is never removed and keeps its format.
    package var isAdopted = false
    /// The conversion of integers beyond 64 bits in a JSON file.
    package var inexactIntegers = PropertyList.ReadingOptions.InexactIntegers.rounded
    /// The format that the file must have, or nil to detect it from its name and bytes.
    package var requiredFormat: PropertyList.Format?
    /// Whether JSON5 is accepted if the file is JSON.
    package var allowsJSON5 = false
    /// The users who may access a new file.
    package var audience = Audience.owner
    /// The role of the file as a layer of a program; nil for any other file.
    var configuration: Configuration?

    /// A file that a program reads as one of its layers.
    enum Configuration: Hashable {
        /// Without the file, the layer has no values.
        case optional
        /// It is a failure if there is no file.
        case required
    }

    package init(
        name: String, path: FilePath, lock: LockPlace, history: FilePath? = nil, transactions: FilePath? = nil,
        newFormat: PropertyList.Format = .binary, isReadOnly: Bool = false
    ) {
        self.name = name
        self.path = path
        self.lock = lock
        self.history = history
        self.transactions = transactions
        self.newFormat = newFormat
        self.isReadOnly = isReadOnly
    }
}

extension DomainFile {
    /// Creates the file of a program's layer.
    init(_ path: FilePath, _ configuration: Configuration) {
        self.init(name: path.description, path: path, lock: .byPath, isReadOnly: true)
        (isOfDomain, self.configuration) = (false, configuration)
    }

    /// Whether the root of the file must be a dictionary, because it has settings.
    var hasSettings: Bool { isOfDomain || configuration != nil }

    /// The same file, addressed by path and not as a domain.
    package var addressedByPath: DomainFile {
        var file = self
        file.isOfDomain = false
        file.audience = .umask
        return file
    }

    /// Whether the folder of a new file is created. The path of a file that is not a domain's may be misspelled.
    var createsFolder: Bool { isOfDomain || isAdopted }

    /// Whether other users can read a domain's file. The permissions of a program's file are not checked, because the
    /// program sets them.
    func isExposed(_ status: FileStatus?, to user: UInt32) -> Bool {
        !isAdopted && (status?.isExposed(to: user) ?? false)
    }

    /// Returns the file with another format for a new file, unless it is addressed by path.
    package func made(in format: PropertyList.Format) -> DomainFile {
        guard lock != .byPath else { return self }
        var file = self
        file.newFormat = format
        return file
    }
}

extension DomainFile {
    /// The lock that all writers of the store's domains share, or nil for a file that is not a domain's.
    var lockOfStore: FilePath? {
        guard case .file(let lock) = lock, transactions != nil else { return nil }
        let folder = lock.parent
        return (folder.lastComponent == StoreFolder.hostFolder ? folder.parent : folder).appending(".store.lock")
    }

    /// The places where earlier versions of this library kept the locks and versions of an administrator's file in
    /// `/etc`, or nil for any other file.
    var former: FormerPlaces? {
        guard case .file(let lock) = lock, lock.bytes.starts(with: StoreFolder.stateOfAdministrator.bytes),
            let store = transactions?.parent, let name = lock.lastComponent, let versions = history?.lastComponent,
            lock.parent == StoreFolder.state(ofAdministrator: store)?.appending("locks")
        else { return nil }
        return FormerPlaces(
            locks: store.appending(".locks"), lock: store.appending(".locks").appending(name),
            history: store.appending(".history").appending(versions))
    }

    /// Throws if a folder of locks, versions or records is a symbolic link in another user's store. That user may have
    /// created it to let the caller, usually root, write elsewhere.
    ///
    /// Returns whether the store is known to belong to the caller.
    @discardableResult
    package func checkLinks(on system: SystemServices) throws(StoreFailure) -> Bool {
        guard case .file(let lock) = lock, let transactions else { return false }
        let (files, store) = (system.fileSystem, transactions.parent)
        guard let owner = (try? files.status(of: store))?.owner else { return false }
        if owner == system.environment.user { return true }
        var folders = [store.appending(".locks"), lock.parent, transactions, store.appending(".secrets")]
        if let history {
            folders += [history, history.parent]
            if history.parent.lastComponent == StoreFolder.hostHistory { folders.append(history.parent.parent) }
        }
        for folder in folders
        where (try? files.status(of: folder, followingLink: false))?.kind == .symbolicLink {
            throw failure(SystemFailure(.notPermitted, .followPlanted, folder))
        }
        return false
    }
}

/// The former places of the locks and versions of a domain.
struct FormerPlaces: Hashable, Sendable {
    /// The folder of locks. While it exists, a program with an earlier version of this library may use it.
    let locks: FilePath
    let lock: FilePath
    /// The folder of the domain's versions, which the next write moves.
    let history: FilePath

    var lockOfStore: FilePath { locks.appending(".store.lock") }
}

/// The lock that prevents concurrent changes of a file.
package enum LockPlace: Hashable, Sendable {
    /// A separate lock file, which remains when the file is replaced.
    case file(FilePath)
    /// A temporary lock file named after the path.
    case byPath
}

extension DomainFile {
    /// Calls `body`, and converts an error of the system to a failure of this domain.
    func reporting<Result>(
        _ body: () throws(SystemFailure) -> Result
    ) throws(StoreFailure) -> Result {
        do throws(SystemFailure) {
            return try body()
        } catch {
            throw failure(error)
        }
    }

    /// Converts an error of the system to a failure of this domain.
    func failure(_ failure: SystemFailure) -> StoreFailure { StoreFailure(failure.naming(path), name) }
}

/// A domain's file with its path resolved. A write replaces the target of a symbolic link and not the link.
struct ResolvedFile: Sendable {
    let file: DomainFile
    let target: FilePath
    let isLinked: Bool

    init(_ file: DomainFile, on system: SystemServices) throws(StoreFailure) {
        self.file = file
        target = try file.reporting { () throws(SystemFailure) in
            try file.path.leadingToTarget(
                for: system.environment.user, in: system.fileSystem, checksFolders: !file.isOfDomain)
        }
        isLinked = target != file.path
    }

    /// Creates a file whose path was resolved before.
    init(resolved file: DomainFile, target: FilePath) {
        self.file = file
        self.target = target
        isLinked = target != file.path
    }
}

extension DomainFile {
    /// Returns the bytes of a file with these values.
    package func serialized(
        _ values: PropertyList.Dictionary, as format: PropertyList.Format
    ) throws(StoreFailure) -> [UInt8] {
        try serialized(.dictionary(values), as: format, padsReals: false)
    }

    private func serialized(
        _ root: PropertyList, as format: PropertyList.Format, padsReals: Bool
    ) throws(StoreFailure) -> [UInt8] {
        try checkNulls(root, format)
        var options = writingOptions
        options.padsReals = padsReals
        return try reporting { () throws(EncodingFailure) in
            Array(try root.serialized(as: format, options: options))
        }
    }

    /// Throws if a domain would get a null, which settings cannot be, even if the format has it.
    private func checkNulls(
        _ root: PropertyList, _ format: PropertyList.Format
    ) throws(StoreFailure) {
        guard isOfDomain, let path = root.pathToNull else { return }
        throw StoreFailure(
            self, .unwritable(EncodingFailure(.kindNotSupported(.null), path: path, format: format)))
    }

    private var writingOptions: PropertyList.WritingOptions {
        var options = PropertyList.WritingOptions.ofDomains
        options.wrapsInJSON = isOfDomain
        options.limits = limits
        options.writesJSON5 = FileExtension(fileName: path.description) == .json5
        return options
    }
}

extension DomainFile {
    /// Returns a file with the values of a draft, or the image of a folder. In a text, only the entries that differ are
    /// changed.
    ///
    /// - Parameters:
    ///   - former: The bytes of the file or version from which the values come.
    ///   - padsReals: Whether reals in XML have the digits that Apple's tools write.
    func serialized(
        _ draft: DomainDraft, editing former: [UInt8]?, padsReals: Bool
    ) throws(StoreFailure) -> EditResult {
        if draft.form == .folder { return EditResult(try image(of: draft.values)) }
        let (value, format) = (draft.root, draft.format)
        // A new strings file has no braces, like one that is edited.
        let former = former ?? (optionsOfText.acceptsBlank && format == .openstep ? [] : nil)
        guard let former, let (formerValue, formerFormat) = try? root(former) else {
            return EditResult(try serialized(value, as: format, padsReals: padsReals))
        }
        func source() -> SourceText? {
            guard formerFormat.isEditedInPlace, !draft.writesWholeText else { return nil }
            return try? SourceText(former, as: formerFormat, limits: limits, options: optionsOfText)
        }
        guard formerFormat == format else {
            let comments = draft.rewrites ? [] : source()?.comments ?? []
            return EditResult(try serialized(value, as: format, padsReals: padsReals), removing: comments)
        }
        try checkNulls(value, format)
        if let source = source() {
            var options = writingOptions
            options.padsReals = padsReals
            return try reporting { () throws(EncodingFailure) in
                try source.edited(to: value, by: draft.step, options: options)
            }
        }
        let written = try serialized(value, as: format, padsReals: padsReals)
        // Numbers in JSON that a property list cannot hold keep their text.
        guard format == .json else { return EditResult(written) }
        return try reporting { () throws(EncodingFailure) in
            EditResult(try value.keepingNumbers(in: written, of: (former, formerValue), optionsOfJSON))
        }
    }

    /// Whether the file is a text with comments, which no other format keeps.
    package func hasComments(on system: SystemServices) -> Bool {
        guard let bytes = (try? versionBytes(on: system))?.bytes, let (_, format) = try? parse(bytes),
            format.isEditedInPlace
        else { return false }
        let source = try? SourceText(bytes, as: format, limits: limits, options: optionsOfText)
        return source.map { !$0.comments.isEmpty } ?? false
    }

    /// Runs `body` and reports its failure as one of this file.
    private func reporting<Result>(_ body: () throws(EncodingFailure) -> Result) throws(StoreFailure) -> Result {
        do throws(EncodingFailure) {
            return try body()
        } catch {
            throw StoreFailure(self, .unwritable(error))
        }
    }

    /// Converts a domain to binary if its format would lose fractions of a second, because a mirror would publish the
    /// loss as a change. Returns the former format, or nil if it is unchanged.
    func preserveFractions(in draft: inout DomainDraft) -> PropertyList.Format? {
        // In GNUstep format, fractions have a notation of our own.
        guard isOfDomain, draft.format == .xml || draft.format == .openstep,
            PropertyList.dictionary(draft.values).hasFractionalDates
        else { return nil }
        defer { draft.format = .binary }
        return draft.format
    }
}

extension PropertyList.WritingOptions {
    /// The options for writing domains: lookup by key, and no loss of information.
    package static let ofDomains: PropertyList.WritingOptions = {
        var options = PropertyList.WritingOptions()
        options.marksSortedRoot = true
        options.wrapsInJSON = true
        options.isPretty = true
        return options
    }()
}

extension PropertyList.ReadingOptions {
    /// The counterpart of the options for writing domains.
    package static let ofDomains: PropertyList.ReadingOptions = {
        var options = ofFiles
        (options.nulls, options.unwrapsJSON, options.detectsTOML) = (.refused, true, false)
        return options
    }()
}

extension DomainFile {
    /// The options that read any JSON that this file may hold. JSON5 contains JSON.
    package var optionsOfJSON: PropertyList.ReadingOptions {
        isOfDomain ? .ofDomains : PropertyList.ReadingOptions(allowsJSON5: true)
    }
}

extension PropertyList.Dictionary {
    /// Rounds all dates to whole seconds. Returns whether any was changed.
    package mutating func dropFractions() -> Bool {
        var isChanged = false
        for entry in self {
            let value = entry.value.droppingFractions
            guard value != entry.value else { continue }
            self[entry.key] = value
            isChanged = true
        }
        return isChanged
    }
}

extension PropertyList {
    /// The value with all dates rounded to whole seconds.
    package var droppingFractions: PropertyList {
        switch self {
        case .date(let date): .date(date.wholeSecond)
        case .array(let elements): .array(elements.map(\.droppingFractions))
        case .dictionary(let entries): .dictionary(Dictionary(entries.map { ($0.key, $0.value.droppingFractions) }))
        default: self
        }
    }
}
