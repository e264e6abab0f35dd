internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Puts off the signals that end a command while it writes, so that it leaves no temporary file behind.
final class InterruptDelay: Sendable {
    /// The signals that were blocked before; nil as long as none are put off.
    private let former = Mutex<sigset_t?>(nil)

    /// Puts the signals off, or lets those come that have waited. To be called on one thread.
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
