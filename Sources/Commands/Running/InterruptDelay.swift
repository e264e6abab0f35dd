internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Delays the signals that end a command while it writes, so that it leaves no temporary file.
final class InterruptDelay: Sendable {
    /// The previous signal mask; nil while signals are not delayed.
    private let former = Mutex<sigset_t?>(nil)

    /// Starts or ends the delay. Must always be called on the same thread.
    func set(_ isOn: Bool) {
        former.withLock { former in
            if isOn, former == nil {
                var (signals, before) = (sigset_t(of: endingSignals), sigset_t())
                pthread_sigmask(SIG_BLOCK, &signals, &before)
                former = before
            } else if !isOn, var before = former.take() {
                pthread_sigmask(SIG_SETMASK, &before, nil)
            }
        }
    }
}
