internal import Platform
internal import Synchronization

/// The folder stores of this process, so that everyone who names a folder shares one store.
final class FolderStores: Sendable {
    private let stores = Mutex<[FilePath: Store]>([:])

    func store(_ path: String) -> Store? {
        guard let path = FilePath(path) else { return nil }
        return stores.withLock { stores in
            if let store = stores[path] { return store }
            let store = Store(.folder(path), on: .ofThisProcess())
            stores[path] = store
            return store
        }
    }
}
