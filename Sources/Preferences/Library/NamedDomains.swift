internal import PropertyLists
internal import Synchronization

/// Volatile domains that are not a layer. They are only accessed by name.
final class NamedDomains: Sendable {
    private let domains = Mutex<[String: PropertyList.Dictionary]>([:])

    var names: [String] { domains.withLock { $0.keys.sorted() } }

    subscript(name: String) -> PropertyList.Dictionary? {
        get { domains.withLock { $0[name] } }
        set { domains.withLock { $0[name] = newValue } }
    }
}
