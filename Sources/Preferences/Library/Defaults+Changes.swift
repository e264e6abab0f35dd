internal import Platform
internal import Synchronization

extension Defaults {
    /// The changes of all values in force from now on, by whomever, in batches as they came.
    public var changes: AsyncStream<SettingsChanges> {
        stream { changes, continuation in continuation.yield(changes) }
    }

    /// The changes of the value in force for a key from now on.
    public func changes(forKey key: String) -> AsyncStream<SettingsChange> {
        stream { changes, continuation in
            for change in changes.changes where change.key.hasSameBytes(as: key) { continuation.yield(change) }
        }
    }

    /// The changes of a setting's value from now on. What is of another type than the setting counts as its default.
    public func changes<Value>(of setting: Setting<Value>) -> AsyncStream<SettingChange<Value>> {
        stream { changes, continuation in
            for change in changes.changes where change.key.hasSameBytes(as: setting.key) {
                func value(_ stored: PropertyList?) -> Value {
                    stored.flatMap { try? $0.decodedStrictly(as: Value.self) } ?? setting.defaultValue
                }
                continuation.yield(
                    SettingChange(
                        oldValue: value(change.oldValue), newValue: value(change.newValue), origin: change.origin,
                        isOwn: change.isOwn))
            }
        }
    }

    private func stream<Element: Sendable>(
        _ receive: @escaping @Sendable (SettingsChanges, AsyncStream<Element>.Continuation) -> Void
    ) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self)
        let observation = observe { changes in receive(changes, continuation) }
        continuation.onTermination = { _ in observation.cancel() }
        return stream
    }

    /// Calls `receive` with each batch of changes from now on, until the result is cancelled or let go.
    public func observe(_ receive: @escaping @Sendable (SettingsChanges) -> Void) -> SettingsObservation {
        // What the table does not know yet is no change.
        _ = refreshed { $0.values.count }
        let (number, isFirst) = table.withLock { _ in observation.add(receive) }
        if isFirst { startObserving() }
        // The observation holds the settings: whoever keeps nothing but it is to be told all the same.
        return SettingsObservation { [self] in
            guard observation.remove(number) else { return }
            stopObserving()
            // Somebody may have begun while this ended.
            restartObserving()
        }
    }

    // MARK: Files

    private func startObserving() {
        let sources = self.sources
        watched.withLock { watched in
            guard watched.isEmpty else { return }
            watched = sources.map { source in
                let number = source.domain.addObserver { [weak self] in self?.look() }
                return WatchedDomain(domain: source.domain, number: number)
            }
        }
        look()
    }

    func stopObserving() {
        let former = watched.withLock { watched in
            defer { watched = [] }
            return watched
        }
        for entry in former { entry.domain.removeObserver(entry.number) }
    }

    /// Watches the layers that there are now.
    func restartObserving() {
        guard observation.hasObservers else { return }
        stopObserving()
        startObserving()
    }

    /// Brings the table up to date, so that observers hear of it.
    private func look() {
        // A transaction may have changed several of them: its changes are to come as one batch.
        for source in sources { source.domain.look(isExact: true) }
        let process = store.process
        refresh(process.signals.epoch.load(ordering: .acquiring), process.machine.clock.tick)
    }
}

/// A layer that is watched, and the number that ends it.
struct WatchedDomain: Sendable {
    let domain: OpenDomain
    let number: Int
}
