internal import PropertyLists
internal import Synchronization

/// Volatile domains of names that are no layer's. Nothing looks into them but who asks for them by name.
final class NamedDomains: Sendable {
    private let domains = Mutex<[String: PropertyList.Dictionary]>([:])

    var names: [String] { domains.withLock { $0.keys.sorted() } }

    subscript(name: String) -> PropertyList.Dictionary? {
        get { domains.withLock { $0[name] } }
        set { domains.withLock { $0[name] = newValue } }
    }
}
