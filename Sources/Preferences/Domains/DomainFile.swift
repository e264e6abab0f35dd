package import Platform
package import PropertyLists

/// A domain's file: its path, its lock, and the folder of its history.
package struct DomainFile: Hashable, Sendable {
    /// The name in messages: that of the domain, or a path.
    package var name: String
    package var path: FilePath
    /// The folder that can be in place of the file, with a file for each key; nil if there can be none.
    package var folder: FilePath?
    package var lock: LockPlace
    /// The folder of the kept versions, or nil if none are kept.
    package var history: FilePath?
    /// The folder of the records of transactions over several files.
    package var transactions: FilePath?
    /// The format of a new file.
    package var newFormat: PropertyList.Format
    package var isReadOnly: Bool
    /// Whether this is the file of a domain, which can hold any value in any format. A file that is addressed by path
    /// keeps the meaning that it has for other programs.
    package var isOfDomain = true
    /// The conversion of integers beyond 64 bits in a JSON file.
    package var inexactIntegers = PropertyList.ReadingOptions.InexactIntegers.rounded
    /// The format that the file must have, or nil for the one that its name and bytes show.
    package var requiredFormat: PropertyList.Format?
    /// Whether the file may have what JSON5 adds to JSON.
    package var allowsJSON5 = false
    /// The users who may access a new file.
    package var audience = Audience.owner

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
    /// The same file, addressed by path and not as a domain.
    package var addressedByPath: DomainFile {
        var file = self
        file.isOfDomain = false
        file.audience = .umask
        return file
    }

    /// Returns the file with a format for new domains. Files that are addressed by path keep theirs.
    package func made(in format: PropertyList.Format) -> DomainFile {
        guard lock != .itself else { return self }
        var file = self
        file.newFormat = format
        return file
    }
}

extension DomainFile {
    /// The lock that all writers of the store's domains share, or nil for a file that is not a domain's.
    var lockOfStore: FilePath? {
        guard case .file = lock, let notes = transactions?.parent else { return nil }
        return notes.resolving(".locks/.store.lock")
    }

    /// Throws if a folder of locks, versions or records is a symbolic link in another user's store. That user may have
    /// created it to let the caller, usually root, write elsewhere.
    package func checkLinks(on machine: Machine) throws(StoreFailure) {
        guard case .file(let lock) = lock, let transactions else { return }
        let (files, store) = (machine.fileSystem, transactions.parent)
        guard let owner = ((try? files.status(of: store)) ?? nil)?.owner, owner != machine.environment.user else {
            return
        }
        var folders = [store.appending(".locks"), lock.parent, transactions]
        if let history {
            folders += [history, history.parent]
            if history.parent.lastComponent == StoreFolder.hostHistory { folders.append(history.parent.parent) }
        }
        for folder in folders
        where ((try? files.status(of: folder, followingLink: false)) ?? nil)?.kind == .symbolicLink {
            throw failure(SystemFailure(.notPermitted, .followPlanted, folder))
        }
    }
}

/// The lock that prevents concurrent changes of a file.
package enum LockPlace: Hashable, Sendable {
    /// A separate lock file, which remains when the file is replaced.
    case file(FilePath)
    /// A temporary lock file named after the path.
    case itself
}
