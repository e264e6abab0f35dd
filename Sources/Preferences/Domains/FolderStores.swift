internal import Platform
internal import Synchronization

/// The stores in folders that this process uses, so that all who name a folder share one.
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
