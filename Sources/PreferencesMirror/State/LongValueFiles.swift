internal import MirrorEngine
internal import Platform
internal import Synchronization

/// The long values of a mirror's local state: a folder with a file for each, which is named by its hash.
///
/// A file is written before the journal refers to it, and removed only after a new journal refers to it no longer. All
/// access requires the lock of the state.
final class LongValueFiles: LongValueStore {
    private let folder: FilePath
    private let files: any FileSystem
    private let state = Mutex(State())

    private struct State {
        var sizes: [BlobName: Int] = [:]
        /// The last reason that a value could not be kept.
        var failure: SystemFailure?
        /// The reason that a value could not be read.
        var loss: Loss?
    }

    /// The reason that a value cannot be read.
    enum Loss: Hashable {
        /// The file is gone, or has other contents.
        case damaged(FilePath)
        /// The system refused to read the file.
        case refused(SystemFailure)
    }

    init(in folder: FilePath, _ files: any FileSystem) {
        self.folder = folder
        self.files = files
    }

    /// Lists the files, and removes temporary ones that a killed program left.
    func reload(removesTemporaries: Bool = true) throws(SystemFailure) {
        var sizes: [BlobName: Int] = [:]
        for file in try files.names(in: folder) ?? [] {
            if removesTemporaries, file.isTemporary { try files.remove(folder.appending(file)) }
            guard let name = BlobName(fileName: file) else { continue }
            sizes[name] = try files.status(of: folder.appending(file), followingLink: false)?.size
        }
        let found = sizes
        state.withLock { $0 = State(sizes: found) }
    }

    /// The size of all files, including those that are no longer needed.
    var size: Int { state.withLock { $0.sizes.values.reduce(0, +) } }

    /// The reason that a value could not be read since the folder was last reloaded.
    var loss: Loss? { state.withLock(\.loss) }

    /// Stores values before a journal refers to them.
    func store(_ values: [LongValue]) throws(SystemFailure) {
        for value in values where !value.store(in: self) {
            throw state.withLock(\.failure) ?? SystemFailure(.inputOutput, .write, folder)
        }
    }

    /// Removes all files but those of these values.
    func remove(allBut values: [LongValue]) {
        guard size > 0 else { return }
        let needed = Set(values.map(\.name))
        let unneeded = state.withLock { $0.sizes.keys.filter { !needed.contains($0) } }
        for name in unneeded {
            guard let path = path(of: name), (try? files.remove(path)) != nil else { continue }
            state.withLock { $0.sizes[name] = nil }
        }
    }

    private func path(of name: BlobName) -> FilePath? { name.fileName.map(folder.appending) }

    // MARK: LongValueStore

    func contains(_ reference: BlobReference) -> Bool {
        state.withLock { $0.sizes[reference.name] == reference.size }
    }

    func bytes(of reference: BlobReference) -> [UInt8]? {
        guard let path = path(of: reference.name) else { return nil }
        do throws(SystemFailure) {
            let bytes = try files.open(path, .readingNoFollow)?.contents(limit: reference.size)
            if let bytes, reference.describes(bytes) { return bytes }
            state.withLock { $0.loss = .damaged(path) }
        } catch {
            state.withLock { $0.loss = error.code == .fileTooLarge ? .damaged(path) : .refused(error) }
        }
        return nil
    }

    func store(_ bytes: [UInt8], as name: BlobName) -> Bool {
        if contains(BlobReference(name: name, size: bytes.count)) { return true }
        guard let path = path(of: name) else { return false }
        do throws(SystemFailure) {
            try files.makeFolders(folder)
            try files.replace(path, with: bytes)
        } catch {
            state.withLock { $0.failure = error }
            return false
        }
        state.withLock { $0.sizes[name] = bytes.count }
        return true
    }

    /// Returns a value that is kept already, without reading all of it.
    func value(_ reference: BlobReference) -> LongValue? {
        guard contains(reference), let path = path(of: reference.name),
            let file = try? files.open(path, .readingNoFollow),
            let beginning = try? file.beginning(limit: LongValue.lengthOfBeginning)
        else { return nil }
        return LongValue(reference, beginning: beginning, in: self)
    }
}

extension BlobName {
    /// The last component of the name.
    fileprivate var fileName: FileName? { description.split(separator: "/").last.flatMap { FileName(String($0)) } }

    fileprivate init?(fileName: FileName) {
        self.init("x/\(fileName.description.prefix(2))/\(fileName)")
    }
}
