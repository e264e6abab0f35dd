package import Platform
package import PropertyLists

/// The address of a domain's file: where it lies, what guards it, and what is kept of it.
package struct DomainFile: Hashable, Sendable {
    /// What messages call it: the domain's name, or a path.
    package var name: String
    package var path: FilePath
    package var lock: LockPlace
    /// The folder of the kept versions; nil where none are kept.
    package var history: FilePath?
    /// The folder in which transactions over several files are noted.
    package var transactions: FilePath?
    /// The format that a new file gets.
    package var newFormat: PropertyList.Format
    package var isReadOnly: Bool
    /// Whether it is a domain's, which can have any value in any format; a file that is addressed by its path has the
    /// meaning that other programs give it.
    package var isOfDomain = true
    /// What integers beyond 64 bits in a JSON file are read as.
    package var inexactIntegers = PropertyList.ReadingOptions.InexactIntegers.rounded
    /// Who is to use a file that is new.
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
    /// The same as a file that is addressed by its path, and is no domain's.
    package var addressedByPath: DomainFile {
        var file = self
        file.isOfDomain = false
        file.audience = .umask
        return file
    }

    /// The same, in the format that new domains of our own are to have. Other files have one of their own.
    package func made(in format: PropertyList.Format) -> DomainFile {
        guard lock != .itself else { return self }
        var file = self
        file.newFormat = format
        return file
    }
}

extension DomainFile {
    /// The lock that all writers of the store's domains share; nil for a file that is not one of them.
    var lockOfStore: FilePath? {
        guard case .file = lock, let notes = transactions?.parent else { return nil }
        return notes.resolving(".locks/.store.lock")
    }
}

/// What a writer locks so that no other one changes the same file.
package enum LockPlace: Hashable, Sendable {
    /// A file of its own, which stays when the other is replaced.
    case file(FilePath)
    /// A file that is named for the path, as long as somebody holds it.
    case itself
}
