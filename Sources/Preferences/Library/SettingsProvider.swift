public import PropertyLists
internal import Synchronization

/// A source of settings outside the store, such as a service of secrets, which a program searches as a layer of its
/// own.
///
///     let defaults = try Defaults("com.example.service", layers: [.environment, .provider(vault), .user])
///
/// The program connects to the source before it opens the settings. The values of a provider are only read.
public protocol SettingsProvider: Sendable {
    /// The name in messages and origins.
    var name: String { get }
    /// The present values.
    var values: PropertyList.Dictionary { get }
    /// Returns all values after each change from now on. It ends with the source.
    func changes() -> AsyncStream<PropertyList.Dictionary>
}

extension SettingsProvider {
    /// A provider whose values never change.
    public func changes() -> AsyncStream<PropertyList.Dictionary> { AsyncStream { $0.finish() } }
}

/// A provider whose values are in memory, for tests and for values that a program computes.
public final class MemoryProvider: SettingsProvider {
    /// The name in messages and origins.
    public let name: String
    private let state: Mutex<State>

    private struct State {
        var values: PropertyList.Dictionary
        var readers: [Int: AsyncStream<PropertyList.Dictionary>.Continuation] = [:]
        var last = 0
    }

    /// Creates a provider with these values.
    public init(_ values: PropertyList.Dictionary = [:], name: String = "memory") {
        self.name = name
        state = Mutex(State(values: values))
    }

    deinit { for reader in state.withLock(\.readers).values { reader.finish() } }

    /// The present values. They are replaced as a whole, and all readers are notified.
    public var values: PropertyList.Dictionary {
        get { state.withLock(\.values) }
        set {
            state.withLock { state in
                state.values = newValue
                // The lock keeps the order of two changes.
                for reader in state.readers.values { reader.yield(newValue) }
            }
        }
    }

    /// Returns all values after each change from now on. A reader that is late receives only the newest ones.
    public func changes() -> AsyncStream<PropertyList.Dictionary> {
        let (stream, reader) = AsyncStream.makeStream(
            of: PropertyList.Dictionary.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.last += 1
            state.readers[state.last] = reader
            return state.last
        }
        reader.onTermination = { [weak self] _ in self?.state.withLock { $0.readers[number] = nil } }
        return stream
    }
}

/// A file or a provider that a program searches.
final class OpenedLayer: Sendable {
    let source: LayerSource
    /// The task that receives the changes of a provider as long as this exists.
    private let task: Task<Void, Never>?

    /// Opens a layer; nil for one that the store has. Throws if a file cannot be read.
    init?(_ layer: SearchedLayer, in store: SharedStore, for name: DomainName) throws(StoreFailure) {
        switch layer.source {
        case .layers: return nil
        case .file(let path, let isRequired):
            guard let path = store.system.path(path) else {
                throw StoreFailure(.notAllowed("the path of a file is required"), name.text)
            }
            source = LayerSource(
                .file, try store.configuration(DomainFile(path, isRequired ? .required : .optional)))
            task = nil
        case .provider(let provider):
            // Changes are received from before the values are read.
            let changes = provider.changes()
            let domain = OpenDomain(.memory(provider.values, failure: nil), on: store.system, store.context)
            source = LayerSource(.provider, named: provider.name, domain)
            task = Task { [weak domain] in
                for await values in changes { domain?.take(values) }
            }
        }
    }

    deinit { task?.cancel() }
}
