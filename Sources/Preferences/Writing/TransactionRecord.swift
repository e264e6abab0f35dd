internal import Platform
internal import PropertyLists

/// The note of a change to several files that is decided, and that whoever comes next carries out.
///
/// It exists from the moment at which the change holds until the last file is replaced. A crash between leaves it for the
/// next who opens one of the files.
struct TransactionRecord: Sendable, Equatable {
    var steps: [Step]

    /// What becomes of one file.
    struct Step: Sendable, Equatable {
        /// The address, as far as its lock needs it.
        var file: DomainFile
        var target: FilePath
        var change: Change
    }

    /// In both, the file at the path takes the target's place. Once it is gone, that has happened.
    enum Change: Sendable, Equatable {
        case replace(by: FilePath)
        /// The file is a tombstone: it goes from the target's place too, where nothing but it can be meant.
        case remove(by: FilePath)
    }
}

extension TransactionRecord.Change {
    var temporary: FilePath {
        switch self {
        case .replace(let temporary), .remove(let temporary): temporary
        }
    }

    /// Does one step, or what is left of it.
    func carryOut(at target: FilePath, in files: some FileSystem) throws(SystemFailure) {
        guard temporary.parent == target.parent else { return }
        switch self {
        case .replace(let temporary):
            if try files.status(of: temporary) != nil { try files.rename(temporary, to: target) }
        case .remove(let temporary):
            if try files.status(of: temporary) != nil { try files.rename(temporary, to: target) }
            guard try files.status(of: target)?.size == DomainState.tombstone.count else { return }
            if try files.contents(of: target, limit: 4096) == DomainState.tombstone { try files.remove(target) }
        }
    }
}

// MARK: As a file

extension TransactionRecord {
    var encoded: PropertyList { .array(steps.map(\.encoded)) }

    /// Nil for anything that no writer of ours has made.
    init?(_ value: PropertyList) {
        guard let elements = value.arrayValue else { return nil }
        steps = []
        for element in elements {
            guard let step = Step(element) else { return nil }
            steps.append(step)
        }
    }
}

extension TransactionRecord.Step {
    fileprivate var encoded: PropertyList {
        var entries: PropertyList.Dictionary = [
            "name": .string(file.name), "path": .path(file.path), "target": .path(target),
        ]
        if case .file(let lock) = file.lock { entries["lock"] = .path(lock) }
        if let history = file.history { entries["history"] = .path(history) }
        switch change {
        case .replace(let temporary): entries["temporary"] = .path(temporary)
        case .remove(let temporary): entries["tombstone"] = .path(temporary)
        }
        return .dictionary(entries)
    }

    fileprivate init?(_ value: PropertyList) {
        guard let name = value["name"]?.stringValue, let path = value["path"]?.pathValue,
            let target = value["target"]?.pathValue
        else {
            return nil
        }
        let lock = value["lock"]?.pathValue
        file = DomainFile(
            name: name, path: path, lock: lock.map(LockPlace.file) ?? .itself, history: value["history"]?.pathValue)
        self.target = target
        if let temporary = value["temporary"]?.pathValue {
            change = .replace(by: temporary)
        } else if let temporary = value["tombstone"]?.pathValue {
            change = .remove(by: temporary)
        } else {
            return nil
        }
        guard change.temporary.lastComponent?.isTemporary == true else { return nil }
    }
}

extension PropertyList {
    /// A path need not be text.
    fileprivate static func path(_ path: FilePath) -> PropertyList { .data(Data(path.bytes)) }

    fileprivate var pathValue: FilePath? { dataValue.flatMap { FilePath($0) } }
}
