import Foundation
import Platform
import Preferences
import PropertyLists
import TestSupport
import Testing

/// Tests the guarantees of the store with real processes, files and threads.
///
/// The tests run one after another, because most of them use all cores.
@Suite(.serialized) struct `The store of this machine` {}

extension Extent {
    /// The number of writers to kill, which `Tests/run kills` sets. Each of four kinds of writers gets a quarter.
    static let kills = max(4, ProcessInfo.processInfo.environment["PREFS_KILLS"].flatMap { Int($0) } ?? 60)

    /// Returns the number in a full run, otherwise a tenth of it.
    static func share(of number: Int) -> Int { isFull ? number : number / 10 }
}

/// A store in a temporary folder, with this process as a writer.
struct ProofBench {
    private let folder: TemporaryFolder
    let system = SystemServices.ofThisProcess()
    let place: String
    let store: Store

    init() throws {
        folder = try TemporaryFolder()
        place = folder.url.appending(path: "prefs").path(percentEncoded: false)
        store = try #require(Store.folder(place))
    }

    /// Uses a store at a path outside of the temporary folder.
    init(at path: String) throws {
        folder = try TemporaryFolder()
        place = path
        store = try #require(Store.folder(path))
    }

    /// The temporary folder. It contains the store unless `init(at:)` was used.
    var path: FilePath { get throws { try #require(FilePath(folder.url.path(percentEncoded: false))) } }

    func file(_ name: DomainName) throws -> DomainFile {
        try #require(try store.shared.places.get()).user.file(of: name)
    }

    /// The domain as it is on the disk, without the caches of this process.
    func contents(_ name: DomainName) throws -> DomainContents { try file(name).contents(on: system) }

    func value(_ key: String, _ name: DomainName) throws -> Int? {
        try contents(name).values[key]?.integerValue.flatMap { Int(exactly: $0) }
    }

    /// Writes as a command does.
    @discardableResult
    func write(
        _ key: String, _ value: PropertyList, _ name: DomainName, patience: Duration = .seconds(5)
    ) throws -> [CommittedDomain] {
        try DomainWriter(system, WriteAuthor(.write, by: system), patience: patience)
            .commit([DomainEdit(try file(name)) { $0.values[key] = value }])
    }

    /// Makes a domain a folder with these values.
    func makeFolder(_ name: DomainName, _ values: PropertyList.Dictionary) throws {
        try DomainWriter(system, WriteAuthor(.write, by: system)).commit([
            DomainEdit(try file(name)) { draft in
                draft.form = .folder
                draft.values = values
            }
        ])
    }

    func worker(_ words: String..., by prefix: [String] = []) throws -> WorkerProcess {
        try WorkerProcess(place, words, by: prefix)
    }
}

/// The failure of an operation of the store, or nil if it succeeded.
func storeFailure(_ body: () throws -> Void) -> StoreFailure? {
    do {
        try body()
        return nil
    } catch {
        return error as? StoreFailure ?? StoreFailure(.notAllowed("\(error)"), "another error")
    }
}

extension StoreFailure {
    /// The error code of the system, if the failure has one.
    var code: ErrorCode? { if case .system(let code, _) = problem { ErrorCode(rawValue: code) } else { nil } }
}
