internal import Platform
internal import Synchronization

// Keeping written versions in the history.
extension OpenDomain {
    /// The delay before a version is kept, within which a later one can replace it.
    private static let keepingDelay: Duration = .seconds(1)

    /// Makes the written version be kept soon, or else at the end of the program.
    func scheduleKeeping() {
        let isDue = state.withLock { state in
            guard state.flush.unkept != nil, !state.flush.isKeepingScheduled else { return false }
            state.flush.isKeepingScheduled = true
            return true
        }
        guard isDue else { return }
        signals.pending.register(self)
        _ = machine.clock.wake(at: machine.clock.now.advanced(by: Self.keepingDelay)) { [self] in
            machine.background { [self] in
                state.withLock { $0.flush.isKeepingScheduled = false }
                keepVersion()
            }
        }
    }

    /// Keeps the written version in the history.
    func keepVersion() {
        guard let file else { return }
        writing.withLock { _ in
            let unkept = state.withLock { state in
                defer { state.flush.unkept = nil }
                return state.flush.unkept
            }
            guard let unkept else { return }
            do throws(StoreFailure) {
                try writer(.flush).keep(unkept, of: file)
            } catch {
                // The holder of the lock need not be a writer, so this is tried again.
                if case .locked = error.problem { state.withLock { $0.flush.unkept = $0.flush.unkept ?? unkept } }
            }
        }
        signals.pending.forget(self)
        scheduleKeeping()
    }
}
