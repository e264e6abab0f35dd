internal import Platform
internal import Synchronization

extension Defaults {
    /// The changes of the values in effect from now on, by any process, one element for each batch.
    public var changes: AsyncStream<SettingsChanges> {
        stream { changes, continuation in continuation.yield(changes) }
    }

    /// Returns the changes of a key's value from now on, by default including those that this process makes.
    public func changes(forKey key: String, includingOwn: Bool = true) -> AsyncStream<SettingsChange> {
        stream { changes, continuation in
            for change in changes.changes
            where change.key.hasSameBytes(as: key) && (includingOwn || !change.isOwn) {
                continuation.yield(change)
            }
        }
    }

    /// Returns the current values of settings, and then their values after each change of one of them.
    ///
    /// Several changes at once, such as those of a transaction, are one element.
    public func values<each Value: Sendable>(
        of settings: repeat Setting<each Value>
    ) -> AsyncStream<(repeat each Value)> {
        var keys: Set<ExactKey> = []
        for setting in repeat each settings { keys.insert(ExactKey(setting.key)) }
        let (stream, continuation) = AsyncStream.makeStream(of: (repeat each Value).self)
        let observation = snapshots(
            after: { [keys] changes in changes.changes.contains { keys.contains(ExactKey($0.key)) } },
            { defaults in continuation.yield((repeat defaults[each settings])) })
        continuation.onTermination = { _ in observation.cancel() }
        return stream
    }

    /// Calls `read` now, and then after each batch of changes that satisfies a condition.
    func snapshots(
        after isRelevant: @escaping @Sendable (SettingsChanges) -> Bool = { _ in true },
        _ read: @escaping @Sendable (Defaults) -> Void
    ) -> SettingsObservation {
        let changeCount = Mutex(0)
        let observation = observe { [weak self] changes in
            guard let self, isRelevant(changes) else { return }
            changeCount.withLock { $0 += 1 }
            read(self)
        }
        // Values that were read before a change must not arrive after it as the last ones.
        var count: Int
        repeat {
            count = changeCount.withLock(\.self)
            read(self)
        } while changeCount.withLock(\.self) != count
        return observation
    }

    /// Returns the changes of a setting's value from now on. A value that the setting cannot have is replaced by its
    /// default. By default, changes that this process makes are included.
    public func changes<Value>(
        of setting: Setting<Value>, includingOwn: Bool = true
    ) -> AsyncStream<SettingChange<Value>> {
        stream { changes, continuation in
            for change in changes.changes
            where change.key.hasSameBytes(as: setting.key) && (includingOwn || !change.isOwn) {
                func value(_ stored: PropertyList?) -> Value {
                    stored.flatMap(setting.value) ?? setting.defaultValue
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

    /// Calls `receive` with each batch of changes from now on, until the returned observation is cancelled or released.
    public func observe(_ receive: @escaping @Sendable (SettingsChanges) -> Void) -> SettingsObservation {
        // Fill the table first, because values that it does not contain yet are not changes.
        _ = refreshed { $0.values.count }
        let (number, isFirst) = table.withLock { _ in observation.add(receive) }
        if isFirst { startObserving() }
        // The observation retains the settings, so that it suffices to keep the observation.
        return SettingsObservation { [self] in
            guard observation.remove(number) else { return }
            stopObserving()
            // Another observer may have been added meanwhile.
            restartObserving()
        }
    }

    // MARK: Files

    private func startObserving() {
        let domains = stack.layers.compactMap(\.openDomain)
        watched.withLock { watched in
            guard watched.isEmpty else { return }
            watched = domains.map { domain in
                let number = domain.addObserver { [weak self] in self?.look() }
                return WatchedDomain(domain: domain, number: number)
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

    /// Watches the present layers.
    func restartObserving() {
        guard observation.hasObservers else { return }
        stopObserving()
        startObserving()
    }

    /// Updates the table, and notifies observers.
    private func look() {
        // A transaction may have changed several files, and its changes should be one batch.
        stack.look(isExact: true)
        let process = store.process
        refresh(process.signals.epoch.load(ordering: .acquiring), process.system.clock.tick)
    }
}

/// A watched layer, and the identifier of its observer.
struct WatchedDomain: Sendable {
    let domain: OpenDomain
    let number: Int
}
